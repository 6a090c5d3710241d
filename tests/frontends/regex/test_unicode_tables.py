"""The tables are those of `re` and `regress`, code point by code point, and are quick to make."""

from __future__ import annotations

import re

import pytest
import regress

from constrain.frontends.regex import unicode_tables
from constrain.frontends.regex.classes import merge

POINTS = [*range(0xD800), *range(0xE000, 0x110000)]


def members(ranges) -> set[int]:
    return {point for low, high in ranges for point in range(low, high + 1) if not 0xD800 <= point <= 0xDFFF}


@pytest.mark.parametrize("letter", ["d", "w", "s"])
def test_python_classes_hold_what_re_matches(letter):
    matched = {ord(character) for character in re.findall(rf"\{letter}", "".join(map(chr, POINTS)))}
    assert members(unicode_tables.python_class(letter)) == matched


@pytest.mark.parametrize(
    "name", ["L", "Lu", "Script=Greek", "scx=Deva", "Emoji", "Any", "ASCII", "gc=Cn", "White_Space", "Co"]
)
def test_properties_hold_what_regress_matches(name):
    pattern = regress.Regex(rf"^\p{{{name}}}$", "u")
    held = members(unicode_tables.property_ranges(name))
    edges = {
        point + step
        for low, high in unicode_tables.property_ranges(name)
        for point in (low, high)
        for step in (-1, 0, 1)
    }
    for point in edges | set(range(0, 0x110000, 997)):
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            assert (point in held) == (pattern.find(chr(point)) is not None), hex(point)


@pytest.mark.parametrize("name", ["Foo", "Script=Foo", "gc", "", "L}|a{", "IsGreek", "RGI_Emoji"])
def test_an_unknown_property_is_an_error(name):
    with pytest.raises(ValueError):
        unicode_tables.property_ranges(name)


def test_case_variants_are_those_of_re():
    text = "".join(map(chr, POINTS))
    cased = [point for point in POINTS if chr(point).lower() != chr(point) or chr(point).upper() != chr(point)]
    for point in cased[::40] + [ord(one) for one in "sSſkKKåÅÅßẞσςΣµμιͅιİıiIſtst"]:
        if 0xD800 <= point <= 0xDFFF:
            continue
        matched = {ord(one) for one in re.findall(re.escape(chr(point)), text[: 0x20000 - 0x800], re.IGNORECASE)}
        assert members(merge(unicode_tables.with_case_variants(((point, point),), False))) == matched, hex(point)
