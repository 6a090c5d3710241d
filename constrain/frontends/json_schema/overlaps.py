"""Which branches of a `oneOf` may share a value.

Branches are compared in pairs: most are told apart on their face (`Face`: the types, and the constants that both
demand of a required member), the others by asking whether their intersection is inhabited. A `oneOf` is compared as
soon as it is read, unless the answer hangs on a place that is still being read (`StillOpen`): it is then read as a
plain union, compared when everything has been read (`overlapping`), and if branches do overlap, all is read again with
that known. To take for overlapping what is not would still be exact, but cost negations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrain.frontends.json_schema.intersect import intersect
from constrain.frontends.json_schema.shapes import ConstShape, ObjectShape, Shape

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.emptiness import Emptiness

Overlaps = Mapping[int, frozenset[int]]
"""For each branch of a `oneOf`, the other branches that may share a value with it."""

MAX_ALTERNATIVES = 8
"""Object records of one branch that are looked at for what they all demand."""


class StillOpen(Exception):
    """What is asked hangs on a place that is being read."""


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """A `oneOf`: where it stands, the shape that its siblings leave, the shapes of its branches."""

    place: Place
    base: Shape
    shapes: Sequence[Shape]


def overlapping(builder: Builder, emptiness: Emptiness) -> dict[str, Overlaps]:
    """The `oneOf`s left for later, by the place's key, that hold overlaps not accounted for, with all their overlaps.

    One that is accounted for is asked again: excluding branches of another `oneOf` may let more into one of its own.
    """
    found: dict[str, Overlaps] = {}
    while builder.unchecked:
        branches = builder.unchecked.pop()
        key = branches.place.key
        known = found.get(key) or builder.overlaps.get(key, {})
        pairs = compare(builder, emptiness, branches, known)
        if sum(map(len, pairs.values())) > sum(map(len, known.values())):
            found[key] = pairs
    return found


def compare(builder: Builder, emptiness: Emptiness, branches: Branches, known: Overlaps) -> Overlaps:
    """The pairs in `known`, and all others that may share a value.

    Cost:    for n branches n² looks at faces, and an intersection for each pair that these do not tell apart.
    """
    at = branches.place.path
    limited = [builder.intersect(branches.base, shape, branches.place) for shape in branches.shapes]
    faces = [Face(shape, builder) for shape in limited]
    pairs = {i: set(others) for i, others in known.items()}
    for i, shape in enumerate(limited):
        face, overlapped = faces[i], pairs.get(i, ())
        for j in range(i + 1, len(limited)):
            if j in overlapped or face.is_apart(faces[j]):
                continue
            builder.comparisons += 1
            common = intersect(shape, limited[j], builder.is_dead, at)
            if not common.is_blank and emptiness.shape_is_inhabited(common, at):
                pairs.setdefault(i, set()).add(j)
                pairs.setdefault(j, set()).add(i)
    return {i: frozenset(others) for i, others in pairs.items()}


class Face:
    """What tells a branch from others at a glance: its types, its strings if they are finite, constants of members."""

    __slots__ = ("members", "texts", "types")

    def __init__(self, shape: Shape, builder: Builder):
        self.types = (
            (1 if shape.null else 0)
            | (2 if False in shape.booleans else 0)
            | (4 if True in shape.booleans else 0)
            | (8 if shape.numbers else 0)
            | (16 if shape.strings else 0)
            | (32 if shape.arrays else 0)
            | (64 if shape.objects else 0)
        )
        self.texts: frozenset[str] | None = None
        self.members: Mapping[str, frozenset[Any]] = {}
        if self.types == 16 and all([record.finite is not None for record in shape.strings]):
            self.texts = frozenset([text for record in shape.strings for text in record.finite or ()])
        elif self.types == 64 and len(shape.objects) <= MAX_ALTERNATIVES:
            self.members = _constants_of(shape, builder)

    def is_apart(self, other: Face) -> bool:
        """True if no value has both faces."""
        if not self.types & other.types:
            return True
        if self.texts is not None and other.texts is not None:
            return self.texts.isdisjoint(other.texts)
        if self.members and other.members:
            for name, keys in self.members.items():
                others = other.members.get(name)
                if others is not None and keys.isdisjoint(others):
                    return True
        return False


def _constants_of(shape: Shape, builder: Builder) -> dict[str, frozenset[Any]]:
    """The names that all object records require and give constants, with the keys of these."""
    found: dict[str, frozenset[Any]] = {}
    for number, record in enumerate(shape.objects):
        if isinstance(record, ConstShape):
            return {}
        own = _required_constants(record, builder.constants_of)
        found = own if number == 0 else {name: found[name] | own[name] for name in found if name in own}
    return found


def _required_constants(
    record: ObjectShape, constants_of: Callable[[tuple[int, ...]], frozenset[Any] | None]
) -> dict[str, frozenset[Any]]:
    found: dict[str, frozenset[Any]] = {}
    for name in record.required:
        child = record.members.get(name)
        keys = constants_of(child) if child else None
        if keys is not None:
            found[name] = keys
    return found
