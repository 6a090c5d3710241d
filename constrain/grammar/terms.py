"""The terms that specifications are compiled to: the one language between front ends and kernel.

Two layers. A *regular term* denotes a set of code point strings, and is closed under all Boolean operations. A
*grammar term* denotes a set of byte strings: regular terms (as UTF-8) put together by sequence, choice, named rules,
and two native containers, `Members` (the inside of an object) and `Items` (of an array), that carry what no
context-free rule says cheaply: required names, key order, counts, no name twice, no value twice.

Invariant: values are immutable and compare by structure. `CharClass.ranges` is sorted, disjoint, not adjacent, within
0…0x10FFFF and without surrogates (use `char_class` to build one). No left recursion reaches this layer.

This module does no simplification beyond the obvious; the kernel interns and normalises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

Encoding = OneOf["json", "json_any"]
"""How a character is written inside a JSON string.

"json"      one spelling each: itself, or `\\"`, `\\\\`, `\\b \\f \\n \\r \\t`, and `\\u00xx` (lower case) otherwise.
"json_any"  also `\\/` and every `\\uXXXX` (either case; surrogate pairs beyond the BMP); lone surrogates never.
"""

MAX_CODE_POINT = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)


# ---------------------------------------------------------------- regular terms


class _Composite:
    """Caches the hash: hashing shared structure anew at each level would cost its size times its depth."""

    __slots__ = ("_hash",)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            values = tuple(getattr(self, name) for name in self.__match_args__)  # type: ignore[attr-defined]
            object.__setattr__(self, "_hash", hash((type(self).__name__, values)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Empty:
    """No string at all."""


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The empty string only."""


@dataclass(frozen=True, slots=True)
class CharClass(_Composite):
    """One code point out of `ranges` (inclusive pairs)."""

    ranges: tuple[tuple[int, int], ...]

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class LiteralSet(_Composite):
    """Any one of `texts` (may be ten thousand)."""

    texts: tuple[str, ...]

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Concat(_Composite):
    items: tuple[Regular, ...]

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Alternation(_Composite):
    items: tuple[Regular, ...]

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Repeat(_Composite):
    """`item` from `min` to `max` times; `max=None` is without bound."""

    item: Regular
    min: int
    max: int | None

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class And(_Composite):
    """What all `items` have in common."""

    items: tuple[Regular, ...]

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Not(_Composite):
    """Every well-formed code point string that is not in `item`."""

    item: Regular

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class Encoded(_Composite):
    """Every spelling, under `encoding`, of a string of `item`: { e : decode(e) ∈ item }. Not nested."""

    item: Regular
    encoding: Encoding

    __hash__ = _Composite.__hash__


@dataclass(frozen=True, slots=True)
class DecimalMultiple:
    """Unsigned decimal numerals `digits` or `digits.digits` whose value is a multiple of coefficient · 10^-scale.

    `coefficient` ≥ 1, `scale` ≥ 0. Nothing is said of leading zeros or of how many digits: intersect for that. Not
    inside `Encoded`.
    """

    coefficient: int
    scale: int


Regular = (
    Empty
    | Epsilon
    | CharClass
    | Literal
    | LiteralSet
    | Concat
    | Alternation
    | Repeat
    | And
    | Not
    | Encoded
    | DecimalMultiple
)

EMPTY = Empty()
EPSILON = Epsilon()
ANY_CHAR = CharClass(((0, 0xD7FF), (0xE000, MAX_CODE_POINT)))
ANY_TEXT = Repeat(ANY_CHAR, 0, None)


def char_class(ranges: Iterable[tuple[int, int]]) -> Regular:
    """A `CharClass` of `ranges`: sorted, merged, surrogates cut out; `EMPTY` if nothing is left."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(_without_surrogates(ranges)):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return CharClass(tuple(merged)) if merged else EMPTY


def _without_surrogates(ranges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    first, last = SURROGATES
    for low, high in ranges:
        if low < first and low <= high:
            yield low, min(high, first - 1)
        if high > last and low <= high:
            yield max(low, last + 1), high


def concat(*items: Regular) -> Regular:
    """`items` one after the other, flattened; `EMPTY` if one is."""
    flat: list[Regular] = []
    for item in items:
        if isinstance(item, Empty):
            return EMPTY
        if isinstance(item, Concat):
            flat.extend(item.items)
        elif not isinstance(item, Epsilon):
            flat.append(item)
    return Concat(tuple(flat)) if len(flat) > 1 else flat[0] if flat else EPSILON


def alternation(*items: Regular) -> Regular:
    """Any of `items`, flattened, without `EMPTY` and doubles."""
    flat: dict[Regular, None] = {}
    for item in items:
        for one in item.items if isinstance(item, Alternation) else (item,):
            if not isinstance(one, Empty):
                flat[one] = None
    alternatives = tuple(flat)
    return Alternation(alternatives) if len(alternatives) > 1 else alternatives[0] if alternatives else EMPTY


def intersection(*items: Regular) -> Regular:
    """What all `items` have in common, flattened; `ANY_TEXT` for none."""
    flat: dict[Regular, None] = {}
    for item in items:
        for one in item.items if isinstance(item, And) else (item,):
            if isinstance(one, Empty):
                return EMPTY
            if one != ANY_TEXT:
                flat[one] = None
    parts = tuple(flat)
    return And(parts) if len(parts) > 1 else parts[0] if parts else ANY_TEXT


SHARED: dict[int, Regular] = {}
"""Terms that many specifications hold, by identity: lowered once for each alphabet, then copied inside the kernel."""


def shared(term: Regular) -> Regular:
    """`term`, marked as one that many specifications hold (a format, a cached number language). It is never freed."""
    SHARED[id(term)] = term
    return term


def optional(item: Regular) -> Regular:
    """`item` or nothing."""
    return Repeat(item, 0, 1)


# ---------------------------------------------------------------- grammar terms


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A regular term, written as UTF-8. `label` (a schema pointer or terminal name) is shown in explanations."""

    regular: Regular
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Grammar, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    items: tuple[Grammar, ...]


@dataclass(frozen=True, slots=True)
class RuleRef:
    """The rule `name` of the `GrammarSpec` that this term stands in; how recursion is written."""

    name: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """`item` from `min` to `max` times (None: no bound), `separator` between two."""

    item: Grammar
    separator: Grammar | None
    min: int
    max: int | None


@dataclass(frozen=True, slots=True)
class Way:
    """Some of the values that a member or an item may have; each of them advances `counters` by one."""

    value: Grammar
    counters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """The values of a member or an item, whole and split by what they count.

    `value` holds exactly the texts of all `ways` together; it is what is written where no counter that they advance
    matters any more. A text that belongs to several ways counts as any one of them.
    """

    value: Grammar
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """`counter` has reached `least`; with `reached=False`, it has not. Counter None: how many members or items."""

    counter: int | None
    least: int
    reached: bool = True


Condition = tuple[Bound, ...]
"""One of these must hold when a container is closed."""


@dataclass(frozen=True, slots=True)
class Member:
    """One declared member. `label` is the schema pointer of its value. A dead `value` makes the name forbidden."""

    name: str
    value: Grammar | Counted
    required: bool
    label: str | None = None


@dataclass(frozen=True, slots=True)
class NameClass:
    """Members whose name is in `names` (a regular term over the *decoded* name) and is not declared.

    The name classes of one `Members` must be disjoint. Declared names are subtracted by the kernel's side, also those
    whose value is dead.
    """

    names: Regular
    value: Grammar | Counted
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Punctuation:
    """How a container is written, white space included. White space goes to the *front* of what follows it.

    `open`, `close`, `separator`, `colon`: regular terms. `before_key`: blanks allowed before a name's quote (`EPSILON`
    where none). Blanks before a value belong to the value's own first lexeme.
    """

    open: Regular
    close: Regular
    separator: Regular
    colon: Regular = EPSILON
    before_key: Regular = EPSILON


@dataclass(frozen=True, slots=True)
class Members:
    """A whole object: open, members, close.

    order="declared": declared members come in the order given (optional ones may be left out), then names of the
    classes in any order. order="any": all in any order. A name never comes twice, compared *decoded*. `close` only
    when every required name is there, the count lies in min_count…max_count, and all `conditions` hold.
    """

    members: tuple[Member, ...]
    classes: tuple[NameClass, ...]
    punctuation: Punctuation
    order: OneOf["declared", "any"] = "declared"
    min_count: int = 0
    max_count: int | None = None
    encoding: Encoding = "json"
    label: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A whole array: open, items, close; item i is `prefix[i]`, later ones `rest` (None: no more allowed).

    unique=True: no two items are equal *by value*, whatever its spelling: items are JSON values, strings written under
    `encoding`. `numbers` says whether a number's value has one spelling ("canonical") or several ("any": `1`, `1.0`;
    `-0` is `0`; exponents are not written then). `close` only when the count lies in min_count…max_count and all
    `conditions` hold. With unique and conditions together, every item must have more values than items are needed.
    """

    prefix: tuple[Grammar | Counted, ...]
    rest: Grammar | Counted | None
    punctuation: Punctuation
    min_count: int = 0
    max_count: int | None = None
    unique: bool = False
    encoding: Encoding = "json"
    numbers: OneOf["canonical", "any"] = "canonical"
    label: str | None = None
    conditions: tuple[Condition, ...] = ()


Grammar = Lexeme | Sequence | Choice | RuleRef | Repetition | Members | Items


@dataclass(frozen=True, slots=True)
class GrammarSpec:
    """A whole grammar: `rules` by name, and the one to start from."""

    rules: Mapping[str, Grammar] = field(hash=False)
    start: str = "start"
