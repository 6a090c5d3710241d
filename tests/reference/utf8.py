"""Which code points can be written with a given set of bytes: the twin's only knowledge of UTF-8.

Everything else in the twin works on code points; a byte that ends inside a character is kept as `partial`, the bytes of
that character so far. UTF-8 itself is taken from Python's codec.
"""

from __future__ import annotations

from bisect import bisect_right
from codecs import getincrementaldecoder
from functools import cache

Ranges = tuple[tuple[int, int], ...]

ALL_BYTES = frozenset(range(256))
_BLOCK = 64  # the code points of one aligned block differ only in their last byte


@cache
def spelled_ranges(alphabet: frozenset[int], partial: bytes = b"") -> Ranges:
    """The code points whose UTF-8 begins with `partial` and goes on with bytes of `alphabet` only; sorted ranges."""
    ranges: list[tuple[int, int]] = []
    low, high = _stretch(partial)
    for base in range(low, high + 1, _BLOCK):
        if base > 0x10FFFF or 0xD800 <= base <= 0xDFFF:
            continue
        encoded = chr(base).encode()
        if len(encoded) <= len(partial) or not encoded.startswith(partial):
            continue
        if not alphabet.issuperset(encoded[len(partial) : -1]):
            continue
        for offset in range(_BLOCK):
            if encoded[-1] + offset in alphabet:
                if ranges and ranges[-1][1] == base + offset - 1:
                    ranges[-1] = (ranges[-1][0], base + offset)
                else:
                    ranges.append((base + offset, base + offset))
    return tuple(ranges)


def _stretch(partial: bytes) -> tuple[int, int]:
    """Where to look for characters that begin with `partial`: the payload bits so far, and any bits behind them."""
    if not partial:
        return 0, 0x10FFFF
    length = 2 if partial[0] < 0xE0 else 3 if partial[0] < 0xF0 else 4
    bits = partial[0] & (0x7F >> length)
    for byte in partial[1:]:
        bits = bits << 6 | byte & 0x3F
    missing = 6 * (length - len(partial))
    return bits << missing, (bits + 1 << missing) - 1


def first_code_points(ranges: Ranges, low: int, high: int, count: int = 1) -> list[int]:
    """The first `count` code points of `ranges` that lie in low…high."""
    found: list[int] = []
    index = max(bisect_right(ranges, (low, 0x110000)) - 1, 0)
    while index < len(ranges) and ranges[index][0] <= high and len(found) < count:
        begin, end = max(low, ranges[index][0]), min(high, ranges[index][1])
        found.extend(range(begin, min(end + 1, begin + count - len(found))))
        index += 1
    return found


def is_partial(data: bytes) -> bool:
    """True if `data` is the beginning of one character, but not all of it."""
    try:
        return getincrementaldecoder("utf-8")().decode(data) == ""
    except UnicodeDecodeError:
        return False


@cache
def next_character(partial: bytes, byte: int) -> int | bytes | None:
    """What `byte` makes of `partial`: a whole code point, more of one, or None where UTF-8 forbids it."""
    data = partial + bytes((byte,))
    try:
        return ord(data.decode())
    except UnicodeDecodeError:
        return data if is_partial(data) else None
