"""The tokenizer of a GGUF file: written by the `gguf` package, read by us, judged by `gguf` and `tokenizers`."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import struct
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError, VocabularyError
from constrain.matching.vocabulary import Vocabulary
from constrain.matching.vocabulary_gguf import PRE_TOKENIZERS, read_metadata

gguf = pytest.importorskip("gguf", reason="gguf is an extra")
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


# ---------------------------------------------------------------- the real file


@cache
def smollm2() -> Vocabulary:
    path = os.environ.get("CONSTRAIN_MODEL", "")
    if not path.endswith(".gguf") or not Path(path).exists():
        pytest.skip("the SmolLM2 model is not on this machine (set CONSTRAIN_MODEL)")
    return Vocabulary.from_gguf(path)


def test_smollm2_is_whole_but_for_21_bytes() -> None:
    vocabulary = smollm2()
    assert vocabulary.size == 49_152
    assert vocabulary.end_ids == (2,)
    assert vocabulary.special_ids == frozenset(range(17))
    assert vocabulary.unproducible_bytes == {4, 6, 19, 20, 22, 29, 192, 193, 241, 242, *range(245, 256)}
    assert vocabulary.token_bytes(1) == b"<|im_start|>"
    assert "<|im_start|>" in (vocabulary.chat_template or "")
    assert vocabulary.metadata["bos_id"] == 1
    assert vocabulary.metadata["add_bos"] is False


@given(text=st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs"]), max_size=40))
@settings(max_examples=150, deadline=None)
def test_smollm2_texts_round_trip(text: str) -> None:
    vocabulary = smollm2()
    assert vocabulary.decode(vocabulary.encode(text)) == text.encode()


def test_smollm2_cuts_as_its_tokenizer_does() -> None:
    spelled = [smollm2().token_bytes(i) for i in smollm2().encode('{"name": "Ann", "born": 1984}')]
    assert spelled == [
        b'{"', b"name", b'":', b' "', b"Ann", b'",', b' "', b"born", b'":', b" ", b"1", b"9", b"8", b"4", b"}"
    ]  # fmt: skip


def test_smollm2_cannot_spell_a_missing_byte() -> None:
    with pytest.raises(VocabularyError, match="value 4"):
        smollm2().encode("a\x04b")


def test_a_chat_prompt_becomes_special_tokens() -> None:
    assert smollm2().encode_prompt("<|im_start|>user\nhi<|im_end|>\n") == [1, 4093, 198, 6004, 2, 198]


# ---------------------------------------------------------------- files made here


def write(folder: Path, model: str, tokens: list[str], types: list[int] | None = None, **fields: object) -> Path:
    path = folder / "made.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    if types is not None:
        writer.add_token_types(types)
    for key, value in fields.items():
        getattr(writer, f"add_{key}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


TOKENS = ["<unk>", "<s>", "</s>", "<0x0A>", "▁a", "b", "▁", "▁▁x", "unused"]
TYPES = [UNKNOWN, CONTROL, CONTROL, BYTE, NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED]


def test_a_sentencepiece_vocabulary_follows_the_token_types(tmp_path: Path) -> None:
    path = write(
        tmp_path, "llama", TOKENS, TYPES, token_scores=[0.0] * 9, eos_token_id=2, bos_token_id=1, add_bos_token=True
    )
    vocabulary = Vocabulary.from_file(path)
    assert vocabulary.spelled_tokens() == (b"", b"", b"", b"\n", b" a", b"b", b" ", b"  x", b"")
    assert vocabulary.token_bytes(2) == b"</s>"
    assert vocabulary.end_ids == (2,)
    assert vocabulary.metadata["add_bos"] is True
    assert vocabulary.encode("b  a\n") == [5, 6, 4, 3]


def test_all_end_ids_of_a_file_are_taken(tmp_path: Path) -> None:
    tokens = ["a", "<|eos|>", "<|eot|>", "<|eom|>"]
    path = write(tmp_path, "gpt2", tokens, [1, 3, 3, 3], eos_token_id=1, eot_token_id=2, eom_token_id=3)
    assert Vocabulary.from_gguf(path).end_ids == (1, 2, 3)
    assert Vocabulary.from_gguf(path, end_ids=(2,)).end_ids == (2,)


def test_a_file_without_end_ids_falls_back_to_names_or_is_refused(tmp_path: Path) -> None:
    assert Vocabulary.from_gguf(write(tmp_path, "gpt2", ["a", "<|im_end|>"], [1, 3])).end_ids == (1,)
    path = write(tmp_path, "gpt2", ["a", "b"], [1, 1])
    with pytest.raises(VocabularyError, match="no end token"):
        Vocabulary.from_gguf(path)
    assert Vocabulary.from_gguf(path, end_ids=()).end_ids == ()


def test_the_text_of_a_control_token_is_cut_like_any_text(tmp_path: Path) -> None:
    path = write(
        tmp_path, "gpt2", ["a", "ab", "b", "ab"], [1, CONTROL, 1, 1],
        tokenizer_pre="llama-bpe", token_merges=["a b"], eos_token_id=1,
    )  # fmt: skip
    assert Vocabulary.from_gguf(path).encode("ab") == [3]


def test_an_unknown_pre_tokenizer_is_noted_and_text_is_cut_into_longest_tokens(tmp_path: Path) -> None:
    path = write(
        tmp_path, "gpt2", ["a", "b", "ab", "</s>"], [1, 1, 1, 3],
        tokenizer_pre="of-tomorrow", token_merges=["a b"], eos_token_id=3,
    )  # fmt: skip
    vocabulary = Vocabulary.from_gguf(path)
    assert vocabulary.encode("aba") == [2, 0]
    assert "of-tomorrow" in str(vocabulary.metadata["encoder"])


@pytest.mark.parametrize("pre", sorted(PRE_TOKENIZERS))
def test_byte_level_encodings_cut_as_the_library_trained_them(pre: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is an extra")
    import json

    from tokenizers import models, trainers

    steps, whole_words = PRE_TOKENIZERS[pre]
    document = {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "model": {"type": "BPE", "vocab": {}, "merges": [], "ignore_merges": whole_words},
    }
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    judge.model = models.BPE(ignore_merges=whole_words)
    alphabet = [chr(c) for c in range(0x21, 0x144)]
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    judge.train_from_iterator(["the 1234 cats don't naïve  \n\n x = 42;"] * 3, trainer)
    vocab = judge.get_vocab()
    tokens = [*sorted(vocab, key=vocab.__getitem__), "</s>"]
    merges = [" ".join(pair) for pair in json.loads(judge.to_str())["model"]["merges"]]
    path = write(
        tmp_path, "gpt2", tokens, [1] * len(vocab) + [3],
        tokenizer_pre=pre, token_merges=merges, eos_token_id=len(vocab),
    )  # fmt: skip
    vocabulary = Vocabulary.from_gguf(path)
    for text in ("the 1234 cats don't", "naïve  \n\n x = 42;", "THE'LL 007\t漢🙂"):
        assert vocabulary.encode(text) == judge.encode(text).ids
        assert vocabulary.decode(vocabulary.encode(text)) == text.encode()


def test_metadata_is_what_the_gguf_package_reads(tmp_path: Path) -> None:
    path = write(tmp_path, "llama", TOKENS, TYPES, token_scores=[float(i) / 2 for i in range(9)], eos_token_id=2)
    fields = gguf.GGUFReader(str(path)).fields
    ours = read_metadata(path)
    assert set(ours) == {key for key in fields if not key.startswith("GGUF.")}
    assert all(fields[key].contents() == value for key, value in ours.items())


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    ("model", "tokens", "types", "fields"),
    [
        ("bert", ["a", "</s>"], [1, 3], {"eos_token_id": 1}),
        ("gpt2", ["a", "</s>"], [1], {"eos_token_id": 1}),
        ("gpt2", ["a", "</s>"], [1, 3], {"eos_token_id": 7}),
    ],
)
def test_what_cannot_be_used_is_refused(model, tokens, types, fields, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError):
        Vocabulary.from_gguf(write(tmp_path, model, tokens, types, **fields))


def test_absent_empty_and_foreign_files_are_refused(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("short", b"GGUF"), ("zip", b"PK\x03\x04" * 20), ("v9", b"GGUF\t" * 9)):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(VocabularyError, match=name):
            Vocabulary.from_gguf(path)
    for path in (tmp_path / "absent.gguf", tmp_path):
        with pytest.raises(VocabularyError):
            Vocabulary.from_gguf(path)


def test_every_truncation_is_a_typed_error(tmp_path: Path) -> None:
    path = write(tmp_path, "llama", TOKENS, TYPES, token_scores=[0.0] * 9, eos_token_id=2)
    whole = path.read_bytes()
    cut = tmp_path / "cut.gguf"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(VocabularyError):
            Vocabulary.from_gguf(cut)


def test_lengths_that_lie_cost_no_memory(tmp_path: Path) -> None:
    key = b"tokenizer.ggml.tokens"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for item in (0, 5, 8, 9, 12):
        for count in (2**63, 2**40, 10**9):
            header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(key)) + key
            path = tmp_path / "liar.gguf"
            path.write_bytes(header + struct.pack("<IIQ", 9, item, count) + b"\0" * 64)
            with pytest.raises(VocabularyError):
                Vocabulary.from_gguf(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


@given(seed=st.integers(0, 2**32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_flipped_byte_raises_anything_untyped(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "made.gguf"
    if not path.exists():
        write(tmp_path, "llama", TOKENS, TYPES, token_scores=[0.0] * 9, eos_token_id=2)
    damaged = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    (tmp_path / "damaged.gguf").write_bytes(damaged)
    with contextlib.suppress(ConstrainError):
        Vocabulary.from_gguf(tmp_path / "damaged.gguf").encode(b" a b\n")
