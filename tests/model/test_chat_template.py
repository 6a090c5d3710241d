"""Chat templates: only the template writes special tokens, and a hostile template is stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import ModelError
from constrain.model.chat_template import ChatTemplate, Piece, cut_at_special_tokens

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TRIMMING = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m['content'] | trim }}<|eot|>{% endfor %}"
SPECIAL = {"<|im_start|>": 1, "<|im_end|>": 2, "<|eot|>": 3, "<s>": 4, "[user]": 5}


def _ids(pieces: list[Piece]) -> list[int]:
    return [piece.token_id for piece in pieces if piece.token_id is not None]


def _text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_chatml_is_rendered_and_cut() -> None:
    pieces = ChatTemplate(CHATML).render([{"role": "user", "content": "hi"}], SPECIAL)
    assert _text(pieces) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert _ids(pieces) == [1, 2, 1]


@settings(max_examples=100, deadline=None)
@given(
    content=st.lists(
        st.sampled_from(
            ["<|im_end|>", "<|im_", "end|>", "<|", "|>", "<", ">", "eot", "<|eot|", "[", "user]", " ", "\n", "x"]
        )
        | st.text(max_size=3)
    ).map("".join)
)
@pytest.mark.parametrize("source", [CHATML, TRIMMING])
def test_content_never_becomes_a_special_token_and_is_never_changed(source: str, content: str) -> None:
    template = ChatTemplate(source, begin="<s>")
    of_plain_content = _ids(template.render([{"role": "user", "content": "x"}], SPECIAL))
    pieces = template.render([{"role": "user", "content": content}], SPECIAL)
    assert _ids(pieces) == of_plain_content
    shown = content.strip() if source == TRIMMING else content
    # Jinja's trim knows the same white space as Python's strip.
    assert shown in _text(pieces)
    assert len(_text(pieces)) == len(_text(template.render([{"role": "user", "content": ""}], SPECIAL))) + len(shown)


def test_of_two_special_tokens_at_one_place_the_longer_is_taken() -> None:
    assert cut_at_special_tokens("a<s>>b", {"<s>": 0, "<s>>": 1}) == [Piece("a"), Piece("<s>>", 1), Piece("b")]
    assert cut_at_special_tokens("ab", {}) == [Piece("ab")]


@pytest.mark.timeout(60)  # a template that is not stopped never ends
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "longer than"),
        ("{% for i in range(10**9) %}{% endfor %}", "further than"),
        ("{{ 'x' * 10**10 }}", "repeat"),
        ("{{ '%99999999999d' % 1 }}", "format"),
        ("{{ 'x'.center(10**9) }}", "center"),
        ("{{ '{:>9999999999}'.format(1) }}", "format"),
        ("{{ 9**9**9**9 }}", "large numbers"),
        ("{{ 9**(9**9) }}", "large numbers"),
        ("{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}", "so long"),
        ("{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}", "so long"),
        (
            "{% set n = namespace(x='aa') %}{% for i in range(9) %}{% set n.x = n.x.replace('a', n.x) %}{% endfor %}",
            "so long",
        ),
        (
            "{% set n = namespace(x='aa') %}{% for i in range(9) %}{% set n.x = n.x|replace('a', n.x) %}{% endfor %}",
            "so long",
        ),
        ("{% for i in range(90000) %}" + "x" * 1000 + "{% endfor %}", "too much"),
        ("{{ ''.__class__.__mro__ }}", "fails"),
        ("{{ messages.append(1) }}", "fails"),
        ("{{ messages[0].content.nothing.here }}", "fails"),
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{% for %}", "line 1"),
        ("{% include 'x' %}", "fails"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "compile|parse"),
        ("x" * (300 << 10), "characters"),
    ],
    ids=lambda value: value[:40],
)
def test_a_hostile_template_is_stopped_soon(source: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ChatTemplate(source).render([{"role": "user", "content": "hi"}], SPECIAL)


@pytest.mark.parametrize(
    "messages", [["hi"], [{"role": "user"}], [{"role": "<|x|>", "content": ""}], [{"content": "a"}]]
)
def test_a_malformed_message_is_named(messages: list) -> None:
    with pytest.raises(ModelError, match=r"the role is|the content is|a message is"):
        ChatTemplate(CHATML).render(messages, SPECIAL)


def test_templates_are_found_where_models_keep_them(tmp_path: Path) -> None:
    assert ChatTemplate.from_gguf({}) is None
    assert ChatTemplate.from_directory(tmp_path) is None
    fields = {"tokenizer.chat_template": "T", "tokenizer.ggml.tokens": ["<s>"], "tokenizer.ggml.bos_token_id": 0}
    assert ChatTemplate.from_gguf(fields) == ChatTemplate("T", begin="<s>")
    config = {"chat_template": [{"name": "tools", "template": "U"}, {"name": "default", "template": "T"}]}
    config |= {"bos_token": {"content": "<s>"}, "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert ChatTemplate.from_directory(tmp_path) == ChatTemplate("T", "<s>", "</s>")
    (tmp_path / "chat_template.jinja").write_text("V")
    assert ChatTemplate.from_directory(tmp_path) == ChatTemplate("V", "<s>", "</s>")
