"""``graphrefine convert``: an embedding in another format."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import JSON, Option, check_not_input, command, is_same, under
from graphrefine.display.console import show_json
from graphrefine.embedding.formats import check_output, choose_format, format_place, input_format


@command(
    "convert",
    first=("to_format", "from_format", "table", "index"),
    short_help="An embedding in another format.",
    params=[
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        Option(["--from", "--from-format", "from_format"], metavar="NAME",
               help="Format of FROM where its suffix does not say."),
        Option(["--to", "--to-format", "to_format"], metavar="NAME",
               help="Format of TO where its suffix does not say."),
        Option(["--blank-names"], type=click.Choice(["refuse", "replace"]),
               help="What word2vec does with blanks in names: replace writes underscores.  [default: refuse]"),
        *under(
            "Tables for PostgreSQL with pgvector",
            Option(["--table"], metavar="NAME",
                   help="The table to write or to read, as NAME or SCHEMA.NAME.  [default: named after FROM]"),
            Option(["--index/--no-index"], default=None,
                   help="Whether to make an HNSW index for cosines, which takes time.  [default: no]"),
            Option(["--replace"], is_flag=True, default=None,
                   help="Also replace a table that graphrefine did not write."),
        ),
        JSON,
    ],
)  # fmt: skip
def convert(
    source: str, target: str, from_format: str | None, to_format: str | None, table: str | None, as_json: bool,
    **writing: Any,
) -> None:  # fmt: skip
    """Write an embedding in another format; the suffix of TO names it, as for graphrefine embed; .npy holds no names.

    With postgresql://user@host/database as FROM or TO, vectors come from a PostgreSQL server with pgvector or go there;
    a password belongs into ~/.pgpass or PGPASSWORD, as others can see a command line.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats.pgvector import table_name
    from graphrefine.search.vectors import check_finite

    read_as, write_as = input_format(source, from_format), choose_format(target, to_format)
    if "table" in write_as.takes and table is None and not read_as.server:
        table = table_name(source)
    # With a server at both ends, --table is the table to write; with one to read from, the table to read.
    written = table if "table" in write_as.takes or not read_as.server else None
    options = write_as.options({"table": written, **writing})
    if not write_as.server:
        if read_as.name != write_as.name or not is_same(source, target):  # the same vectors may be written again
            check_not_input(target, [source])
        check_output(target, format=to_format)
    embedding = load(source, format=read_as.name, table=table if read_as.server else None)
    check_finite(embedding.vectors, embedding.names)
    embedding.save(target, format=to_format, **options)
    stats = {"nodes": len(embedding), "dim": embedding.dim}
    source, target = format_place(source), format_place(target)
    if as_json:
        formats = {"source_format": read_as.name, "target_format": write_as.name}
        return show_json({"source": source, "target": target, **stats, **formats})
    print(f"{target}: {len(embedding):,} nodes x {embedding.dim}, {read_as.name} to {write_as.name}")
    return None
