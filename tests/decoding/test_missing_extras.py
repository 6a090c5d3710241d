"""A missing package is named with the line that installs it, and never with a traceback from inside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from constrain.errors import MissingExtra
from constrain.model.chat_template import ChatTemplate
from constrain.model.gguf_file import GgufFile
from tests.model.tiny import RandomSource, tiny_config, write_gguf


def _forget(monkeypatch: pytest.MonkeyPatch, package: str, *ours: str) -> None:
    """As if `package` were not installed, for modules of ours that are imported from here on."""
    for name in (package, *(name for name in sys.modules if name.startswith(package + "."))):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ours:
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_without_torch_a_decoder_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch, "torch", "constrain.decoding.decoder", "constrain.model.load")
    with pytest.raises(MissingExtra, match=r"pip install 'constrain\[model\]'"):
        import constrain.decoding.decoder
    with pytest.raises(MissingExtra, match=r"'torch' is not installed"):
        import constrain.model.load  # noqa: F401


def test_without_transformers_the_processor_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch, "transformers", "constrain.integrations.transformers")
    with pytest.raises(MissingExtra, match=r"pip install 'constrain\[transformers\]'"):
        import constrain.integrations.transformers  # noqa: F401


def test_without_gguf_a_gguf_file_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tiny_config()
    path = write_gguf(tmp_path / "m.gguf", config, RandomSource(config))
    _forget(monkeypatch, "gguf")
    with pytest.raises(MissingExtra, match=r"constrain\[model\]"):
        GgufFile(path)


def test_without_safetensors_a_directory_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from constrain.model.safetensors_weights import SafetensorsWeights

    (tmp_path / "config.json").write_text(
        '{"architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,'
        ' "num_attention_heads": 1, "vocab_size": 8, "max_position_embeddings": 8}'
    )
    (tmp_path / "model.safetensors").touch()
    _forget(monkeypatch, "safetensors")
    with pytest.raises(MissingExtra, match=r"constrain\[model\]"):
        SafetensorsWeights(tmp_path)


def test_without_jinja_a_template_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch, "jinja2", "constrain.model.template_sandbox")
    with pytest.raises(MissingExtra, match=r"constrain\[model\]"):
        ChatTemplate("x").render([{"role": "user", "content": "x"}], {})
