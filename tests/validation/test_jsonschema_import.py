"""The judge loads `jsonschema` without the grammars of a format package, and takes nothing from who uses it too."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

needs_slow_package = pytest.mark.skipif(not find_spec("rfc3987_syntax"), reason="rfc3987_syntax is not installed")


@needs_slow_package
def test_the_judge_builds_no_grammar_of_iris_and_jsonschema_still_knows_them() -> None:
    code = (
        "import sys; from constrain.validation.json_schema import validate\n"
        "assert validate({'format': 'iri'}, '\"http://a.b/\\u00e9\"').ok\n"
        "assert 'rfc3987_syntax' not in sys.modules and 'lark' not in sys.modules\n"
        "from jsonschema import FormatChecker\n"
        "assert FormatChecker().conforms('http://a.b/\\u00e9', 'iri')\n"
        "assert not FormatChecker().conforms('no iri', 'iri')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
