"""Text edge lists in pieces: cut at line ends, parsed as `graphrefine.readers.text` parses a whole file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphrefine.ingestion.spool import PackedNames, Piece
from graphrefine.readers.layout import SAMPLE, Layout, find_layout
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source
from graphrefine.readers.text import find_encoding, parse, whole_numbers

_HEAD = 2 * SAMPLE


class TextFile:
    """A text with the layout of its first lines."""

    def __init__(self, source: Source, options: ReadOptions, like: TextFile | None) -> None:
        self.source, self.options = source, options
        self.encoding = options.encoding
        self.records: int | None = None  # an estimate of their number
        self.layout: Layout | None = self._find_layout(None if like is None else like.layout)

    @property
    def weighted(self) -> bool | None:
        """Whether there are weights; None if there are no records at all."""
        return None if self.layout is None else self.layout.edge_columns.weight is not None

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The report of `graphrefine.read` on it."""
        return {} if self.layout is None else self.layout.report(comments, encoding)

    def pieces(self, size: int) -> Iterator[Piece]:
        """The records in pieces of about ``size`` bytes."""
        layout = self.layout
        if layout is None:
            return
        line, rest = layout.line, b""
        skip = layout.start
        for text, share in self._text(size):
            portion, skip = text[skip:], max(skip - len(text), 0)
            cut = portion.rfind(b"\n") + 1
            if cut == 0:
                rest += portion
                continue
            whole, rest = rest + portion[:cut], portion[cut:]
            yield self._piece(whole, line, layout, share)
            line += whole.count(b"\n")
        if rest:
            yield self._piece(rest, line, layout, 1.0)

    def _piece(self, text: bytes, line: int, layout: Layout, share: float) -> Piece:
        data = np.frombuffer(text, np.uint8)
        parsed = parse(self.source, data, layout, before=line, threads=self.options.thread_count)
        others: dict[str, Any] = {"weights": parsed.weights, "comments": parsed.comments, "share": share}
        if not parsed.names:
            return Piece(parsed.source, parsed.target, **others)
        numbers = whole_numbers(parsed.names)
        if numbers is None:
            return Piece(parsed.source, parsed.target, names=PackedNames.of_lines(parsed.names), **others)
        missing = parsed.source < 0, parsed.target < 0
        return Piece(numbers[parsed.source], numbers[parsed.target], missing=missing, **others)

    def _find_layout(self, like: Layout | None) -> Layout | None:
        """The layout from the first lines; from later ones if the first are all comments."""
        head, enough = b"", _HEAD
        for text, share in self._text(_HEAD):
            head += text
            if len(head) < enough:
                continue
            layout = find_layout(self.source, head, self.options, like=like)
            if layout is not None:
                self.records = int(head.count(b"\n") / share)
                return layout
            enough *= 2
        self.records = head.count(b"\n") + 1
        return find_layout(self.source, head, self.options, like=like) if head else None

    def _text(self, size: int) -> Iterator[tuple[bytes, float]]:
        """The text as UTF-8, or as it is where it may be UTF-8 or Latin-1, in portions."""
        decoder: codecs.IncrementalDecoder | None = None
        lines, first = 0, True
        for raw, share in self.source.chunks(size):
            if first:
                self.encoding = find_encoding(self.source, raw, self.options.encoding)
                decoder = None if self.encoding is None else codecs.getincrementaldecoder(self.encoding)()
            if decoder is None:
                yield (raw.removeprefix(codecs.BOM_UTF8) if first else raw), share
            else:
                text = self._decode(decoder, raw, lines)
                lines += raw.count(b"\n")
                yield (text.removeprefix("\ufeff") if first else text).encode(), share
            first = False
        if decoder is not None:
            self._decode(decoder, b"", lines, final=True)

    def _decode(self, decoder: codecs.IncrementalDecoder, raw: bytes, lines: int, *, final: bool = False) -> str:
        try:
            return decoder.decode(raw, final)
        except UnicodeDecodeError as error:
            line = lines + raw.count(b"\n", 0, error.start) + 1
            problem = f"the text is not {self.encoding}: {error.reason}"
            raise self.source.error(problem, line=line, argument="encoding") from None
