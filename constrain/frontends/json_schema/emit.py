"""From shapes to grammar terms: one rule for each shape that holds arrays or objects, named by its JSON pointer.

Only what is inhabited is emitted: a record that nothing satisfies is left out, an optional member whose shape is empty
is declared with a dead value (its name stays forbidden), a tuple stops before an item that cannot be. Scalars become
one lexeme. Shapes are found by identity, so a definition that is used a hundred times is one rule.

In "pretty" a rule also depends on its depth; a shape that contains itself has one rule for all depths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal as OneOf

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.intersect import child_of
from constrain.frontends.json_schema.obligations import ObjectPlan, Slot, all_hold_at_once, class_names
from constrain.frontends.json_schema.shapes import (
    NOTHING,
    ArrayShape,
    Child,
    ConstShape,
    NumberShape,
    ObjectRecord,
    ObjectShape,
    Shape,
)
from constrain.frontends.json_schema.spelling import Spelling, left_out, line
from constrain.frontends.json_schema.values import JsonValue, ObjectValue, has_surrogate
from constrain.grammar.terms import (
    ANY_TEXT,
    Choice,
    Counted,
    Grammar,
    GrammarSpec,
    Items,
    Lexeme,
    Literal,
    Member,
    Members,
    NameClass,
    Not,
    RuleRef,
    Sequence,
    Way,
    alternation,
    concat,
)

DEAD = Choice(())
EMPTY_ARRAY = Lexeme(Literal("[]"))
EMPTY_OBJECT = Lexeme(Literal("{}"))
MAX_RULES = 100_000
MAX_PRETTY_DEPTH = 64


class Emitter:
    """Writes the grammar of one root."""

    def __init__(self, builder: Builder, emptiness: Emptiness, spelling: Spelling):
        self._builder = builder
        self._emptiness = emptiness
        self._spelling = spelling
        self._rules: dict[str, Grammar] = {}
        self._names: dict[tuple[int, tuple[str, ...], int | None], str] = {}
        self._scalars: dict[int, Lexeme] = {}
        self._values: dict[tuple[Child, int | None], Grammar] = {}
        self._queue: list[tuple[str, Shape, tuple[str, ...], int | None]] = []
        self._recursive: dict[int, bool] = {}

    def grammar(self, root: Child) -> GrammarSpec:
        """The grammar of `root`, which must be inhabited."""
        start = self._value(root, 0)
        if isinstance(start, RuleRef):
            name = start.name
        else:
            name = "#"
            self._rules[name] = start
        while self._queue:
            rule, shape, order, depth = self._queue.pop()
            try:
                self._rules[rule] = self._containers(shape, order, depth)
            except LimitExceeded as error:
                error.at = error.at or rule
                raise
            if len(self._rules) > MAX_RULES:
                raise LimitExceeded(f"the grammar needs more than {MAX_RULES} rules", limit="grammar_rules", at=rule)
        return GrammarSpec(self._rules, name)

    def _value(self, child: Child, depth: int | None) -> Grammar:
        """The texts of the values that `child` allows: a lexeme, a reference to a rule, or a dead term."""
        made = self._values.get((child, depth))
        if made is None:
            try:
                made = self._values[child, depth] = self._make_value(child, depth)
            except LimitExceeded as error:  # of a language of numbers, say: it does not know its place
                error.at = error.at or self._builder.path_of(child)
                raise
        return made

    def _make_value(self, child: Child, depth: int | None) -> Grammar:
        if not self._emptiness.inhabited(child):
            return DEAD
        shape = self._builder.shape_of(child)
        if not shape.has_containers:
            return self._lexeme(shape)
        if self._spelling.is_pretty and depth is not None and (depth > MAX_PRETTY_DEPTH or self._is_recursive(child)):
            depth = None
        if not self._spelling.is_pretty:
            depth = 0
        order = self._builder.order_of(child) if shape.objects else ()
        key = (id(shape), order, depth)
        name = self._names.get(key)
        if name is None:
            name = base = "any" if shape.arrays and not child else self._builder.names.get(id(shape), "any")
            number = 2
            while name in self._rules:
                name, number = f"{base} ({number})", number + 1
            self._names[key] = name
            self._rules[name] = DEAD
            self._queue.append((name, shape, order, depth))
        return RuleRef(name)

    def _lexeme(self, shape: Shape) -> Lexeme:
        lexeme = self._scalars.get(id(shape))
        if lexeme is None:
            strings = [record.term() for record in shape.strings if self._emptiness.has_string(record)]
            numbers = tuple([record for record in shape.numbers if self._emptiness.has_number(record)])
            for record in numbers:
                self._note_left_out(record, self._builder.names.get(id(shape), "#"))
            lexeme = self._scalars[id(shape)] = Lexeme(self._spelling.scalars(shape, numbers, strings))
        return lexeme

    def _note_left_out(self, record: NumberShape, path: str) -> None:
        reason = left_out(record, self._spelling.numbers)
        if reason is not None:
            self._builder.findings.note(path, "not" if record.without else "multipleOf", reason, "narrower")

    def _containers(self, shape: Shape, order: tuple[str, ...], depth: int | None) -> Grammar:
        alternatives: list[Grammar] = []
        if shape.has_scalars:
            alternatives.append(self._lexeme(shape))
        for record in shape.arrays:
            if self._emptiness.record_is_inhabited(record):
                if isinstance(record, ConstShape):
                    alternatives.append(self._constant(record.value, order, depth))
                else:
                    alternatives.extend(self._array(record, depth))
        for record in shape.objects:
            if self._emptiness.record_is_inhabited(record):
                alternatives.extend(self._object(record, order, depth))
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))

    # ------------------------------------------------------------ arrays

    def _array(self, record: ArrayShape, depth: int | None) -> list[Grammar]:
        plan = self._emptiness.array_plan(record) if record.counts else None
        slots = plan.prefix if plan else [Slot(child) for child in record.prefix]
        others = plan.rest if plan else Slot(record.rest)
        prefix: list[Slot] = []
        most = record.max
        for slot in slots if most is None else slots[:most]:
            if not self._emptiness.inhabited(slot.child):
                most = len(prefix)
                break
            prefix.append(slot)
        rest: Slot | None = others
        if (most is not None and most <= len(prefix)) or not self._emptiness.inhabited(others.child):
            rest, most = None, len(prefix) if most is None else min(most, len(prefix))
        unique = record.unique is not None and (most is None or most > 1)
        places = [*prefix, *([] if rest is None else [rest])]
        if unique and plan is not None and not self._emptiness.always_differ(plan, places):
            assert record.unique is not None
            self._refuse_unique(record.unique)
            unique = False
        inner = None if depth is None else depth + 1
        items = tuple([self._slot(slot, lambda child: self._item(child, inner)) for slot in prefix])
        least = record.min
        made: list[Grammar] = []
        conditions = plan.conditions if plan else ()
        if self._spelling.is_pretty and least == 0:
            if all_hold_at_once(conditions):
                made.append(EMPTY_ARRAY)
            least = 1
            if most == 0:
                return made
        made.append(
            Items(
                prefix=items,
                rest=None if rest is None else self._slot(rest, lambda child: self._item(child, inner)),
                punctuation=self._spelling.array_marks(depth),
                min_count=least,
                max_count=most,
                unique=unique,
                encoding=self._spelling.encoding,
                numbers=self._number_texts(places) if unique else self._spelling.numbers,
                conditions=conditions,
            )
        )
        return made

    def _slot(self, slot: Slot, text: Callable[[Child], Grammar]) -> Grammar | Counted:
        """What a slot holds: its value, split into the parts that count differently."""
        value = text(slot.child)
        if not slot.parts or value is DEAD:
            return value
        inhabited = [part for part in slot.parts if self._emptiness.inhabited(part.child)]
        return Counted(value, tuple([Way(text(part.child), part.counters) for part in inhabited]))

    def _number_texts(self, slots: list[Slot]) -> OneOf["canonical", "any"]:
        """Whether a number's value has one text: also canonically a whole number may have two (`1`, `1.0`)."""
        shapes = [self._builder.shape_of(slot.child) for slot in slots]
        if any(shape.has_containers for shape in shapes):
            return "any"
        one = all(r.finite is not None or r.constraint.integer for shape in shapes for r in shape.numbers)
        return self._spelling.numbers if one else "any"

    def _item(self, child: Child, depth: int | None) -> Grammar:
        value = self._value(child, depth)
        if not self._spelling.is_pretty or value is DEAD:
            return value
        before = line(depth, 0)
        if isinstance(value, Lexeme):
            return Lexeme(concat(before, value.regular))
        return Sequence((Lexeme(before), value))

    def _refuse_unique(self, path: str) -> None:
        reason = "cannot be enforced beside 'contains' or a negation that tells items apart of which there are few"
        help = "let items have more values, or drop one of the two"
        self._builder.findings.refuse(path, "uniqueItems", reason, help)

    # ------------------------------------------------------------ objects

    def _object(self, record: ObjectRecord, order: tuple[str, ...], depth: int | None) -> list[Grammar]:
        if isinstance(record, ConstShape):
            return [self._constant(record.value, order, depth)]
        inner = None if depth is None else depth + 1
        plan = self._emptiness.object_plan(record) if record.outside else None
        declared = self._declared(record, order, plan)
        members = [
            Member(name, self._slot(slot, lambda child: self._value(child, inner)), name in record.required, label)
            for name, slot in declared.items()
            if name.isascii() or not self._is_unspellable(name, slot.child)
            for label in (self._builder.path_of(slot.child),)
        ]
        least, most = record.min, record.max
        made: list[Grammar] = []
        conditions = plan.conditions if plan else ()
        if self._spelling.is_pretty and least == 0 and not record.required:
            if all_hold_at_once(conditions):
                made.append(EMPTY_OBJECT)
            least = 1
            if most == 0:
                return made
        classes = self._counted_classes(plan, declared, inner) if plan else self._classes(record, inner)
        if least == 1 and made and not classes and all(member.value is DEAD for member in members):
            return made
        made.append(
            Members(
                members=tuple(members),
                classes=classes,
                punctuation=self._spelling.object_marks(depth),
                order=self._spelling.order,
                min_count=least,
                max_count=most,
                encoding=self._spelling.encoding,
                conditions=conditions,
            )
        )
        return made

    def _declared(self, record: ObjectShape, order: tuple[str, ...], plan: ObjectPlan | None) -> dict[str, Slot]:
        """The members in the order of the place: names declared in any branch first, then required others.

        Names that only an obligation speaks of are no different from any other name, unless all come in any order.
        """
        declared: dict[str, Child] = {}
        if order == tuple(record.members):
            declared.update(record.members)
        else:
            for name in order:
                child = child_of(record, name)
                if name in record.members or child != NOTHING:
                    declared[name] = child
            for name, child in record.members.items():
                declared.setdefault(name, child)
        for name in record.required:
            if name not in declared:
                declared[name] = child_of(record, name)
        if plan is None:
            return {name: Slot(child) for name, child in declared.items()}
        if self._spelling.order == "any":
            for name, slot in plan.members.items():
                declared.setdefault(name, slot.child)
        return {name: plan.slot_of(name, child) for name, child in declared.items()}

    def _is_unspellable(self, name: str, child: Child) -> bool:
        if not has_surrogate(name):
            return False
        path = ascii(self._builder.path_of(child))[1:-1]
        reason = f"the name {name!a} holds a lone surrogate, cannot be written as UTF-8, and is left out"
        self._builder.findings.note(path, "properties", reason, "narrower")
        return True

    def _classes(self, record: ObjectShape, depth: int | None) -> tuple[NameClass, ...]:
        found: list[NameClass] = []
        for pattern, child in record.patterns:
            value = self._value(child, depth)
            if value is not DEAD:
                found.append(NameClass(pattern, value, self._builder.path_of(child)))
        value = self._value(record.extra, depth)
        if value is not DEAD:
            names = ANY_TEXT
            if record.patterns:
                names = Not(alternation(*[pattern for pattern, _ in record.patterns]))
            label = self._builder.path_of(record.extra) if record.extra else None
            found.append(NameClass(names, value, label))
        return tuple(found)

    def _counted_classes(
        self, plan: ObjectPlan, declared: Mapping[str, Slot], depth: int | None
    ) -> tuple[NameClass, ...]:
        single = [name for name in plan.members if name not in declared and not has_surrogate(name)]
        found: list[NameClass] = []
        for names, slot in [
            *[(Literal(name), plan.members[name]) for name in single],
            *[(class_names(plan, k), slot) for k, (_, slot) in enumerate(plan.classes)],
        ]:
            value = self._slot(slot, lambda child: self._value(child, depth))
            if value is not DEAD:
                found.append(NameClass(names, value, self._builder.path_of(slot.child) if slot.child else None))
        return tuple(found)

    # ------------------------------------------------------------ constants

    def _constant(self, value: JsonValue, order: tuple[str, ...], depth: int | None) -> Grammar:
        """The texts of one array or object."""
        inner = None if depth is None else depth + 1
        if isinstance(value, ObjectValue):
            rank = {name: i for i, name in enumerate(order)}
            members = sorted(value.members, key=lambda member: rank.get(member[0], len(rank)))
            if not members and self._spelling.is_pretty:
                return EMPTY_OBJECT
            return Members(
                members=tuple([Member(name, self._constant_value(item, inner), True) for name, item in members]),
                classes=(),
                punctuation=self._spelling.object_marks(depth),
                order=self._spelling.order,
                encoding=self._spelling.encoding,
            )
        assert isinstance(value, tuple)
        if not value and self._spelling.is_pretty:
            return EMPTY_ARRAY
        return Items(
            prefix=tuple([self._constant_item(item, inner) for item in value]),
            rest=None,
            punctuation=self._spelling.array_marks(depth),
            min_count=len(value),
            max_count=len(value),
            encoding=self._spelling.encoding,
            numbers=self._spelling.numbers,
        )

    def _constant_value(self, value: JsonValue, depth: int | None) -> Grammar:
        if isinstance(value, (tuple, ObjectValue)):
            return self._constant(value, (), depth)
        return self._lexeme(self._builder.shape_of(self._builder.constant(value, "#")))

    def _constant_item(self, value: JsonValue, depth: int | None) -> Grammar:
        text = self._constant_value(value, depth)
        if not self._spelling.is_pretty:
            return text
        before = line(depth, 0)
        return Lexeme(concat(before, text.regular)) if isinstance(text, Lexeme) else Sequence((Lexeme(before), text))

    # ------------------------------------------------------------ recursion

    def _is_recursive(self, child: Child) -> bool:
        """True if a value of `child` may hold, at some depth, another value of the same shape."""
        target = self._builder.shape_of(child)
        if id(target) not in self._recursive:
            seen: set[int] = set()
            stack = list(_inner(target))
            while stack and id(target) not in seen:
                other = self._builder.shape_of(stack.pop())
                if id(other) not in seen:
                    seen.add(id(other))
                    stack.extend(_inner(other))
            self._recursive[id(target)] = id(target) in seen
        return self._recursive[id(target)]


def _inner(shape: Shape) -> list[Child]:
    found: list[Child] = []
    for record in shape.arrays:
        if isinstance(record, ArrayShape):
            found += [*record.prefix, record.rest, *(c.child for c in record.contains)]
            for other in record.outside:
                found += [*other.prefix, other.rest]
    for record in shape.objects:
        for each in (record, *record.outside) if isinstance(record, ObjectShape) else ():
            found += [*each.members.values(), *(child for _, child in each.patterns), each.extra]
    return found
