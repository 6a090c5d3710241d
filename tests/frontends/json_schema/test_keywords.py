"""The keyword table agrees with the readers and finds typos."""

from __future__ import annotations

import pytest

from constrain.errors import UnsupportedKeyword
from constrain.frontends.json_schema.compile import compile_schema
from constrain.frontends.json_schema.dialects import DIALECTS, MIXED
from constrain.frontends.json_schema.keywords import KEYWORDS, suggestion


@pytest.mark.parametrize("name", DIALECTS)
def test_every_assertion_and_applicator_of_a_dialect_has_a_reader(name: str) -> None:
    dialect = DIALECTS[name]
    for keyword in dialect.known:
        record = KEYWORDS[keyword]
        assert (record.kind in ("assertion", "applicator")) <= (keyword in dialect.readers), keyword


@pytest.mark.parametrize("name", DIALECTS)
def test_readers_are_of_known_keywords(name: str) -> None:
    assert set(DIALECTS[name].readers) <= DIALECTS[name].known


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("minimun", "minimum"), ("require", "required"), ("patern", "pattern"), ("itmes", "items"),
     ("maxlength", "maxLength"), ("enums", "enum"), ("x-order", None), ("nullable", None), ("id", None)],
)  # fmt: skip
def test_one_edit_is_a_typo(typo: str, meant: str | None) -> None:
    assert suggestion(typo, MIXED.known) == meant


def test_what_has_no_complement_is_refused_and_not_raised() -> None:
    schema = {
        "contains": {"patternProperties": {"b": {"$ref": "#/$defs/x"}}},
        "$defs": {"x": {"const": {}, "oneOf": [{"oneOf": [{}, {"required": ["", "c"]}]},
                                               {"oneOf": [{"maxProperties": 2}, {"required": ["", "c"]}]}]}},
    }  # fmt: skip
    with pytest.raises(UnsupportedKeyword):
        compile_schema(schema)
