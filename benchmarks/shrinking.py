"""A failing pair made small: greedy reduction of JSON trees while a test still fails (delta debugging).

`shrink` works on any tuple of JSON values, here a schema and an instance. A candidate drops a member or an item, puts a
part in place of the whole, or makes a scalar plainer; it is taken if it is shorter as a text and still fails.

Source: Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", in the one-by-one form.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.data import json_text

PLAIN: tuple[Any, ...] = (0, 1, "", "a", True, {}, [])
"""What a part may be replaced by, if that is shorter."""

Failing = Callable[..., bool]


def shrink(
    parts: tuple[Any, ...], fails: Failing, *, limit_s: float = 20.0, tries: int = 3000
) -> tuple[tuple[Any, ...], int]:
    """The smallest `parts` found for which `fails(*parts)` still holds, and how many candidates were tried.

    `fails` must not raise; it gets malformed schemas too and says False to those.
    """
    deadline, tried, progress = time.monotonic() + limit_s, 0, True
    while progress:
        progress = False
        for position in range(len(parts)):
            for candidate in smaller(parts[position]):
                if time.monotonic() > deadline or tried >= tries:
                    return parts, tried
                tried += 1
                reduced = (*parts[:position], candidate, *parts[position + 1 :])
                if fails(*reduced):
                    parts, progress = reduced, True
                    break
            if progress:
                break
    return parts, tried


def smaller(value: Any) -> Iterator[Any]:
    """Shorter values near `value`, the most daring first: parts of it, then less of it, then changes inside."""
    size = len(json_text(value))
    yield from (one for one in PLAIN if len(json_text(one)) < size)
    if isinstance(value, dict | list):
        yield from _parts(value)
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys:
            yield _without(value, key)
        for key in keys:
            for inner in smaller(value[key]):
                yield _with(value, key, inner)
    elif isinstance(value, str) and len(value) > 1:
        yield value[: len(value) // 2]
        yield value[1:]


def _parts(value: dict[str, Any] | list[Any], depth: int = 3) -> Iterator[Any]:
    """What stands inside, nearest first."""
    inside = list(value.values()) if isinstance(value, dict) else value
    yield from inside
    if depth > 1:
        for one in inside:
            if isinstance(one, dict | list):
                yield from _parts(one, depth - 1)


def _without(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if name != key}
    return [*value[:key], *value[key + 1 :]]


def _with(value: Any, key: Any, inner: Any) -> Any:
    if isinstance(value, dict):
        return {name: inner if name == key else one for name, one in value.items()}
    return [*value[:key], inner, *value[key + 1 :]]
