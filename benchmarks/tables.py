"""Numbers to tables: quantiles, aligned text, Markdown, and the two files that every script leaves in `results/`."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def quantile(ordered: Sequence[float], q: float) -> float:
    """The smallest value that at least a share `q` of the sorted values do not exceed; NaN for none."""
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)] if ordered else math.nan


def summary(values: Iterable[float], quantiles: Sequence[float] = (0.5, 0.9, 0.99, 0.999)) -> dict[str, float]:
    """`count`, `avg`, `p50` …, `max` of `values`, in their own unit."""
    ordered = sorted(values)
    result: dict[str, float] = {"count": len(ordered), "avg": sum(ordered) / len(ordered) if ordered else math.nan}
    result |= {f"p{q * 100:g}": quantile(ordered, q) for q in quantiles}
    return result | {"max": ordered[-1] if ordered else math.nan}


def shown(value: Any) -> str:
    """A cell: thousands with commas, three significant digits below 100."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        return "-"
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 100 else f"{value:.3g}"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns aligned for a terminal: the first to the left, the others to the right."""
    cells = [list(head)] + [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join(
        [lines[0].rstrip(), "  ".join("-" * width for width in widths), *(line.rstrip() for line in lines[1:])]
    )


def markdown(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same table as Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(":--" if i == 0 else "--:" for i in range(len(head))) + "|"]
    lines += ["| " + " | ".join(shown(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def counted(counter: Counter[str], limit: int | None = None) -> str:
    """`not 12, if 3`: what was counted, most frequent first."""
    return ", ".join(f"{name} {count:,}" for name, count in counter.most_common(limit)) or "none"


def machine() -> dict[str, Any]:
    """What the numbers were made on, without names that identify a machine."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
    }


def write_results(name: str, text: str, values: dict[str, Any], folder: Path = RESULTS) -> None:
    """Print `text` and leave it as `name.txt`, beside `name.json` with everything behind it."""
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(text.rstrip() + "\n", encoding="utf-8")
    payload = json.dumps({"machine": machine()} | values, indent=1, ensure_ascii=False, default=str)
    (folder / f"{name}.json").write_text(payload + "\n", encoding="utf-8")
