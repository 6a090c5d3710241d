"""Python types: what the schema lets through Pydantic accepts, and what it cannot say is a rule.

Judges: Pydantic's validator, and `jsonschema_rs` for the schema that we derive.
"""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import enum
import fractions
import ipaddress
import json
import pathlib
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError, InvalidSpecification, ValidationFailed
from constrain.frontends.python_types import schema_of

pydantic = pytest.importorskip("pydantic", reason="pydantic is an extra")
jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the judge of the schemas")

from annotated_types import Ge, Len, MaxLen, MinLen, Predicate  # noqa: E402
from pydantic import (  # noqa: E402
    UUID4,
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    NaiveDatetime,
    PastDate,
    PlainValidator,
    RootModel,
    SecretStr,
    StringConstraints,
    Tag,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from typing_extensions import NotRequired, TypedDict  # noqa: E402, UP035 - pydantic wants these before 3.12

# ---------------------------------------------------------------- types


class Colour(enum.Enum):
    red = "red"
    two = 2
    pair = (1, 2)


class Point(NamedTuple):
    x: int
    y: float = 1.0


@dataclass
class Size:
    width: int
    area: int = field(init=False, default=3)
    scale: InitVar[int] = 1


class Movie(TypedDict):
    name: str
    year: NotRequired[int]


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    good: bool


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=20)
    age: Annotated[int, Field(ge=0, lt=150)]
    email: str | None = None
    tags: set[str] = set()
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None


class Aliased(BaseModel):
    first: int = Field(alias="firstName")
    second: str = Field(default="", validation_alias=AliasChoices(AliasPath("a", 0), "b"))


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
    first: int = Field(alias="firstName")


class Short(BaseModel):
    model_config = ConfigDict(str_min_length=2, str_max_length=3)
    text: str
    words: list[Annotated[str, Field(max_length=5)]] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]  # type: ignore[assignment]
    name: str


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    text: str = Field(min_length=1)


class Encoded(BaseModel):
    model_config = ConfigDict(val_json_bytes="base64")
    data: bytes


def chooses(value: Any) -> str:
    return "n" if isinstance(value, int) else "s"


Chosen = Annotated[Annotated[int, Tag("n")] | Annotated[str, Tag("s")], Discriminator(chooses)]

# type → (JSON that must be accepted by both, JSON that must be refused by both)
AGREE: dict[str, tuple[Any, list[str], list[str]]] = {
    "int": (int, ["1", "-3", "0", "12345678901234567890"], ["1.5", "null", "[]"]),
    "float": (float, ["1", "1.5", "-2e3"], ["null", "{}", '"x"']),
    "bool": (bool, ["true", "false"], ["null", '"x"']),
    "none": (None, ["null"], ["0"]),
    "any": (Any, ["1", "null", '{"a": []}'], []),
    "constrained": (Annotated[int, Field(gt=2, le=10, multiple_of=2)], ["4", "10"], ["2", "3", "12"]),
    "string": (Annotated[str, Field(min_length=2, max_length=3, pattern="^a")], ['"ab"', '"a🙂"'], ['"a"', '"bb"']),
    "decimal": (Decimal, ["1.5", '"1.50"', '"-3"'], ['"abc"', '"NaN"', '"1."  x']),
    "money": (
        Annotated[Decimal, Field(max_digits=4, decimal_places=2)],
        ["12.34", "-99.99", '"12.3"', "99"],
        ["123", "0.001", '"100.00"', '"1.234"'],
    ),
    "digits": (
        Annotated[Decimal, Field(max_digits=2)],
        ["0.12", "1.5", "10", '"1.5"', '"0.12"'],
        ["0.012", "100", '"1.25"', '"0.125"', '"123"'],
    ),
    "price": (Annotated[Decimal, Field(ge=0, decimal_places=2)], ["0", "19.99"], ["-1", "0.001"]),
    "date": (dt.date, ['"2024-02-29"', '"0001-01-01"'], ['"2023-02-29"', '"0000-01-01"', '"2024"']),
    "datetime": (
        dt.datetime,
        ['"2024-02-29T12:00:00Z"', '"2024-02-29T12:00:00.5+05:30"'],
        ['"2016-12-31T23:59:60Z"', '"0000-01-01T00:00:00Z"', '"2024-02-30T12:00:00Z"'],
    ),
    "aware": (AwareDatetime, ['"2024-02-29T12:00:00Z"'], ['"2024-02-29T12:00:00"']),
    "naive": (
        NaiveDatetime,
        ['"2024-02-29T12:00:00"', '"0400-02-29T00:00:00.123"'],
        ['"2024-02-29T12:00:00Z"', '"2023-02-29T12:00:00"', '"0000-02-29T12:00:00"'],
    ),
    "time": (dt.time, ['"12:00:00Z"', '"23:59:59.25+01:00"'], ['"23:59:60Z"', '"24:00:00Z"']),
    "duration": (
        dt.timedelta,
        ['"P1Y2M3DT4H5M6S"', '"P3W"', '"PT1M"'],
        ['"P"', '"one day"', '"P9999999999D"'],
    ),
    "uuid": (uuid.UUID, [f'"{uuid.UUID(int=7)}"'], ['"x"', '"00000000-0000-0000-0000-00000000000g"']),
    "uuid4": (
        UUID4,
        ['"993e9649-7a57-4c9f-a9ed-e476d7f7db67"'],
        ['"899ef112-ec1c-11f1-b914-02fc00000001"', '"00000000-0000-4000-0000-000000000000"'],
    ),
    "ipv4": (ipaddress.IPv4Address, ['"127.0.0.1"'], ['"256.0.0.1"', '"1.2.3"', '"01.2.3.4"']),
    "ipv6": (ipaddress.IPv6Address, ['"::1"'], ['"1.2.3.4"', '":::"']),
    "path": (pathlib.Path, ['"a/b"'], ["1"]),
    "bytes": (bytes, ['"é"'], ["1"]),
    "base64": (Encoded, ['{"data": "YQ=="}', '{"data": "-_-_"}'], ['{"data": "YR=="}', '{"data": "é"}']),
    "secret": (SecretStr, ['"x"'], ["1"]),
    "fraction": (fractions.Fraction, ["1.5", '"1/3"', '"-3"'], ['"1/0"', '"x"']),
    "complex": (complex, ['"1+2j"', '"1.5"'], ['"abc"', "[]"]),
    "list": (Annotated[list[int], Len(1, 2)], ["[1]", "[1, 2]"], ["[]", "[1, 2, 3]", '["x"]']),
    "set": (set[int], ["[]", "[1, 2]"], ['["x"]', "1"]),
    "frozenset": (frozenset[str], ['["a", "b"]'], ["[1]"]),
    "tuple": (tuple[int, str], ['[1, "a"]'], ["[1]", '[1, "a", 2]', '["a", 1]']),
    "tail": (tuple[int, ...], ["[]", "[1, 2]"], ['["x"]']),
    "named": (Point, ["[1]", "[1, 2.5]"], ["[]", "[1, 2, 3]"]),
    "sequence": (Sequence[int], ["[1]"], ['["x"]']),
    "deque": (collections.deque[int], ["[1]"], ['["x"]']),
    "mapping": (Mapping[str, int], ['{"a": 1}'], ['{"a": "x"}', "[]"]),
    "int keys": (dict[int, str], ['{"1": "a", "-5": "b"}', "{}"], ['{"a": "b"}']),
    "date keys": (dict[dt.date, int], ['{"2024-02-29": 1}'], ['{"2023-02-29": 1}', '{"x": 1}']),
    "bool keys": (dict[bool, int], ['{"true": 1}'], ['{"x": 1}']),
    "enum keys": (dict[Colour, int], ['{"red": 1}'], ['{"blue": 1}']),
    "literal keys": (dict[Literal["a", "b"], int], ['{"a": 1}', "{}"], ['{"c": 1}']),
    "pattern keys": (dict[Annotated[str, Field(pattern="^a")], int], ['{"ab": 1}'], ['{"b": 1}', '{"a": "x"}']),
    "long keys": (dict[Annotated[str, MinLen(2)], int], ['{"ab": 1}'], ['{"a": 1}']),
    "sized": (Annotated[dict[str, int], Len(1, 2)], ['{"a": 1}'], ["{}", '{"a": 1, "b": 1, "c": 1}']),
    "enum": (Colour, ['"red"', "2"], ['"blue"', "[1, 2]", "3"]),
    "literal": (Literal[1, "a", None], ["1", '"a"', "null"], ['"b"', "2"]),
    "literal bytes": (Literal["x", b"y"], ['"x"'], ['"y"']),
    "union": (int | list[str], ["1", '["a"]'], ["[1]", "null"]),
    "optional": (Optional[int], ["null", "3"], ['"x"', "[]"]),  # noqa: UP045 - the old spelling is a case of its own
    "tagged": (
        Annotated[Union[Cat, Dog], Field(discriminator="kind")],  # noqa: UP007
        ['{"kind": "cat"}', '{"kind": "dog", "good": true}'],
        ["{}", '{"kind": "dog"}', '{"kind": "cow"}', '{"good": true}'],
    ),
    "dataclass": (Size, ['{"width": 1}', '{"width": 1, "scale": 2}'], ["{}", '{"width": "x"}']),
    "typed dict": (Movie, ['{"name": "a"}', '{"name": "a", "year": 1}'], ["{}", '{"name": 1}']),
    "recursive": (Tree, ['{"value": 1, "children": [{"value": 2}]}'], ['{"value": 1, "children": [{}]}']),
    "root": (RootModel[list[int]], ["[1]"], ['["x"]']),
    "aliased": (Aliased, ['{"firstName": 1, "b": "x"}'], ['{"first": 1}', '{"firstName": 1, "b": 2}']),
    "bounded by the model": (
        Short,
        ['{"text": "abc", "words": ["abcde"]}'],
        ['{"text": "a"}', '{"text": "abcd"}', '{"text": "ab", "words": ["a"]}'],
    ),
    "typed extras": (Open, ['{"name": "a", "b": 1}'], ['{"name": "a", "b": "x"}', '{"b": 1}']),
    "by name": (ByName, ['{"first": 1}'], ['{"firstName": 1}']),
    "person": (
        Person,
        ['{"name": "Ann", "age": 42}', '{"name": "A", "age": 0, "tags": ["x"], "pet": {"kind": "cat"}}'],
        [
            '{"name": "", "age": 1}', '{"name": "A", "age": 150}', '{"name": "A"}', '{"name": "A", "age": 1, "x": 1}',
            '{"name": "A", "age": 1, "pet": {}}',
        ],
    ),
}  # fmt: skip


def judge(schema: dict[str, Any]) -> Callable[[Any], bool]:
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return validator.is_valid


def accepted_by_pydantic(type_: Any, text: str) -> bool:
    try:
        pydantic.TypeAdapter(type_).validate_json(text)
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", AGREE)
def test_schema_and_pydantic_agree(name: str) -> None:
    type_, good, bad = AGREE[name]
    result = schema_of(type_)
    fits = judge(result.schema)
    assert result.rules == ()
    for text in good:
        assert accepted_by_pydantic(type_, text), text
        assert fits(json.loads(text)), text
        result.validate(text)
    for text in bad:
        assert not accepted_by_pydantic(type_, text), text
        with pytest.raises(ValidationFailed):
            result.validate(text)
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            continue
        assert not fits(value), text


# ---------------------------------------------------------------- generated instances

STRINGS = {
    "date": st.dates().map(str) | st.just("0000-01-01"),
    "date-time": st.datetimes().map(lambda d: d.isoformat() + "Z") | st.just("2016-12-31T23:59:60Z"),
    "time": st.times().map(lambda t: t.isoformat() + "+01:00") | st.just("23:59:60Z"),
    "duration": st.from_regex(r"\AP[0-9]{1,9}[YMWD]\Z"),
    "uuid": (st.uuids() | st.uuids(version=4)).map(str),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": st.sampled_from(["http://a.b/c", "a:b", "urn:x:y", "http://"]),
}


def instances(schema: dict[str, Any], root: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values near the schema: most fit it, some break it."""
    if "$ref" in schema:
        target = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
        extra = {k: v for k, v in schema.items() if k == "required"}
        return instances({**target, **extra}, root, depth + 1)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([instances(branch, root, depth) for branch in schema[key]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "string":
        if "format" in schema:
            return STRINGS[schema["format"]]
        return st.from_regex(schema["pattern"]) if "pattern" in schema else st.text(max_size=5)
    if kind == "integer":
        return st.integers(-20, 20)
    if kind == "number":
        return st.decimals(-200, 200, places=3, allow_nan=False).map(float) | st.integers(-200, 200)
    if kind == "boolean":
        return st.booleans()
    if kind == "array":
        items = instances(schema.get("items") or {"type": "integer"}, root, depth + 1)
        if "prefixItems" in schema:
            return st.tuples(*[instances(item, root, depth + 1) for item in schema["prefixItems"]]).map(list)
        return st.lists(items, max_size=0 if depth > 3 else 3)
    if kind == "object":
        names = {
            name: instances(sub, root, depth + 1) for name, sub in schema.get("properties", {}).items() if depth < 5
        }
        required = {name: names[name] for name in schema.get("required", ()) if name in names}
        fixed = st.fixed_dictionaries(required, optional={k: v for k, v in names.items() if k not in required})
        for pattern, sub in schema.get("patternProperties", {}).items():
            return st.dictionaries(st.from_regex(pattern), instances(sub, root, depth + 1), max_size=2)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and not names:
            return st.dictionaries(st.text(max_size=3), instances(extra, root, depth + 1), max_size=2)
        return fixed
    return st.none() | st.integers(0, 3) | st.text(max_size=2)


@pytest.mark.parametrize("name", AGREE)
def test_whatever_fits_the_schema_is_accepted(name: str) -> None:
    type_ = AGREE[name][0]
    result = schema_of(type_)
    fits = judge(result.schema)
    adapter = pydantic.TypeAdapter(type_)
    fitting: list[Any] = []

    @given(value=instances(result.schema, result.schema))
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much], database=None)
    def check(value: Any) -> None:
        if fits(value):
            fitting.append(value)
            adapter.validate_json(json.dumps(value))

    check()
    assert fitting


# ---------------------------------------------------------------- rules


def is_even(value: int) -> int:
    """The number is even."""
    if value % 2:
        raise ValueError("not even")
    return value


def is_odd(value: int) -> bool:
    return value % 2 == 1


def wrapped(value: Any, handler: Any) -> Any:
    return handler(value)


class Booking(BaseModel):
    start: int
    end: int
    seats: list[Annotated[int, AfterValidator(is_even)]] = []

    @field_validator("start")
    @classmethod
    def not_zero(cls, value: int) -> int:
        """A booking starts after zero."""
        assert value
        return value

    @model_validator(mode="after")
    def in_order(self) -> Booking:
        if self.end < self.start:
            raise ValueError("ends before it starts")
        return self


@dataclass
class Checked:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("negative")


class Custom(BaseModel):
    n: int

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)


class Hooked(BaseModel):
    n: int

    def model_post_init(self, context: Any) -> None:
        pass


class Nested(BaseModel):
    a: Booking
    b: list[Booking]
    again: Nested | None = None


RULES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "after": (Annotated[int, AfterValidator(is_even)], [("#", "is_even")]),
    "before": (list[Annotated[int, BeforeValidator(is_even)]], [("#/items", "is_even")]),
    "plain": (Annotated[int, PlainValidator(is_even)], [("#", "is_even")]),
    "wrap": (dict[str, Annotated[int, WrapValidator(wrapped)]], [("#/additionalProperties", "wrapped")]),
    "predicate": (Annotated[int, Predicate(is_odd)], [("#", "is_odd")]),
    "model": (
        Booking,
        [("#", "in_order"), ("#/properties/start", "not_zero"), ("#/properties/seats/items", "is_even")],
    ),
    "dataclass": (Checked, [("#", "__post_init__")]),
    "constructor": (Custom, [("#", "__init__")]),
    "hook": (Hooked, [("#", "model_post_init")]),
    "bounded date": (Annotated[dt.date, Ge(dt.date(2020, 1, 1))], [("#", "ge")]),
    "past": (tuple[int, PastDate], [("#/prefixItems/1", "past")]),
    "url": (AnyUrl, [("#", "url")]),
    "json": (Json[list[int]], [("#", "Json")]),
    "bytes": (Annotated[bytes, MaxLen(3)], [("#", "max_length")]),
    "stripped": (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)],
        [("#", "strip_whitespace")],
    ),
    "stripped by the model": (Stripped, [("#", "str_strip_whitespace")]),
    "pattern": (Annotated[str, Field(pattern=r"^\W$")], [("#", "pattern")]),
    "chosen": (Chosen, [("#", "chooses")]),
    "network": (ipaddress.IPv4Network, [("#", "ip_v4_network_validator")]),
    "regex": (re.Pattern, [("#", "pattern_either_validator")]),
    "hashable": (Hashable, [("#", "is-instance")]),
}


@pytest.mark.parametrize("name", RULES)
def test_what_the_schema_cannot_say_is_a_rule_with_its_place(name: str) -> None:
    type_, expected = RULES[name]
    assert [(rule.path, rule.name) for rule in schema_of(type_).rules] == expected


def test_a_rule_carries_what_its_author_wrote() -> None:
    rule = schema_of(Annotated[int, AfterValidator(is_even)]).rules[0]
    assert rule.description == "checked after the value was read: The number is even."


def test_the_rules_of_a_type_met_again_are_told_once() -> None:
    rules = schema_of(Nested).rules
    assert [rule.path for rule in rules if rule.name == "in_order"] == ["#/properties/a"]


def test_a_broken_rule_is_a_failed_validation_with_all_its_reasons() -> None:
    validate = schema_of(Booking).validate
    assert validate('{"start": 1, "end": 2, "seats": [2]}') == Booking(start=1, end=2, seats=[2])
    with pytest.raises(ValidationFailed) as caught:
        validate('{"start": 0, "end": 2, "seats": [2, 3]}')
    assert [failure.path for failure in caught.value.failures] == ["/start", "/seats/1"]  # type: ignore[attr-defined]
    assert caught.value.text.startswith("{")
    with pytest.raises(ValidationFailed, match="ends before it starts"):
        validate(b'{"start": 3, "end": 2}')


def test_a_validator_that_raises_anything_is_a_failed_validation() -> None:
    def explode(value: int) -> int:
        raise KeyError("inside")

    with pytest.raises(ValidationFailed, match="KeyError"):
        schema_of(Annotated[int, AfterValidator(explode)]).validate("1")


@pytest.mark.parametrize("text", ["", "{", b"\xff", '{"a": NaN}', "[" * 10_000])
def test_text_that_is_no_json_is_a_failed_validation(text: str | bytes) -> None:
    with pytest.raises(ValidationFailed):
        schema_of(Person).validate(text)


# ---------------------------------------------------------------- refusals


class Opaque:
    pass


class Holder(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    inner: list[Opaque]


@dataclass
class Careless:
    fine: int
    bad: list[Opaque]


class Unfinished(BaseModel):
    x: Nowhere  # type: ignore[name-defined]  # noqa: F821


class PathAlias(BaseModel):
    a: int = Field(validation_alias=AliasPath("q", 0))


REFUSED: dict[str, tuple[Any, str, str | None]] = {
    "callable": (dict[str, Callable[[], int]], "callable", "#/additionalProperties"),
    "class": (type[int], "a class", "#"),
    "opaque class": (Opaque, "Opaque", "#"),
    "opaque field": (Holder, "Opaque", "#/properties/inner/items"),
    "opaque dataclass field": (Careless, "Opaque", "#/properties/bad"),
    "alias path": (PathAlias, "inside another value", "#/properties/a"),
    "set of lists": (set[list[int]], "hashed", "#/items"),
    "set of models": (set[Cat], "hashed", "#/items"),
    "enum without JSON": (enum.Enum("Pairs", {"a": (1, 2)}), "Pairs", "#"),
    "literal without JSON": (Literal[b"x"], "Literal", "#"),
    "a string": ("int", "not a type", None),
    "a schema": ({"type": "object"}, "not a type", None),
    "a number": (7, "not a type", None),
    "an unfinished model": (Unfinished, "define every type", None),
    "an undefined name": (list["Nowhere"], "Nowhere", None),  # type: ignore[name-defined]  # noqa: F821
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_json_can_spell_is_refused_with_type_and_path(name: str) -> None:
    type_, message, path = REFUSED[name]
    with pytest.raises(InvalidSpecification) as caught:
        schema_of(type_)
    assert message in str(caught.value)
    if path is not None:
        assert caught.value.at == path


def test_deep_types_are_a_value_or_a_typed_error() -> None:
    deep: Any = int
    for _ in range(2000):
        deep = list[deep]
    with contextlib.suppress(ConstrainError):
        schema_of(deep)


def test_a_hundred_fields_are_quick_and_keep_their_order() -> None:
    fields: dict[str, Any] = {f"f{i}": (int, ...) for i in range(100)}
    schema = schema_of(create_model("Wide", **fields)).schema
    assert list(schema["properties"]) == list(fields)


def test_without_pydantic_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pydantic'] = None\n"
        "from constrain.frontends.python_types import schema_of\n"
        "from constrain.errors import MissingExtra\n"
        "try: schema_of(int)\n"
        "except MissingExtra as error: assert 'constrain[pydantic]' in str(error)\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
