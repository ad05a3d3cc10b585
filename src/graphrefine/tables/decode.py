"""Step 1, decode: the bytes of a file to text in UTF-8.

Without the option ``encoding``, a text is UTF-16 or UTF-32 by its mark, else UTF-8, else Latin-1. Bytes that may be
UTF-8 or Latin-1 stay as they are for the compiled parser: the names in them are decoded once they are known.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from graphrefine.errors import InputError
from graphrefine.tables.source import Source

MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LOOK = 1 << 15  # bytes in which a zero byte means that this is no text
_PAGE = re.compile(rb"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)


def _find_encoding(source: Source, head: bytes, encoding: str | None) -> str | None:
    """Return the encoding of the option, or that of the first bytes; None if the text may be UTF-8 or Latin-1."""
    if encoding is None:
        # The mark of UTF-32 first: in little-endian order it begins with that of UTF-16.
        if head.startswith(MARKS):
            return "utf-32" if head.startswith(MARKS[:2]) else "utf-16"
        if b"\0" in head[:LOOK]:
            problem = "this looks like a binary file, or text in UTF-16 without its mark"
            ways = "pass encoding='utf-16-le' or encoding='utf-16-be' for text"
            raise source.error(f"{problem}: {ways}", argument="format")
        return None
    try:
        " ".encode(encoding)  # some codecs are not of text
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):  # ValueError: a zero byte in the name
        problem = f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252"
        raise InputError(problem, argument="encoding") from None
    if name in ("utf-16", "utf-32") and not head.startswith(MARKS):
        problem = f"the text does not begin with the mark of {name}: pass encoding='{name}-le' or '{name}-be'"
        raise source.error(problem, argument="encoding")
    return name


def decode_portions(
    source: Source, portions: Iterable[tuple[bytes, float]], option: str | None
) -> Iterator[tuple[bytes, float, str | None]]:
    """Yield portions of a text as UTF-8, or as they are where they may be UTF-8 or Latin-1.

    With each comes the share of the file so far, as in `Source.chunks`, and the encoding, None if unknown.
    """
    encoding = decoder = None
    lines, is_first, are_returns = 0, True, False
    for raw, share in portions:
        if is_first and (encoding := _find_encoding(source, raw, option)) is not None:
            decoder = codecs.getincrementaldecoder(encoding)()
        text = raw if decoder is None else _decode(source, decoder, raw, option or encoding, before=lines)
        if is_first:
            text = text.removeprefix(codecs.BOM_UTF8)
            are_returns = b"\r" in text and b"\n" not in text  # lines of old machines end with a return alone
        lines += 0 if decoder is None else raw.count(b"\n")
        yield text.replace(b"\r", b"\n") if are_returns else text, share, encoding
        is_first = False
    if decoder is not None:
        _decode(source, decoder, b"", option or encoding, before=lines)


def _decode(
    source: Source, decoder: codecs.IncrementalDecoder, raw: bytes, encoding: str | None, *, before: int
) -> bytes:
    """Return a portion as UTF-8, the last one if it is empty; ``before`` is the number of lines before it."""
    try:
        return decoder.decode(raw, final=not raw).encode("utf-8")
    except UnicodeError as error:
        at, reason = (error.start, error.reason) if isinstance(error, UnicodeDecodeError) else (0, str(error))
        line = before + raw.count(b"\n", 0, at) + 1
        raise source.error(f"the text is not {encoding}: {reason}", line=line, argument="encoding") from None


def decode(source: Source, option: str | None = None) -> tuple[bytes, str | None]:
    """Return a text as UTF-8, or as it is where it may be UTF-8 or Latin-1; and its encoding, None if unknown."""
    data = source.data
    source.release()  # a text of gigabytes would otherwise be in memory twice while it is decoded
    ((text, _, encoding),) = decode_portions(source, [(data, 1.0)], option)
    return text, encoding


def as_text(data: bytes) -> str:
    """Return bytes as text: in UTF-8, or else Latin-1, in which every byte is a character."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def decode_text(source: Source, option: str | None = None) -> str:
    """Return a whole text."""
    return as_text(decode(source, option)[0])


def refuse_page(source: Source, data: bytes) -> None:
    """Refuse a web page, which is what a failed download leaves, and a pointer to a file of Git LFS."""
    if _PAGE.match(data):
        raise source.error("this is a web page, not a table; download the file itself")
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise source.error("this is a pointer of Git LFS, not the file; get the file with git lfs pull")
