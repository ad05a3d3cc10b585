"""Text edge lists in pieces: cut at line ends, parsed as `graphrefine.readers.text` parses a whole file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from graphrefine.ingestion.piece_times import PieceClock
from graphrefine.ingestion.spool import PackedNames, Piece
from graphrefine.kernels import edge_lists
from graphrefine.readers.header import HEAD
from graphrefine.readers.layout import Layout
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source, decoding_error, find_encoding, has_returns_alone
from graphrefine.readers.text import find_text_layout, parse, whole_numbers
from graphrefine.readers.times import describe_options

_HEAD = 2 * HEAD
_LONGEST = 1 << 26  # bytes of one record: a quoted field that is longer is not waited for


class TextFile:
    """A text with the layout of its first lines."""

    def __init__(self, source: Source, options: ReadOptions, like: TextFile | None) -> None:
        self.source, self.options = source, options
        self.encoding = options.encoding
        self.records: int | None = None  # an estimate of their number
        self.layout: Layout | None = self._find_layout(None if like is None else like.layout)
        if self.layout is not None and self.layout.dialect is not None:
            self.layout.dialect.refuse_two_spaces(source, options)
        self._clock: PieceClock | None = None

    @property
    def weighted(self) -> bool | None:
        """Whether there are weights; None if there are no records at all."""
        if self.layout is None:
            return None
        return self.layout.edge_columns.weight is not None or self.options.half_life is not None

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The report of `graphrefine.read` on it."""
        if self.layout is None:
            return {}
        times = {} if self.options.time is None else {"times": describe_options(self.options)}
        return {**self.layout.report(comments, encoding), **times}

    def pieces(self, size: int) -> Iterator[Piece]:
        """The records in pieces of about ``size`` bytes."""
        layout = self.layout
        if layout is None:
            return
        line, rest = layout.line, b""
        skip = layout.start
        for text, share in self._text(size):
            portion, skip = text[skip:], max(skip - len(text), 0)
            rest += portion
            cut = self._whole_records(rest, layout)
            if cut == 0 and len(rest) < _LONGEST:
                continue
            whole, rest = (rest[:cut], rest[cut:]) if cut else (rest, b"")
            yield self._piece(whole, line, layout, share)
            line += whole.count(b"\n")
        if rest:
            yield self._piece(rest, line, layout, 1.0)

    def _whole_records(self, text: bytes, layout: Layout) -> int:
        quote = layout.marks[1].encode()
        if quote and quote in text:
            return edge_lists.whole_records(np.frombuffer(text, np.uint8), layout.marks)
        return text.rfind(b"\n") + 1

    def _piece(self, text: bytes, line: int, layout: Layout, share: float) -> Piece:
        data = np.frombuffer(text, np.uint8)
        parsed = parse(self.source, data, layout, before=line, threads=self.options.thread_count)
        numbers = None if parsed.integers else whole_numbers(parsed.names)
        others: dict[str, Any] = {"comments": parsed.comments, "trimmed": parsed.trimmed, "share": share}
        packed = None if parsed.integers or numbers is not None else PackedNames.of_lines(parsed.names)
        piece = Piece(parsed.source, parsed.target, parsed.weights, packed, **others)
        if numbers is not None:
            missing = parsed.source < 0, parsed.target < 0
            ids = np.append(numbers, 0)  # the last one stands for -1: no node
            piece = replace(piece, source=ids[parsed.source], target=ids[parsed.target], missing=missing)
        if parsed.times is None:
            return piece
        self._clock = self._clock or PieceClock(self.source, self.options)
        return self._clock.select(piece, parsed.times, dates=layout.dates)

    def _find_layout(self, like: Layout | None) -> Layout | None:
        """The layout from the first lines; from later ones if the first are all comments."""
        head, enough = b"", _HEAD
        for text, share in self._text(_HEAD):
            head += text
            if len(head) < enough:
                continue
            layout = find_text_layout(self.source, head, self.options, like=like, complete=False)
            if layout is not None:
                self.records = int(head.count(b"\n") / share)
                return layout
            if len(head) > _LONGEST:
                raise self.source.error(
                    f"no record ends within the first {len(head) >> 20} MiB: this is no list of edges, or a quote is "
                    "never closed",
                    argument="quote",
                )
            enough *= 2
        self.records = head.count(b"\n") + 1
        return find_text_layout(self.source, head, self.options, like=like) if head else None

    def _text(self, size: int) -> Iterator[tuple[bytes, float]]:
        """The text as UTF-8, or as it is where it may be UTF-8 or Latin-1, in portions."""
        decoder: codecs.IncrementalDecoder | None = None
        lines, first, returns = 0, True, False
        for raw, share in self.source.chunks(size):
            if first:
                self.encoding = find_encoding(self.source, raw, self.options.encoding)
                decoder = None if self.encoding is None else codecs.getincrementaldecoder(self.encoding)()
            text = raw if decoder is None else self._decode(decoder, raw, lines)
            lines += raw.count(b"\n")
            returns = has_returns_alone(text) if first else returns
            text = text.removeprefix(codecs.BOM_UTF8) if first else text
            yield (text.replace(b"\r", b"\n") if returns else text), share
            first = False
        if decoder is not None:
            self._decode(decoder, b"", lines, final=True)

    def _decode(self, decoder: codecs.IncrementalDecoder, raw: bytes, lines: int, *, final: bool = False) -> bytes:
        try:
            return decoder.decode(raw, final).encode()
        except UnicodeError as error:
            raise decoding_error(self.source, error, raw, encoding=self.encoding, before=lines) from None
