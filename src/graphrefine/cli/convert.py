"""``graphrefine convert``: an embedding in another format."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import JSON, Command, Option, under


@click.command(
    cls=Command,
    params=[
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        Option(["--from", "--from-format", "from_format"], metavar="NAME",
               help="Format of FROM where its suffix does not say."),
        Option(["--to", "--to-format", "to_format"], metavar="NAME",
               help="Format of TO where its suffix does not say."),
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
    short_help="An embedding in another format.",
)  # fmt: skip
def convert(
    source: str, target: str, from_format: str | None, to_format: str | None, as_json: bool, **options: Any
) -> None:
    """Write an embedding in another format; the suffix of TO says which.

    None is the native folder; .npy .npz .parquet .arrow .feather .safetensors; .txt .vec .w2v are word2vec's text,
    .bin its binary form; .csv .csv.gz. An .npy file holds no names.

    .sql .sql.gz are for psql -f and a PostgreSQL with pgvector. With postgresql://user@host/database as FROM or TO,
    vectors come from such a server or go there; a password belongs into ~/.pgpass or PGPASSWORD, as others can see what
    is typed here.
    """
    from graphrefine.cli import conversion
    from graphrefine.embedding.formats.addresses import shown_place
    from graphrefine.visuals.console import show_json

    done = conversion.convert(source, target, source_format=from_format, target_format=to_format, **options)
    source, target = shown_place(source), shown_place(target)
    if as_json:
        return show_json({"source": source, "target": target, **done._asdict()})
    print(f"{target}: {done.nodes:,} nodes x {done.dim}, {done.source_format} to {done.target_format}")
    return None
