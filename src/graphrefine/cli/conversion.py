"""An embedding in another format."""

from __future__ import annotations

import os
from typing import NamedTuple

from graphrefine.embedding.embedding import check_output, format_of, load
from graphrefine.embedding.formats import choose
from graphrefine.embedding.formats.pgvector_sql import table_name


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
    table: str | None = None,
    index: bool | None = None,
    replace: bool | None = None,
) -> Conversion:
    """Read an embedding in one format and write it in another.

    From a memory-mapped format, a block of rows at a time is in memory. The target is checked first. Either may be the
    address of a PostgreSQL server; then ``table`` is which one there, named after the source if not given.
    ``index`` and ``replace`` are for a table that is written; see `Embedding.save`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graphrefine.embedding.embedding import Embedding
    >>> folder = Path(tempfile.mkdtemp())
    >>> Embedding([7, 8, 9], [[1], [2], [3]]).save(folder / "some.csv")
    >>> convert(folder / "some.csv", folder / "same.vec")
    Conversion(nodes=3, dim=1, source_format='csv', target_format='word2vec')
    """
    read_as, write_as = format_of(source, source_format), choose(target, target_format)
    if "table" in write_as.takes and table is None and not read_as.server:
        table = table_name(os.fspath(source))
    written = table if "table" in write_as.takes or not read_as.server else None
    options = write_as.options(target, {"table": written, "index": index, "replace": replace})
    if write_as.server:
        write_as.check_place(os.fspath(target), **{name: options[name] for name in options if name != "index"})
    else:
        check_output(target, format=target_format)
    embedding = load(source, format=read_as.name, table=table if read_as.server else None)
    embedding.save(target, format=target_format, **options)
    return Conversion(len(embedding), embedding.dim, read_as.name, write_as.name)
