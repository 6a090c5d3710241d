"""Syntax tree to regular term, exactly: anchors, boundaries and lookarounds included.

A pattern without conditions is its skeleton's one plain term. Otherwise two things are tracked. The text *before* a
position is a state of a small automaton (`Before`). The text *after* it is the continuation: `before_each(node, K)`
gives, for each state at the node's start, the language of node then K; a condition there is an intersection with K,
so a lookahead costs nothing but an `And`:

    (?=x) then K   =   x·ANY_TEXT ∩ K            (?!x) then K   =   ¬(x·ANY_TEXT) ∩ K

Inside a loop there is no finished K to intersect with. There the conditions' demands on what follows are carried
along as a second component, `advance(node, (state, demand))`; both change deterministically with each character (the
demand by derivatives), so the loop is a finite graph, and its paths are a regular term (Arden's lemma). Lookbehinds
whose body looks ahead are translated backwards, by the same rules.

All of this is exact or refused: what would outgrow `MAX_STATES` or the term limit raises `PatternError` at its
position. Source of the two-sided idea: Miyazaki & Minamide 2019, "Derivatives of regular expressions with lookahead".
"""

from __future__ import annotations

from functools import reduce
from typing import Literal as OneOf

from constrain.errors import LimitExceeded, PatternError
from constrain.frontends.regex.before import Before, TooEntangled
from constrain.frontends.regex.classes import Ranges
from constrain.frontends.regex.derivatives import Derivatives
from constrain.frontends.regex.places import Budget, Place, Places, Reached
from constrain.frontends.regex.simplify import (
    edge_test,
    join,
    meet,
    negate,
    ranges_of,
    repeat,
    reverse,
    single,
    starting_with,
    unite,
)
from constrain.frontends.regex.skeleton import (
    Branches,
    Clauses,
    Condition,
    LookAround,
    Loop,
    Plain,
    Row,
    Skeleton,
    conditions,
    reversed_skeleton,
    row,
    skeleton_of,
)
from constrain.frontends.regex.syntax import Node, Unsupported, postorder
from constrain.grammar.terms import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    Alternation,
    Concat,
    Empty,
    Epsilon,
    Literal,
    LiteralSet,
    Regular,
    Repeat,
    intersection,
)

Mode = OneOf["fullmatch", "search"]
MAX_TERM_NODES = 20_000
"""So many nodes (shared ones counted each time) may a term made by conditions have, plus ten per pattern character."""
MAX_CONDITIONS = 300
"""Rows of conditions are put together from the right, each time as one flat term: quadratic, so bounded."""


def translate(tree: Node, pattern: str, mode: Mode) -> Regular:
    """The language of `tree`, the parsed `pattern`: all whole matches, or all texts with a match somewhere.

    Raises:  PatternError: something in it cannot be enforced, or its conditions are too entangled.
             LimitExceeded: conditions nested too deep.
    Cost:    linear without conditions; with them bounded by `MAX_TERM_NODES`.
    """
    unsupported = [node for node in postorder(tree) if isinstance(node, Unsupported)]
    if unsupported:
        first = min(unsupported, key=lambda node: node.position)
        raise PatternError(
            f"{first.what} cannot be enforced", pattern=pattern, position=first.position, help=first.help
        )
    skeleton = skeleton_of(tree)
    around = Plain(ANY_TEXT if mode == "search" else EPSILON)
    if isinstance(skeleton, Plain):
        return join(around.term, skeleton.term, around.term)
    found = conditions(skeleton)
    if len(found) > MAX_CONDITIONS:
        raise LimitExceeded(
            f"{len(found)} anchors and lookarounds in one pattern, {MAX_CONDITIONS} are allowed",
            limit="pattern_conditions",
            help="split the pattern, or anchor groups as a whole",
        )
    budget = Budget(MAX_TERM_NODES + 10 * len(pattern))
    try:
        translator = _Translator(row([around, skeleton]), budget)
        return translator.before_each(translator.root, [around.term] * translator.before.size)[0]
    except TooEntangled:
        position = budget.position if budget.position is not None else found[0].position
        raise PatternError(
            "the anchors and lookarounds here cannot be enforced together: their exact translation is too large",
            pattern=pattern,
            position=position,
            help="move lookarounds out of repeats, or shorten what they look for",
        ) from None
    except RecursionError:
        raise LimitExceeded(
            "anchors or lookarounds nested too deep in groups", limit="pattern_nesting", help="flatten the groups"
        ) from None


class _Translator:
    """The conditions of one skeleton, and the automaton for what they ask of the text before."""

    def __init__(self, root: Skeleton, budget: Budget):
        self._budget = budget
        self._derivatives = Derivatives()
        self.root = self._resolve(root)
        asked = [before for condition in conditions(self.root) for before, _ in condition.clauses]
        self.before = Before([ANY_TEXT, *asked], self._derivatives)
        self.places = Places(self.before, self._derivatives, budget)
        self._needs: dict[tuple[int, int], Regular] = {}

    # ------------------------------------------------------------ lookbehind

    def _resolve(self, node: Skeleton) -> Skeleton:
        """`node` with each lookbehind that holds conditions made a `Condition`."""
        if isinstance(node, Row):
            return Row(tuple(map(self._resolve, node.items)))
        if isinstance(node, Branches):
            return Branches(tuple(map(self._resolve, node.items)))
        if isinstance(node, Loop):
            return Loop(self._resolve(node.item), node.min, node.max, node.position)
        if not isinstance(node, LookAround):
            return node
        if not node.behind:
            return LookAround(self._resolve(node.body), False, node.negated, node.position)
        return Condition(self._seen_behind(node), node.position)

    def _seen_behind(self, node: LookAround) -> Clauses:
        """Read backwards a lookbehind is a lookahead, and what its body asks of the text after it is a state."""
        self._budget.position = node.position
        backwards = _Translator(reversed_skeleton(node.body), self._budget)
        seen = backwards.before_each(backwards.root, [ANY_TEXT] * backwards.before.size)
        clauses: dict[Regular, Regular] = {}
        for state, term in enumerate(seen):
            language = reverse(negate(term) if node.negated else term)
            after = reverse(backwards.before.language(state))
            clauses[language] = unite(clauses.get(language, EMPTY), after)
        return tuple(clauses.items())

    # ------------------------------------------------------------ with the text after as continuation

    def before_each(self, node: Skeleton, after: list[Regular]) -> list[Regular]:
        """For each state at the start of `node`: the texts that are `node` and then `after[state at its end]`."""
        if isinstance(node, Plain):
            return self._plain_before(node.term, after)
        if isinstance(node, Row):
            for item in reversed(node.items):
                after = self.before_each(item, after)
            return after
        if isinstance(node, Branches):
            branches = [self.before_each(item, after) for item in node.items]
            return [self._budget.check(unite(*terms)) for terms in zip(*branches, strict=True)]
        if isinstance(node, Loop):
            return self._loop_before(node, after)
        return [self._both(after[state], self._need(node, state)) for state in range(self.before.size)]

    def _plain_before(self, term: Regular, after: list[Regular]) -> list[Regular]:
        if all(following == after[0] for following in after):
            return [join(term, after[0])] * len(after)
        return [self._budget.check(self._plain_from(term, state, after)) for state in range(len(after))]

    def _plain_from(self, term: Regular, state: int, after: list[Regular]) -> Regular:
        """`term` then `after`, from `state`; what all reachable continuations share is not split by state."""
        seen = self._seen_from(term, state, after)
        if seen is not None:
            return seen
        reached = {place[0]: text for place, text in self.places.split(term, (state, ANY_TEXT)).items()}
        if not reached:
            return EMPTY
        shared, by_rest = _grouped(after, list(reached))
        if len(by_rest) == 1:
            return join(term, unite(*shared, *by_rest))
        parts = [join(unite(*(reached[to] for to in states)), rest) for rest, states in by_rest.items()]
        return unite(join(term, unite(*shared)), *parts)

    def _seen_from(self, term: Regular, state: int, after: list[Regular]) -> Regular | None:
        """The same by intersection, where following the paths through `term` would be long and need not be done."""
        if self.before.definite or not isinstance(term, Repeat | Concat):
            return None
        shared, by_rest = _grouped(after, self.before.reachable(state))
        parts = [join(term, unite(*shared))]
        for rest, states in by_rest.items():
            texts = self.before.texts_between(state, states)
            if texts is None:
                return None
            parts.append(join(meet(term, texts), rest))
        return unite(*parts)

    def _need(self, node: Condition | LookAround, state: int) -> Regular:
        """What the text after a condition must be, given the state before it."""
        key = (id(node), state)
        if key not in self._needs:
            self._budget.position = node.position
            if isinstance(node, Condition):
                met = [after for before, after in node.clauses if self.before.holds(state, before)]
                self._needs[key] = unite(*met)
            else:
                for at, term in enumerate(self.before_each(node.body, [ANY_TEXT] * self.before.size)):
                    self._needs[(id(node), at)] = negate(term) if node.negated else term
        return self._needs[key]

    def _both(self, left: Regular, right: Regular) -> Regular:
        """What both have in common; by trying, where one of them is just a few words."""
        for few, other in ((left, right), (right, left)):
            words = _few_words(few)
            if words is not None and other != ANY_TEXT:
                kept = [word for word in words if self._derivatives.matches(other, word)]
                return unite(*(Literal(word) if word else EPSILON for word in kept))
        return self._budget.check(meet(left, right))

    # ------------------------------------------------------------ loops

    def _loop_before(self, node: Loop, after: list[Regular]) -> list[Regular]:
        closed = self._one_character_loop(node, after)
        if closed is not None:
            return closed
        if node.max is not None and node.max <= 3:
            return self._unrolled(node, after)
        self._budget.position = node.position
        return [
            self._budget.check(
                unite(
                    *(
                        join(text, self._both(after[to], demand))
                        for (to, demand), text in self._advance(node, (state, ANY_TEXT)).items()
                    )
                )
            )
            for state in range(self.before.size)
        ]

    def _unrolled(self, node: Loop, after: list[Regular]) -> list[Regular]:
        assert node.max is not None
        result = after
        for count in range(node.max, 0, -1):
            result = self.before_each(node.item, result)
            if count > node.min:
                result = [unite(*pair) for pair in zip(after, result, strict=True)]
        return result

    def _one_character_loop(self, node: Loop, after: list[Regular]) -> list[Regular] | None:
        """`(?:(?!x)c)*` then K where K cannot start with a c: the loop's end is plain, so conditions become one `Not`.

        c*·K without the texts where, at some position before the loop's end, what follows is in x·ANY_TEXT:
        c*·K ∩ ¬(c*·(x·ANY_TEXT ∩ c·ANY_TEXT)). With the condition behind c, at some position after the loop's start.
        """
        shape = _character_and_conditions(node.item)
        if shape is None or any(following != after[0] for following in after):
            return None
        ranges, looked, condition_first = shape
        needs = [self._both_all([self._need(one, state) for one in looked]) for state in range(self.before.size)]
        if any(need != needs[0] for need in needs) or edge_test(needs[0]) is not None:
            return None
        if not isinstance(starting_with(after[0], ranges), Empty):
            return None
        character = single(ranges)
        run = repeat(character, 0, None)
        failing = negate(needs[0])
        failing = join(run, starting_with(failing, ranges)) if condition_first else join(character, run, failing)
        whole = join(repeat(character, node.min, node.max), after[0])
        return [self._budget.check(intersection(whole, negate(failing)))] * len(after)

    def _both_all(self, terms: list[Regular]) -> Regular:
        return reduce(self._both, terms, ANY_TEXT)

    def _advance(self, node: Skeleton, place: Place) -> Reached:
        """The places that `node` leads to from `place`, each with the texts that it takes on the way."""
        if isinstance(node, Plain):
            return self.places.split(node.term, place)
        if isinstance(node, Row):
            return self.places.fold([lambda at, item=item: self._advance(item, at) for item in node.items], place)
        if isinstance(node, Branches):
            return self.places.merged([self._advance(item, place) for item in node.items])
        if isinstance(node, Loop):
            return self.places.repeated(lambda at: self._advance(node.item, at), node.min, node.max, place)
        state, demand = place
        demand = self._derivatives.all_of((demand, self._need(node, state)))
        return {} if isinstance(demand, Empty) else {(state, demand): EPSILON}


def _alternatives(term: Regular) -> list[Regular]:
    return list(term.items) if isinstance(term, Alternation) else [] if isinstance(term, Empty) else [term]


def _grouped(after: list[Regular], states: list[int]) -> tuple[list[Regular], dict[Regular, list[int]]]:
    """The alternatives that `after` has at all of `states`; and for each rest, the states where it is the rest."""
    shared = reduce(
        lambda left, right: [one for one in left if one in right], [_alternatives(after[to]) for to in states]
    )
    by_rest: dict[Regular, list[int]] = {}
    for to in states:
        rest = unite(*(one for one in _alternatives(after[to]) if one not in shared))
        by_rest.setdefault(rest, []).append(to)
    return shared, by_rest


def _few_words(term: Regular) -> list[str] | None:
    """The texts of `term` if it is plainly one word or a choice of words."""
    words: list[str] = []
    for item in term.items if isinstance(term, Alternation) else (term,):
        if isinstance(item, Epsilon):
            words.append("")
        elif isinstance(item, Literal):
            words.append(item.text)
        elif isinstance(item, LiteralSet):
            words.extend(item.texts)
        else:
            return None
    return words


def _character_and_conditions(
    node: Skeleton,
) -> tuple[Ranges, list[Condition | LookAround], bool] | None:
    """(the character, the conditions, do they come first) of a row of one character and conditions on one side."""
    if not isinstance(node, Row):
        return None
    first = not isinstance(node.items[0], Plain)
    character = node.items[-1] if first else node.items[0]
    others = [
        item for item in (node.items[:-1] if first else node.items[1:]) if isinstance(item, Condition | LookAround)
    ]
    if not isinstance(character, Plain) or len(others) != len(node.items) - 1:
        return None
    ranges = ranges_of(character.term)
    return None if ranges is None else (ranges, others, first)
