"""Terms of `terms.py` into kernel ids.

One pass, memoised by term and encoding; only rules that the start rule reaches are lowered. `Not` becomes
"any text, and not this": the kernel's complement is relative to all byte strings.

Invariant: lowering a term twice gives the same id. Nothing is decided here; the kernel normalises.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from constrain import _kernel
from constrain.errors import LimitExceeded
from constrain.grammar import terms as t
from constrain.grammar.unique_items import rule, split

ALL_BYTES = bytes(range(256))
UNBOUNDED = 0xFFFFFFFF
NONE = 0xFFFFFFFF
EMPTY_TERM = 0
EPSILON_TERM = 1
RAW, JSON, JSON_ANY = 0, 1, 2
ENCODINGS = {"json": JSON, "json_any": JSON_ANY}
MAX_COEFFICIENT = 2**63

_LIMIT_HELP = {
    "terms": "simplify the specification: fewer or smaller patterns, counts or unions",
    "states": "start a new compiled grammar, or simplify the specification",
    "liveness": "simplify the patterns and lengths that are combined here",
    "depth": "nest less deeply",
    "completion": "lower the counts and lengths that the specification asks for at least",
    "reachability": "use a vocabulary with a token for every single byte",
    "deadline_s": "raise deadline_s",
    "unique_bytes": "limit the items of the array whose items must differ: maxItems, maxLength",
    "unique_values": "ask for fewer different items (minItems), or for fewer schemas in prefixItems",
    "differences": "simplify the items of the array whose items must differ",
}


@contextmanager
def kernel_limits(text: bytes | None = None) -> Iterator[None]:
    """Turns a limit met inside the kernel, or Python's own recursion limit, into `LimitExceeded`."""
    try:
        yield
    except _kernel.LimitError as error:
        limit, message = error.args
        raise LimitExceeded(message, limit=limit, help=_LIMIT_HELP.get(limit), text=text) from None
    except RecursionError:
        raise LimitExceeded(
            "the specification is nested too deeply", limit="depth", help=_LIMIT_HELP["depth"], text=text
        ) from None


_shelves: dict[bytes, Lowering] = {}
_shelf_lock = threading.RLock()


def _shelf(alphabet: bytes) -> Lowering:
    """The arena that holds the shared terms over `alphabet`."""
    with _shelf_lock:
        if alphabet not in _shelves:
            _shelves[alphabet] = Lowering(_kernel.Grammar(alphabet), alphabet)
        return _shelves[alphabet]


class Lowering:
    """Lowers terms into one kernel arena, `kernel`."""

    def __init__(self, kernel: _kernel.Grammar, alphabet: bytes = ALL_BYTES):
        self.kernel = kernel
        self.alphabet = alphabet
        # By identity: a specification holds its terms, and equal ones meet again in the kernel.
        self._regular: dict[tuple[int, int], tuple[t.Regular, int]] = {}
        # Rules by name, once more without exponents where numbers must differ in any spelling.
        self._rules: dict[tuple[str, bool], int] = {}
        self._pending: list[tuple[str, bool]] = []
        self._spec_rules: Mapping[str, t.Grammar] = {}
        self._plain = False

    # ---- regular terms

    def regular(self, term: t.Regular, encoding: int = RAW) -> int:
        key = (id(term), encoding)
        known = self._regular.get(key)
        if known is None:
            lowered = self._adopt(term, encoding) if key[0] in t.SHARED else self._lower(term, encoding)
            known = self._regular[key] = (term, lowered)
        return known[1]

    def _adopt(self, term: t.Regular, encoding: int) -> int:
        """A shared term, copied from the arena that holds those of this alphabet."""
        shelf = _shelf(self.alphabet)
        if shelf is self:
            lowered = self._lower(term, encoding)
            if lowered != EMPTY_TERM and self.kernel.alive(lowered):
                self.kernel.shortest_length(lowered)  # found once, copied with the term
            return lowered
        with _shelf_lock:
            known = shelf.regular(term, encoding)
        return self.kernel.adopt(shelf.kernel, known)

    def _lower(self, term: t.Regular, encoding: int) -> int:
        kernel = self.kernel
        match term:
            case t.Literal(text):
                return self._literal(text, encoding)
            case t.CharClass(ranges):
                return kernel.character([bound for pair in ranges for bound in pair], encoding)
            case t.Concat(items):
                result = EPSILON_TERM
                for item in reversed(items):
                    result = kernel.cat(self.regular(item, encoding), result)
                return result
            case t.Alternation(items):
                return kernel.alt([self.regular(item, encoding) for item in items])
            case t.Repeat(item, low, high):
                return kernel.repeat(self.regular(item, encoding), low, UNBOUNDED if high is None else high)
            case t.And(items):
                return kernel.conj([self.regular(item, encoding) for item in items])
            case t.Not(item):
                return kernel.conj([kernel.any_text(encoding), kernel.complement(self.regular(item, encoding))])
            case t.Encoded(item, name):
                return self.regular(item, ENCODINGS[name])
            case t.LiteralSet(texts):
                return self._literal_set(texts, encoding)
            case t.DecimalMultiple() if encoding != RAW:
                raise TypeError("a decimal multiple stands for itself, not inside a string")
            case t.DecimalMultiple(coefficient, scale):
                if coefficient >= MAX_COEFFICIENT:
                    raise LimitExceeded(
                        f"multiples of {coefficient} cannot be tracked",
                        limit="coefficient",
                        help="use a multiple of fewer than 19 digits",
                    )
                return kernel.decimal(coefficient, scale)
            case t.Epsilon():
                return EPSILON_TERM
            case t.Empty():
                return EMPTY_TERM
        raise TypeError(f"not a regular term: {term!r}")

    def _literal(self, text: str, encoding: int) -> int:
        try:
            spelled = text.encode()
        except UnicodeEncodeError:  # a lone surrogate has no spelling
            return EMPTY_TERM
        return self.kernel.literal(spelled) if encoding == RAW else self.kernel.spelled(spelled, encoding)

    def _literal_set(self, texts: tuple[str, ...], encoding: int) -> int:
        if encoding == JSON_ANY:
            return self.kernel.alt([self._literal(text, encoding) for text in texts])
        spelled = [text.encode() for text in texts if text.isascii() or not _has_surrogate(text)]
        return self.kernel.literals([self.kernel.encoded(s) for s in spelled] if encoding == JSON else spelled)

    # ---- grammar terms

    def grammar(self, spec: t.GrammarSpec) -> int:
        """The id of the start rule; every rule that it reaches is defined."""
        self._spec_rules = spec.rules
        start = self._rule(spec.start)
        while self._pending:
            name, self._plain = self._pending.pop()
            self.kernel.define(self._rule(name), self._term(rule(name, spec.rules)))
        return start

    def _rule(self, name: str) -> int:
        key = name, self._plain
        if key not in self._rules:
            self._rules[key] = self.kernel.rule()
            self._pending.append(key)
        return self._rules[key]

    def _term(self, term: t.Grammar) -> int:
        match term:
            case t.Lexeme(regular):
                return self.kernel.lexeme(self._scalar(regular))
            case t.RuleRef(name):
                return self._rule(name)
            case t.Sequence(items):
                return self.kernel.sequence([self._term(item) for item in items])
            case t.Choice(items):
                return self.kernel.choice([self._term(item) for item in items])
            case t.Repetition(item, separator, low, high):
                return self.kernel.repetition(
                    self._term(item),
                    NONE if separator is None else self._term(separator),
                    low,
                    UNBOUNDED if high is None else high,
                )
            case t.Members():
                return self._members(term)
            case t.Items():
                return self._items(term)
        raise TypeError(f"not a grammar term: {term!r}")

    def _marks(self, mark: t.Punctuation) -> list[int]:
        parts = (mark.open, mark.close, mark.separator, mark.colon, mark.before_key)
        return [self.regular(part) for part in parts]

    def _members(self, term: t.Members) -> int:
        encoding = ENCODINGS[term.encoding]
        members = [m for m in term.members if not _has_surrogate(m.name) or m.required]
        declared = tuple(sorted({m.name for m in members if not _has_surrogate(m.name)}))
        if any(_has_surrogate(m.name) for m in members):  # required, and cannot be written
            return self.kernel.choice([])
        bodies = []
        for name_class in term.classes:
            names = name_class.names
            if declared:
                names = t.intersection(names, t.Not(t.LiteralSet(declared)))
            bodies.append(self.regular(names, encoding))
        counters = _counter_numbers(term.conditions)
        return self.kernel.members(
            [m.name.encode() for m in members],
            [self._term(_whole(m.value)) for m in members],
            [m.required for m in members],
            bodies,
            [self._term(_whole(c.value)) for c in term.classes],
            self._marks(term.punctuation),
            term.order == "any",
            term.min_count,
            UNBOUNDED if term.max_count is None else term.max_count,
            encoding,
            [self._ways(m.value, counters) for m in members],
            [self._ways(c.value, counters) for c in term.classes],
            _conditions(term.conditions, counters),
        )

    def _items(self, term: t.Items) -> int:
        counters = _counter_numbers(term.conditions)
        places = [*term.prefix, *([] if term.rest is None else [term.rest])]
        plain_before, self._plain = self._plain, self._plain or (term.unique and term.numbers == "any")
        parts = [self._parts(place) for place in places] if term.unique else []
        values = [self._joined(*part[0]) for part in parts] or [self._term(_whole(place)) for place in places]
        ways = [self._ways(place, counters) for place in places]
        self._plain = plain_before
        lowered = self.kernel.items(
            values[: len(term.prefix)],
            NONE if term.rest is None else values[-1],
            self._marks(term.punctuation),
            term.min_count,
            UNBOUNDED if term.max_count is None else term.max_count,
            term.unique,
            ENCODINGS[term.encoding],
            term.numbers == "any",
            ways[: len(term.prefix)],
            [] if term.rest is None else ways[-1],
            _conditions(term.conditions, counters),
        )
        if term.unique:
            self.kernel.set_unique(lowered, parts)
        return lowered

    def _parts(self, place: t.Grammar | t.Counted) -> list[tuple[int, int]]:
        """Of an item that must differ, and of each of its ways: scalars (a regular term), all else (a grammar term)."""
        ways = [way.value for way in place.ways] if isinstance(place, t.Counted) else []
        parts: list[tuple[int, int]] = []
        for value in (_whole(place), *ways):
            scalars, general = split(value, self._spec_rules)
            lowered = [self._term(one) for one in general]
            parts.append((self._scalar(scalars), self.kernel.choice(lowered) if lowered else NONE))
        return parts

    def _joined(self, scalars: int, general: int) -> int:
        lexeme = self.kernel.lexeme(scalars)
        return lexeme if general == NONE else self.kernel.choice([lexeme, general])

    def _scalar(self, regular: t.Regular) -> int:
        lowered = self.regular(regular)
        return self.kernel.without_exponents(lowered) if self._plain else lowered

    def _ways(self, value: t.Grammar | t.Counted, counters: dict[int, int]) -> list[tuple[int, list[int]]]:
        """(value, counters) of each way; none where nothing counts."""
        ways = value.ways if isinstance(value, t.Counted) else (t.Way(value),)
        if not counters:
            return []
        return [(self._term(way.value), sorted({counters[c] for c in way.counters if c in counters})) for way in ways]


def _whole(value: t.Grammar | t.Counted) -> t.Grammar:
    return value.value if isinstance(value, t.Counted) else value


def _counter_numbers(conditions: tuple[t.Condition, ...]) -> dict[int, int]:
    """The counters that conditions name, numbered from 0; others say nothing."""
    named = sorted({bound.counter for condition in conditions for bound in condition if bound.counter is not None})
    return {counter: number for number, counter in enumerate(named)}


def _conditions(conditions: tuple[t.Condition, ...], counters: dict[int, int]) -> list[list[tuple[int, int, bool]]]:
    return [
        [(NONE if b.counter is None else counters[b.counter], b.least, b.reached) for b in condition]
        for condition in conditions
    ]


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)


def compile_kernel(
    spec: t.GrammarSpec, alphabet: bytes = ALL_BYTES, *, deadline_s: float | None = None
) -> tuple[_kernel.Grammar, bool]:
    """A kernel grammar of `spec` over `alphabet`, and whether any text can be written at all.

    Raises:  LimitExceeded: a limit of the kernel, or `deadline_s`, was met.
    """
    kernel = _kernel.Grammar(alphabet)
    with kernel_limits():
        if deadline_s is not None:
            kernel.set_deadline(max(deadline_s, 1e-9))
        start = Lowering(kernel, alphabet).grammar(spec)
        kernel.finish(start)
        kernel.set_deadline(0.0)
    return kernel, kernel.is_alive(start)
