"""`jsonschema`, imported without waiting for what the judge never asks.

For two formats, `iri` and `iri-reference`, `jsonschema` imports `rfc3987_syntax` where it is installed, and that builds
a dozen Lark grammars while it is imported: more than two seconds, and nearly all that `import jsonschema` takes. The
judge has formats of its own. So a stand-in answers that one import, and loads the real package when it is first called:
who uses `jsonschema` beside us has all its formats as before.

The stand-in is there only while this module is imported, once, under its import lock. A thread that imports
`rfc3987_syntax` by itself in that moment may get the stand-in, which has its one function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

SLOW = "rfc3987_syntax"


def _import_jsonschema() -> ModuleType:
    if "jsonschema" in sys.modules or SLOW in sys.modules or find_spec(SLOW) is None:
        return import_module("jsonschema")
    stand_in = ModuleType(SLOW)
    stand_in.is_valid_syntax = lambda *arguments: import_module(SLOW).is_valid_syntax(*arguments)  # type: ignore[attr-defined]
    sys.modules[SLOW] = stand_in
    try:
        return import_module("jsonschema")
    finally:
        if sys.modules.get(SLOW) is stand_in:
            del sys.modules[SLOW]


jsonschema = _import_jsonschema()
