"""Keys and values of the tokens seen so far.

`KeyValueCache` is the narrow interface that the transformer uses: `extend` with the new tokens of one layer and get all
of that layer back, then `commit` once per forward pass. A paged cache (block table, reference counts, copy on write)
can take its place without a change elsewhere.

`PreallocatedCache` is one block per request: [layers, batch, kv_heads, capacity, head_width], twice. Room is reserved
at once but paid for by the operating system only as it is written.

Invariant: positions below `length` are valid in every layer; what lies above is scratch. So `truncate` is O(1), and a
forward pass that raised before `commit` left nothing behind.
"""

from __future__ import annotations

from typing import Protocol

import torch

from constrain.errors import ModelError
from constrain.model.config import LlamaConfig

__all__ = ["KeyValueCache", "PreallocatedCache"]


class KeyValueCache(Protocol):
    """What the transformer asks of a cache. Lengths in tokens; all rows of a batch are equally long."""

    @property
    def length(self) -> int: ...

    @property
    def capacity(self) -> int: ...

    def extend(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Write `keys` and `values` [B, kv_heads, T, head_width] after position `length`; return all of the layer's."""
        ...

    def commit(self, count: int) -> None:
        """Count `count` tokens, written to every layer, as seen."""
        ...

    def truncate(self, length: int) -> None:
        """Forget all after the first `length` tokens."""
        ...


class PreallocatedCache:
    """A cache of fixed capacity.

    Args:    capacity: tokens that it can hold. batch: sequences, all equally long.
    Cost:    2 · layers · batch · kv_heads · capacity · head_width elements (188 MB for SmolLM2's whole context in
    bf16).
    """

    def __init__(
        self,
        config: LlamaConfig,
        capacity: int,
        *,
        batch: int = 1,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ):
        if not 0 < capacity <= config.context_length:
            raise ModelError(
                f"a cache of {capacity} tokens does not suit the model's context",
                expected=f"1 to {config.context_length} tokens",
            )
        shape = (config.layers, batch, config.kv_heads, capacity, config.head_width)
        self._keys = torch.empty(shape, dtype=dtype, device=device)
        self._values = torch.empty(shape, dtype=dtype, device=device)
        self._length = 0

    @property
    def length(self) -> int:
        return self._length

    @property
    def capacity(self) -> int:
        return self._keys.shape[3]

    @property
    def n_bytes(self) -> int:
        """Bytes reserved."""
        return 2 * self._keys.numel() * self._keys.element_size()

    def extend(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As in `KeyValueCache`; the result is a view. Cost: the new tokens only."""
        end = self._length + keys.shape[2]
        if end > self.capacity:
            raise ModelError(
                f"{end} tokens do not fit into a cache of {self.capacity}",
                help="shorten the prompt, or lower max_tokens",
            )
        self._keys[layer, :, :, self._length : end] = keys
        self._values[layer, :, :, self._length : end] = values
        return self._keys[layer, :, :, :end], self._values[layer, :, :, :end]

    def commit(self, count: int) -> None:
        self._length = min(self._length + count, self.capacity)

    def truncate(self, length: int) -> None:
        if not 0 <= length <= self._length:
            raise ModelError(f"a cache of {self._length} tokens cannot be cut to {length}")
        self._length = length
