"""An embedding in another format."""

from __future__ import annotations

import os
from typing import NamedTuple

from graphrefine.embedding import check_output, format_of, load
from graphrefine.vector_formats import choose


class Conversion(NamedTuple):
    """What ``convert`` did."""

    nodes: int
    dim: int
    source_format: str
    target_format: str


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
) -> Conversion:
    """Read an embedding in one format and write it in another.

    From a memory-mapped format, a block of rows at a time is in memory. The target is checked first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graphrefine.embedding import Embedding
    >>> folder = Path(tempfile.mkdtemp())
    >>> Embedding([7, 8, 9], [[1], [2], [3]]).save(folder / "some.csv")
    >>> convert(folder / "some.csv", folder / "same.vec")
    Conversion(nodes=3, dim=1, source_format='csv', target_format='word2vec')
    """
    check_output(target, format=target_format)
    read_as = format_of(source, source_format)
    embedding = load(source, format=read_as.name)
    embedding.save(target, format=target_format)
    return Conversion(len(embedding), embedding.dim, read_as.name, choose(target, target_format).name)
