"""Escapes in JSON strings, read character by character.

Independent of `json.loads`, which judges it in the tests. Unfinished escapes are kept in lower case; a high surrogate's
escape is unfinished until the low one's is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.grammar import terms

SHORT_ESCAPES = {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CONTROLS_WITH_SHORT_ESCAPE = "\b\f\n\r\t"
HEX_DIGITS = "0123456789abcdef"
LOW_SURROGATE_DIGITS = "cdefCDEF"
"""The third digit of a low surrogate: `DC00` to `DFFF`."""


def read_escape(encoding: terms.Encoding, escape: str) -> tuple[int | None, str]:
    """The code point that `escape` spells, or None and what to keep of it: "" if nothing spelled so can follow."""
    if len(escape) == 2 and escape[1] in SHORT_ESCAPES:
        return ord(SHORT_ESCAPES[escape[1]]), ""
    if escape == "\\/" and encoding == "json_any":
        return ord("/"), ""
    if encoding == "json":
        return _read_canonical_escape(escape)
    first, second = escape[:6].lower(), escape[6:].lower()
    if not _may_become_escape(first) or not _may_become_escape(second):
        return None, ""
    if len(first) < 6:
        return None, first
    unit = int(first[2:], 16)
    if not 0xD800 <= unit <= 0xDFFF:
        return unit, ""
    if unit >= 0xDC00:
        return None, ""
    if len(second) < 6:
        return None, first + second
    low = int(second[2:], 16)
    return (0x10000 + (unit - 0xD800) * 0x400 + low - 0xDC00, "") if 0xDC00 <= low <= 0xDFFF else (None, "")


def _may_become_escape(text: str) -> bool:
    return text[:2] in ("", "\\", "\\u") and all(digit in HEX_DIGITS for digit in text[2:])


def _read_canonical_escape(escape: str) -> tuple[int | None, str]:
    for control in range(0x20):
        canonical = f"\\u{control:04x}"
        if chr(control) not in CONTROLS_WITH_SHORT_ESCAPE and canonical.startswith(escape):
            return (control, "") if canonical == escape else (None, escape)
    return None, ""


@dataclass(frozen=True, slots=True)
class Spelled:
    """What an unfinished escape may become: a code point of low…high, and what is missing until it does."""

    low: int
    high: int
    missing_digits: int
    needs_low_surrogate: bool


def spelled_by(escape: str) -> Spelled | None:
    """All that `\\u` and some digits may become; None where that is not one stretch with one way to go on."""
    digits = escape[2:]
    if len(digits) > 4:
        return None
    low, high = int(digits.ljust(4, "0"), 16), int(digits.ljust(4, "f"), 16)
    if high < 0xD800 or low > 0xDFFF:
        return Spelled(low, high, 4 - len(digits), False)
    if not 0xD800 <= low <= high <= 0xDBFF:
        return None
    first, last = (0x10000 + (unit - 0xD800) * 0x400 for unit in (low, high + 1))
    return Spelled(first, last - 1, 4 - len(digits), True)
