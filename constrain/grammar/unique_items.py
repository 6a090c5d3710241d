"""Items that must all differ, split for the kernel: scalars as one regular term, everything else as grammar terms.

A scalar's texts are a regular language, so "none of the values that came" is an intersection. Arrays and objects are
grammar terms that the kernel steps beside a grammar of the values that came.

Invariant: `scalars` and `general` together hold exactly the texts of the item.

A rule that has scalars is not written out in place, as it may be recursive: the rest of it is a rule of its own, whose
name begins with `GENERAL`.
"""

from __future__ import annotations

from collections.abc import Mapping

from constrain.grammar import terms as t

GENERAL = "\0general "


def split(item: t.Grammar, rules: Mapping[str, t.Grammar]) -> tuple[t.Regular, tuple[t.Grammar, ...]]:
    """The scalars of `item`, and all else, one grammar term for each alternative."""
    scalars: list[t.Regular] = []
    general: list[t.Grammar] = []
    for one in _alternatives(item, rules, frozenset()):
        if isinstance(one, t.Lexeme):
            scalars.append(one.regular)
        else:
            general.append(one)
    return t.alternation(*scalars), tuple(general)


def rule(name: str, rules: Mapping[str, t.Grammar]) -> t.Grammar:
    """What a rule stands for, also one whose name begins with `GENERAL`."""
    if not name.startswith(GENERAL):
        return rules[name]
    _, general = split(rules[name.removeprefix(GENERAL)], rules)
    return t.Choice(general)


def _alternatives(item: t.Grammar, rules: Mapping[str, t.Grammar], open_rules: frozenset[str]) -> list[t.Grammar]:
    match item:
        case t.Choice(items):
            return [one for each in items for one in _alternatives(each, rules, open_rules)]
        case t.RuleRef(name) if name not in open_rules:
            found = _alternatives(rules[name], rules, open_rules | {name})
            lexemes: list[t.Grammar] = [one for one in found if isinstance(one, t.Lexeme)]
            if not lexemes:
                return [item]
            return lexemes if len(lexemes) == len(found) else [*lexemes, t.RuleRef(GENERAL + name)]
        case t.Sequence((t.Lexeme(before), rest)):  # blanks before an item
            return [_behind(before, one) for one in _alternatives(rest, rules, open_rules)]
        case _:
            return [item]


def _behind(before: t.Regular, item: t.Grammar) -> t.Grammar:
    if isinstance(item, t.Lexeme):
        return t.Lexeme(t.concat(before, item.regular))
    return t.Sequence((t.Lexeme(before), item))
