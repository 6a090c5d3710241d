"""The twin of `Members` and `Items`: objects and arrays in progress.

What is kept is what the definition speaks of: which declared names are still to come, which other names and which
values were written, how many. Whether a container can be finished is a count: enough distinct names or
values must be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from constrain.grammar import terms
from tests.reference.captured import Value, remember, value_of, values_ahead
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
    marks: Marks
    values: tuple[Term, ...]
    class_values: tuple[Term, ...]
    class_names: tuple[Node, ...]
    index_of: dict[str, int] = field(default_factory=dict)

    def begin(self) -> MembersFrame:
        return MembersFrame(self, frozenset(range(len(self.values))), frozenset(), 0)

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.marks.open, grammar.alphabet) and self.begin().can_finish(grammar)

    def expand(self, grammar: Grammar) -> Ways:
        yield (Reader(self.marks.open), self.begin())

    def quoted(self, names: Node) -> Node:
        """The spellings of `names`, with their quotes."""
        return concat(QUOTE, spelling(self.term.encoding, "", names), QUOTE)


def members_term(term: terms.Members, values: tuple[Term, ...], class_values: tuple[Term, ...]) -> MembersTerm:
    declared = texts(member.name for member in term.members)
    class_names = tuple(intersect(node_of(one.names), complement(declared)) for one in term.classes)
    index_of = {member.name: index for index, member in enumerate(term.members)}
    return MembersTerm(term, marks_of(term.punctuation), values, class_values, class_names, index_of)


@dataclass(frozen=True, slots=True)
class MembersFrame(Frame):
    """An object between two members: `open_names` (declared, by index) may still come, `extras` are written."""

    whole: MembersTerm
    open_names: frozenset[int]
    extras: frozenset[str]
    count: int

    def can_finish(self, grammar: Grammar) -> bool:
        term, marks, alphabet = self.whole.term, self.whole.marks, grammar.alphabet
        missing = {index for index in self.open_names if term.members[index].required}
        possible = {index for index in self.open_names if self._can_write(index, grammar)}
        to_come = max(term.min_count - self.count, len(missing))
        if not missing <= possible or not node_is_alive(marks.close, alphabet):
            return False
        if term.max_count is not None and self.count + to_come > term.max_count:
            return False
        if to_come <= 0:
            return True
        if not all(node_is_alive(mark, alphabet) for mark in (marks.before_key, marks.colon)):
            return False
        if (self.count > 0 or to_come > 1) and not node_is_alive(marks.separator, alphabet):
            return False
        wanted = to_come - len(possible)
        return wanted <= 0 or len(list(self._names_ahead(grammar, wanted))) >= wanted

    def _can_write(self, index: int, grammar: Grammar) -> bool:
        name = self.whole.quoted(texts((self.whole.term.members[index].name,)))
        return node_is_alive(name, grammar.alphabet) and grammar.can_finish(self.whole.values[index])

    def _unused(self, k: int) -> Node:
        return intersect(self.whole.class_names[k], complement(texts(self.extras)))

    def _names_ahead(self, grammar: Grammar, enough: int) -> Iterator[str]:
        """Distinct names of live classes that the alphabet can write: all, or at least `enough`."""
        for k, value in enumerate(self.whole.class_values):
            if grammar.can_finish(value):
                for _, name in values_ahead(self.whole.quoted(self._unused(k)), "", grammar.alphabet, enough):
                    yield str(name)

    def behind_declared(self, index: int) -> MembersFrame:
        """This object once the declared name `index` is written."""
        later = (i for i in self.open_names if i != index and (self.whole.term.order == "any" or i > index))
        return replace(self, open_names=frozenset(later), count=self.count + 1)

    def behind_extra(self, name: str | None) -> MembersFrame:
        """This object once another name is written; None stands for one that the alphabet cannot write."""
        extras = self.extras if name is None else self.extras | {name}
        open_names = self.open_names if self.whole.term.order == "any" else frozenset()
        return replace(self, open_names=open_names, extras=extras, count=self.count + 1)

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
            if grammar.can_finish(self.whole.values[index])
            and self.can_follow(self.behind_declared(index), grammar, index)
        )
        return union(declared, *(self._extras_that_may_follow(k, grammar) for k in range(len(self.whole.class_values))))

    def _extras_that_may_follow(self, k: int, grammar: Grammar) -> Node:
        """All unused names of class `k`; or only those beyond the alphabet, if every other one is needed later."""
        if not grammar.can_finish(self.whole.class_values[k]) or not self.can_follow(self.behind_extra(None), grammar):
            return EMPTY
        unused = self._unused(k)
        for _, name in values_ahead(self.whole.quoted(unused), "", grammar.alphabet, 1):
            if not self.can_follow(self.behind_extra(str(name)), grammar):
                needed = self._names_ahead(grammar, self.whole.term.min_count + 1)
                return intersect(unused, complement(texts(needed)))
        return unused

    def expand(self, grammar: Grammar) -> Ways:
        term, marks = self.whole.term, self.whole.marks
        if self.count >= term.min_count and not any(term.members[index].required for index in self.open_names):
            yield (Reader(marks.close),)
        if term.max_count is not None and self.count >= term.max_count:
            return
        names = self.whole.quoted(self.names_that_may_follow(grammar))
        between = (Reader(marks.separator),) if self.count else ()
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
            yield colon, whole.values[index], self.members.behind_declared(index)
            return
        for names, value in zip(whole.class_names, whole.class_values, strict=True):
            if behind(names, name).nullable:
                yield colon, value, self.members.behind_extra(name)


# ---------------------------------------------------------------- arrays


@dataclass(frozen=True, slots=True, eq=False)
class ItemsTerm(Term):
    """`rest_node` is the node of `rest` where items must differ and are scalars of one kind; None if they are not."""

    term: terms.Items
    marks: Marks
    prefix: tuple[Term, ...]
    rest: Term | None
    rest_node: Node | None = EMPTY

    def begin(self) -> ItemsFrame:
        return ItemsFrame(self, 0, frozenset())

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.marks.open, grammar.alphabet) and self.begin().can_finish(grammar)

    def expand(self, grammar: Grammar) -> Ways:
        yield (Reader(self.marks.open), self.begin())

    def item(self, index: int) -> Term | None:
        return self.prefix[index] if index < len(self.prefix) else self.rest


def items_term(term: terms.Items, prefix: tuple[Term, ...], rest: Term | None) -> ItemsTerm:
    rest_node = _scalars(term.rest) if term.unique and not prefix and term.rest is not None else None
    return ItemsTerm(term, marks_of(term.punctuation), prefix, rest, rest_node)


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
    """An array between two items: `count` are written, and `used` are their values where these must differ."""

    whole: ItemsTerm
    count: int
    used: frozenset[Value]

    def can_finish(self, grammar: Grammar) -> bool:
        term, marks, alphabet = self.whole.term, self.whole.marks, grammar.alphabet
        to_come = max(term.min_count - self.count, 0)
        if not node_is_alive(marks.close, alphabet):
            return False
        if term.max_count is not None and self.count + to_come > term.max_count:
            return False
        if to_come and (self.count > 0 or to_come > 1) and not node_is_alive(marks.separator, alphabet):
            return False
        if term.unique and self.whole.rest_node is None:
            return to_come == 0 or can_be_filled(self._values_to_come(grammar, to_come), to_come)
        if term.unique:
            return to_come == 0 or self._distinct_values(grammar, to_come) >= to_come
        last_to_look_at = min(self.count + to_come, len(self.whole.prefix) + 1)
        items = [self.whole.item(index) for index in range(self.count, last_to_look_at)]
        if to_come and not items:
            items = [self.whole.rest]
        return all(item is not None and grammar.can_finish(item) for item in items)

    def _distinct_values(self, grammar: Grammar, enough: int) -> int:
        assert self.whole.rest_node is not None
        found = values_ahead(self.whole.rest_node, "", grammar.alphabet, enough + len(self.used))
        return len(set(found) - self.used)

    def _values_to_come(self, grammar: Grammar, to_come: int) -> list[set[Value]]:
        """Of each of the next places the values that may stand there: all, or as many as can ever matter."""
        found: list[set[Value]] = []
        for index in range(self.count, self.count + to_come):
            item = self.whole.item(index)
            values = iter(()) if item is None else item_values(grammar, grammar.machine.begin(item), "", self.used)
            found.append(set(islice(values, to_come)))
        return found

    def behind(self, value: Value | None) -> ItemsFrame:
        """This array once an item is written; `value` is None where values do not matter."""
        term, count = self.whole.term, self.count + 1
        if value is not None:
            return replace(self, count=count, used=self.used | {value})
        if term.max_count is None:
            count = min(count, max(len(self.whole.prefix), term.min_count, 1))
        return replace(self, count=count)

    def expand(self, grammar: Grammar) -> Ways:
        term, marks = self.whole.term, self.whole.marks
        if self.count >= term.min_count:
            yield (Reader(marks.close),)
        if term.max_count is not None and self.count >= term.max_count:
            return
        between = (Reader(marks.separator),) if self.count else ()
        if term.unique and self.whole.rest_node is not None:
            yield (*between, ItemReader(self.whole.rest_node, self))
        elif term.unique and (item := self.whole.item(self.count)) is not None:
            yield (*between, AnyItemReader(EMPTY, self, grammar.machine.begin(item)))
        elif (item := self.whole.item(self.count)) is not None:
            yield (*between, item, self.behind(None))


@dataclass(frozen=True, slots=True)
class ItemReader(Reader):
    """Reads an item that must differ from the others, and remembers it."""

    items: ItemsFrame
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
        assert items.whole.rest_node is not None
        if grammar.can_finish(items):
            return items.used
        if not grammar.can_finish(replace(items, count=items.count + 1)):
            return None
        enough = items.whole.term.min_count + len(items.used) + 1
        return items.used.union(values_ahead(items.whole.rest_node, "", grammar.alphabet, enough))

    def after(self, c: int) -> ItemReader:
        return ItemReader(self.node.after(c), self.items, remember(self.text, c))

    def expand(self, grammar: Grammar) -> Ways:
        value = value_of(self.text)
        if value not in self.items.used:
            yield (self.items.behind(value),)


@dataclass(frozen=True, slots=True)
class AnyItemReader(Reader):
    """Reads an item of any kind that must differ from the others: its own configurations, and what was written."""

    items: ItemsFrame
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
        return any(grammar.can_finish(self.items.behind(value)) for value in values)

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
            yield (self.items.behind(value),)
