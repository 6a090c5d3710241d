"""Hugging Face tokenizers: the `tokenizers` library judges what tokens spell and how text is cut."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError, LimitExceeded, VocabularyError
from constrain.matching.vocabulary import Vocabulary

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is an extra")

DATA = Path(os.environ.get("CONSTRAIN_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
FILES = {name: DATA / "tokenizers" / f"{name}.json.gz" for name in ("llama3", "qwen3")}

TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from("abc XYZ019 \n\t\r\"'{}[]:,.-_<|>▁é漢🙂\x00\x1f\x7f\u00a0"), max_size=60),
    st.lists(st.sampled_from(["<|eot_id|>", "<think>", "</s>", "   ", '{"a": ', "123456", "don't", "\r\n\r\n"])).map(
        "".join
    ),
)


def data_file(name: str) -> Path:
    if not FILES[name].exists():
        pytest.skip("the shared tokenizers are not on this machine (set CONSTRAIN_DATA)")
    return FILES[name]


@cache
def real(name: str) -> tuple[Vocabulary, Any]:
    """The vocabulary and, as the judge, the library's own tokenizer of the same file."""
    file = data_file(name)
    judge = tokenizers.Tokenizer.from_str(gzip.decompress(file.read_bytes()).decode())
    judge.encode_special_tokens = True
    return Vocabulary.from_file(file), judge


# ---------------------------------------------------------------- real tokenizers


@pytest.mark.parametrize("name", FILES)
@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_the_judges_ids_spell_the_text(name: str, text: str) -> None:
    vocabulary, judge = real(name)
    ids = judge.encode(text, add_special_tokens=False).ids
    normal = judge.normalizer.normalize_str(text) if judge.normalizer else text
    assert vocabulary.decode(ids) == normal.encode()


@pytest.mark.parametrize("name", FILES)
@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_encode_is_the_judges_cut_and_round_trips(name: str, text: str) -> None:
    vocabulary, judge = real(name)
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text.encode()
    assert not vocabulary.special_ids.intersection(ids)
    if judge.normalizer is None or judge.normalizer.normalize_str(text) == text:
        assert ids == judge.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", FILES)
def test_every_token_spells_what_the_judge_decodes(name: str) -> None:
    vocabulary, judge = real(name)
    for token_id in random.Random(1).sample(range(vocabulary.size), 3000):
        spelled = vocabulary.token_bytes(token_id).decode("utf-8", "replace")
        assert judge.decode([token_id], skip_special_tokens=False) == spelled


def test_the_real_vocabularies_are_whole() -> None:
    llama, _ = real("llama3")
    assert llama.size == 128_256
    assert llama.end_ids == (128_001, 128_009)
    assert len(llama.special_ids) == 256
    assert not llama.unproducible_bytes
    qwen, _ = real("qwen3")
    assert qwen.size == 151_669
    assert qwen.end_ids == (151_643, 151_645)
    assert qwen.token_bytes(151_667) == b"<think>"
    assert 151_667 not in qwen.special_ids


@pytest.mark.parametrize(("name", "pre"), [("llama3", "llama-bpe"), ("qwen3", "qwen2")])
def test_the_cuts_known_by_name_are_those_of_the_real_files(name: str, pre: str) -> None:
    from constrain.matching.vocabulary_gguf import PRE_TOKENIZERS

    document = json.loads(gzip.decompress(data_file(name).read_bytes()))
    steps, whole_words = PRE_TOKENIZERS[pre]
    assert steps[0]["pattern"] == document["pre_tokenizer"]["pretokenizers"][0]["pattern"]
    assert whole_words is document["model"]["ignore_merges"]


def test_a_vocabulary_is_read_without_the_tokenizers_library() -> None:
    code = (
        "import sys, warnings; sys.modules['tokenizers'] = None\n"
        "from constrain.matching.vocabulary import Vocabulary\n"
        "v = Vocabulary.from_file(sys.argv[1])\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    assert v.decode(v.encode('hello world')) == b'hello world'\n"
        "assert 'constrain[tokenizers]' in str(seen[0].message)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(data_file("llama3"))], check=True)


def test_the_encoder_survives_pickling() -> None:
    vocabulary, _ = real("qwen3")
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy == vocabulary
    assert copy.encode("hello there") == vocabulary.encode("hello there")


# ---------------------------------------------------------------- tokenizers made here

CORPUS = ["the quick brown fox jumps over the lazy dog", '{"name": "Ann", "age": 42}', "naïve café, 漢字 and 🙂"] * 4


def sentencepiece_bpe() -> Any:
    """In the style of Llama-2: `▁`, byte fallback, a prefix space that the decoder strips."""
    from tokenizers import decoders, models, normalizers, trainers

    tokenizer = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=500, show_progress=False, special_tokens=["<unk>", "<s>", "</s>", *byte_pieces]
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [t for t in document["added_tokens"] if not t["content"].startswith("<0x")]
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def unigram() -> Any:
    """In the style of T5: Unigram and Metaspace, no bytes."""
    from tokenizers import decoders, models, pre_tokenizers, trainers

    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=80, show_progress=False, special_tokens=["<unk>", "</s>"], unk_token="<unk>"
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def saved(tokenizer: Any, folder: Path) -> Path:
    file = folder / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@pytest.fixture(scope="module")
def llama2_style(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Vocabulary.from_file(saved(sentencepiece_bpe(), tmp_path_factory.mktemp("llama2")))


@given(text=TEXTS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_byte_fallback_spells_every_text(llama2_style: Vocabulary, text: str) -> None:
    ids = llama2_style.encode(text)
    assert llama2_style.decode(ids) == text.encode()
    assert not llama2_style.special_ids.intersection(ids)


def test_a_piece_spells_a_space_and_its_byte(llama2_style: Vocabulary) -> None:
    judge = sentencepiece_bpe()
    piece = max((text for text in judge.get_vocab() if text.startswith("▁")), key=len)
    text = piece.replace("▁", " ")
    assert len(text) > 1
    assert llama2_style.token_bytes(judge.token_to_id(piece)) == text.encode()
    assert llama2_style.encode(text) == [judge.token_to_id(piece)]
    assert llama2_style.token_bytes(judge.token_to_id("<0x0A>")) == b"\n"
    assert llama2_style.end_ids == (judge.token_to_id("</s>"),)
    assert judge.token_to_id("<unk>") in llama2_style.special_ids
    assert not llama2_style.unproducible_bytes


def test_ids_inside_a_text_decode_as_the_judge_does(llama2_style: Vocabulary) -> None:
    judge = sentencepiece_bpe()
    ids = judge.encode("the fox, naïve 漢 \n 🙂 xyz", add_special_tokens=False).ids
    assert llama2_style.decode(ids).removeprefix(b" ").decode() == judge.decode(ids)


def test_unigram_with_metaspace_spells_spaces(tmp_path: Path) -> None:
    tokenizer = unigram()
    vocabulary = Vocabulary.from_file(saved(tokenizer, tmp_path))
    text = "the quick fox jumps"
    assert vocabulary.decode(vocabulary.encode(text)) == text.encode()
    assert vocabulary.decode(tokenizer.encode(text).ids) == b" " + text.encode()
    assert tokenizer.token_to_id("<unk>") in vocabulary.special_ids
    assert ord("\n") in vocabulary.unproducible_bytes


def test_the_directory_with_its_configuration_is_read(tmp_path: Path) -> None:
    tokenizer = sentencepiece_bpe()
    saved(tokenizer, tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 2]}))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": {"content": "</s>"}, "bos_token": "<s>", "chat_template": "{{ x }}"})
    )
    vocabulary = Vocabulary.from_file(tmp_path)
    assert vocabulary.end_ids == (2, 5)
    assert vocabulary.chat_template == "{{ x }}"
    assert vocabulary.metadata["bos_id"] == 1
    assert Vocabulary.from_file(tmp_path, end_ids=(7,)).end_ids == (7,)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": 10**9}))
    with pytest.raises(VocabularyError, match="generation_config"):
        Vocabulary.from_file(tmp_path)


def test_a_sentencepiece_model_read_through_transformers_spells_its_text(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not a dependency")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=sentencepiece_bpe(), eos_token="</s>", bos_token="<s>", unk_token="<unk>"
    )
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert vocabulary.end_ids == (tokenizer.eos_token_id,)
    assert vocabulary.metadata["bos_id"] == tokenizer.bos_token_id
    assert set(tokenizer.all_special_ids) <= vocabulary.special_ids
    text = "the café 🙂"
    assert vocabulary.decode(tokenizer.encode(text, add_special_tokens=False)) == b" " + text.encode()


def test_a_slow_sentencepiece_tokenizer_is_read_by_its_pieces(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece", reason="sentencepiece is not a dependency")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(CORPUS * 20))
    spm.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=400, model_type="bpe", byte_fallback=True,
        minloglevel=2,
    )  # fmt: skip

    class Slow:
        """What the slow tokenizers of transformers have in common."""

        sp_model = spm.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
        all_special_ids = (0, 1, 2)
        eos_token_id = 2

        def __len__(self) -> int:
            return self.sp_model.get_piece_size()

        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return [self.sp_model.id_to_piece(i) for i in ids]

        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            return self.sp_model.encode(text)

    vocabulary = Vocabulary.from_transformers(Slow())
    assert vocabulary.end_ids == (2,)
    for text in ("the quick fox", "naïve 漢字\n", "🙂 zzz"):
        assert vocabulary.decode(vocabulary.encode(text)) == text.encode()
        assert vocabulary.decode(Slow.sp_model.encode(text)).strip() == Slow.sp_model.decode(
            Slow.sp_model.encode(text)
        ).strip().encode()  # fmt: skip


def byte_level_document(**changes: object) -> dict[str, Any]:
    """The least tokenizer.json with byte-level characters: a, b, ab and a space."""
    return {
        "added_tokens": [{"id": 4, "content": "</s>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3}, "merges": ["a b"]},
    } | changes


def read(document: object, tmp_path: Path, **options) -> Vocabulary:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    return Vocabulary.from_file(tmp_path / "tokenizer.json", **options)


def test_a_prefix_space_is_not_added_inside_a_text(tmp_path: Path) -> None:
    assert read(byte_level_document(), tmp_path).encode("ab") == [3]


def test_holes_between_ids_spell_nothing(tmp_path: Path) -> None:
    added = [{"id": 9, "content": "</s>", "special": True}]
    vocabulary = read(byte_level_document(added_tokens=added), tmp_path)
    assert vocabulary.size == 10
    assert vocabulary.tokens[4:9] == (b"",) * 5


def test_added_tokens_spell_their_text_unless_special_or_changed_by_the_decoder(tmp_path: Path) -> None:
    added = [
        {"id": 4, "content": "</s>", "special": True},
        {"id": 5, "content": "<tool> x", "special": False},
        {"id": 6, "content": "é", "special": False},  # the decoder writes the byte 0xE9 instead
        {"id": 3, "content": "ab", "special": False},
    ]
    vocabulary = read(byte_level_document(added_tokens=added), tmp_path)
    assert vocabulary.spelled_tokens()[3:] == (b"ab", b"", b"<tool> x", b"")


def test_a_well_known_name_counts_only_for_a_special_token(tmp_path: Path) -> None:
    model = {"type": "BPE", "vocab": {"a": 0, "</s>": 1}, "merges": []}
    with pytest.raises(VocabularyError, match="names no end token"):
        read(byte_level_document(model=model, added_tokens=[]), tmp_path)
    assert read(byte_level_document(model=model, added_tokens=[]), tmp_path, end_ids=()).end_ids == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"decoder": {"type": "WordPiece"}}, "WordPiece"),
        ({"decoder": {"type": "BPEDecoder", "suffix": "</w>"}}, "BPEDecoder"),
        ({"decoder": {"type": "CTC"}}, "CTC"),
        ({"decoder": {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}}, "replaces"),
        ({"decoder": None, "pre_tokenizer": {"type": "Whitespace"}}, "white space"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "end_of_word_suffix": "</w>"}}, "</w>"),
        ({"decoder": None, "pre_tokenizer": None, "model": {"type": "WordPiece", "vocab": {"a": 0}}}, "WordPiece"),
    ],
)
def test_tokens_that_do_not_concatenate_are_refused_with_the_reason(changes, reason, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=reason):
        read(byte_level_document(**changes), tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"{}", b"null", b"\xff\xfe", b'{"model": 3}', b'{"model": {"vocab": {}}}',
        b'{"model": {"vocab": {"a": -1}}}', b'{"model": {"vocab": {"a": 99999999999}}}',
        b'{"model": {"vocab": {"a": 1.5}}}', b'{"model": {"vocab": {"a": true}}}', b'{"model": {"vocab": [["a"]]}}',
        b'{"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": "x", "content": "y"}]}',
        b'{"model": {"vocab": {"a": 0}}, "added_tokens": 7}', b'{"type": "object", "properties": {}}',
    ],
)  # fmt: skip
def test_what_is_no_tokenizer_is_a_typed_error_with_the_file(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content)
    with pytest.raises(VocabularyError, match=r"tokenizer\.json"):
        Vocabulary.from_file(file)


def test_unreadable_files_are_typed_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(VocabularyError):
            Vocabulary.from_file(path)
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(b"{}" * 1000)[:-12])
    with pytest.raises(VocabularyError):
        Vocabulary.from_file(cut)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    with pytest.raises((LimitExceeded, VocabularyError)):
        Vocabulary.from_file(deep)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10) | st.sampled_from(["BPE", "ByteLevel", "Sequence", "a", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "vocab", "content", "id", "decoders", "pattern"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(place=st.sampled_from(["added_tokens", "pre_tokenizer", "decoder", "model", "vocab", "unk_token"]), value=JSON)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_garbled_document_raises_anything_untyped(tmp_path: Path, place: str, value: object) -> None:
    document = byte_level_document()
    (document["model"] if place in ("vocab", "unk_token") else document)[place] = value
    try:
        vocabulary = read(document, tmp_path)
        vocabulary.encode("ab")
    except ConstrainError:
        pass


@pytest.mark.parametrize("thing", [None, 3, "gpt2", object()])
def test_what_is_no_transformers_tokenizer_is_refused(thing: object) -> None:
    with pytest.raises(VocabularyError, match="neither"):
        Vocabulary.from_transformers(thing)
