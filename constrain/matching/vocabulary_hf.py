"""Hugging Face tokenizers: `tokenizer.json`, a directory that holds one, or a transformers tokenizer object.

What a token spells is decided by the tokenizer's *decoder*, since that is what turns ids into the text a user sees:

- `ByteLevel` (GPT-2, Llama-3, Qwen): each character is a byte;
- `Replace ▁`, `ByteFallback`, `Fuse`, `Strip`, or `Metaspace` (Llama-2, Mistral, Gemma, T5): applied to each token as
  it stands in the middle of a text, so what only touches the beginning (a strip after `Fuse`) does not count;
- none: the tokens' own text, if no pre-tokenizer throws characters away.

Refused with the reason: decoders that put spaces between tokens (WordPiece, BPEDecoder, CTC, WordLevel), because what
they write is no concatenation of tokens. Added tokens spell their text if they are not special; one whose text the
decoder would change is never spelled.

Only JSON is needed to read; the `tokenizers` library is needed to encode, and loaded then.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from constrain.errors import LimitExceeded, VocabularyError, shorten
from constrain.matching.vocabulary import MAX_VOCABULARY_SIZE, Vocabulary
from constrain.matching.vocabulary_encoding import JsonSource, TokenizersEncoder, flat_steps
from constrain.matching.vocabulary_spelling import (
    BYTE_PIECE,
    byte_level_bytes,
    end_ids_by_name,
    sentencepiece_bytes,
)

__all__ = ["from_document", "from_transformers", "read"]

MAX_FILE_BYTES = 1 << 29
MAX_CONFIG_BYTES = 1 << 24
BESIDE = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json", "config.json")

Spell = Callable[[Sequence[str]], list[bytes]]


# ---------------------------------------------------------------- reading files


def read(path: str | os.PathLike[str], *, end_ids: Iterable[int] | None = None) -> Vocabulary:
    """The vocabulary of a `tokenizer.json`, `.json.gz`, or of the directory that holds one. Raises: VocabularyError."""
    file = Path(path)
    if file.is_dir():
        directory = file
        file = next((f for n in ("tokenizer.json", "tokenizer.json.gz") if (f := directory / n).is_file()), file)
        if file is directory:
            raise VocabularyError(
                "the directory holds no tokenizer.json",
                at=str(directory),
                help="save it with AutoTokenizer.from_pretrained(…).save_pretrained(…)",
            )
    raw = _read_bytes(file, MAX_FILE_BYTES)
    document = _parse(raw, str(file))
    configs = _configs_beside(file)
    return from_document(document, raw, name=str(file), configs=configs, end_ids=end_ids)


def _read_bytes(file: Path, limit: int) -> bytes:
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else open(file, "rb") as stream:
            raw = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise VocabularyError(
            f"the tokenizer cannot be read: {error}", at=str(file), help="name a tokenizer.json or its directory"
        ) from None
    if len(raw) > limit:
        raise LimitExceeded(f"the file holds more than {limit} bytes", limit="file_bytes", at=str(file))
    return raw


def _parse(raw: bytes, name: str) -> Any:
    try:
        document = json.loads(raw)
    except json.JSONDecodeError as error:
        raise VocabularyError(
            f"this is not JSON: {error.msg}",
            at=f"{name}, {error.lineno}:{error.colno}",
            expected="a Hugging Face tokenizer.json",
            help="the file is damaged or incomplete: fetch it again",
        ) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise VocabularyError(f"this is not JSON: {shorten(str(error))}", at=name) from None
    except RecursionError:
        raise LimitExceeded("the JSON is nested too deeply", limit="depth", at=name) from None
    return document


def _foreign(name: str, what: str) -> VocabularyError:
    return VocabularyError(
        f"this is not a tokenizer: {what}",
        at=name,
        expected="a Hugging Face tokenizer.json, with 'model' and 'vocab'",
        help="name the tokenizer.json that was saved with the model",
    )


def _configs_beside(file: Path) -> dict[str, dict[str, Any]]:
    """The configuration files beside `file`; only those that are there."""
    configs = {}
    for name in BESIDE:
        config = file.parent / name
        if config.is_file():
            found = _parse(_read_bytes(config, MAX_CONFIG_BYTES), str(config))
            configs[name] = found if isinstance(found, dict) else {}
    template = file.parent / "chat_template.jinja"
    if template.is_file():
        source = _read_bytes(template, MAX_CONFIG_BYTES).decode("utf-8", "replace")
        configs["tokenizer_config.json"] = {**configs.get("tokenizer_config.json", {}), "chat_template": source}
    return configs


# ---------------------------------------------------------------- the document


def from_document(
    document: Any,
    raw: bytes,
    *,
    name: str,
    configs: dict[str, dict[str, Any]] | None = None,
    end_ids: Iterable[int] | None = None,
    special_ids: Iterable[int] = (),
) -> Vocabulary:
    """The vocabulary of a parsed tokenizer.json; `raw` is its source, kept for the encoder."""
    if not isinstance(document, dict):
        raise _foreign(name, f"a JSON {type(document).__name__}, not an object")
    configs = configs or {}
    model = document.get("model")
    if not isinstance(model, dict):
        raise _foreign(name, "it has no 'model'")
    pieces = _pieces(model, name)
    added = _added_tokens(document, name)
    ids = dict.fromkeys(pieces.values()) | dict.fromkeys(token_id for token_id, _, _ in added)
    size = max(ids) + 1
    spell = _spelling(document, model, name)

    tokens = [b""] * size
    for (_, token_id), spelled in zip(pieces.items(), spell(list(pieces)), strict=True):
        tokens[token_id] = spelled
    specials = {token_id for token_id, _, special in added if special} | set(special_ids)
    for token_id, text, special in added:
        literal = text.encode("utf-8", "surrogatepass")
        decoded = spell([text])[0]
        tokens[token_id] = literal if special or text not in pieces else decoded
        if not special and text not in pieces and decoded != literal:
            tokens[token_id] = b""
    unknown = model.get("unk_token")
    if isinstance(unknown, str) and unknown in pieces:
        specials.add(pieces[unknown])
    elif isinstance(model.get("unk_id"), int) and 0 <= model["unk_id"] < size:
        specials.add(model["unk_id"])

    by_text = pieces | {text: token_id for token_id, text, _ in added}
    if end_ids is None:
        end_ids = _declared_ends(configs, by_text, size, name)
        end_ids = end_ids or end_ids_by_name((text, i) for i, text, special in added if special)
        if not end_ids:
            raise VocabularyError(
                "the tokenizer names no end token",
                at=name,
                expected=f"eos_token in one of {', '.join(BESIDE[:3])}, or a well-known name",
                help="pass end_ids=(…), or end_ids=() if texts are to end by other means",
            )
    tokenizer_config = configs.get("tokenizer_config.json", {})
    return Vocabulary(
        tokens,
        end_ids=end_ids,
        special_ids=specials,
        encode=TokenizersEncoder(JsonSource(raw), name),
        name=name,
        chat_template=_template(tokenizer_config.get("chat_template")),
        metadata={
            "encoder": f"tokenizers, {model.get('type', 'BPE')}",
            "bos_id": by_text.get(_token_text(tokenizer_config.get("bos_token")) or ""),
            "add_bos": bool(tokenizer_config.get("add_bos_token", False)),
        },
    )


def _checked_id(token_id: object, at: str) -> int:
    if not isinstance(token_id, int) or isinstance(token_id, bool) or not 0 <= token_id < MAX_VOCABULARY_SIZE:
        raise VocabularyError(
            f"{shorten(token_id)} is no token id", at=at, expected=f"an integer from 0 to {MAX_VOCABULARY_SIZE - 1}"
        )
    return token_id


def _pieces(model: dict[str, Any], name: str) -> dict[str, int]:
    """The model's own tokens, text → id."""
    vocab = model.get("vocab")
    at = f"{name}, model.vocab"
    if isinstance(vocab, dict) and vocab:
        if not all(type(i) is int for i in vocab.values()) or not 0 <= min(vocab.values()) <= max(vocab.values()):
            for text, token_id in vocab.items():
                _checked_id(token_id, f"{at}, {shorten(text)!r}")
        _checked_id(max(vocab.values()), at)
        return vocab
    if isinstance(vocab, list) and vocab:  # Unigram: [piece, score], in the order of ids
        if len(vocab) > MAX_VOCABULARY_SIZE:
            raise VocabularyError(f"{len(vocab)} tokens are too many", at=at)
        pieces: dict[str, int] = {}
        for token_id, entry in enumerate(vocab):
            if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
                raise VocabularyError(
                    f"{shorten(entry)} is no Unigram entry", at=f"{at}[{token_id}]", expected="[piece, score]"
                )
            pieces.setdefault(entry[0], token_id)
        return pieces
    raise _foreign(name, "its model has no 'vocab'")


def _added_tokens(document: dict[str, Any], name: str) -> list[tuple[int, str, bool]]:
    added = document.get("added_tokens") or []
    if not isinstance(added, list):
        raise _foreign(name, "'added_tokens' is no list")
    found = []
    for index, entry in enumerate(added):
        at = f"{name}, added_tokens[{index}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
            raise VocabularyError(f"{shorten(entry)} is no added token", at=at, expected="an object with 'content'")
        found.append((_checked_id(entry.get("id"), at), entry["content"], entry.get("special") is not False))
    return found


def _token_text(token: object) -> str | None:
    """The text of a token as configurations write it: a string, or an object with 'content'."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None


def _template(template: object) -> str | None:
    """The chat template, or of several named ones the default."""
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    elif isinstance(template, dict):
        template = template.get("default")
    return template if isinstance(template, str) else None


def _declared_ends(configs: dict[str, dict[str, Any]], by_text: dict[str, int], size: int, name: str) -> list[int]:
    """The end ids that the configuration files name, by id or by text; an id that does not exist is an error."""
    ends: set[int] = set()
    for file, config in configs.items():
        declared = config.get("eos_token_id")
        for token_id in declared if isinstance(declared, list) else [declared]:
            if token_id is None:
                continue
            at = f"{file}, eos_token_id"
            if _checked_id(token_id, at) >= size:
                raise VocabularyError(
                    f"the end token {token_id} is not in the vocabulary",
                    at=at,
                    expected=f"an id below {size}",
                    help="pass end_ids=(…)",
                )
            ends.add(token_id)
        text = _token_text(config.get("eos_token"))
        if text is not None and text in by_text:
            ends.add(by_text[text])
    return sorted(ends)


# ---------------------------------------------------------------- spelling


def _spelling(document: dict[str, Any], model: dict[str, Any], name: str) -> Spell:
    """How this tokenizer's tokens become bytes. Raises: VocabularyError: they do not simply concatenate."""
    cutters = [str(step.get("type")) for step in flat_steps(document.get("pre_tokenizer"), "pretokenizers")]
    decoders = flat_steps(document.get("decoder"), "decoders")
    kinds = [str(step.get("type")) for step in decoders]
    suffix, prefix = model.get("end_of_word_suffix"), model.get("continuing_subword_prefix")
    if suffix or prefix:
        raise _not_concatenating(name, f"its tokens mark words with {suffix or prefix!r}")
    if "ByteLevel" in kinds or (not kinds and "ByteLevel" in cutters):
        return byte_level_bytes
    if not kinds:
        lossy = {"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"}.intersection(cutters)
        if lossy or str(model.get("type")) in ("WordPiece", "WordLevel"):
            raise _not_concatenating(name, f"its {min(lossy) if lossy else model['type']} loses white space")
        if "Metaspace" in cutters:
            return _sentencepiece(byte_fallback=bool(model.get("byte_fallback")))
        fallback = bool(model.get("byte_fallback"))
        return lambda texts: [_plain(text, fallback) for text in texts]
    return _decoder_chain(decoders, name)


def _not_concatenating(name: str, reason: str) -> VocabularyError:
    return VocabularyError(
        f"the text of this tokenizer is no concatenation of its tokens: {reason}",
        at=name,
        expected="a byte-level or SentencePiece tokenizer",
        help="no mask can be exact for it; use a model with another tokenizer",
    )


def _plain(text: str, byte_fallback: bool) -> bytes:
    if byte_fallback and (match := BYTE_PIECE.fullmatch(text)):
        return bytes([int(match[1], 16)])
    return text.encode("utf-8", "surrogatepass")


def _sentencepiece(*, byte_fallback: bool) -> Spell:
    return lambda texts: [sentencepiece_bytes(text, byte_fallback=byte_fallback) for text in texts]


def _decoder_chain(decoders: list[dict[str, Any]], name: str) -> Spell:
    """The decoder's steps on single tokens; those after `Fuse` see the whole text and concern its beginning only."""
    replacements: list[tuple[str, str]] = []
    strips: list[tuple[str, int, int]] = []
    byte_fallback = False
    fused = False
    for step in decoders:
        kind = step.get("type")
        if kind == "Fuse":
            fused = True
        elif kind == "ByteFallback":
            byte_fallback = True
        elif kind == "Metaspace":
            replacements.append((str(step.get("replacement") or "▁"), " "))
        elif kind == "Replace":
            pattern = step.get("pattern")
            old = pattern.get("String") if isinstance(pattern, dict) else pattern
            if not isinstance(old, str) or not old or not isinstance(step.get("content"), str):
                raise _not_concatenating(name, f"its decoder replaces {shorten(pattern)}")
            replacements.append((old, step["content"]))
        elif kind == "Strip":
            start, stop, content = step.get("start", 0), step.get("stop", 0), step.get("content", " ")
            if not (isinstance(start, int) and isinstance(stop, int) and isinstance(content, str)):
                raise _not_concatenating(name, f"its decoder strips {shorten(step)}")
            if not fused:
                strips.append((content, start, stop))
        else:
            raise _not_concatenating(name, f"its decoder is {shorten(str(kind))}")

    def spell(text: str) -> bytes:
        if byte_fallback and (match := BYTE_PIECE.fullmatch(text)):
            return bytes([int(match[1], 16)])
        for old, new in replacements:
            text = text.replace(old, new)
        for content, start, stop in strips:
            for _ in range(min(start, len(text))):
                text = text.removeprefix(content)
            for _ in range(min(stop, len(text))):
                text = text.removesuffix(content)
        return text.encode("utf-8", "surrogatepass")

    return lambda texts: list(map(spell, texts))


# ---------------------------------------------------------------- transformers


def from_transformers(tokenizer: Any, *, end_ids: Iterable[int] | None = None) -> Vocabulary:
    """The vocabulary of a transformers tokenizer object.

    End ids: `eos_token_id`, else well-known names. Raises: VocabularyError: neither fast nor SentencePiece.
    """
    name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
    specials = [i for i in getattr(tokenizer, "all_special_ids", None) or () if isinstance(i, int) and i >= 0]
    if end_ids is None:
        declared = getattr(tokenizer, "eos_token_id", None)
        found = declared if isinstance(declared, (list, tuple)) else [declared]
        end_ids = sorted({i for i in found if isinstance(i, int)}) or None
    template = getattr(tokenizer, "chat_template", None)
    config = {"chat_template": template, "bos_token": _bos_text(tokenizer)}
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None and hasattr(backend, "to_str"):
        raw = backend.to_str().encode("utf-8")
        return from_document(
            _parse(raw, name),
            raw,
            name=name,
            configs={"tokenizer_config.json": config},
            end_ids=end_ids,
            special_ids=specials,
        )
    if hasattr(tokenizer, "sp_model") and hasattr(tokenizer, "convert_ids_to_tokens"):
        return _from_pieces(tokenizer, name, specials, end_ids, template)
    raise VocabularyError(
        f"{shorten(type(tokenizer).__name__)} is neither a fast nor a SentencePiece tokenizer",
        expected="a transformers tokenizer with backend_tokenizer or sp_model",
        help="load it with use_fast=True, or use Vocabulary.from_tokens",
    )


def _bos_text(tokenizer: Any) -> str | None:
    text = getattr(tokenizer, "bos_token", None)
    return text if isinstance(text, str) else None


def _from_pieces(
    tokenizer: Any, name: str, specials: list[int], end_ids: Iterable[int] | None, template: object
) -> Vocabulary:
    """A slow SentencePiece tokenizer, by the text of each of its pieces."""
    size = len(tokenizer)
    texts = tokenizer.convert_ids_to_tokens(list(range(size)))
    tokens = [b"" if text is None else sentencepiece_bytes(text, byte_fallback=True) for text in texts]
    special = {i for i in specials if i < size}
    for token_id in special:
        tokens[token_id] = str(texts[token_id]).encode("utf-8")
    ends = end_ids if end_ids is not None else end_ids_by_name((str(texts[i]), i) for i in special)
    if end_ids is None and not ends:
        raise VocabularyError("the tokenizer names no end token", at=name, help="pass end_ids=(…)")
    return Vocabulary(
        tokens,
        end_ids=ends,
        special_ids=special,
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False),
        name=name,
        chat_template=_template(template),
        metadata={"encoder": "transformers, SentencePiece", "bos_id": getattr(tokenizer, "bos_token_id", None)},
    )
