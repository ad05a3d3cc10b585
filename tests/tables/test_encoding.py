"""Step 1: texts in any encoding are decoded, and bytes that are none are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrefine.errors import InputError
from graphrefine.tables.decode import decode_text
from graphrefine.tables.source import Source


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"a\xc3\xa9", None, "aé"),
        (b"a\xe9", None, "aé"),
        (b"a\xe9", "cp1252", "aé"),
        (b"\xef\xbb\xbfa", None, "a"),
        ("aé".encode("utf-16"), None, "aé"),
        ("aé".encode("utf-32"), None, "aé"),
        ("aé".encode("utf-16-be"), "utf-16-be", "aé"),
        (b"a\rb\r", None, "a\nb\n"),
        (b"a\r\nb", None, "a\r\nb"),
    ],
)
def test_decoding(tmp_path: Path, data: bytes, encoding: str | None, text: str) -> None:
    (tmp_path / "t.txt").write_bytes(data)
    assert decode_text(Source(tmp_path / "t.txt"), encoding) == text


@pytest.mark.parametrize(
    ("data", "encoding", "argument", "fact"),
    [
        (b"\x00\x01\x02\x03", None, "format", "binary"),
        ("ab".encode("utf-16-le"), None, "format", "utf-16-le"),
        (b"ab", "utf-16", "encoding", "utf-16-le"),
        (b"a\n\xff", "utf-8", "encoding", "line 2"),
        (b"ab", "utf8000", "encoding", "utf8000"),
        (b"ab", "rot13", "encoding", "rot13"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, encoding: str | None, argument: str, fact: str) -> None:
    (tmp_path / "t.txt").write_bytes(data)
    with pytest.raises(InputError, match=fact) as caught:
        decode_text(Source(tmp_path / "t.txt"), encoding)
    assert caught.value.argument == argument
