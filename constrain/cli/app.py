"""The commands and their options: what typer sees. Each body reads its arguments and hands over to its own module."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from constrain.errors import ConstrainError

if TYPE_CHECKING:
    from constrain.cli.source import Source

SPELLING = "How JSON is spelt"
SCHEMA = "How schemas are read"
MODEL = "Model and sampling"

EPILOG = """
Examples:

  constrain demo

  constrain check schemas/ --registry schemas/

  constrain match person.json '{"name": "Ada"}'

  constrain generate --schema person.json "Ada Lovelace, born in 1815."
"""
EPILOG_CHECK = """
Examples:

  constrain check person.json

  constrain check schemas/ --registry schemas/ --report

  constrain check schemas/*.json --format github

  constrain check schemas/*.json --strict --ignore unbounded-string

  constrain check draft.json --on-unsupported warn --report

  constrain check schema.json --profile openai-strict

  constrain check order.json --registry urn:person=person.json

  constrain check --regex '[A-Z]{3}-[0-9]+'

  cat person.json | constrain check - --format json
"""
EPILOG_MATCH = """
Examples:

  constrain match person.json answer.json

  constrain match person.json '{"name": "Ada"}'

  constrain match --regex '[0-9]{4}-[0-9]{2}' 2026-1

  cat answer.json | constrain match person.json - --spelling canonical
"""
EPILOG_GENERATE = """
Examples:

  constrain generate --schema person.json "Ada Lovelace, born in 1815."

  constrain generate --regex '(yes|no)' --model ./llama "Is water wet?"

  constrain generate --schema person.json --on-unsupported warn "Ada."

  cat letter.txt | constrain generate --schema letter.json --json -

  constrain generate --free "Once upon a time"
"""
EPILOG_DEMO = """
Examples:

  constrain demo

  constrain demo --seed 7 --temperature 0.8

  CONSTRAIN_MODEL=/path/to/model.gguf constrain demo --json
"""


def plain_flag(option: Any) -> Any:
    """An option that takes no value, without the type that its help would show."""
    if option is not None:
        option.metavar = ""
    return option


class Command(TyperCommand):
    """A command whose help names what a value is for, not the type that reads it."""

    def get_help_option(self, ctx: Any) -> Any:
        return plain_flag(super().get_help_option(ctx))

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)
        for param in params:
            if isinstance(param, TyperArgument):
                vars(param)["display_type_rich"] = lambda ctx: None
        return params


class Commands(TyperGroup):
    """Turns what a user can cause into a message and an exit code; a traceback is always a defect of ours."""

    def get_help_option(self, ctx: Any) -> Any:
        return plain_flag(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        from constrain.cli.excerpt import visible
        from constrain.cli.output import stderr

        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # a full disk shows here, not when the interpreter ends
        except ConstrainError as error:
            stderr().print(visible(f"{type(error).__name__}: {error}", keep="\n"))
            raise typer.Exit(1) from None
        except BrokenPipeError:  # whoever read our output has gone: typer ends quietly
            raise
        except OSError as error:
            drop_output()
            stderr().print(visible(f"{type(error).__name__}: {error.strerror or error}", keep="\n"))
            raise typer.Exit(1) from None


def drop_output() -> None:
    """What is still buffered for a full disk goes nowhere, so that ending does not fail on it again."""
    with contextlib.suppress(OSError, ValueError):  # not a real file: nothing to do
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands,
    name="constrain",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Constrained decoding: a specification goes in, a text that satisfies it comes out of a language model.",
    epilog=EPILOG,
)

KeyOrder = Annotated[
    Literal["declared", "any"] | None,
    typer.Option(metavar="ORDER", help="Order of an object's members: declared or any.", rich_help_panel=SPELLING),
]
Whitespace = Annotated[
    Literal["compact", "spaced", "pretty", "flexible"] | None,
    typer.Option(
        metavar="STYLE",
        help="Blanks between JSON tokens: compact, spaced, pretty or flexible.",
        rich_help_panel=SPELLING,
    ),
]
Numbers = Annotated[
    Literal["canonical", "any"] | None,
    typer.Option(metavar="SPELLING", help="Spelling of numbers: canonical or any.", rich_help_panel=SPELLING),
]
Escapes = Annotated[
    Literal["canonical", "any"] | None,
    typer.Option(
        metavar="SPELLING", help="Spelling of characters in strings: canonical or any.", rich_help_panel=SPELLING
    ),
]
Formats = Annotated[
    Literal["known", "annotation", "all"] | None,
    typer.Option(
        metavar="WHICH",
        help="known: enforce the formats we know; annotation: none; all: refuse unknown ones.",
        rich_help_panel=SCHEMA,
    ),
]
Dialect = Annotated[
    Literal["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"] | None,
    typer.Option(
        metavar="DRAFT",
        help="How to read a schema without $schema: draft4, draft6, draft7, draft2019-09 or draft2020-12.",
        rich_help_panel=SCHEMA,
    ),
]
OnUnsupported = Annotated[
    Literal["error", "warn"] | None,
    typer.Option(
        metavar="ACTION",
        help="error: refuse what cannot be enforced; warn: compile the wider language and say where.",
        rich_help_panel=SCHEMA,
    ),
]
Registry = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="Documents that references may lead to: a folder of .json files, a file, or URI=FILE; may be repeated.",
        rich_help_panel=SCHEMA,
    ),
]
RegexDialect = Annotated[
    Literal["python", "ecma"],
    typer.Option(metavar="LANGUAGE", help="Whose language --regex is written in: python or ecma."),
]
CheckFormats = Annotated[
    Literal["text", "json", "sarif", "github"],
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="text: for people; json: for machines; sarif: for code hosts; github: annotations of a workflow.",
    ),
]
OutputFormat = Annotated[
    Literal["text", "json"], typer.Option("--format", metavar="FORMAT", help="text: for people; json: for machines.")
]
Model = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        envvar="CONSTRAIN_MODEL",
        help="A .gguf file, a Hugging Face model directory, or 'smollm2'.",
        rich_help_panel=MODEL,
    ),
]
MaxTokens = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, help="Longest text, in tokens; it is complete within that.", rich_help_panel=MODEL
    ),
]
Temperature = Annotated[
    float, typer.Option(metavar="T", min=0.0, help="0 takes the likeliest token.", rich_help_panel=MODEL)
]
TopK = Annotated[
    int | None, typer.Option(metavar="K", min=1, help="Sample among the k likeliest tokens.", rich_help_panel=MODEL)
]
TopP = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        min=0.0,
        max=1.0,
        help="Sample among the likeliest tokens of this total probability.",
        rich_help_panel=MODEL,
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="The same seed gives the same text.", rich_help_panel=MODEL)
]


def show_version(wanted: bool) -> None:
    """`constrain --version`, since that is what people try first."""
    if wanted:
        version_command()
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=show_version, is_eager=True, help="The same as `version`.")
    ] = False,
) -> None:
    pass


@app.command("demo", cls=Command, epilog=EPILOG_DEMO)
def demo_command(
    model: Model = "smollm2",
    seed: Seed = 0,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 120,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Events as JSON lines, for machines.")] = False,
) -> None:
    """Show the main job: a schema, a small model's constrained answer as it is written, and the validated object.

    Beside it stands what the same model writes to the same prompt without the constraint.
    """
    from constrain.cli.demo import demo
    from constrain.cli.generate import Sampling

    sampling = Sampling(max_tokens=max_tokens, temperature=temperature, seed=seed)
    raise typer.Exit(demo(model, sampling, as_json=as_json))


@app.command("generate", cls=Command, epilog=EPILOG_GENERATE)
def generate_command(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask; - reads standard input.")],
    schema: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON Schema that the text must satisfy.")
    ] = None,
    regex: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="A pattern that the whole text must match.")
    ] = None,
    free: Annotated[
        bool, typer.Option("--free", metavar="", help="Let the text be free: nothing is enforced.")
    ] = False,
    model: Model = "smollm2",
    max_tokens: MaxTokens = 256,
    temperature: Temperature = 0.0,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = 0,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Events as JSON lines, the last one the result.")
    ] = False,
    regex_dialect: RegexDialect = "python",
    key_order: KeyOrder = None,
    whitespace: Whitespace = None,
    numbers: Numbers = None,
    escapes: Escapes = None,
    formats: Formats = None,
    dialect: Dialect = None,
    on_unsupported: OnUnsupported = None,
    registry: Registry = None,
) -> None:
    """Let a model write a text that satisfies a specification, shown as it is written."""
    from constrain.cli.generate import Sampling, generate
    from constrain.cli.source import prompt_of, regex_source, registry_of, schema_source

    if schema is not None and regex is not None:
        raise typer.BadParameter("give --schema or --regex, not both")
    if free and (schema is not None or regex is not None):
        raise typer.BadParameter("--free enforces nothing: leave it out, or --schema and --regex")
    if not free and schema is None and regex is None:
        raise typer.BadParameter("give --schema FILE or --regex PATTERN; for a free text, say --free")
    if schema == prompt == "-":
        raise typer.BadParameter("standard input can be the schema or the prompt, not both")
    options = chosen(
        regex_dialect=regex_dialect, key_order=key_order, whitespace=whitespace, numbers=numbers, escapes=escapes,
        formats=formats, dialect=dialect, on_unsupported=on_unsupported, registry=registry_of(registry or []),
    )  # fmt: skip
    source = (
        schema_source(schema, registry or [])
        if schema is not None
        else regex_source(regex)
        if regex is not None
        else None
    )
    sampling = Sampling(max_tokens=max_tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    raise typer.Exit(generate(prompt_of(prompt), source, options, model, sampling, as_json=as_json))


@app.command("check", cls=Command, epilog=EPILOG_CHECK)
def check_command(
    specs: Annotated[
        list[str] | None,
        typer.Argument(metavar="SPEC", help="JSON Schema files, or folders of them; - reads standard input."),
    ] = None,
    regex: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="A regular expression to check; may be repeated.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", metavar="", help="Say of each keyword whether it is enforced.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", metavar="", help="Notes count too, and more is looked for.")
    ] = False,
    profile: Annotated[
        Literal["openai-strict"] | None,
        typer.Option(
            metavar="SERVICE",
            help="Also find what a hosted service would refuse: openai-strict.",
            rich_help_panel=SCHEMA,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Accept the findings of this code; may be repeated."),
    ] = None,
    output_format: CheckFormats = "text",
    regex_dialect: RegexDialect = "python",
    key_order: KeyOrder = None,
    whitespace: Whitespace = None,
    numbers: Numbers = None,
    escapes: Escapes = None,
    formats: Formats = None,
    dialect: Dialect = None,
    on_unsupported: OnUnsupported = None,
    registry: Registry = None,
) -> None:
    """Say whether specifications can be enforced, and what in them can hardly be meant.

    Exit code: 0 clean, 1 errors or warnings (with --strict also notes), 2 wrong usage.
    """
    from constrain.cli.check import check, check_codes
    from constrain.cli.source import regex_source, registry_of, schema_sources, without_repeats

    if not specs and not regex:
        raise typer.BadParameter("name at least one schema file, or give --regex", param_hint="SPEC")
    check_codes(ignore or [])
    faults: list[Source] = []
    options = chosen(
        regex_dialect=regex_dialect, key_order=key_order, whitespace=whitespace, numbers=numbers, escapes=escapes,
        formats=formats, dialect=dialect, on_unsupported=on_unsupported,
    )  # fmt: skip
    sources = schema_sources(specs or [], registry or [])
    documents = registry_of(registry or [], faults)
    options |= {} if documents is None else {"registry": documents}
    sources = [*without_repeats(faults, sources), *sources, *map(regex_source, regex or [])]
    raise typer.Exit(
        check(
            sources, options, profile=profile, report=report, output_format=output_format, strict=strict,
            ignore=frozenset(ignore or []),
        )
    )  # fmt: skip


@app.command("match", cls=Command, epilog=EPILOG_MATCH)
def match_command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SPEC TEXT",
            help="A JSON Schema file (not with --regex), then a file, the text itself, or - for standard input.",
        ),
    ] = None,
    regex: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Match against this instead of a schema.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The text itself, even if it looks like a file's name.")
    ] = None,
    spelling: Annotated[
        Literal["any", "canonical"],
        typer.Option(
            metavar="SPELLING",
            help="any: every spelling of a JSON value; canonical: only what a decoder writes by default.",
            rich_help_panel=SPELLING,
        ),
    ] = "any",
    output_format: OutputFormat = "text",
    regex_dialect: RegexDialect = "python",
    key_order: KeyOrder = None,
    whitespace: Whitespace = None,
    numbers: Numbers = None,
    escapes: Escapes = None,
    formats: Formats = None,
    dialect: Dialect = None,
    on_unsupported: OnUnsupported = None,
    registry: Registry = None,
) -> None:
    """Say whether a text satisfies a specification, and if not, from where on.

    Exit code: 0 accepted, 1 not accepted, 2 wrong usage.

    A text that differs only in spelling (blanks, the order of members, 1.0 for 1) is accepted too, unless
    --spelling canonical. One line end at the end of a file is ignored.
    """
    from constrain.cli.match import match
    from constrain.cli.source import regex_source, registry_of, schema_source, text_of

    given = list(arguments or [])
    if regex is None and not given:
        raise typer.BadParameter("name a schema file, or give --regex", param_hint="SPEC")
    spec_name = None if regex is not None else given.pop(0)
    if len(given) > (0 if text is not None else 1):
        raise typer.BadParameter(f"one text at a time: {given[-1]!r} is one too many", param_hint="TEXT")
    if spec_name == "-" and given == ["-"]:
        raise typer.BadParameter("standard input can be the schema or the text, not both")
    options = chosen(
        regex_dialect=regex_dialect, key_order=key_order, whitespace=whitespace, numbers=numbers, escapes=escapes,
        formats=formats, dialect=dialect, on_unsupported=on_unsupported, registry=registry_of(registry or []),
        spelling="any" if spelling == "any" else None,
    )  # fmt: skip
    source = schema_source(spec_name, registry or []) if spec_name is not None else regex_source(regex or "")
    name, content = text_of(given[0] if given else None, text)
    raise typer.Exit(match(source, options, name, content, as_json=output_format == "json"))


@app.command("version", cls=Command)
def version_command() -> None:
    """Print the version of constrain, and of what it runs on."""
    from constrain.cli.version import version_lines

    for line in version_lines():
        typer.echo(line)


def chosen(**options: Any) -> dict[str, Any]:
    """The options that were given; the rest stay with the library's defaults."""
    return {name: value for name, value in options.items() if value is not None}


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; output that cannot be encoded is escaped, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(args=None if arguments is None else list(arguments), prog_name="constrain")
