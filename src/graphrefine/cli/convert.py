"""``graphrefine convert``: an embedding in another format."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import click

from graphrefine.cli.common import check_not_input, is_same
from graphrefine.cli.options import JSON, SUFFIXES, Option, command, under
from graphrefine.display.console import show_json
from graphrefine.embedding.formats import check_output, choose_format, format_place, input_format


@command(
    "convert",
    first=("to_format", "from_format", "table", "index"),
    short_help="An embedding in another format.",
    help=f"""Write an embedding in another format; the suffix of TO names it.

    Suffixes: {SUFFIXES}. An .npy file holds no names.

    With postgresql://user@host/database as FROM or TO, vectors come from a PostgreSQL server with pgvector or go there;
    a password belongs into ~/.pgpass or PGPASSWORD, as others can see a command line.
    """,
    params=[
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        Option(["--from", "--from-format", "from_format"], metavar="NAME",
               help="Format of FROM where its suffix does not say."),
        Option(["--to", "--to-format", "to_format"], metavar="NAME",
               help="Format of TO where its suffix does not say."),
        Option(["--blank-names"], type=click.Choice(["refuse", "replace"]),
               help="What word2vec does with names that hold blanks, which it cannot keep: replace writes underscores, "
                    "and says how many.  [default: refuse]"),
        *under(
            "Tables for PostgreSQL with pgvector",
            Option(["--table"], metavar="NAME",
                   help="The table to write, or to read from a server, as NAME or SCHEMA.NAME.  [default: named after "
                        "FROM]"),
            Option(["--index/--no-index"], default=None,
                   help="Whether to make an HNSW index for cosines, which takes time.  [default: no]"),
            Option(["--replace"], is_flag=True, default=None,
                   help="Also replace a table that graphrefine did not write."),
        ),
        JSON,
    ],
)  # fmt: skip
def convert(
    source: str, target: str, from_format: str | None, to_format: str | None, as_json: bool, **options: Any
) -> None:
    """Write an embedding in another format; the suffix of TO says which."""
    conversion = convert_embedding(source, target, source_format=from_format, target_format=to_format, **options)
    source, target = format_place(source), format_place(target)
    if as_json:
        return show_json({"source": source, "target": target, **conversion._asdict()})
    formats = f"{conversion.source_format} to {conversion.target_format}"
    print(f"{target}: {conversion.nodes:,} nodes x {conversion.dim}, {formats}")
    return None


class Conversion(NamedTuple):
    """The size of an embedding, and its formats before and after."""

    nodes: int
    dim: int
    source_format: str
    target_format: str


def convert_embedding(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    table: str | None = None,
    index: bool | None = None,
    replace: bool | None = None,
    blank_names: str | None = None,
) -> Conversion:
    """Read an embedding in one format and write it in another.

    From a memory-mapped format, a block of rows at a time is in memory. The target is checked first. Either may be the
    address of a PostgreSQL server; then ``table`` is which one there, named after the source if not given.
    ``index`` and ``replace`` are for a table that is written, ``blank_names`` for word2vec; see `Embedding.save`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graphrefine.embedding.embedding import Embedding
    >>> folder = Path(tempfile.mkdtemp())
    >>> Embedding([7, 8, 9], [[1], [2], [3]]).save(folder / "some.csv")
    >>> convert_embedding(folder / "some.csv", folder / "same.vec")
    Conversion(nodes=3, dim=1, source_format='csv', target_format='word2vec')
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats.pgvector import table_name
    from graphrefine.search.vectors import check_finite

    read_as, write_as = input_format(source, source_format), choose_format(target, target_format)
    if "table" in write_as.takes and table is None and not read_as.server:
        table = table_name(os.fspath(source))
    written = table if "table" in write_as.takes or not read_as.server else None
    options = write_as.options({"table": written, "index": index, "replace": replace, "blank_names": blank_names})
    if write_as.server:
        write_as.check_address(os.fspath(target), **{name: options[name] for name in options if name != "index"})
    else:
        place = os.fspath(source), os.fspath(target)
        if read_as.name != write_as.name or not is_same(*place):  # the same vectors may be written again
            check_not_input(place[1], [place[0]])
        check_output(target, format=target_format)
    embedding = load(source, format=read_as.name, table=table if read_as.server else None)
    check_finite(embedding.vectors, embedding.names)
    embedding.save(target, format=target_format, **options)
    return Conversion(len(embedding), embedding.dim, read_as.name, write_as.name)
