"""Options check their own values."""

from __future__ import annotations

import pytest

from constrain.errors import InvalidSpecification
from constrain.frontends.json_schema import SchemaOptions


@pytest.mark.parametrize("name", ["key_order", "whitespace", "numbers", "escapes", "formats", "on_unsupported"])
def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(InvalidSpecification) as raised:
        SchemaOptions(**{name: "nonsense"})  # type: ignore[arg-type]
    assert name in raised.value.message
    assert "'" in (raised.value.expected or "")


def test_spelling_any_is_short_for_every_spelling_choice() -> None:
    assert SchemaOptions.from_spelling("any") == SchemaOptions(
        key_order="any", numbers="any", escapes="any", whitespace="flexible"
    )


def test_a_single_choice_wins_over_the_short_form() -> None:
    assert SchemaOptions.from_spelling("any", whitespace="compact").whitespace == "compact"


@pytest.mark.parametrize("options", [{"spelling": "sloppy"}, {"colour": "red"}, {"dialect": "draft3"}])
def test_unknown_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidSpecification):
        SchemaOptions.from_spelling(**options)
