"""Plans say of a value what its record says, and `closing` finds a way through exactly where there is one."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError
from constrain.frontends.json_schema.closing import _Search, _Stage
from constrain.frontends.json_schema.compile import settle
from constrain.frontends.json_schema.evaluate import array_in, belongs, object_in
from constrain.frontends.json_schema.obligations import ArrayPlan, ObjectPlan, Slot, plan_array, plan_object
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.shapes import ArrayShape, ObjectShape
from constrain.frontends.json_schema.values import ObjectValue, freeze
from constrain.grammar import regular
from constrain.grammar.terms import Bound, Condition

LEAVES: list[Any] = [
    True,
    False,
    {"type": "integer"},
    {"type": "string"},
    {"const": 1},
    {"enum": [1, "a"]},
    {"minimum": 1},
]
VALUES: list[Any] = [0, 1, 2, "a", "b", None]
leaves = st.sampled_from(LEAVES)
objects = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(st.sampled_from("abc"), leaves, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b", "^x"]), leaves, max_size=2),
        "additionalProperties": leaves,
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 3),
    },
)
arrays = st.fixed_dictionaries(
    {},
    optional={
        "prefixItems": st.lists(leaves, min_size=1, max_size=2),
        "items": leaves,
        "contains": leaves,
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 3),
    },
)


def _holding(slots: Slot, value: Any, shape_of: Any) -> list[tuple[int, ...]]:
    if not slots.parts:
        return [()] if belongs(value, slots.child, shape_of) else []
    return [part.counters for part in slots.parts if belongs(value, part.child, shape_of)]


def _counted(found: list[list[tuple[int, ...]]], conditions: tuple[Condition, ...]) -> bool:
    """Whether the items or members, each in just one part, satisfy the conditions together."""
    if not all(found):
        return False
    assert all(len(parts) == 1 for parts in found), "a value belongs to two parts"
    counts: dict[int | None, int] = {None: len(found)}
    for (counters,) in found:
        for counter in counters:
            counts[counter] = counts.get(counter, 0) + 1
    return all(any((counts.get(b.counter, 0) >= b.least) == b.reached for b in c) for c in conditions)


def _member_slot(plan: ObjectPlan, name: str) -> Slot:
    if name in plan.members:
        return plan.members[name]
    found = [slot for names, slot in plan.classes if names is None or regular.matches(names, name)]
    assert len(found) <= 1, "a name belongs to two classes"
    return found[0] if found else Slot((0,))


@settings(max_examples=250, deadline=None)
@given(objects, st.lists(objects, min_size=1, max_size=3))
def test_an_object_satisfies_a_record_iff_it_satisfies_its_plan(schema: Any, negated: list[Any]):
    schema = {"type": "object", "allOf": [schema, *({"not": other} for other in negated)]}
    try:
        settled = settle(schema, SchemaOptions())
    except ConstrainError:
        reject()
    shape_of = settled.builder.shape_of
    for record in shape_of(settled.root).objects:
        if not isinstance(record, ObjectShape) or not record.outside:
            continue
        plan = plan_object(settled.builder, record, "#")
        for names in itertools.chain.from_iterable(itertools.combinations(["a", "b", "xb", "c"], n) for n in range(4)):
            for values in itertools.product([1, "a", None], repeat=len(names)):
                value = freeze(dict(zip(names, values, strict=True)), "#")
                assert isinstance(value, ObjectValue)
                kept = plan is not None and record.min <= len(names)
                kept = kept and (record.max is None or len(names) <= record.max)
                kept = kept and all(name in names for name in record.required)
                if kept and plan is not None:
                    found = [_holding(_member_slot(plan, name), v, shape_of) for name, v in value.members]
                    kept = _counted(found, plan.conditions)
                assert kept == object_in(record, value, shape_of), (schema, value)


@settings(max_examples=250, deadline=None)
@given(arrays, st.lists(arrays, max_size=2))
def test_an_array_satisfies_a_record_iff_it_satisfies_its_plan(schema: Any, negated: list[Any]):
    schema = {"type": "array", "allOf": [schema, *({"not": other} for other in negated)]}
    try:
        settled = settle(schema, SchemaOptions())
    except ConstrainError:
        reject()
    shape_of = settled.builder.shape_of
    for record in shape_of(settled.root).arrays:
        if not isinstance(record, ArrayShape) or not record.counts:
            continue
        plan = plan_array(settled.builder, record, "#")
        for value in itertools.chain.from_iterable(itertools.product(VALUES, repeat=n) for n in range(4)):
            frozen = freeze(list(value), "#")
            assert isinstance(frozen, tuple)
            kept = plan is not None and record.min <= len(value)
            kept = kept and (record.max is None or len(value) <= record.max)
            if kept and plan is not None:
                found = [_holding(_item_slot(plan, i), item, shape_of) for i, item in enumerate(frozen)]
                kept = _counted(found, plan.conditions)
            assert kept == array_in(record, frozen, shape_of), (schema, value)


def _item_slot(plan: ArrayPlan, index: int) -> Slot:
    return plan.prefix[index] if index < len(plan.prefix) else plan.rest


COUNTERS = 3
moves = st.lists(st.lists(st.integers(0, COUNTERS - 1), unique=True, max_size=2).map(tuple), max_size=3).map(tuple)
stages = st.lists(st.builds(_Stage, moves, st.sampled_from([1, 1, 2, 3]), st.booleans()), max_size=4)
bounds = st.builds(Bound, st.none() | st.integers(0, COUNTERS - 1), st.integers(0, 3), st.booleans())
conditions = st.lists(st.lists(bounds, min_size=1, max_size=3).map(tuple), max_size=4)


@settings(max_examples=600, deadline=None)
@given(stages, conditions, st.integers(0, 3), st.none() | st.integers(0, 4), st.booleans())
def test_closing_is_found_exactly_where_some_way_settles_all(
    stages: list[_Stage], conditions: list[Condition], least: int, most: int | None, stops: bool
):
    def ends(counts: tuple[int, ...]) -> bool:
        total = counts[-1]
        if total < least or (most is not None and total > most):
            return False
        values = {None: total, **dict(enumerate(counts[:-1]))}
        return all(any((values[b.counter] >= b.least) == b.reached for b in c) for c in conditions)

    reached = {(0,) * (COUNTERS + 1)}
    found = stops and any(map(ends, reached))
    for stage in stages:
        after = set(reached) if stage.may_skip else set()
        fresh = reached
        for used in range(stage.times or 0):
            fresh = {
                tuple(n + (i in move or i == COUNTERS) for i, n in enumerate(counts))
                for counts in fresh
                for move in stage.moves
            }
            found = found or (stops and any(map(ends, fresh)))
            if stage.may_skip or used + 1 == stage.times:
                after |= fresh
        reached = after
    found = found or any(map(ends, reached))
    assert _Search(stages, conditions, least, most, stops).ends() == found
