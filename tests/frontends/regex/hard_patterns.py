"""Random ECMA patterns in which conditions meet: anchors anywhere, lookarounds in lookarounds, properties in classes.

Seeded and quick, unlike the strategies of `patterns.py`: what counts here is how many there are. Every pattern has the
syntax of the flag `u`, or (`annex_b=True`) mostly what only Annex B reads. Of that, not `\\u{61}`: without `u` it is 61
times the letter u to ECMA-262 and to us, and the letter a to `regress`.
"""

from __future__ import annotations

import random

from tests.frontends.regex.patterns import ANNEX_B

PROPERTIES = [
    "L",
    "Lu",
    "Nd",
    "P",
    "Zs",
    "gc=Sm",
    "General_Category=Other_Number",
    "Cn",
    "Assigned",
    "Any",
    "ASCII",
    "ASCII_Hex_Digit",
    "Script=Greek",
    "sc=Han",
    "scx=Deva",
    "scx=Hira",
    "Script_Extensions=Latin",
    "Alphabetic",
    "White_Space",
    "Emoji",
    "Emoji_Presentation",
    "ID_Start",
    "Ideographic",
    "Dash",
]
LITERALS = ["a", "b", "A", "1", "_", "-", " ", "é", "😀", "α", "中", "\u0300", "\u0964", ",", "ab"]
LITERALS += [
    r"\n",
    r"\.",
    r"\/",
    r"\t",
    r"\x61",
    r"\u00e9",
    r"\u{1F600}",
    r"\ud83d\ude00",
    r"\cJ",
    r"\0",
    r"\u{61}",
    r"\^",
    r"\$",
    r"\|",
]
ODD = [*ANNEX_B, r"[\c_]", r"\07", r"(?!b)+", r"a{"]
RANGES = ["a-z", "A-Z", "0-9", "а-я", r"\u0300-\u036f", r"\u{1F600}-\u{1F64F}", " -~", "α-ω", "!-/"]
ESCAPES = [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"]
INSIDE = ["a", "b", "_", ".", "*", r"\]", r"\\", "é", r"\b", "😀", "中", "$", "|", "("]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}", "*?", "+?", "??", "{0}", "{2,3}?"]
MODIFIERS = ["(?i:", "(?i:", "(?m:", "(?s:", "(?-i:", "(?im-s:", "(?s-im:", "(?-ms:"]
CHARACTERS = ["a", "b", "A", "1", "0", "_", "-", " ", "é", "😀", "α", "中", "\u0300", "\u0964", "\n", "\r", "\u2028"]
CHARACTERS += [".", "/", "\t", ",", "ſ", "\u212a", "я", "\\", "]", "^", "$", "\0", "x", "c", "8"]


class Generator:
    """Draws patterns and texts from one seed."""

    def __init__(self, seed: int, *, annex_b: bool = False, modifiers: bool = False):
        self.chance = random.Random(seed)
        self.annex_b = annex_b
        self.modifiers = MODIFIERS if modifiers else []
        self.literals, self.ranges = (
            [one for one in several if not annex_b or not one.startswith("\\u{")] for several in (LITERALS, RANGES)
        )

    def pattern(self) -> str:
        return self._alternatives(self.chance.choice([1, 2, 2, 3]))

    def text(self) -> str:
        few = self.chance.random() < 0.4
        return "".join(self.chance.choices(CHARACTERS[:7] if few else CHARACTERS, k=self.chance.randrange(7)))

    def _alternatives(self, depth: int) -> str:
        return "|".join(self._row(depth) for _ in range(self.chance.choice([1, 1, 1, 2, 2, 3])))

    def _row(self, depth: int) -> str:
        items = []
        for _ in range(self.chance.randrange(5)):
            item, repeats = self._item(depth)
            if repeats and self.chance.random() < 0.3:
                item += self.chance.choice(QUANTIFIERS)
            items.append(item)
        return "".join(items)

    def _item(self, depth: int) -> tuple[str, bool]:
        """An item, and whether a quantifier may follow it (`regress` lets some pass that may not)."""
        chance, kind = self.chance, self.chance.random()
        if self.annex_b and kind < 0.15:
            return chance.choice(ODD), False
        if kind < 0.4:
            return chance.choice(self.literals), True
        if kind < 0.52:
            return chance.choice([".", *ESCAPES]), True
        if kind < 0.58:
            return self._property(), True
        if kind < 0.68:
            return self._class(), True
        if kind < 0.8:
            return chance.choice(["^", "$", r"\b", r"\B"]), False
        if depth == 0:
            return chance.choice(self.literals), True
        if kind < 0.9:
            opening = chance.choice(["(", "(?:", f"(?<n{chance.randrange(10**6)}>", *self.modifiers])
            return f"{opening}{self._alternatives(depth - 1)})", True
        return f"{chance.choice(['(?=', '(?!', '(?<=', '(?<!'])}{self._alternatives(depth - 1)})", False

    def _property(self) -> str:
        return f"\\{self.chance.choice('pP')}{{{self.chance.choice(PROPERTIES)}}}"

    def _class(self) -> str:
        kinds = [lambda: self.chance.choice(self.ranges), lambda: self.chance.choice(ESCAPES), self._property]
        kinds.append(lambda: self.chance.choice(INSIDE))
        inside = "".join(self.chance.choice(kinds)() for _ in range(self.chance.randrange(5)))
        return f"[{self.chance.choice(['', '', '^'])}{inside}]"
