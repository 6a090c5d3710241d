"""Why nothing satisfies a schema: the error that names the contradiction.

Main function: `why_empty`. It goes from the root to what is needed and empty, down to a place that contradicts itself.
What was noted while reading (`Builder.contradictions`) says it best; else the keywords that stand there are named; what
leads back to itself is shown as a circle.
"""

from __future__ import annotations

from constrain.errors import EmptyLanguage
from constrain.frontends.json_schema.atoms import Negation, Place
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.intersect import child_of
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.frontends.json_schema.shapes import NOTHING, Child, ConstShape, ObjectShape

MOST_NAMED = 6
"""Keywords and places that one message names."""


def why_empty(builder: Builder, emptiness: Emptiness, root: Child) -> EmptyLanguage:
    """The error for a root that nothing satisfies."""
    child, passed = root, list[Child]()
    while True:
        passed.append(child)
        path = builder.path_of(child)
        said = builder.contradictions.get(path) or _forbidden(builder, child)
        if said:
            break
        needed = [other for other in _needs(builder, child) if other != NOTHING and emptiness.is_empty(other)]
        if not needed:
            said = _what_stands_there(builder, child)
            break
        fresh = [other for other in needed if other not in passed]
        if not fresh:
            circle = passed[passed.index(needed[0]) :]
            names = " → ".join(builder.path_of(other) for other in [*circle[:MOST_NAMED], needed[0]])
            said = f"every value would have to hold another one, without end: {names}"
            break
        child = fresh[0]
    where = "" if " at #" in said or "→" in said else f" at {path}"
    message = f"no value satisfies the schema: {said}{where}"
    return EmptyLanguage(message, at=path, help="relax or remove one of the keywords there")


def _forbidden(builder: Builder, child: Child) -> str:
    """A name that every object of `child` must and may not have; "" if there is none."""
    shape = builder.shape_of(child)
    if shape.has_scalars or shape.arrays:
        return ""
    for record in shape.objects:
        if isinstance(record, ObjectShape):
            forbidden = [name for name in record.required if child_of(record, name) == NOTHING]
            if forbidden:
                return f"{forbidden[0]!r} is required, and no member may have that name"
    return ""


def _what_stands_there(builder: Builder, child: Child) -> str:
    places = [atom for atom in builder.atoms_of(child) if isinstance(atom, Place) and isinstance(atom.schema, dict)]
    denied = [atom for atom in builder.atoms_of(child) if isinstance(atom, Negation)]
    if not places and not denied:
        return "the schema allows no value"
    said: list[str] = []
    for place in places[:MOST_NAMED]:
        keywords = [
            f"'{keyword}'"
            for keyword in place.schema
            if keyword in KEYWORDS and KEYWORDS[keyword].kind in ("assertion", "applicator")
        ]
        names = ", ".join(keywords[:MOST_NAMED]) + (", …" if len(keywords) > MOST_NAMED else "")
        said.append(f"{names} at {place.path}" if len(places) + len(denied) > 1 else names)
    said += [f"what must not be there, at {atom.path}," for atom in denied[:MOST_NAMED]]
    if len(said) == 1 and "," not in said[0]:
        return f"{said[0]} leaves no value"
    return " and ".join(said) + " contradict each other"


def _needs(builder: Builder, child: Child) -> list[Child]:
    """What a value of `child` cannot do without."""
    shape = builder.shape_of(child)
    found: list[Child] = []
    for record in (*shape.objects, *shape.arrays):
        if isinstance(record, ConstShape):
            continue
        if isinstance(record, ObjectShape):
            found += [child_of(record, name) for name in record.required]
            if record.min > len(record.required):  # some other member is needed
                found += [*record.members.values(), *(value for _, value in record.patterns), record.extra]
        else:
            found += [record.item(i) for i in range(min(record.min, len(record.prefix) + 1))]
    return found
