"""The twin of `Members` and `Items`: objects and arrays in progress.

What is kept is what the definition speaks of: which declared names are still to come, which other names and which
values were written, how many, how far each counter is. Whether a container can be finished is found by listing all
tallies that may still be reached: enough distinct names or values must be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from constrain.grammar import terms
from tests.reference.captured import Value, remember, value_of, values_ahead
from tests.reference.counters import CountedWay, Counting, Tally, Values
from tests.reference.different import can_be_filled, item_values, json_value, stretches_of
from tests.reference.frames import Frame, Grammar, Reader, Term, Ways
from tests.reference.nodes import EMPTY, Node, behind, complement, concat, intersect, node_of, spelling, texts, union
from tests.reference.regular import intervals, node_is_alive
from tests.reference.stacks import END, Stack
from tests.reference.utf8 import first_code_points, spelled_ranges

QUOTE = texts(('"',))


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """`Punctuation` as nodes."""

    open: Node
    close: Node
    separator: Node
    colon: Node
    before_key: Node


def marks_of(punctuation: terms.Punctuation) -> Marks:
    p = punctuation
    return Marks(*map(node_of, (p.open, p.close, p.separator, p.colon, p.before_key)))


# ---------------------------------------------------------------- objects


@dataclass(frozen=True, slots=True, eq=False)
class MembersTerm(Term):
    """`values[i]` belongs to the declared name `members[i].name`, `class_values[k]` to the names `class_names[k]`."""

    term: terms.Members
    counting: Counting
    marks: Marks
    values: tuple[Values, ...]
    class_values: tuple[Values, ...]
    class_names: tuple[Node, ...]
    index_of: dict[str, int] = field(default_factory=dict)

    def begin(self) -> MembersFrame:
        return MembersFrame(self, frozenset(range(len(self.values))), frozenset(), self.counting.start())

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.marks.open, grammar.alphabet) and self.begin().can_finish(grammar)

    def expand(self, grammar: Grammar) -> Ways:
        yield (Reader(self.marks.open), self.begin())

    def quoted(self, names: Node) -> Node:
        """The spellings of `names`, with their quotes."""
        return concat(QUOTE, spelling(self.term.encoding, "", names), QUOTE)


def members_term(term: terms.Members, values: tuple[Values, ...], class_values: tuple[Values, ...]) -> MembersTerm:
    declared = texts(member.name for member in term.members)
    class_names = tuple(intersect(node_of(one.names), complement(declared)) for one in term.classes)
    index_of = {member.name: index for index, member in enumerate(term.members)}
    counting = Counting(term.min_count, term.max_count, term.conditions)
    return MembersTerm(term, counting, marks_of(term.punctuation), values, class_values, class_names, index_of)


@dataclass(frozen=True, slots=True)
class MembersFrame(Frame):
    """An object between two members: `open_names` (declared, by index) may still come, `extras` are written."""

    whole: MembersTerm
    open_names: frozenset[int]
    extras: frozenset[str]
    tally: Tally

    def can_finish(self, grammar: Grammar) -> bool:
        if not node_is_alive(self.whole.marks.close, grammar.alphabet):
            return False
        return any(any(map(self.whole.counting.may_close, tallies)) for tallies in self._ends(grammar))

    def _ends(self, grammar: Grammar) -> Iterator[set[Tally]]:
        """Tallies with which nothing required is missing: without other names, then with one more at a time."""
        tallies = {self.tally}
        for index in sorted(self.open_names):
            member = self.whole.term.members[index]
            name = self.whole.quoted(texts((member.name,)))
            written: set[Tally] = set()
            if node_is_alive(name, grammar.alphabet):
                written = self._one_more(tallies, self.whole.values[index], grammar)
            tallies = written if member.required else tallies | written
        yield tallies
        for k, values in enumerate(self.whole.class_values):
            for _ in self._names_ahead(k, grammar, self.whole.counting.most_needed):
                tallies = tallies | self._one_more(tallies, values, grammar)
                yield tallies

    def _one_more(self, tallies: set[Tally], values: Values, grammar: Grammar) -> set[Tally]:
        """As far as the alphabet has the marks around a member."""
        marks, alphabet = self.whole.marks, grammar.alphabet
        if not all(node_is_alive(mark, alphabet) for mark in (marks.before_key, marks.colon)):
            return set()
        separable = node_is_alive(marks.separator, alphabet)
        behind = {tally for tally in tallies if separable or tally[0] == 0}
        return self.whole.counting.one_more(behind, values, grammar)

    def _unused(self, k: int) -> Node:
        return intersect(self.whole.class_names[k], complement(texts(self.extras)))

    def _names_ahead(self, k: int, grammar: Grammar, enough: int) -> Iterator[str]:
        """Distinct names of class `k` that the alphabet can write: all, or at least `enough`."""
        if any(grammar.can_finish(way.value) for way in self.whole.class_values[k]):
            for _, name in values_ahead(self.whole.quoted(self._unused(k)), "", grammar.alphabet, enough):
                yield str(name)

    def behind_declared(self, index: int, way: CountedWay) -> MembersFrame:
        """This object once the declared name `index` is written."""
        later = (i for i in self.open_names if i != index and (self.whole.term.order == "any" or i > index))
        return replace(self, open_names=frozenset(later), tally=self.whole.counting.advance(self.tally, way))

    def behind_extra(self, name: str | None, way: CountedWay) -> MembersFrame:
        """This object once another name is written; None stands for one that the alphabet cannot write."""
        extras = self.extras if name is None else self.extras | {name}
        open_names = self.open_names if self.whole.term.order == "any" else frozenset()
        tally = self.whole.counting.advance(self.tally, way)
        return replace(self, open_names=open_names, extras=extras, tally=tally)

    def can_follow(self, later: MembersFrame, grammar: Grammar, written: int | None = None) -> bool:
        """True if `later`, behind the declared name `written` or another, can be finished and no name is missing."""
        left_out = self.open_names - later.open_names - {written}
        return not any(self.whole.term.members[i].required for i in left_out) and grammar.can_finish(later)

    def names_that_may_follow(self, grammar: Grammar) -> Node:
        """The names behind which the object can be finished."""
        if self not in grammar.names:
            grammar.names[self] = self._find_names(grammar)
        return grammar.names[self]

    def _find_names(self, grammar: Grammar) -> Node:
        members = self.whole.term.members
        if not node_is_alive(self.whole.marks.colon, grammar.alphabet):
            return EMPTY
        declared = texts(
            members[index].name
            for index in self.open_names
            if any(
                grammar.can_finish(way.value) and self.can_follow(self.behind_declared(index, way), grammar, index)
                for way in self.whole.values[index]
            )
        )
        extras = (
            self._extras_that_may_follow(k, way, grammar)
            for k, values in enumerate(self.whole.class_values)
            for way in values
        )
        return union(declared, *extras)

    def _extras_that_may_follow(self, k: int, way: CountedWay, grammar: Grammar) -> Node:
        """All unused names of class `k`; or only those beyond the alphabet, if every other one is needed later."""
        if not grammar.can_finish(way.value) or not self.can_follow(self.behind_extra(None, way), grammar):
            return EMPTY
        unused = self._unused(k)
        for name in self._names_ahead(k, grammar, 1):
            if not self.can_follow(self.behind_extra(name, way), grammar):
                needed = self._names_ahead(k, grammar, self.whole.counting.most_needed + 1)
                return intersect(unused, complement(texts(needed)))
        return unused

    def expand(self, grammar: Grammar) -> Ways:
        term, marks = self.whole.term, self.whole.marks
        missing = any(term.members[index].required for index in self.open_names)
        if self.whole.counting.may_close(self.tally) and not missing:
            yield (Reader(marks.close),)
        if not self.whole.counting.room(self.tally):
            return
        names = self.whole.quoted(self.names_that_may_follow(grammar))
        between = (Reader(marks.separator),) if self.tally[0] else ()
        yield (*between, Reader(marks.before_key), NameReader(names, self))


@dataclass(frozen=True, slots=True)
class NameReader(Reader):
    """Reads a name that may follow and remembers it, to know what value belongs to it."""

    members: MembersFrame
    text: str = ""

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self._ahead(grammar), grammar.alphabet)

    def can_read_one(self, grammar: Grammar, partial: bytes) -> bool:
        return Reader(self._ahead(grammar)).can_read_one(grammar, partial)

    def _ahead(self, grammar: Grammar) -> Node:
        """What is left of the names that may follow in this grammar; `node` was built with every byte allowed."""
        return behind(self.members.whole.quoted(self.members.names_that_may_follow(grammar)), self.text)

    def after(self, c: int) -> NameReader:
        return NameReader(self.node.after(c), self.members, remember(self.text, c))

    def expand(self, grammar: Grammar) -> Ways:
        whole = self.members.whole
        name = str(value_of(self.text)[1])
        colon = Reader(whole.marks.colon)
        if name in whole.index_of:
            index = whole.index_of[name]
            for way in whole.values[index]:
                yield colon, way.value, self.members.behind_declared(index, way)
            return
        for names, values in zip(whole.class_names, whole.class_values, strict=True):
            if behind(names, name).nullable:
                for way in values:
                    yield colon, way.value, self.members.behind_extra(name, way)


# ---------------------------------------------------------------- arrays


@dataclass(frozen=True, slots=True, eq=False)
class ItemsTerm(Term):
    """`rest` has no way if no more items are allowed; `rest_nodes`: of its ways, where items must differ and are
    scalars of one schema, else None."""

    term: terms.Items
    counting: Counting
    marks: Marks
    prefix: tuple[Values, ...]
    rest: Values
    rest_nodes: tuple[Node, ...] | None = ()

    def begin(self) -> ItemsFrame:
        return ItemsFrame(self, self.counting.start(), frozenset())

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.marks.open, grammar.alphabet) and self.begin().can_finish(grammar)

    def expand(self, grammar: Grammar) -> Ways:
        yield (Reader(self.marks.open), self.begin())

    def item(self, index: int) -> Values:
        return self.prefix[index] if index < len(self.prefix) else self.rest

    @property
    def rest_node(self) -> Node:
        return union(*(self.rest_nodes or ()))


def items_term(term: terms.Items, prefix: tuple[Values, ...], rest: Values) -> ItemsTerm:
    ways = term.rest.ways if isinstance(term.rest, terms.Counted) else (term.rest,)
    nodes = [_scalars(way.value if isinstance(way, terms.Way) else way) for way in ways if way is not None]
    scalars = tuple(node for node in nodes if node is not None)
    rest_nodes = scalars if term.unique and not prefix and len(scalars) == len(nodes) else None
    # An item of the prefix that is still to come always matters.
    counting = Counting(term.min_count, term.max_count, term.conditions, len(prefix))
    return ItemsTerm(term, counting, marks_of(term.punctuation), prefix, rest, rest_nodes)


def _scalars(term: terms.Grammar) -> Node | None:
    """The node of a lexeme, or of a choice of lexemes."""
    match term:
        case terms.Lexeme(regular):
            return node_of(regular)
        case terms.Choice(items):
            nodes = [_scalars(item) for item in items]
            return None if None in nodes else union(*(node for node in nodes if node is not None))
    return None


@dataclass(frozen=True, slots=True)
class ItemsFrame(Frame):
    """An array between two items: `used` are the values written where these must differ."""

    whole: ItemsTerm
    tally: Tally
    used: frozenset[Value]

    def can_finish(self, grammar: Grammar) -> bool:
        term, counting = self.whole.term, self.whole.counting
        if not node_is_alive(self.whole.marks.close, grammar.alphabet):
            return False
        to_come = term.min_count - self.tally[0]
        if term.unique and to_come > 0 and not self._enough_values(grammar, to_come):
            return False
        separable = node_is_alive(self.whole.marks.separator, grammar.alphabet)
        tallies = {self.tally}
        for index in range(self.tally[0], self.tally[0] + counting.most_needed + 1):
            if any(map(counting.may_close, tallies)):
                return True
            tallies = counting.one_more(tallies, self.whole.item(index), grammar) if separable or index == 0 else set()
        return False

    def _enough_values(self, grammar: Grammar, to_come: int) -> bool:
        if self.whole.rest_nodes is None:
            return can_be_filled(self._values_to_come(grammar, to_come), to_come)
        found = values_ahead(self.whole.rest_node, "", grammar.alphabet, to_come + len(self.used))
        return len(set(found) - self.used) >= to_come

    def _values_to_come(self, grammar: Grammar, to_come: int) -> list[set[Value]]:
        """Of each of the next places the values that may stand there: all, or as many as can ever matter."""
        found: list[set[Value]] = []
        for index in range(self.tally[0], self.tally[0] + to_come):
            ways = [item_values(grammar, grammar.machine.begin(w.value), "", self.used) for w in self.whole.item(index)]
            found.append(set(islice(chain.from_iterable(ways), to_come * max(len(ways), 1))))
        return found

    def behind(self, way: CountedWay, value: Value | None = None) -> ItemsFrame:
        """This array once an item is written; `value` is None where values do not matter."""
        counting = self.whole.counting
        tally = counting.advance(self.tally, way)
        if value is None:
            return replace(self, tally=counting.capped(tally))
        return replace(self, tally=tally, used=self.used | {value})

    def expand(self, grammar: Grammar) -> Ways:
        term, marks, counting = self.whole.term, self.whole.marks, self.whole.counting
        if counting.may_close(self.tally):
            yield (Reader(marks.close),)
        if not counting.room(self.tally):
            return
        between = (Reader(marks.separator),) if self.tally[0] else ()
        if term.unique and self.whole.rest_nodes is not None:
            for way, node in zip(self.whole.rest, self.whole.rest_nodes, strict=True):
                yield (*between, ItemReader(node, self, way))
        elif term.unique:
            for way in self.whole.item(self.tally[0]):
                yield (*between, AnyItemReader(EMPTY, self, way, grammar.machine.begin(way.value)))
        else:
            for way in self.whole.item(self.tally[0]):
                yield (*between, way.value, self.behind(way))


@dataclass(frozen=True, slots=True)
class ItemReader(Reader):
    """Reads an item that must differ from the others, and remembers it."""

    items: ItemsFrame
    way: CountedWay
    text: str = ""

    def can_finish(self, grammar: Grammar) -> bool:
        forbidden = self._forbidden(grammar)
        if forbidden is None:
            return False
        ahead = values_ahead(self.node, self.text, grammar.alphabet, len(forbidden) + 1)
        return any(value not in forbidden for value in ahead)

    def can_read_one(self, grammar: Grammar, partial: bytes) -> bool:
        ranges = spelled_ranges(grammar.alphabet, partial)
        enough = len(self._forbidden(grammar) or ()) + 1  # other characters are other values, so one is not forbidden
        return any(
            grammar.can_finish(self.after(c))
            for low, high in intervals(self.node)
            for c in first_code_points(ranges, low, high, enough)
        )

    def _forbidden(self, grammar: Grammar) -> frozenset[Value] | None:
        """The values behind which the array cannot be finished; None if that is all.

        If it can be finished from before the item, as many other values are left as it needs, whatever the item is.
        If not, the one hope is an item that the alphabet could not have written: all others are needed later.
        """
        items = self.items
        if not grammar.can_finish(items.behind(self.way)):
            return None
        if grammar.can_finish(items):
            return items.used
        enough = items.whole.term.min_count + len(items.used) + 1
        return items.used.union(values_ahead(items.whole.rest_node, "", grammar.alphabet, enough))

    def after(self, c: int) -> ItemReader:
        return ItemReader(self.node.after(c), self.items, self.way, remember(self.text, c))

    def expand(self, grammar: Grammar) -> Ways:
        value = value_of(self.text)
        if value not in self.items.used:
            yield (self.items.behind(self.way, value),)


@dataclass(frozen=True, slots=True)
class AnyItemReader(Reader):
    """Reads an item of any kind that must differ from the others: its own configurations, and what was written."""

    items: ItemsFrame
    way: CountedWay
    stacks: frozenset[Stack] = frozenset()
    text: str = ""

    def is_over(self) -> bool:
        return self.stacks == {END}

    def may_end(self) -> bool:
        return END in self.stacks

    def reads(self, c: int) -> bool:
        return any(isinstance(stack.frame, Reader) and stack.frame.reads(c) for stack in self.stacks)

    def stretches(self) -> set[tuple[int, int]]:
        return stretches_of(self.stacks)

    def can_finish(self, grammar: Grammar) -> bool:
        values = item_values(grammar, self.stacks, self.text, self.items.used)
        return any(grammar.can_finish(self.items.behind(self.way, value)) for value in values)

    def can_read_one(self, grammar: Grammar, partial: bytes) -> bool:
        ranges = spelled_ranges(grammar.alphabet, partial)
        enough = len(self.items.used) + self.items.whole.term.min_count + 1
        return any(
            grammar.can_finish(self.read(c, grammar))
            for low, high in self.stretches()
            for c in first_code_points(ranges, low, high, enough)
        )

    def read(self, c: int, grammar: Grammar) -> AnyItemReader:
        return replace(self, stacks=grammar.machine.read_all(self.stacks, c), text=self.text + chr(c))

    def expand(self, grammar: Grammar) -> Ways:
        value = json_value(self.text)
        if value not in self.items.used:
            yield (self.items.behind(self.way, value),)
