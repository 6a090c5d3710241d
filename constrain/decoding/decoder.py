"""`Decoder`: a model, its vocabulary and its chat template; generates under a specification or freely.

    decoder = Decoder.from_pretrained("smollm2")
    result = decoder.generate("Extract: …", spec=Person, max_tokens=200, seed=0)

A decoder is shared: it holds what never changes, and one compiler. What belongs to a request (cache, matcher, random
generator) is made anew for each, so threads may generate side by side.

Deliberately not here: batches, beams, speculation, prefix reuse; they replace `RunTokens` and the loop in
`generation.py`, and leave this interface alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from constrain.errors import InvalidSpecification, MissingExtra, ModelError, shorten
from constrain.report import Report

try:
    import torch
except ImportError as error:
    raise MissingExtra("torch", "model") from error

from constrain.decoding.generation import Generation, RunTokens
from constrain.decoding.guide import ForcedMode, FreeGuide, GrammarGuide, Guide
from constrain.decoding.pipeline import SamplingOptions, build_pipeline
from constrain.decoding.prompt import ChatMode, Prompt, encode_prompt
from constrain.decoding.result import Event, Result
from constrain.decoding.sampler import seeded_generator
from constrain.decoding.text_stream import TextStream
from constrain.model.chat_template import ChatTemplate
from constrain.model.find import find_model
from constrain.model.load import open_model
from constrain.model.transformer import Model, new_cache, prefill

__all__ = ["Decoder", "GenerateOptions"]


class GenerateOptions(TypedDict, total=False):
    """The options of `Decoder.generate` and `Decoder.stream`, which see."""

    max_tokens: int
    seed: int
    temperature: float
    top_k: int | None
    top_p: float | None
    min_p: float | None
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float
    logit_bias: Mapping[int, float] | None
    stop: Sequence[str] | None
    forced: ForcedMode
    chat: ChatMode
    timeout_s: float | None
    cancel: threading.Event | None


class Decoder:
    """A loaded model. `from_pretrained` makes one.

    Raises:  ModelError: if the vocabulary has more tokens than the model.
    """

    def __init__(self, model: Model, vocabulary: Any, *, chat_template: ChatTemplate | None = None, name: str = ""):
        if vocabulary.size > model.config.vocabulary_size:
            raise ModelError(
                f"the tokenizer has {vocabulary.size} tokens, the model only {model.config.vocabulary_size}",
                help="take the tokenizer that belongs to the model",
            )
        self.model = model
        self.vocabulary = vocabulary
        self.chat_template = chat_template
        self.name = name
        self._compiler: Any = None
        self._lock = threading.Lock()

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | os.PathLike[str], *, dtype: torch.dtype | str | None = None, device: str = "cpu"
    ) -> Decoder:
        """Load a model and its tokenizer.

        Args:    name_or_path: "smollm2", a Hugging Face directory, or a .gguf file (see `find_model`).
                 dtype: "float32" or "bfloat16"; None takes bfloat16 where it is fast.
        Raises:  ModelError, VocabularyError: naming the file and what is wrong with it. MissingExtra.
        Cost:    1 to 4 s for SmolLM2.
        """
        from constrain.matching.vocabulary import Vocabulary

        opened = open_model(find_model(name_or_path))
        # The tokenizer before the weights: it fails sooner, and costs less.
        vocabulary = Vocabulary.from_file(opened.path)
        model = opened.build(dtype=dtype, device=device)
        return cls(model, vocabulary, chat_template=opened.chat_template, name=str(name_or_path))

    def generate(self, prompt: Prompt, spec: Any = None, **options: Unpack[GenerateOptions]) -> Result:
        """Write a text after `prompt`; under `spec`, one that satisfies it. Options, errors and cost: see `stream`."""
        for event in self.stream(prompt, spec, **options):
            if event.result is not None:
                return event.result
        raise AssertionError("a stream ends with a result")

    def stream(
        self,
        prompt: Prompt,
        spec: Any = None,
        *,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float = 1.0,
        presence_penalty: float = 0.0,
        frequency_penalty: float = 0.0,
        logit_bias: Mapping[int, float] | None = None,
        stop: Sequence[str] | None = None,
        forced: ForcedMode = "canonical",
        chat: ChatMode = "auto",
        timeout_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]:
        """Like `generate`, as events while it goes on; the last one carries the result.

        Everything is checked, the specification compiled and the prompt encoded before this returns; the model runs as
        events are taken.

        Args:    prompt: text, or messages. spec: a JSON Schema, a type, a Pydantic model, a Specification; None: free.
                 max_tokens: without the end token. temperature: 0 is greedy. forced: how text that is the only way on
                 is written (`Matcher.forced_tokens`). stop: strings that end the text; cut off in a free text, while
                 under a specification the text is then completed the shortest way. chat: wrap text as a user's message.
                 timeout_s, cancel: end with finish_reason "cancelled" and no value.
        Raises:  SpecificationError: the specification or an option cannot be used. ModelError: the prompt is longer
                 than the context. BudgetTooSmall: max_tokens cannot hold the shortest text. ValidationFailed (at the
                 end): the text breaks a rule that no mask can enforce. LimitExceeded.
        Cost:    one forward pass per choice; forced tokens share the next one.
        """
        sampling = SamplingOptions(
            temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, logit_bias or {}
        )
        request = _Request(max_tokens, seed, forced, timeout_s, cancel)
        is_cancelled = request.canceller()
        text_stream = TextStream(stop or (), keep_stop=spec is not None)
        prompt_ids = encode_prompt(prompt, self.vocabulary, self.chat_template, chat)
        budget = self._budget(len(prompt_ids), max_tokens)
        start = time.perf_counter()
        specification, guide = self._guide(spec, budget, request)
        compile_s = time.perf_counter() - start
        generation = Generation(
            self._run_tokens(len(prompt_ids) + budget),
            self.vocabulary,
            prompt_ids,
            budget=budget,
            guide=guide,
            pipeline=build_pipeline(sampling),
            generator=seeded_generator(seed),
            stream=text_stream,
            is_cancelled=is_cancelled,
        )
        return _events(generation, text_stream, specification, compile_s)

    def _budget(self, prompt_length: int, max_tokens: int) -> int:
        """`max_tokens`, or what the context leaves of it."""
        context = self.model.config.context_length
        if prompt_length >= context:
            raise ModelError(
                f"the prompt has {prompt_length} tokens, the context holds {context} and needs one for an answer",
                help=f"shorten the prompt by {prompt_length - context + 1} tokens or more",
            )
        return min(max_tokens, context - prompt_length)

    def _guide(self, spec: Any, budget: int, request: _Request) -> tuple[Any, Guide]:
        if spec is None:
            return None, FreeGuide(self.vocabulary.end_ids)
        from constrain.specification import coerce

        specification = coerce(spec)
        grammar = self.compiler.compile(specification, deadline_s=request.timeout_s)
        return specification, GrammarGuide(grammar.matcher(), self.vocabulary, budget, request.forced)

    @property
    def compiler(self) -> Any:
        """The compiler for this vocabulary, made when first asked for; it remembers what it compiled."""
        with self._lock:
            if self._compiler is None:
                from constrain.matching.compiler import Compiler

                self._compiler = Compiler(self.vocabulary)
            return self._compiler

    def _run_tokens(self, capacity: int) -> RunTokens:
        cache = new_cache(self.model, capacity)
        return lambda tokens: prefill(self.model, torch.tensor([list(tokens)]), cache)


@dataclass(frozen=True, slots=True)
class _Request:
    """Options that are not about sampling, checked."""

    max_tokens: int
    seed: int
    forced: ForcedMode
    timeout_s: float | None
    cancel: threading.Event | None

    def __post_init__(self) -> None:
        if isinstance(self.max_tokens, bool) or not isinstance(self.max_tokens, int) or self.max_tokens < 1:
            raise InvalidSpecification(f"max_tokens is {shorten(self.max_tokens)}", expected="an integer of 1 or more")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise InvalidSpecification(f"seed is {shorten(self.seed)}", expected="an integer")
        if self.forced not in ("canonical", "single", "off"):
            raise InvalidSpecification(f"forced is {shorten(self.forced)}", expected="'canonical', 'single' or 'off'")
        if self.timeout_s is not None and (not isinstance(self.timeout_s, int | float) or not self.timeout_s >= 0):
            raise InvalidSpecification(f"timeout_s is {shorten(self.timeout_s)}", expected="seconds")

    def canceller(self) -> Callable[[], bool]:
        deadline = None if self.timeout_s is None else time.monotonic() + self.timeout_s
        cancel = self.cancel

        def is_cancelled() -> bool:
            return (deadline is not None and time.monotonic() > deadline) or (cancel is not None and cancel.is_set())

        return is_cancelled


def _events(generation: Generation, text_stream: TextStream, specification: Any, compile_s: float) -> Iterator[Event]:
    yield from generation.run()
    text = text_stream.text
    value: Any = None
    if generation.finish_reason != "cancelled":
        value = text if specification is None else _checked_value(specification, text)
    report = Report() if specification is None else specification.report
    usage = generation.usage(compile_s)
    yield Event("", result=Result(value, text, tuple(generation.tokens), usage, generation.finish_reason, report))


def _checked_value(specification: Any, text: str) -> Any:
    """The value, after every check that masks cannot make. Raises: ValidationFailed."""
    specification.validate(text)
    return specification.parse(text)
