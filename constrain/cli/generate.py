"""`constrain generate`: a prompt and a specification go in; the text is shown as it is written, then accounted for.

The text goes to standard output and nothing else does, so that it can be piped; the account goes to standard error.
With `--json` every line of standard output is an event: `text` (text, token_ids, forced), at last `result` or `error`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from constrain.cli.excerpt import visible
from constrain.cli.findings import compile_or_explain
from constrain.cli.output import print_json, stderr, stdout
from constrain.cli.source import Source
from constrain.errors import ConstrainError, ModelError

if TYPE_CHECKING:
    from constrain import Specification
    from constrain.decoding.result import Event, Result

FORCED, CHOSEN = "cyan", "bold"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen, as the command line says it."""

    max_tokens: int
    temperature: float
    seed: int
    top_k: int | None = None
    top_p: float | None = None

    def as_arguments(self) -> dict[str, Any]:
        """For `Decoder.stream`; what was not given stays with its defaults."""
        given = {name: getattr(self, name) for name in ("max_tokens", "temperature", "seed", "top_k", "top_p")}
        return {name: value for name, value in given.items() if value is not None}


def generate(
    prompt: str, source: Source | None, options: dict[str, Any], model: str, sampling: Sampling, *, as_json: bool
) -> int:
    """Stream one generation; returns the exit code."""

    def work(specification: Specification | None) -> Iterator[Event]:
        decoder = load_decoder(model, quiet=as_json)
        yield from decoder.stream(prompt, spec=specification, **sampling.as_arguments())

    if as_json:
        return stream_json(lambda: work(None if source is None else source.compile(options)), {})
    specification = None if source is None else compile_or_explain(source, options)
    if source is not None and specification is None:
        return 1
    result = show_stream(work(specification), stdout().is_terminal)
    stderr().print(Text(account(result, constrained=source is not None), style="dim"))
    return 0


def load_decoder(model: str, *, quiet: bool) -> Any:
    """The decoder of a model; says what it waits for."""
    import constrain

    # A token at a time gains nothing from a second thread (measured); on a busy machine the two wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if quiet or not sys.stderr.isatty():
        return constrain.Decoder.from_pretrained(model)
    with stderr().status(f"loading {visible(model)} …"):
        return constrain.Decoder.from_pretrained(model)


def stream_json(work: Callable[[], Iterator[Event]], labels: dict[str, Any]) -> int:
    """Each event as a line of JSON; an error is the last event, and exit code 1."""
    try:
        for event in work():
            if event.text or event.token_ids:
                print_json(
                    {
                        "event": "text",
                        **labels,
                        "text": event.text,
                        "token_ids": list(event.token_ids),
                        "forced": event.forced,
                    }
                )
            if event.result is not None:
                print_json({"event": "result", **labels, **result_to_json(event.result)})
    except ConstrainError as error:
        print_json({"event": "error", **labels, **error_to_json(error)})
        return 1
    return 0


def result_to_json(result: Result) -> dict[str, Any]:
    return {
        "value": result.value,
        "text": result.text,
        "tokens": list(result.tokens),
        "finish_reason": result.finish_reason,
        "usage": result.usage.to_json(),
        "report": result.report.to_json(),
    }


def error_to_json(error: ConstrainError) -> dict[str, Any]:
    fields = {"message": error.message, "at": error.at, "expected": error.expected, "help": error.help}
    return {"error": type(error).__name__, **fields}


def show_stream(events: Iterator[Event], colours: bool) -> Result:
    """Write the text as it comes (forced pieces in one colour, chosen ones in another) and return the result."""
    console = stdout()
    result = None
    try:
        for event in events:
            if colours:
                console.print(Text(visible(event.text, keep="\n\t"), style=FORCED if event.forced else CHOSEN), end="")
            else:
                sys.stdout.write(event.text)
            sys.stdout.flush()
            result = event.result or result
    finally:  # an error's message begins on a line of its own
        sys.stdout.write("\n")
        sys.stdout.flush()
    if result is None:
        raise ModelError("the stream ended without a result", help="please report this: it is a defect of constrain")
    return result


def account(result: Result, *, constrained: bool) -> str:
    """One line: tokens, how many were forced, what the mask removed, time, and why it ended."""
    usage = result.usage
    parts = [f"{usage.completion_tokens} token{'' if usage.completion_tokens == 1 else 's'}"]
    if constrained:
        parts[0] += f" ({usage.forced_tokens} forced)"
        parts.append(f"{usage.masked_choices:,} choices masked out")
        parts.append(f"masks {usage.mask_s * 1000:.0f} ms")
    seconds = usage.prefill_s + usage.decode_s + usage.mask_s
    parts += [f"{seconds:.1f} s", f"finish: {result.finish_reason}"]
    return ("valid · " if constrained and result.value is not None else "") + " · ".join(parts)
