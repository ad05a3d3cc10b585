r"""word2vec's binary format: ``n k\n``, then for each node its name, a space and k little-endian float32.

gensim writes nothing between the nodes, the original program a line end; both are read. Names as in the
text format.
"""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

from graphrefine.embedding.formats.decimals import row_chunks
from graphrefine.embedding.formats.word2vec_text import check as check
from graphrefine.embedding.formats.word2vec_text import read_counts
from graphrefine.embedding.formats.word2vec_text import replace_blanks as replace_blanks
from graphrefine.embedding.table import Parts
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import encode_all, from_text


def write(path: Path, parts: Parts) -> None:
    """Write names and vectors."""
    width = 4 * parts.vectors.shape[1]
    with path.open("wb") as file:
        file.write(b"%d %d\n" % parts.vectors.shape)
        for rows in row_chunks(parts.vectors.shape):
            numbers = parts.vectors[rows].astype("<f4", copy=False).tobytes()
            texts = encode_all(parts.names[rows])
            file.write(
                b"".join([b"%s %s" % (text, numbers[at * width : (at + 1) * width]) for at, text in enumerate(texts)])
            )


def read(path: Path) -> Parts:
    """Read names and vectors."""
    with path.open("rb") as file:
        nodes, dim = read_counts(path, file, bytes_per_value=4)
        start = file.tell()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _read(path, content, start, np.empty((nodes, dim), dtype=np.float32))


def _read(path: Path, content: mmap.mmap, at: int, vectors: np.ndarray[tuple[int, int]]) -> Parts:
    nodes, dim = vectors.shape
    texts: list[bytes] = []
    for rows in row_chunks(vectors.shape):
        numbers = []
        for _ in range(rows.start, rows.stop):
            space = content.find(b" ", at)
            end = space + 1 + 4 * dim
            if space < 0 or end > len(content):
                raise FormatError(path, f"ends after {len(texts)} of {nodes} nodes: cut short")
            texts.append(content[at:space].lstrip(b"\n"))
            numbers.append(content[space + 1 : end])
            at = end
        vectors[rows] = np.frombuffer(b"".join(numbers), dtype="<f4").reshape(len(numbers), dim)
    if content[at:].strip(b"\r\n"):
        raise FormatError(path, f"has {len(content) - at} bytes too many after its {nodes} nodes: damaged")
    return Parts(from_text(texts), vectors, {})
