r"""word2vec's formats, as gensim reads and writes them.

Text: ``n k``, then for each node a line of its name and k numbers. Lines may end in a space, as those of the original
program and of fastText do. Binary: ``n k\n``, then for each node its name, a space and k little-endian float32; gensim
writes nothing between the nodes, the original program a line end, and both are read. Spaces separate, so a name can be
neither empty nor contain white space.
"""

from __future__ import annotations

import mmap
import re
import warnings
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from graphrefine.embedding.formats.decimals import RowError, format_rows, parse_rows, row_chunks, rows_at_once
from graphrefine.embedding.formats.io import EDGES
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import ArgumentWarning, FormatError, InputError
from graphrefine.graph.node_ids import Names, encode_all, from_text, object_array

_SPACE = re.compile(r"[ \t\n\r\f\v]")


def check(names: Names) -> None:
    """Refuse names that the word2vec formats cannot hold."""
    for name in names:
        if not name or _SPACE.search(name):
            raise InputError(
                f"the name {name!r} is empty or has white space, which word2vec files cannot keep; save as .parquet, "
                ".npz, .csv or a folder, or pass blank_names='replace' for underscores"
            )


def replace_blanks(names: Names, label: str) -> Names:
    """Return names with an underscore for each blank, with a warning; InputError if two become one."""
    if names.dtype != object:
        return names
    originals: dict[str, str] = {}
    for name in dict.fromkeys(names.tolist()):
        if (other := _SPACE.sub("_", name)) in originals:
            raise InputError(f"{label}: names {originals[other]!r} and {name!r} would both be {other!r}; rename one")
        originals[other] = name
    replaced = object_array([_SPACE.sub("_", name) for name in names])
    if count := int((replaced != names).sum()):
        text = f"{label}: blanks became underscores in {count:,} names, and will be read so"
        warnings.warn(ArgumentWarning(text), stacklevel=4)
    return replaced


def write_text(path: Path, data: EmbeddingData) -> None:
    """Write names and vectors."""
    with path.open("wb") as file:
        file.write(b"%d %d\n" % data.vectors.shape)
        for rows in row_chunks(data.vectors.shape):
            lines = zip(encode_all(data.names[rows]), format_rows(data.vectors[rows], b" "), strict=True)
            file.write(b"".join([b"%s %s\n" % line for line in lines]))


def read_text(path: Path) -> EmbeddingData:
    """Read names and vectors."""
    texts: list[bytes] = []
    with path.open("rb") as file:
        nodes, dim = read_counts(path, file, bytes_per_value=2)
        vectors = np.empty((nodes, dim), dtype=np.float32)
        while block := list(islice(file, rows_at_once(dim))):
            start = len(texts)
            if not block[-1].endswith(b"\n"):
                raise FormatError(path, "its last line has no end: cut short", line=start + 1 + len(block))
            if start + len(block) > nodes:
                raise FormatError(path, f"has more than the {nodes} nodes it announces; {EDGES}", line=nodes + 2)
            lines = [line.rstrip(b" \r\n").partition(b" ") for line in block]
            texts += [name for name, _, _ in lines]
            try:
                vectors[start : len(texts)] = parse_rows([row for _, _, row in lines], dim, b" ")
            except RowError as error:
                hint = f"; {EDGES}" if max(len(line.split()) for line in block) <= 3 else ""
                raise FormatError(path, f"{error.problem}{hint}", line=start + error.row + 2) from error
    if len(texts) != nodes:
        raise FormatError(path, f"ends after {len(texts)} of {nodes} nodes: cut short")
    return EmbeddingData(from_text(texts), vectors, {})


def read_counts(path: Path, file: IO[bytes], *, bytes_per_value: int) -> tuple[int, int]:
    """Read the first line, and refuse counts that a file of this size cannot hold."""
    match = re.fullmatch(rb"([0-9]{1,18}) +([0-9]{1,18}) *\r?\n", file.readline(64))
    if match is None:
        problem = f"must begin with two counts, '<nodes> <dim>', as word2vec files do; {EDGES}"
        raise FormatError(path, problem, line=1)
    nodes, dim = int(match[1]), int(match[2])
    if nodes * (1 + dim * bytes_per_value) > path.stat().st_size:
        problem = f"is too small for the {nodes} nodes x {dim} it announces: cut short; {EDGES}"
        raise FormatError(path, problem, line=1)
    return nodes, dim


def write_binary(path: Path, data: EmbeddingData) -> None:
    """Write names and vectors."""
    with path.open("wb") as file:
        file.write(b"%d %d\n" % data.vectors.shape)
        for rows in row_chunks(data.vectors.shape):
            vectors = (vector.tobytes() for vector in data.vectors[rows].astype("<f4", copy=False))
            file.write(b"".join([b"%s %s" % each for each in zip(encode_all(data.names[rows]), vectors, strict=True)]))


def read_binary(path: Path) -> EmbeddingData:
    """Read names and vectors."""
    with path.open("rb") as file:
        nodes, dim = read_counts(path, file, bytes_per_value=4)
        # Names have any length, so that each is searched for from the end of the vector before; mapped, no part of the
        # file is copied for that.
        texts: list[bytes] = []
        at, vectors = file.tell(), np.empty((nodes, dim), dtype=np.float32)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
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
    return EmbeddingData(from_text(texts), vectors, {})
