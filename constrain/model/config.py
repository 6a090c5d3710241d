"""What shape a model has: `LlamaConfig`, read from GGUF metadata or from a Hugging Face `config.json`.

Llama, Mistral, Qwen2 and Qwen3 are one architecture with switches: biases on the attention's linears (Qwen2), a norm on
queries and keys (Qwen3), scaled rotary frequencies (Llama 3.1).

Invariant: a `LlamaConfig` describes exactly what `transformer.py` computes. What would change the numbers and is not
computed here (another architecture, another activation, sliding windows, experts, other rotary scalings) is refused by
name; a wrong guess would only show as bad text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from constrain.errors import ModelError, shorten

__all__ = ["LlamaConfig", "RopeScaling", "read_json"]

GGUF_ARCHITECTURES: Final = ("llama", "qwen2", "qwen3")
HUGGING_FACE_ARCHITECTURES: Final = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
}
JSON_LIMIT_BYTES: Final = 64 << 20
_MAX_DIMENSION: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """Llama 3.1's scaling: long wavelengths are stretched by `factor`, short ones kept, those between interpolated."""

    factor: float
    low_frequency_factor: float
    high_frequency_factor: float
    original_context_length: int


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Sizes and switches; widths in elements, lengths in tokens."""

    architecture: str
    layers: int
    width: int
    feed_forward_width: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary_size: int
    context_length: int
    rope_base: float
    norm_epsilon: float
    tied_embeddings: bool
    query_key_value_bias: bool = False
    output_bias: bool = False
    feed_forward_bias: bool = False
    query_key_norm: bool = False
    rope_scaling: RopeScaling | None = None

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, Any], *, tensors: Mapping[str, tuple[int, ...]], at: str) -> LlamaConfig:
        """From the metadata of a GGUF file and the shapes of its tensors, which say what the metadata leave out.

        Raises:  ModelError: naming the architecture or the field that cannot be used.
        """
        architecture = metadata.get("general.architecture")
        if architecture not in GGUF_ARCHITECTURES:
            raise _foreign(architecture, GGUF_ARCHITECTURES, f"{at}, general.architecture")
        fields = _Fields(metadata, at, prefix=f"{architecture}.")
        fields.refuse_unless(fields.get("expert_count", 0) == 0, "expert_count", "mixtures of experts")
        scaling = fields.get("rope.scaling.type", "none")
        fields.refuse_unless(scaling == "none", "rope.scaling.type", f"rotary scaling {shorten(scaling)!r}")
        fields.refuse_unless(not fields.get("attention.sliding_window", 0), "attention.sliding_window", "windows")
        heads, width = fields.size("attention.head_count"), fields.size("embedding_length")
        head_width = fields.size("attention.key_length", width // heads)
        for key in ("attention.value_length", "rope.dimension_count"):
            fields.refuse_unless(fields.size(key, head_width) == head_width, key, f"{key} other than {head_width}")
        return _checked(
            cls(
                architecture=architecture,
                layers=fields.size("block_count"),
                width=width,
                feed_forward_width=fields.size("feed_forward_length"),
                heads=heads,
                kv_heads=fields.size("attention.head_count_kv", heads),
                head_width=head_width,
                vocabulary_size=tensors.get("token_embd.weight", (0,))[0],
                context_length=fields.size("context_length"),
                rope_base=fields.number("rope.freq_base", 10_000.0),
                norm_epsilon=fields.number("attention.layer_norm_rms_epsilon", 1e-5),
                tied_embeddings="output.weight" not in tensors,
                query_key_value_bias="blk.0.attn_q.bias" in tensors,
                output_bias="blk.0.attn_output.bias" in tensors,
                feed_forward_bias="blk.0.ffn_gate.bias" in tensors,
                query_key_norm="blk.0.attn_q_norm.weight" in tensors,
            ),
            at,
        )

    @classmethod
    def from_hugging_face(cls, config: Mapping[str, Any], *, at: str) -> LlamaConfig:
        """From the contents of a `config.json`.

        Raises:  ModelError: naming the architecture or the field that cannot be used.
        """
        names = config.get("architectures")
        name = names[0] if isinstance(names, list) and names else config.get("model_type")
        architecture = HUGGING_FACE_ARCHITECTURES.get(name) if isinstance(name, str) else None
        if architecture is None:
            raise _foreign(name, tuple(HUGGING_FACE_ARCHITECTURES), f"{at}, architectures")
        fields = _Fields(config, at)
        activation = fields.get("hidden_act", "silu")
        fields.refuse_unless(activation in ("silu", "swish"), "hidden_act", f"the activation {shorten(activation)!r}")
        context_length = fields.size("max_position_embeddings")
        _refuse_windows(fields, architecture, context_length)
        fields.refuse_unless(
            fields.get("partial_rotary_factor", 1.0) == 1.0, "partial_rotary_factor", "partial rotation"
        )
        heads, width = fields.size("num_attention_heads"), fields.size("hidden_size")
        bias = bool(fields.get("attention_bias", False))
        base, scaling = _hugging_face_rope(fields)
        return _checked(
            cls(
                architecture=architecture,
                layers=fields.size("num_hidden_layers"),
                width=width,
                feed_forward_width=fields.size("intermediate_size"),
                heads=heads,
                kv_heads=fields.size("num_key_value_heads", heads),
                head_width=fields.size("head_dim", 128 if architecture == "qwen3" else width // heads),
                vocabulary_size=fields.size("vocab_size"),
                context_length=context_length,
                rope_base=base,
                norm_epsilon=fields.number("rms_norm_eps", 1e-6),
                tied_embeddings=bool(fields.get("tie_word_embeddings", False)),
                query_key_value_bias=bias or architecture == "qwen2",
                output_bias=bias and architecture != "qwen2",
                feed_forward_bias=bool(fields.get("mlp_bias", False)),
                query_key_norm=architecture == "qwen3",
                rope_scaling=scaling,
            ),
            at,
        )


def read_json(path: Path) -> dict[str, Any]:
    """The object in the JSON file `path`, which may be no longer than 64 MiB.

    Raises:  ModelError: if the file is absent, too long, not UTF-8, not JSON, or not an object.
    """
    try:
        if path.stat().st_size > JSON_LIMIT_BYTES:
            raise ModelError(f"{path.name} is longer than {JSON_LIMIT_BYTES >> 20} MiB", at=str(path))
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read: {error.strerror}", at=str(path)) from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path.name} is not UTF-8", at=f"{path}, byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{path.name} is not JSON: {error.msg}", at=f"{path}, line {error.lineno}, column {error.colno}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise ModelError(f"{path.name} is nested too deeply or holds a number too long", at=str(path)) from error
    if not isinstance(value, dict):
        raise ModelError(f"{path.name} holds no JSON object", at=str(path), expected="an object")
    return value


class _Fields:
    """Typed look-ups in a record from a file; each failure names the field."""

    def __init__(self, values: Mapping[str, Any], at: str, prefix: str = ""):
        self.values = values
        self.at = at
        self.prefix = prefix

    def get(self, key: str, default: Any) -> Any:
        value = self.values.get(self.prefix + key)
        return default if value is None else value

    def size(self, key: str, default: int | None = None) -> int:
        value = self.get(key, default)
        if value is None:
            raise self.fault(key, "is missing", "a positive integer")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _MAX_DIMENSION:
            raise self.fault(key, f"is {shorten(value)}", "a positive integer below 2^31")
        return value

    def number(self, key: str, default: float) -> float:
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e30:
            raise self.fault(key, f"is {shorten(value)}", "a positive number")
        return float(value)

    def fault(self, key: str, what: str, expected: str) -> ModelError:
        return ModelError(f"{self.prefix + key!r} {what}", at=self.at, expected=expected)

    def refuse_unless(self, condition: bool, key: str, what: str) -> None:
        if not condition:
            raise ModelError(
                f"{what} are not supported" if what.endswith("s") else f"{what} is not supported",
                at=f"{self.at}, {self.prefix}{key}",
                help="use a plain Llama, Mistral, Qwen2 or Qwen3 model",
            )


def _foreign(name: object, supported: tuple[str, ...], at: str) -> ModelError:
    return ModelError(
        f"the architecture {shorten(str(name))!r} is not supported",
        at=at,
        expected=", ".join(supported),
        help="use a model of the Llama family, or drive this one through constrain.integrations.transformers",
    )


def _refuse_windows(fields: _Fields, architecture: str, context_length: int) -> None:
    # Qwen's files carry a window that is switched off; Mistral's `null` or a window of the whole context says none.
    switched_on = fields.get("use_sliding_window", architecture == "mistral")
    window = fields.get("sliding_window", None)
    harmless = not switched_on or window is None or (isinstance(window, int) and window >= context_length)
    fields.refuse_unless(harmless, "sliding_window", "sliding windows")
    kinds = fields.get("layer_types", [])
    if not isinstance(kinds, list) or any(kind not in ("full_attention", "sliding_attention") for kind in kinds):
        raise fields.fault("layer_types", f"is {shorten(kinds)}", "full_attention for every layer")


def _hugging_face_rope(fields: _Fields) -> tuple[float, RopeScaling | None]:
    """Rotary base and scaling, in the older spelling (`rope_theta`, `rope_scaling`) or the newer, `rope_parameters`."""
    key = "rope_parameters" if fields.get("rope_parameters", None) is not None else "rope_scaling"
    record = fields.get(key, {})
    if not isinstance(record, Mapping):
        raise fields.fault(key, f"is {shorten(record)}", "an object")
    inner = _Fields(record, f"{fields.at}, {key}")
    base = inner.number("rope_theta", fields.number("rope_theta", 10_000.0))
    kind = inner.get("rope_type", inner.get("type", "default"))
    if kind == "default":
        return base, None
    inner.refuse_unless(kind == "llama3", "rope_type", f"the rotary scaling {shorten(str(kind))!r}")
    scaling = RopeScaling(
        factor=inner.number("factor", 8.0),
        low_frequency_factor=inner.number("low_freq_factor", 1.0),
        high_frequency_factor=inner.number("high_freq_factor", 4.0),
        original_context_length=inner.size("original_max_position_embeddings"),
    )
    if scaling.high_frequency_factor <= scaling.low_frequency_factor:
        raise inner.fault("high_freq_factor", "is not above low_freq_factor", "a larger number")
    return base, scaling


def _checked(config: LlamaConfig, at: str) -> LlamaConfig:
    if config.heads % config.kv_heads:
        raise ModelError(f"{config.heads} heads cannot share {config.kv_heads} key heads evenly", at=at)
    if config.head_width % 2:
        raise ModelError(f"a head of odd width {config.head_width} cannot be rotated", at=at)
    if config.vocabulary_size == 0:
        raise ModelError("there is no token embedding", at=at, expected="a tensor 'token_embd.weight'")
    return config
