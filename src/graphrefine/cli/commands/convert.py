"""Options and help of ``graphrefine convert``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, SUFFIXES, Command, Option, under

CONVERT = Command(
    "convert",
    work="convert:convert",
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
