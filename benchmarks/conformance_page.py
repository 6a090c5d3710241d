"""`docs/results/conformance.md`: the printed tables of `conformance` and `dead_ends`, as they stand in `results/`.

The page is put together from the files of whichever runs there were; it holds no number of its own. Rebuild it alone
with `python -m benchmarks.conformance_page`.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.tables import RESULTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results" / "conformance.md"

HEAD = """# Right and wrong verdicts

Made by `python -m benchmarks.conformance` and `python -m benchmarks.dead_ends`; [how](../../benchmarks/README.md).
Every table is printed as the script left it in `benchmarks/results/`, beside a JSON file with what is behind it.

What the columns mean: a schema is **compiled**, found **empty** (nothing satisfies it: a verdict too), or **refused**
by the name of a keyword; **typed** are our other errors; **untyped** and **lost** (hung, crashed, out of memory) would
be defects. **pass**: every instance got the right verdict. **but for choices** counts also the schemas whose valid
instances are rejected for nothing but a documented choice that the options name; each is listed with its reason.
"""

SECTIONS: tuple[tuple[str, str, str], ...] = (
    ("conformance-maskbench", "Real schemas: maskbench-dev", "python -m benchmarks.conformance maskbench"),
    ("conformance-cases", "Small cases from public bug reports", "python -m benchmarks.conformance cases"),
    *(
        (
            f"conformance-suite-{draft}",
            f"The official suite, draft {draft}",
            f"python -m benchmarks.conformance suite --draft {draft}",
        )
        for draft in ("2020-12", "2019-09", "7", "6", "4")
    ),
    *(
        (
            f"conformance-suite-{draft}-formats",
            f"The official suite's optional formats, draft {draft}",
            f"python -m benchmarks.conformance suite --draft {draft} --optional-formats",
        )
        for draft in ("2020-12", "2019-09", "7", "6", "4")
    ),
    *(
        (f"differential-{generator}", f"Random schemas beside two judges ({what})", f"python -m benchmarks.{command}")
        for generator, what, command in (
            ("own", "hard combinations", "differential"),
            ("hypothesis", "by hypothesis-jsonschema", "differential --generator hypothesis"),
        )
    ),
    ("samples", "Texts out of real schemas, judged twice", "python -m benchmarks.samples"),
    ("emptiness", "Empty or barely inhabited", "python -m benchmarks.emptiness"),
    ("dead_ends", "No dead ends: random walks", "python -m benchmarks.dead_ends"),
    (
        "compile_time",
        "Compile time over all real schemas",
        ".venv-peers/bin/python -m benchmarks.compile_time",
    ),
)
"""(result file, heading, command), in the order of the page."""

NOTES: dict[str, str] = {
    "conformance-suite-2020-12-formats": """
*Left out*: valid texts of a format reported as narrower; [keywords.md](../guide/keywords.md#formats) says which.
`hostname` leaves out A-labels (`xn--…`), whose contents only decoding could check; `idn-hostname` leaves out A-labels,
labels of more characters than surely fit, and joiners between Arabic letters.
""",
}
"""What a reader must know of a table, by its result file."""


def write(folder: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the page from the result files that are there."""
    parts = [HEAD]
    for name, heading, command in SECTIONS:
        text, values = folder / f"{name}.txt", folder / f"{name}.json"
        if not (text.exists() and values.exists()):
            continue
        machine = json.loads(values.read_text(encoding="utf-8")).get("machine", {})
        made = ", ".join(f"{key} {machine[key]}" for key in ("date", "python", "system", "cores") if key in machine)
        parts.append(f"## {heading}\n\n`{command}` ({made})\n")
        if note := NOTES.get(name):
            parts.append(note.strip() + "\n")
        parts.append(f"```text\n{text.read_text(encoding='utf-8').rstrip()}\n```\n")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    write()
