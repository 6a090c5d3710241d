"""Write `docs/guide/lint_rules.md` from the tables of rules and profiles in the code.

python scripts/lint_rules.py            writes the file
python scripts/lint_rules.py --check    exit code 1 if it is not what would be written
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from constrain.linting.compiled import CODES, severity_of
from constrain.linting.lint import PROFILES
from constrain.linting.profile import Profile
from constrain.linting.rules import RULES

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "guide" / "lint_rules.md"
HEAD = """# Codes of findings

Made by `scripts/lint_rules.py` from the tables in the code; do not edit. Codes are stable. Besides these, an error that
stops a compilation has the name of its class: `EmptyLanguage`, `UnsupportedKeyword`, … ([errors](errors.md)).
"""


def main(arguments: list[str]) -> int:
    text = "\n".join([HEAD, *rules(), *[line for profile in PROFILES.values() for line in of_profile(profile)], ""])
    if "--check" in arguments:
        return 0 if DOCUMENT.is_file() and DOCUMENT.read_text() == text else 1
    DOCUMENT.write_text(text)
    return 0


def rules() -> Iterator[str]:
    yield "| code | severity | what is found |"
    yield "|:--|:--|:--|"
    for rule in RULES.values():
        about = rule.about + (" (only under `--strict`)" if rule.only_strict else "")
        yield f"| `{rule.code}` | {rule.severity} | {about} |"
    for code, about in CODES.items():
        yield f"| `{code}` | {severity_of(code)} | {about} |"


def of_profile(profile: Profile) -> Iterator[str]:
    limits = profile.limits
    yield f"\n## Profile `{profile.name}`\n"
    yield f"What {profile.service} accepts, as of {profile.as_of}: <{profile.source}>.\n"
    yield f"- accepted keywords: {code_list(profile.supported)}"
    yield f"- refused: {code_list(profile.refused)}; at the root also {code_list(profile.root_refused)}"
    yield f"- formats: {code_list(profile.formats)}"
    yield (
        f"- limits: {limits.properties:,} members in all, {limits.depth} levels of objects, "
        f"{limits.enum_values:,} `enum` values in all, {limits.characters:,} characters of names and constants in all, "
        f"and {limits.large_enum_characters:,} characters in an `enum` of more than {limits.large_enum} strings\n"
    )
    yield "| code | what is found |"
    yield "|:--|:--|"
    for code, about in profile.rules.items():
        yield f"| `{code}` | {about} |"


def code_list(names: object) -> str:
    assert isinstance(names, (frozenset, dict))
    return ", ".join(f"`{name}`" for name in (sorted(names) if isinstance(names, frozenset) else names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
