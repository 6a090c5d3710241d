"""From schemas to shapes, lazily: a place is read when its shape is first asked for, and once.

Main type: `Builder`, the table of *atoms* of one compilation. An atom is a schema place, a constant, the negation of a
child, or a choice of children; a `Child` is a conjunction of atoms, and `shape_of` gives its shape. Reading a place
reads the schemas applied in place there (`$ref`, `allOf`, …) but no child, so recursion through children needs no care,
and recursion that never descends into a value is found as a place met again while it is being read: that is refused,
with its cycle.

The branches of a `oneOf` are compared as it is read, or, where that hangs on places that are still being read, when
everything has been (`overlaps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from constrain.errors import InvalidSpecification, LimitExceeded, PatternError
from constrain.frontends.json_schema import intersect as algebra
from constrain.frontends.json_schema.appearance import collect_names
from constrain.frontends.json_schema.atoms import Atom, Constant, Either, Negation, Place
from constrain.frontends.json_schema.complement import NoComplement, children_of, complement, is_approximate
from constrain.frontends.json_schema.evaluated import tracked_at
from constrain.frontends.json_schema.findings import Findings
from constrain.frontends.json_schema.glance import distinct, has_records, peek_schema, shape_of_value
from constrain.frontends.json_schema.hints import of_negation, of_schema
from constrain.frontends.json_schema.keywords import KEYWORDS, suggestion
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.overlaps import Branches, Overlaps, StillOpen
from constrain.frontends.json_schema.patterns import parse_pattern
from constrain.frontends.json_schema.reading import Reading
from constrain.frontends.json_schema.references import end_of_references, refuse_cycle
from constrain.frontends.json_schema.scopes import Scope, Shelf
from constrain.frontends.json_schema.shapes import (
    ANY,
    ANYTHING,
    NONE,
    NOT_TRACKED,
    NOTHING,
    Child,
    Shape,
)
from constrain.frontends.json_schema.values import (
    JsonValue,
    as_json,
    has_surrogate,
    is_spellable,
    value_key,
)
from constrain.grammar.terms import EMPTY, Regular, alternation

MAX_IN_PLACE_DEPTH = 100
"""How deep `allOf`, `$ref` and the like may nest without descending into a value."""

MAX_CHILDREN = 200_000
"""Conjunctions of places in one compilation."""

MAX_SHAPES, SHAPES_FOR_EACH = 4_000, 50
"""Shapes of one compilation: so many, and for each place and constant so many more. Real schemas have up to seven."""

MAX_NESTED_QUESTIONS = 3
"""How deep comparing the branches of one `oneOf` may lead to comparing those of another."""

MAX_OPEN = 30
"""Places that may be open while branches are compared at once: this nests in Python."""

MAX_POSTPONED = 16
"""Comparisons that were given up since they hang on what is still being read; after that, none is tried."""


class Builder:
    """The atoms and shapes of one compilation. Not shared between threads."""

    def __init__(self, shelf: Shelf, options: SchemaOptions, overlaps: Mapping[str, Overlaps]):
        self.shelf = shelf
        self.options = options
        self.overlaps = overlaps
        self.findings = Findings()
        self.contradictions: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self.unchecked: list[Branches] = []
        self.comparisons = 0
        self.judge: Callable[[Branches, Overlaps], Overlaps] | None = None
        """Compares branches at once; without one, all are left for later."""
        self._excluding: dict[Child, tuple[str, str]] = {}
        """The place and the keyword that asked first for the negation of a child, for messages."""
        self._questions = 0
        self._postponed = 0
        self._boundary = 0
        self._atoms: list[Atom] = [Place(False, "#", shelf.root)]
        self._ids: dict[tuple[Any, ...], int] = {}
        self._shapes: dict[Child, Shape] = {ANYTHING: ANY, NOTHING: NONE}
        self._conjunctions: dict[frozenset[int], Shape] = {}
        self._open: dict[int, tuple[str, ...]] = {}
        self._blank: dict[Child, bool] = {}
        self._negatable: dict[Child, bool] = {}
        self._dead: dict[Child, bool] = {NOTHING: True, ANYTHING: False}
        self._peeked: dict[int, tuple[frozenset[str] | None, frozenset[Any] | None]] = {}
        self._orders: dict[Child, tuple[str, ...]] = {ANYTHING: (), NOTHING: ()}
        self.names: dict[int, str] = {}

    # ------------------------------------------------------------ atoms

    def child(self, schema: Any, path: str, scope: Scope, tracked: frozenset[str] = NOT_TRACKED) -> Child:
        """The child that `schema`, standing at `path`, denotes; anything, with a fault, if that is no schema."""
        if schema is True:
            return ANYTHING
        if schema is False:
            return NOTHING
        if not isinstance(schema, Mapping):
            expected, help = "an object, true or false", of_schema(schema, path)
            error = InvalidSpecification(f"a schema is {as_json(schema)}", expected=expected, help=help)
            self.findings.fault(error, path, "")
            return ANYTHING
        if not schema:
            return ANYTHING
        key = (id(schema), id(scope), tracked) if tracked else (id(schema), id(scope))
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = self._add(Place(schema, path, scope, tracked))
        return (found,)

    def below(self, place: Place, schema: Any, step: str) -> Child:
        """The child that a subschema of `place` denotes; `step` is the pointer from there."""
        return self.of_value(schema, f"{place.path}/{step}", place.scope)

    def of_value(self, schema: Any, path: str, scope: Scope) -> Child:
        """As `child`, for a schema of a value inside: one that is nothing but a `$ref` is the place it leads to."""
        if isinstance(schema, Mapping) and len(schema) == 1 and "$ref" in schema:
            target = end_of_references(self.findings, schema, path, scope)
            if target is not None:
                return self.child(*target)
        return self.child(schema, path, scope)

    def in_place(self, place: Place, schema: Any, step: str) -> Child:
        """As `below`, for a subschema that applies to the same value: it says what it evaluates if `place` must."""
        return self.child(schema, f"{place.path}/{step}", place.scope, place.tracked)

    def constant(self, value: JsonValue, path: str) -> Child:
        """The child that is just `value`."""
        key = ("constant", value_key(value))
        if key not in self._ids:
            self._ids[key] = self._add(Constant(value, path))
        return (self._ids[key],)

    def negate(self, child: Child) -> Child:
        """The child that is everything but `child`."""
        if child == ANYTHING:
            return NOTHING
        if child == NOTHING:
            return ANYTHING
        if len(child) == 1:
            atom = self._atoms[child[0]]
            if isinstance(atom, Negation):
                return atom.child
        key = ("negation", child)
        if key not in self._ids:
            self._ids[key] = self._add(Negation(child, self.path_of(child)))
        return (self._ids[key],)

    def either(self, children: Iterable[Child]) -> Child:
        """The child that allows what any of `children` does."""
        several = tuple(dict.fromkeys(child for child in children if child != NOTHING))
        if len(several) <= 1 or ANYTHING in several:
            return ANYTHING if ANYTHING in several else several[0] if several else NOTHING
        key = ("either", several)
        if key not in self._ids:
            self._ids[key] = self._add(Either(several, self.path_of(several[0])))
        return (self._ids[key],)

    def _add(self, atom: Atom) -> int:
        if len(self._atoms) >= MAX_CHILDREN:
            raise LimitExceeded(f"more than {MAX_CHILDREN} places are in use", limit="schema_places", at=atom.path)
        self._atoms.append(atom)
        return len(self._atoms) - 1

    def path_of(self, child: Child) -> str:
        """The pointer of the first schema of `child`."""
        return self._atoms[child[0]].path if child else "#"

    def atoms_of(self, child: Child) -> Sequence[Atom]:
        """What `child` is the conjunction of."""
        return [self._atoms[atom] for atom in child]

    def read_all(self) -> None:
        """Read every place that has been met, also where the answer did not hang on it.

        Raises:  what reading a schema may raise.
        """
        number = 0
        while number < len(self._atoms):
            if isinstance(self._atoms[number], Place):
                self.shape_of((number,))
            number += 1

    # ------------------------------------------------------------ shapes

    def shape_of(self, child: Child) -> Shape:
        """The values that `child` allows; read on the first call.

        Raises:  what reading a schema may raise (see `compile_schema`).
        """
        shape = self._shapes.get(child)
        if shape is None:
            if len(self._shapes) > MAX_SHAPES + SHAPES_FOR_EACH * len(self._atoms):
                raise LimitExceeded(
                    f"{len(self._atoms)} schemas are combined in more than {len(self._shapes) - 1:,} ways",
                    limit="schema_shapes",
                    at=self.path_of(child),
                    help="let fewer schemas apply to one value, or tell 'oneOf' branches apart by a required 'const'",
                )
            shape = self._read(child[0]) if len(child) == 1 else self._conjunction(child)
            self._shapes[child] = shape
        return shape

    def _conjunction(self, child: Child) -> Shape:
        """The shape of several atoms: that of the same ones in another order, or made from the longest known start."""
        atoms = frozenset(child)
        same = self._conjunctions.get(atoms)
        if same is not None:
            return same
        known = next((k for k in range(len(child) - 1, 1, -1) if child[:k] in self._shapes), 1)
        shape = self.shape_of(child[:known])
        for k in range(known, len(child)):
            shape = algebra.intersect(shape, self.shape_of(child[k : k + 1]), self.is_dead, self.path_of(child))
            self._shapes[child[: k + 1]] = shape
        self._conjunctions[atoms] = shape
        return shape

    def _read(self, number: int) -> Shape:
        atom = self._atoms[number]
        if number in self._open:
            self._check_is_closed(number)
            self._refuse_cycle(number)
        if len(self._open) >= MAX_IN_PLACE_DEPTH:
            if self._boundary:
                raise StillOpen
            raise LimitExceeded(
                f"schemas apply each other in place {MAX_IN_PLACE_DEPTH} deep", limit="schema_depth", at=atom.path
            )
        self._open[number] = ()
        try:
            if isinstance(atom, Place):
                shape = self._read_schema(atom)
            elif isinstance(atom, Constant):
                shape = shape_of_value(atom.value)
            elif isinstance(atom, Either):
                shape = algebra.union([self.shape_of(child) for child in atom.children])
            else:
                shape = self._complement(atom)
        finally:
            del self._open[number]
        self.names.setdefault(id(shape), atom.path)
        return shape

    def _read_schema(self, place: Place) -> Shape:
        schema = place.schema
        scope = place.scope.of(schema, place.path)
        dialect = scope.dialect
        readers = dialect.readers
        tracked = tracked_at(place, readers)
        reading = Reading(annotates=place.tracked)
        if scope is not place.scope or tracked is not place.tracked:
            place = Place(schema, place.path, scope, tracked)
        if dialect.ref_hides_siblings and "$ref" in schema:
            for keyword in schema:
                if keyword in readers and keyword != "$ref":
                    self.findings.annotation(place.path, keyword, f"is ignored beside '$ref' in {dialect.name}")
            schema = {"$ref": schema["$ref"]}
        for keyword, value in schema.items():
            reader = readers.get(keyword)
            try:
                if reader is not None:
                    reader(self, place, reading, keyword, value)
                elif keyword not in dialect.known:
                    self._unknown(place, keyword)
            except InvalidSpecification as error:
                self.findings.fault(error, place.path, keyword if isinstance(keyword, str) else "")
                reading.exact = False
        if reading.types is not None and not reading.touched <= reading.types:
            self.findings.idle(place.path, schema, reading.types)
        return reading.finish(self, place)

    def _unknown(self, place: Place, keyword: Any) -> None:
        if not isinstance(keyword, str):
            raise InvalidSpecification(f"the name {as_json(keyword)} is not a string", at=place.path)
        dialect = place.scope.dialect
        if keyword in KEYWORDS:
            if KEYWORDS[keyword].support != "annotation":
                self.findings.annotation(place.path, keyword, f"is not a keyword of {dialect.name}")
            return
        meant = suggestion(keyword, dialect.known)
        reason = "is not a keyword" + (f"; did you mean {meant!r}?" if meant else "")
        self.findings.annotation(place.path, keyword, reason)

    def _complement(self, atom: Negation) -> Shape:
        path, keyword = self._excluding.get(atom.child, (atom.path, ""))
        try:
            return self.complement(self.shape_of(atom.child), path, keyword)
        except NoComplement as reason:
            said = f"cannot be enforced: it excludes the schema at {atom.path}, which {reason}"
            self.findings.refuse(path, keyword, said if keyword else f"a negation {said}", of_negation(keyword))
            return replace(ANY, exact=False)

    def _refuse_cycle(self, number: int) -> None:
        cycle = list(self._open)[list(self._open).index(number) :]
        refuse_cycle([path for i in cycle for path in (self._atoms[i].path, *self._open[i])], self._atoms[number].path)

    def passed(self, paths: Sequence[str]) -> None:
        """Note the places that a reference of the place being read went through, for the message about a cycle."""
        if self._open:
            self._open[next(reversed(self._open))] = tuple(paths)

    def intersect(self, left: Shape, right: Shape, place: Place) -> Shape:
        """Both shapes; a contradiction between them is noted for the place."""
        shape = algebra.intersect(left, right, self.is_dead, place.path)
        if shape.is_blank and not left.is_blank and not right.is_blank:
            self.contradiction(place, "")
        return shape

    def contradiction(self, place: Place, message: str) -> None:
        """Note why the schema at `place` allows nothing (of some type); "" where its keywords say it."""
        self.contradictions.setdefault(place.path, message)

    def leave_out(self, path: str, reason: str) -> None:
        """Note that a negation at `path` is enforced as less than it allows: nothing may then be called empty."""
        self.left_out.setdefault(path, reason)
        self.findings.note(path, "not", reason, "narrower")

    # ------------------------------------------------------------ what can be told at a glance

    def is_dead(self, child: Child) -> bool:
        """True if `child` is seen to be empty from the types and constants that its schemas name themselves."""
        dead = self._dead.get(child)
        if dead is None:
            types, keys = self._glance(child)
            dead = self._dead[child] = (types is not None and not types) or (keys is not None and not keys)
        return dead

    def constants_of(self, child: Child) -> frozenset[Any] | None:
        """The keys of the constants that the schemas of `child` name themselves; None if they name none."""
        return self._glance(child)[1]

    def _glance(self, child: Child) -> tuple[frozenset[str] | None, frozenset[Any] | None]:
        types: frozenset[str] | None = None
        keys: frozenset[Any] | None = None
        for atom in child:
            own_types, own_keys = self._peek(atom)
            types = own_types if types is None else types if own_types is None else types & own_types
            keys = own_keys if keys is None else keys if own_keys is None else keys & own_keys
            negated = self._atoms[atom]
            if isinstance(negated, Negation) and all([other in child for other in negated.child]):
                types = frozenset()
        return types, keys

    def _peek(self, number: int) -> tuple[frozenset[str] | None, frozenset[Any] | None]:
        """The types and the keys of the constants that an atom names on its face."""
        found = self._peeked.get(number)
        if found is None:
            atom = self._atoms[number]
            found = (None, None)
            if isinstance(atom, Constant):
                found = (None, frozenset((value_key(atom.value),)))
            elif isinstance(atom, Place) and isinstance(atom.schema, Mapping):
                found = peek_schema(atom)
            self._peeked[number] = found
        return found

    def is_blank(self, child: Child) -> bool:
        """True if `child` is seen to be empty without looking into arrays and objects."""
        if self.is_dead(child):
            return True
        blank = self._blank.get(child)
        if blank is None:
            blank = self._blank[child] = not has_records(self.shape_of(child))
        return blank

    def complement(self, shape: Shape, path: str, keyword: str) -> Shape:
        """What `shape`, which `keyword` at `path` excludes, leaves out.

        Raises:  NoComplement.
        """
        if is_approximate(shape):
            reason = "strings of which it is not certain that they lack the excluded format are left out"
            self.findings.note(path, keyword, reason, "narrower")
        for child in children_of(shape):
            self._excluding.setdefault(child, (path, keyword))
        return complement(shape, self, path)

    def is_negatable(self, child: Child) -> bool:
        """True if the complement of `child` can be said."""
        if child not in self._negatable:
            try:
                complement(self.shape_of(child), self, self.path_of(child))
                self._negatable[child] = True
            except NoComplement:
                self._negatable[child] = False
        return self._negatable[child]

    # ------------------------------------------------------------ what readers ask for

    def shape_of_values(self, values: Sequence[JsonValue], place: Place, keyword: str) -> Shape:
        """The shape of just `values`; what holds a lone surrogate cannot be written, and is dropped with a note."""
        kept = [value for value in values if is_spellable(value)]
        if len(kept) < len(values):
            self._note_surrogates(place, keyword)
        return algebra.union([shape_of_value(value) for value in distinct(kept)])

    def spellable(self, texts: tuple[str, ...], place: Place, keyword: str) -> tuple[str, ...]:
        """`texts` without those that hold a lone surrogate."""
        kept = tuple([text for text in texts if not has_surrogate(text)])
        if len(kept) < len(texts):
            self._note_surrogates(place, keyword)
        return kept

    def _note_surrogates(self, place: Place, keyword: str) -> None:
        reason = "a string with a lone surrogate cannot be written as UTF-8, and is left out"
        self.findings.note(place.path, keyword, reason, "narrower")

    def pattern(self, text: str, place: Place, keyword: str) -> Regular | None:
        """The strings in which the ECMA pattern `text` is found; None where it is refused or does not parse."""
        try:
            found = parse_pattern(text)
        except LimitExceeded as error:
            error.at = place.path
            raise
        if not isinstance(found, PatternError):
            self.findings.enforced(place.path, keyword)
            for note in found.notes:
                self.findings.note(place.path, keyword, f"{as_json(text)}: {note}")
            return found.regular
        if self.options.on_unsupported == "warn":
            reason = f"cannot be enforced: {found.message}"
            self.findings.refuse(place.path, keyword, reason, found.help or "simplify it")
            return None
        message = f"{keyword!r} cannot be read: {found.message}"
        fault = PatternError(message, pattern=found.pattern, position=found.position, help=found.help)
        self.findings.fault(fault, place.path, keyword)
        return None

    def names_language(self, child: Child, place: Place, keyword: str) -> tuple[Regular | None, bool]:
        """The strings of `child`, as a language of names (None where it is refused), and whether it is exact."""
        for atom in self._open.keys() & set(child):
            self._check_is_closed(atom)
            self.findings.refuse(place.path, keyword, "refers to a schema that holds it", "move the names' schema out")
            return None, False
        shape = self.shape_of(child)
        if not shape.exact:
            self.findings.refuse(place.path, keyword, "holds what cannot be enforced", "see the other problems")
        languages = [record.term() for record in shape.strings]
        is_exact = shape.exact and not is_approximate(shape)
        return (alternation(*languages) if languages else EMPTY), is_exact

    def overlaps_of(self, branches: Branches) -> Overlaps:
        """Which of the branches may share a value, as far as it is known; if that is not all, it is asked later."""
        known = self.overlaps.get(branches.place.key, {})
        found = self._compare_now(branches, known)
        if found is None:
            self.unchecked.append(branches)
        return known if found is None else found

    def _compare_now(self, branches: Branches, known: Overlaps) -> Overlaps | None:
        """What the judge says; None if there is none, or the answer hangs on places that are open."""
        is_deep = self._questions >= MAX_NESTED_QUESTIONS or len(self._open) > MAX_OPEN
        if self.judge is None or is_deep or self._postponed >= MAX_POSTPONED:
            return None
        boundary, self._boundary = self._boundary, len(self._open)
        self._questions += 1
        try:
            return self.judge(branches, known)
        except StillOpen:
            self._postponed += 1
            return None
        finally:
            self._boundary = boundary
            self._questions -= 1

    def _check_is_closed(self, number: int) -> None:
        """Raises:  StillOpen: if the atom was being read before the question that is being answered."""
        if self._boundary and list(self._open).index(number) < self._boundary:
            raise StillOpen

    # ------------------------------------------------------------ the order of names

    def order_of(self, child: Child) -> tuple[str, ...]:
        """Names in order of first appearance: own `properties`, then in-place schemas in document order."""
        order = self._orders.get(child)
        if order is None:
            names: dict[str, None] = {}
            for atom in child:
                place = self._atoms[atom]
                if isinstance(place, Place):
                    collect_names((place.schema, place.path, place.scope), names)
            order = self._orders[child] = tuple(names)
        return order
