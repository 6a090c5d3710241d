"""Make language models emit exactly what a program can use.

    spec = constrain.json_schema(schema)                     # or regex, python_type
    spec.accepts(text); spec.explain(text); spec.sample()    # no model, no vocabulary
    matcher = constrain.Compiler(vocabulary).compile(spec).matcher()
    constrain.lint(schema)                                   # what in it can hardly be meant
    decoder = constrain.Decoder.from_pretrained("smollm2")
    result = decoder.generate("…", spec=Person)

Everything is imported when it is first used: `import constrain` is quick and pulls in nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "constrain.specification": ("Specification", "coerce", "json_schema", "python_type", "regex"),
    "constrain.explanation": ("Explanation",),
    "constrain.report": ("Entry", "Report"),
    "constrain.linting.lint": ("lint",),
    "constrain.linting.finding": ("Finding",),
    "constrain.matching.vocabulary": ("Vocabulary",),
    "constrain.matching.compiler": ("CompiledGrammar", "Compiler"),
    "constrain.matching.matcher": ("Completion", "Matcher"),
    "constrain.matching.logits_mask": ("apply_mask",),
    "constrain.decoding.decoder": ("Decoder",),
    "constrain.decoding.result": ("Event", "Result", "Usage"),
    "constrain.errors": (
        "BudgetTooSmall",
        "ConstrainError",
        "EmptyLanguage",
        "InvalidSpecification",
        "LimitExceeded",
        "MissingExtra",
        "ModelError",
        "PatternError",
        "Problem",
        "ReferenceNotFound",
        "SpecificationError",
        "TokenRejected",
        "UnsupportedKeyword",
        "ValidationFailed",
        "VocabularyError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SUBMODULES = ("errors", "grammar", "integrations", "validation")

__all__ = [*sorted(_HOME_OF), "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from constrain.decoding.decoder import Decoder as Decoder
    from constrain.decoding.result import Event as Event
    from constrain.decoding.result import Result as Result
    from constrain.decoding.result import Usage as Usage
    from constrain.errors import BudgetTooSmall as BudgetTooSmall
    from constrain.errors import ConstrainError as ConstrainError
    from constrain.errors import EmptyLanguage as EmptyLanguage
    from constrain.errors import InvalidSpecification as InvalidSpecification
    from constrain.errors import LimitExceeded as LimitExceeded
    from constrain.errors import MissingExtra as MissingExtra
    from constrain.errors import ModelError as ModelError
    from constrain.errors import PatternError as PatternError
    from constrain.errors import Problem as Problem
    from constrain.errors import ReferenceNotFound as ReferenceNotFound
    from constrain.errors import SpecificationError as SpecificationError
    from constrain.errors import TokenRejected as TokenRejected
    from constrain.errors import UnsupportedKeyword as UnsupportedKeyword
    from constrain.errors import ValidationFailed as ValidationFailed
    from constrain.errors import VocabularyError as VocabularyError
    from constrain.explanation import Explanation as Explanation
    from constrain.linting.finding import Finding as Finding
    from constrain.linting.lint import lint as lint
    from constrain.matching.compiler import CompiledGrammar as CompiledGrammar
    from constrain.matching.compiler import Compiler as Compiler
    from constrain.matching.logits_mask import apply_mask as apply_mask
    from constrain.matching.matcher import Completion as Completion
    from constrain.matching.matcher import Matcher as Matcher
    from constrain.matching.vocabulary import Vocabulary as Vocabulary
    from constrain.report import Entry as Entry
    from constrain.report import Report as Report
    from constrain.specification import Specification as Specification
    from constrain.specification import coerce as coerce
    from constrain.specification import json_schema as json_schema
    from constrain.specification import python_type as python_type
    from constrain.specification import regex as regex


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"constrain.{name}")
    raise AttributeError(f"module 'constrain' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF, *_SUBMODULES})
