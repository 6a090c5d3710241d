"""`constrain demo`: the main job in front of your eyes.

A schema and a sentence go in. A small model writes under the schema's masks, what it wrote is validated, and the same
model's answer to the same prompt without masks stands beside it, judged by the same schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from constrain.cli.excerpt import visible
from constrain.cli.generate import CHOSEN, FORCED, Sampling, load_decoder, show_stream, stream_json
from constrain.cli.output import stdout

if TYPE_CHECKING:
    from constrain.decoding.result import Event, Result

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "born": {"type": "integer", "minimum": 1800, "maximum": 2030},
        "profession": {"enum": ["scientist", "engineer", "artist", "politician"]},
        "languages": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[A-Z][a-z]+$"},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
        },
        "email": {"type": "string", "format": "email", "maxLength": 30},
    },
    "required": ["name", "born", "profession", "languages", "email"],
    "additionalProperties": False,
}
PROMPT = (
    "Extract the person as a JSON object with the keys name, born, profession, languages and email.\n"
    "Text: Marie Curie, born in 1867, was a scientist. She spoke Polish, Russian and French. "
    "Write to her at marie@curie.fr."
)


def demo(model: str, sampling: Sampling, *, as_json: bool) -> int:
    """Run both generations and show them; returns the exit code."""
    decoder = load_decoder(model, quiet=as_json)

    def stream(spec: dict[str, Any] | None) -> Iterator[Event]:
        return decoder.stream(PROMPT, spec=spec, **sampling.as_arguments())

    if as_json:
        codes = [
            stream_json(lambda: stream(SCHEMA), {"run": "constrained"}),
            stream_json(lambda: stream(None), {"run": "unconstrained"}),
        ]
        return max(codes)
    introduce(model)
    constrained = show_stream(stream(SCHEMA), stdout().is_terminal)
    explain_account(constrained)
    heading("The same prompt without the schema …")
    free = show_stream(stream(None), stdout().is_terminal)
    compare(constrained, free)
    return 0


def introduce(model: str) -> None:
    console = stdout()
    shown = Path(model).name if model.endswith(".gguf") else model
    console.print(f"constrain demo · {visible(shown)}, on this machine's CPU\n", style="bold")
    schema = Syntax(schema_text(), "json", theme="ansi_dark", background_color="default", word_wrap=True)
    console.print(Panel(schema, title="The schema", title_align="left", expand=False), soft_wrap=False)
    console.print(Panel(PROMPT, title="The prompt", title_align="left"), soft_wrap=False)
    legend = Text("\nThe model writes, and may only write what the schema allows", style="bold")
    if console.is_terminal:
        legend += Text.assemble(("  (", "dim"), ("forced", FORCED), (" · ", "dim"), ("chosen", CHOSEN), (")", "dim"))
    console.print(legend)


def schema_text() -> str:
    """The schema with a property on each line: short enough for one screen."""
    properties = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(value)}" for name, value in SCHEMA["properties"].items()
    )
    rest = ",\n".join(f"  {json.dumps(key)}: {json.dumps(SCHEMA[key])}" for key in ("required", "additionalProperties"))
    return f'{{\n  "type": "object",\n  "properties": {{\n{properties}\n  }},\n{rest}\n}}'


def heading(text: str) -> None:
    stdout().print(Text(f"\n{text}", style="bold"))


def explain_account(result: Result) -> None:
    """What the constraint did, in numbers."""
    usage = result.usage
    share = usage.forced_tokens / usage.completion_tokens if usage.completion_tokens else 0.0
    seconds = usage.decode_s + usage.mask_s
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", style="bold")
    table.add_column()
    table.add_row(str(usage.completion_tokens), f"tokens written ({result.finish_reason})")
    table.add_row(
        str(usage.forced_tokens), f"of them forced ({share:.0%}): only one way on, so the model was not asked"
    )
    table.add_row(
        f"{usage.masked_choices:,}",
        f"choices removed by masks: {usage.masked_per_choice:,.0f} at each of the model's {usage.choices} choices",
    )
    table.add_row(f"{usage.mask_s * 1000:.1f} ms", f"for the masks, of {seconds:.2f} s altogether")
    stdout().print()
    stdout().print(table, soft_wrap=False)


def compare(constrained: Result, free: Result) -> None:
    """The validated object, and what the unconstrained text is worth."""
    value = json.dumps(constrained.value, ensure_ascii=False, indent=2)
    left = Panel(
        Syntax(value, "json", theme="ansi_dark", background_color="default", word_wrap=True),
        title="With the schema",
        subtitle="valid",
        border_style="green",
    )
    fault = fault_of(free.text)
    right = Panel(
        Text(visible(free.text.strip(), keep="\n")),
        title="Without",
        subtitle=Text(fault or "valid, this time"),
        border_style="red" if fault else "green",
    )
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(left, right)
    stdout().print()
    stdout().print(grid, soft_wrap=False)


def fault_of(text: str) -> str | None:
    """Why `text` is not what was asked for; None if it is. Text around an object is forgiven."""
    from constrain.validation.json_schema import validate

    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else json.loads(text)
    except ValueError:
        return "not JSON"
    verdict = validate(SCHEMA, value)
    if verdict.ok:
        return None
    first = verdict.failures[0]
    return f"{visible(first.path)}: {visible(first.keyword)} fails"
