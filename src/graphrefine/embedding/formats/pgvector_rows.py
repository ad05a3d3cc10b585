r"""The rows of an embedding as data of PostgreSQL's ``COPY``, and back: a line a node, tabs between the columns.

Numbers are the shortest decimals that give the same float32 again. In names, a backslash, a tab and the ends of lines
are escaped; what the server escapes beyond that is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.decimals import (
    ROUNDS_TWICE,
    GrowingRows,
    RowError,
    format_rows,
    parse_rows,
    row_chunks,
)
from graphrefine.embedding.state import COLUMNS, State, names_of
from graphrefine.embedding.table import Marks, Parts
from graphrefine.graph.lookup import Sides
from graphrefine.graph.node_ids import Names, encode_all

_ESCAPES = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t"}
_TO_ESCAPE = re.compile(rb"[\\\n\r\t]")
_ESCAPED = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def columns(parts: Parts) -> list[str]:
    """The columns of the table of an embedding, in order."""
    side = ["side"] if len(sides_of(parts)) == 2 else []
    return ["row_index", "node", *side, *parts.state.columns(), "vector"]


def sides_of(parts: Parts) -> dict[str, slice]:
    """The rows of each side of a bipartite graph; all of them otherwise."""
    sides = Sides.of(parts.recipe, (len(parts.vectors), parts.vectors.shape[1]))
    if sides.kind != "rows":
        return {"": slice(0, len(parts.vectors))}
    return {"source": slice(0, sides.start), "target": slice(sides.start, len(parts.vectors))}


def lines(parts: Parts) -> Iterator[bytes]:
    """The rows as data of ``COPY``, some at a time."""
    split = sides_of(parts).get("source")
    for rows in row_chunks(parts.vectors.shape):
        numbers = range(rows.start, rows.stop)
        fields: list[Iterable[bytes]] = [map(b"%d".__mod__, numbers), map(_escape, encode_all(parts.names[rows]))]
        if split is not None:
            fields.append(b"source" if number < split.stop else b"target" for number in numbers)
        for column in parts.state.columns().values():
            fields.append(format_rows(np.asarray(column[rows], np.float32).reshape(-1, 1), b","))
        fields.append(b"[%s]" % row for row in format_rows(parts.vectors[rows], b","))
        yield b"".join(b"\t".join(each) + b"\n" for each in zip(*fields, strict=True))


def _escape(name: bytes) -> bytes:
    return _TO_ESCAPE.sub(lambda match: _ESCAPES[match[0]], name)


def _unescape(field: bytes) -> bytes:
    return _ESCAPED.sub(_decode_escape, field) if b"\\" in field else field


def _decode_escape(match: re.Match[bytes]) -> bytes:
    code: bytes = match[1]
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    return bytes([int(code, 8) & 255]) if code[:1].isdigit() else _LETTERS.get(code, code)


def gather(blocks: Iterable[bytes], description: dict[str, Any]) -> Parts:
    """Undo `lines`: blocks of whole lines to an embedding; ValueError if they are no rows of one.

    The ``nodes`` of the table's description are None where any number is right.
    """
    dim, width = description["dim"], len(description["columns"])
    places = {name: description["columns"].index(name) for name in COLUMNS if name in description["columns"]}
    texts: list[bytes] = []
    vectors, further = GrowingRows(dim), {name: GrowingRows(1) for name in places}
    for block in blocks:
        rows = [line.split(b"\t") for line in block.removesuffix(b"\n").split(b"\n")]
        if any(len(row) != width for row in rows):
            raise ValueError(f"a row after the first {len(texts):,} has not {width} fields")
        texts += [_unescape(row[1]) for row in rows]
        vectors.append(_numbers([row[-1].strip(b"[]") for row in rows], dim))
        for name, place in places.items():
            further[name].append(_numbers([row[place] for row in rows], 1))
    if description["nodes"] not in (None, len(texts)):
        raise ValueError(f"{len(texts):,} rows where {description['nodes']:,} are expected")
    columns = {name: numbers.finish().reshape(-1) for name, numbers in further.items()}
    state = State.from_stored({name: description.get(name) for name in names_of("array", "number")} | columns)
    names = _names(texts, description["names"] == "strings")
    marks = Marks(description.get("fingerprint"))
    return Parts(names, vectors.finish(), description["recipe"], state=state, marks=marks)


def _names(texts: list[bytes], strings: bool) -> Names:
    if not strings:
        return np.array([int(text) for text in texts], np.int64)
    names = np.empty(len(texts), object)
    names[:] = [text.decode() for text in texts]
    return names


def _numbers(rows: list[bytes], dim: int) -> NDArray[np.float32]:
    try:
        return parse_rows([row.replace(*ROUNDS_TWICE) for row in rows], dim, b",")  # PostgreSQL prints the shortest
    except RowError as error:
        raise ValueError(error.problem) from error
