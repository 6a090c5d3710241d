"""The instruments themselves: a measurement is only as good as what takes it."""

import json
import os
from decimal import Decimal

from benchmarks import compile_time, conformance, data, declared_order, first_cut, judging, tables, workers


def test_numbers_that_no_float_holds_are_written_as_they_were_read():
    text = '{"a": 1.0, "b": 0.12345678901234567890123, "c": 1e400, "d": 12345678901234567890, "e": 19.99}'
    value = data.parse_json(text)
    assert isinstance(value["b"], Decimal) and isinstance(value["e"], float)
    assert data.parse_json(data.json_text(value)) == value
    assert '"b": 0.12345678901234567890123' in data.json_text(value)


def test_json_text_is_what_json_dumps_writes():
    value = {"é": [1, 1.5, None, True, "\u2028\x7f\x01"], "b": {}}
    assert data.json_text(value, ascii=True) == json.dumps(value)
    assert data.json_text(value) == json.dumps(value, ensure_ascii=False)


def test_a_lone_surrogate_is_written_in_ascii():
    assert data.json_text("\ud800é") == '"\\ud800\\u00e9"'


def test_canonical_numbers_keep_their_value():
    assert data.json_text(data.with_canonical_numbers([1.0, -0.0, 1e21, 2.50, True])) == f"[1, 0, {10**21}, 2.5, true]"


def test_members_come_in_order_of_first_appearance():
    schema = {
        "required": ["r", "b"],
        "allOf": [{"properties": {"c": {}, "a": {}}}, {"$ref": "#/$defs/more"}],
        "properties": {"b": {"properties": {"y": {}, "x": {}}}},
        "$defs": {"more": {"properties": {"d": {}}}},
    }
    (found,) = declared_order.candidates(schema, {"z": 1, "r": 2, "d": 3, "a": 4, "b": {"x": 1, "y": 2}, "c": 5})
    assert list(found) == ["b", "c", "a", "d", "r", "z"]
    assert list(found["b"]) == ["y", "x"]


def test_branches_that_cannot_hold_do_not_set_the_order_of_the_second_candidate():
    schema = {
        "anyOf": [
            {"properties": {"kind": {"const": 1}, "a": {}, "b": {}}},
            {"properties": {"b": {}, "a": {}, "kind": {"const": 2}}},
        ]
    }
    broad, narrow = declared_order.candidates(schema, {"a": 0, "b": 0, "kind": 2})
    assert (list(broad), list(narrow)) == (["kind", "a", "b"], ["b", "a", "kind"])


def test_a_reference_hides_its_siblings_where_the_draft_says_so():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": {"$ref": "#/definitions/a", "properties": {"name": {}}},
        "definitions": {"a": {"properties": {"x": {}, "y": {}}}},
    }
    (found,) = declared_order.candidates(schema, [{"y": 1, "name": 2, "x": 3}])
    assert list(found[0]) == ["x", "y", "name"]
    (found,) = declared_order.candidates(schema | {"$schema": ""}, [{"y": 1, "name": 2, "x": 3}])
    assert list(found[0]) == ["name", "x", "y"]


def test_items_are_sorted_by_the_schema_of_their_place():
    schema = {"prefixItems": [{"properties": {"b": {}, "a": {}}}], "items": {"properties": {"a": {}, "b": {}}}}
    (found,) = declared_order.candidates(schema, [{"a": 1, "b": 2}, {"b": 1, "a": 2}])
    assert [list(item) for item in found] == [["b", "a"], ["a", "b"]]


def test_names_that_depend_on_another_come_after_it_and_contained_items_follow_contains():
    schema = {
        "dependentRequired": {"b": ["a"], "no": ["x"]},
        "properties": {"list": {"contains": {"properties": {"q": {}, "p": {}}}}},
    }
    (found,) = declared_order.candidates(schema, {"x": 0, "a": 1, "list": [{"p": 1, "q": 2}], "b": 2})
    assert list(found) == ["list", "b", "a", "x"]
    assert list(found["list"][0]) == ["q", "p"]


def test_first_cut_names_what_is_outside_and_where():
    schema = {
        "properties": {"not": {"type": "string"}, "if": {"not": {}}, "u": {"items": {}, "uniqueItems": True}},
        "oneOf": [{"minimum": 1}, {"maximum": 5}],
        "$defs": {"unused": {"contains": {}}},
    }
    found = set(first_cut.outside_first_cut(schema))
    assert found == {("#/properties/if", "not"), ("#/properties/u", "uniqueItems"), ("#", "oneOf")}


def test_first_cut_takes_branches_told_apart_by_type_or_by_a_required_const():
    def tagged(tag: str) -> dict[str, object]:
        return {"type": "object", "properties": {"t": {"const": tag}}, "required": ["t"]}

    assert first_cut.uses_only_first_cut({"oneOf": [{"type": "string"}, tagged("a"), tagged("b")]})
    assert not first_cut.uses_only_first_cut({"oneOf": [tagged("a"), tagged("a")]})
    assert not first_cut.uses_only_first_cut({"oneOf": [{"type": "number"}, {"type": "integer"}]})


def test_first_cut_follows_recursion_once():
    assert first_cut.uses_only_first_cut({"properties": {"next": {"$ref": "#"}}})


def test_patterns_are_disjoint_only_if_their_heads_differ():
    assert first_cut.are_patterns_disjoint({"patternProperties": {"^x-": {}, "^y": {}}})
    assert not first_cut.are_patterns_disjoint({"patternProperties": {"^x": {}, "^x-": {}}})
    assert not first_cut.are_patterns_disjoint({"patternProperties": {"^a*": {}, "^b": {}}})
    assert not first_cut.are_patterns_disjoint({"patternProperties": {"^x": {}}, "properties": {"xy": {}}})


def test_quantiles_are_values_that_were_measured():
    assert [tables.quantile(range(1, 1001), q) for q in (0.5, 0.99, 0.999, 1)] == [500, 990, 999, 1000]


def misbehave(argument: str, step: workers.Step) -> str:
    """A task of `workers.run`: hangs, dies or answers."""
    step(argument)
    if argument == "hang":
        while True:  # a sleep takes no processor time
            pass
    if argument == "die":
        os._exit(3)
    return argument


def test_a_task_that_hangs_or_dies_costs_only_itself():
    arguments = ["a", "hang", "b", "die", "c"]
    found = dict(workers.run(misbehave, arguments, processes=2, step_limit_s=0.5))
    assert found[1] == workers.Lost("timeout", "hang")
    assert found[3] == workers.Lost("crash", "die")
    assert [found[i] for i in (0, 2, 4)] == ["a", "b", "c"]


def test_schemas_that_compile_slowly_are_named_and_only_shared_ones_are_compared():
    def one(name: str, us: float, refused: str = "") -> compile_time.Compiled:
        stages = {} if refused else dict.fromkeys(compile_time.STAGES, us / 3)
        return compile_time.Compiled(name, refused, stages | {"all": us}, us)

    found = [
        compile_time.Both("fast", [one("constrain", 300.0), one("peer", 100.0)]),
        compile_time.Both("slow", [one("constrain", 3e6), one("peer", 5.0, "not")]),
        compile_time.Both("gone", lost="timeout at turn 0"),
    ]
    text = compile_time.report(found, ("constrain", "peer"), 2.0, 1024.0)
    assert "slow: 3.00 s" in text and "fast: " not in text and "lost gone: timeout at turn 0" in text
    shared = next(line for line in text.splitlines() if line.startswith("constrain "))
    assert shared.split()[1:3] == ["1", "300"]


def test_a_format_that_is_only_an_annotation_is_no_wrong_verdict():
    group = data.SuiteGroup("f", "d", {"format": "made-up"}, (("bad", data.Instance(False, "-")),))
    judged = judging.judge_group((group, {"formats": "known"}), lambda _: None)
    assert [conformance.classify(judged, valid, verdict) for _, valid, verdict in judged.verdicts] == ["not claimed"]


def test_costs_name_what_is_beyond_the_limits():
    judged = [
        judging.Judged("quick", judging.Outcome("compiled", compile_s=0.1, peak_bytes=2**20)),
        judging.Judged("slow", judging.Outcome("compiled", compile_s=2.5, peak_bytes=2**20)),
        judging.Judged("large", judging.Outcome("compiled", compile_s=0.1, peak_bytes=2**31)),
    ]
    assert conformance.cost_lines(judged)[-1] == "over 2 s or 1 GB: slow, large"
