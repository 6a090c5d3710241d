"""GGUF files: the header read with bounds, the tensors mapped and dequantised one at a time.

Main types: `GgufFile` (metadata by key, tensors by name), `TensorEntry` (where one tensor lies).

Invariant: nothing is allocated or visited that the file's own size does not pay for. Every count and length in the
header is checked against the bytes that are left, every tensor against the end of the file, before either is used; a
file that lies is a `ModelError` with the byte where it does. Tensor data are read through a memory map, so opening
costs the header.

Format: the GGUF specification, versions 2 and 3, little-endian (ggml, `docs/gguf.md`). The block formats are decoded by
the `gguf` package. Its own reader is not used: it trusts the counts of the header (an array length of 2^60 keeps it
busy for ever), and takes 40 times as long on a tokenizer of 49,000 tokens.

Deliberately not here: writing, big-endian files, files split into several parts.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from constrain.errors import MissingExtra, ModelError, shorten

__all__ = ["GgufFile", "TensorEntry"]

_SCALARS: Final = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"
}  # fmt: skip
_STRING: Final = 8
_ARRAY: Final = 9
_VERSIONS: Final = (2, 3)
_MAX_DIMENSIONS: Final = 4
_DEFAULT_ALIGNMENT: Final = 32


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor: `shape` in row-major order (torch's), `offset` and `n_bytes` absolute within the file."""

    name: str
    shape: tuple[int, ...]
    block_type: int
    offset: int
    n_bytes: int


class GgufFile:
    """An open GGUF file. `metadata` holds plain Python values; `tensors` says where each tensor lies.

    Raises:  ModelError: if the file is absent, truncated, garbled or of an unknown version; the place is a byte offset.
             MissingExtra: without the `gguf` package.
    Cost:    the header (50 ms for a tokenizer of 49,000 tokens); no tensor is read.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            with path.open("rb") as handle:
                self._data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise ModelError(f"{path.name} is empty", at=str(path), help="download the file again") from None
        except OSError as error:
            raise ModelError(f"{path.name} cannot be opened: {error.strerror}", at=str(path)) from error
        cursor = _Cursor(self._data, path)
        tensor_count, field_count = _read_preamble(cursor)
        self.metadata: dict[str, Any] = _read_metadata(cursor, field_count)
        self.tensors: dict[str, TensorEntry] = _read_entries(cursor, tensor_count, self._alignment(), len(self._data))

    def _alignment(self) -> int:
        value = self.metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
        if not isinstance(value, int) or value <= 0 or value & (value - 1):
            raise ModelError(
                f"the alignment {shorten(value)} is not a power of two", at=f"{self.path}, general.alignment"
            )
        return value

    def read(self, name: str) -> np.ndarray:
        """Tensor `name` as float32, in row-major shape. Cost: its size, once; the result is the caller's own."""
        quants, types = _block_codecs()
        entry = self.tensors[name]
        kind = types.GGMLQuantizationType(entry.block_type)
        raw = np.frombuffer(self._data, dtype=np.uint8, count=entry.n_bytes, offset=entry.offset)
        if kind == types.GGMLQuantizationType.F32:
            return raw.view("<f4").reshape(entry.shape).astype(np.float32)
        if kind == types.GGMLQuantizationType.F16:
            return raw.view("<f2").reshape(entry.shape).astype(np.float32)
        row_bytes = entry.n_bytes // math.prod(entry.shape[:-1])
        try:
            values = quants.dequantize(raw.reshape(*entry.shape[:-1], row_bytes), kind)
        except (NotImplementedError, ValueError) as error:
            raise ModelError(
                f"the tensor {name!r} is stored as {kind.name}, which cannot be decoded",
                at=f"{self.path}, byte {entry.offset}",
                help="use a file quantised as Q4_1, Q8_0, Q4_K, Q6_K, F16 or F32",
            ) from error
        return np.ascontiguousarray(values, dtype=np.float32).reshape(entry.shape)


class _Cursor:
    """A place in the file that never moves past its end."""

    def __init__(self, data: mmap.mmap, path: Path):
        self.data = data
        self.path = path
        self.position = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.position

    def fail(self, what: str) -> ModelError:
        return ModelError(
            f"{self.path.name} is truncated or garbled: {what}",
            at=f"{self.path}, byte {self.position} of {len(self.data)}",
            help="download the file again, and compare its size and checksum",
        )

    def scalar(self, layout: str) -> Any:
        size = struct.calcsize(layout)
        if size > self.left:
            raise self.fail(f"{size} bytes expected, {self.left} left")
        (value,) = struct.unpack_from(layout, self.data, self.position)
        self.position += size
        return value

    def count(self, what: str, bytes_each: int) -> int:
        """A 64-bit count of things that take at least `bytes_each` bytes each."""
        value: int = self.scalar("<Q")
        if value * bytes_each > self.left:
            self.position -= 8
            raise self.fail(f"{value} {what} announced, more than the file can hold")
        return value

    def text(self) -> str:
        length = self.count("characters", 1)
        raw = self.data[self.position : self.position + length]
        self.position += length
        # Token strings of some vocabularies are not UTF-8; what reads tokens wants them back byte by byte.
        return raw.decode("utf-8", errors="surrogateescape")


def _read_preamble(cursor: _Cursor) -> tuple[int, int]:
    if cursor.left < 24 or cursor.data[:4] != b"GGUF":
        raise ModelError(
            f"{cursor.path.name} is not a GGUF file: it begins with {bytes(cursor.data[:4])!r}",
            at=f"{cursor.path}, byte 0",
            expected="b'GGUF' and a header of 24 bytes",
        )
    cursor.position = 4
    version = cursor.scalar("<I")
    if version not in _VERSIONS:
        raise ModelError(f"GGUF version {version} is not supported", at=f"{cursor.path}, byte 4", expected="2 or 3")
    tensor_count = cursor.count("tensors", 24)
    return tensor_count, cursor.count("metadata fields", 13)


def _read_metadata(cursor: _Cursor, field_count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for _ in range(field_count):
        key = cursor.text()
        if key in metadata:
            raise cursor.fail(f"the field {shorten(key)!r} comes twice")
        metadata[key] = _read_value(cursor, cursor.scalar("<I"), key)
    return metadata


def _read_value(cursor: _Cursor, kind: int, key: str) -> Any:
    if kind == _STRING:
        return cursor.text()
    if kind != _ARRAY:
        return cursor.scalar(_layout(cursor, kind, key))
    item_kind = cursor.scalar("<I")
    if item_kind == _STRING:
        return [cursor.text() for _ in range(cursor.count("strings", 8))]
    layout = _layout(cursor, item_kind, key)
    size = struct.calcsize(layout)
    count = cursor.count("items", size)
    values = struct.unpack_from(f"<{count}{layout[1]}", cursor.data, cursor.position)
    cursor.position += count * size
    return list(values)


def _layout(cursor: _Cursor, kind: int, key: str) -> str:
    layout = _SCALARS.get(kind)
    if layout is None:
        raise cursor.fail(f"the field {shorten(key)!r} has the unknown type {kind}")
    return layout


def _read_entries(cursor: _Cursor, count: int, alignment: int, file_bytes: int) -> dict[str, TensorEntry]:
    found: list[TensorEntry] = []
    for _ in range(count):
        name = cursor.text()
        dimensions = cursor.scalar("<I")
        if not 1 <= dimensions <= _MAX_DIMENSIONS:
            raise cursor.fail(f"the tensor {shorten(name)!r} has {dimensions} dimensions")
        shape = tuple(cursor.scalar("<Q") for _ in range(dimensions))[::-1]
        block_type = cursor.scalar("<I")
        found.append(
            TensorEntry(name, shape, block_type, cursor.scalar("<Q"), _n_bytes(cursor, name, shape, block_type))
        )
    start = -(-cursor.position // alignment) * alignment
    entries: dict[str, TensorEntry] = {}
    for entry in found:
        placed = TensorEntry(entry.name, entry.shape, entry.block_type, start + entry.offset, entry.n_bytes)
        if placed.offset + placed.n_bytes > file_bytes:
            missing = placed.offset + placed.n_bytes - file_bytes
            raise ModelError(
                f"{cursor.path.name} is truncated: {missing} bytes of the tensor {shorten(entry.name)!r} are missing",
                at=f"{cursor.path}, byte {placed.offset} of {file_bytes}",
                help="download the file again, and compare its size and checksum",
            )
        if entry.name in entries:
            raise cursor.fail(f"the tensor {shorten(entry.name)!r} comes twice")
        entries[entry.name] = placed
    return entries


def _n_bytes(cursor: _Cursor, name: str, shape: tuple[int, ...], block_type: int) -> int:
    _, types = _block_codecs()
    try:
        block, size = types.GGML_QUANT_SIZES[types.GGMLQuantizationType(block_type)]
    except (ValueError, KeyError):
        raise cursor.fail(f"the tensor {shorten(name)!r} has the unknown type {block_type}") from None
    if not all(shape) or shape[-1] % block:
        raise cursor.fail(f"the shape {shape} of the tensor {shorten(name)!r} does not fit blocks of {block}")
    return math.prod(shape) // block * size


def _block_codecs() -> tuple[Any, Any]:
    try:
        from gguf import constants, quants
    except ImportError as error:
        raise MissingExtra("gguf", "model") from error
    return quants, constants
