"""What is named on the command line is read, or refused with the right exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from constrain.cli.source import as_bytes, schema_source, text_of
from constrain.errors import InvalidSpecification


def test_one_line_end_of_a_file_is_not_part_of_the_text(tmp_path: Path):
    for content, text in [(b"7\n", b"7"), (b"7\r\n", b"7"), (b"7\n\n", b"7\n"), (b"7", b"7")]:
        (tmp_path / "text").write_bytes(content)
        assert text_of(str(tmp_path / "text"), None)[1] == text


def test_an_argument_that_is_no_file_is_the_text_itself():
    assert text_of('{"a": 1}', None) == ("the text", b'{"a": 1}')
    assert text_of("2026-01", None) == ("the text", b"2026-01")
    assert text_of("3.14", None) == ("the text", b"3.14")
    assert text_of("x" * 100_000, None)[1] == b"x" * 100_000


@pytest.mark.parametrize("name", ["answer.json", "./answer.json", "no/such/answer.txt", "../a.b", "~/a.json"])
def test_an_argument_that_looks_like_a_missing_file_is_wrong_usage(name: str):
    with pytest.raises(typer.BadParameter, match="--text"):
        text_of(name, None)
    assert text_of(None, name) == ("--text", name.encode())


def test_a_missing_schema_is_wrong_usage(tmp_path: Path):
    for name in (tmp_path / "none.json", tmp_path, "nul\0"):
        with pytest.raises(typer.BadParameter, match="cannot read"):
            schema_source(str(name))


def test_a_schema_that_is_not_utf8_is_a_finding(tmp_path: Path):
    path = tmp_path / "latin1.json"
    path.write_bytes(b'{"title": "\xe9"}')
    with pytest.raises(InvalidSpecification, match="UTF-8"):
        schema_source(str(path)).compile({})


def test_a_byte_order_mark_is_not_part_of_a_schema(tmp_path: Path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert schema_source(str(path)).text == "{}"


def test_arguments_keep_the_bytes_that_the_shell_passed():
    assert as_bytes("caf\udce9") == b"caf\xe9"
