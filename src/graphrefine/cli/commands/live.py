"""Options and help of ``graphrefine live``."""

from __future__ import annotations

import click

from graphrefine.cli.options import GRAPH, JSON, READING, SUFFIXES, THREADS, TOKEN, Command, Group, Option

FOLDER = click.Argument(["folder"], metavar="FOLDER")

CREATE = Command(
    "create",
    work="live:create",
    first=("output", "dim", "weights", "tolerance"),
    short_help="A folder of live vectors from a graph.",
    help="""Make a folder that holds GRAPH and vectors of its nodes, to be kept in step by `live apply`.

    \b
    graphrefine live create friends.csv -o friends.live
    """,
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="FOLDER", help="Folder to make; it ends in .live."),
        Option(["--dim"], type=int, default=128, show_default=True, metavar="K", help="Length of the vectors."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of the random sketch."),
        Option(["--tolerance"], type=float, default=0.1, show_default=True, metavar="X",
               help="Bound of the error of unit vectors, for 99 % of them: the smaller, the slower changes are."),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip

APPLY = Command(
    "apply",
    work="live:apply",
    first=("resume", "skip_unknown", "size", "as_json"),
    short_help="Edges and nodes that come and go.",
    help="""Apply CHANGES to FOLDER: edges and nodes that come and go, and weights that change.

    CHANGES has the columns op, source, target and weight: .csv, .tsv, .jsonl or .parquet, also compressed, or '-',
    standard input. '+' adds an edge (to the weight of one that is there), '-' removes one, '=' sets its weight; '+' and
    '-' without a target are of a node. Changes count in groups, each all or nothing, and a killed run loses no group.

    \b
    op,source,target,weight
    +,ann,bob,2
    -,bob,cleo,
    """,
    params=[
        FOLDER,
        click.Argument(["changes"], metavar="CHANGES"),
        Option(["--size"], type=click.IntRange(1), default=1000, show_default=True, metavar="N",
               help="Changes in a group."),
        Option(["--resume"], is_flag=True, help="Go on where an apply of the same file stood; nothing counts twice."),
        Option(["--again"], is_flag=True, help="Apply a file once more that counts already."),
        Option(["--skip-unknown"], is_flag=True, help="Pass over removals of what is not there, and count them."),
        Option(["--format"], metavar="NAME", help="Format of CHANGES where its suffix does not say."),
        THREADS, JSON,
    ],
)  # fmt: skip

REFRESH = Command(
    "refresh",
    work="live:refresh",
    short_help="Basis and axes anew, now.",
    help="""Renew what is frozen between refreshes (basis, contexts, axes), and turn the new vectors onto the old ones.

    A writer does so by itself when it is due.
    """,
    params=[FOLDER, THREADS, JSON],
)

CHECK = Command(
    "check",
    work="live:check",
    short_help="Files, database and bounds.",
    help="""Check that files and database are whole, and that every bound is true of the vectors of this moment.

    The exit code is 2 if not.
    """,
    params=[
        FOLDER,
        Option(["--quick"], is_flag=True, help="Leave out the residuals of all rows."),
        THREADS, JSON,
    ],
)  # fmt: skip

EXPORT = Command(
    "export",
    work="live:export",
    first=("output", "to", "table", "changed_since"),
    short_help="The vectors of this moment.",
    help="""Write the vectors of this moment, while others may be writing FOLDER.

    A table of PostgreSQL (pgvector) that has the vectors of this folder already is brought up to date: rows that moved
    since are put in, those of nodes that are gone are deleted, in one transaction.

    \b
    graphrefine live export web.live -o today.parquet
    graphrefine live export web.live --to postgresql://me@server/shop
    """,
    params=[
        FOLDER,
        Option(["-o", "--output"], metavar="OUT",
               help=f"File or folder for the vectors. The suffix names the format: {SUFFIXES}."),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not name it."),
        Option(["--to"], metavar="ADDRESS", help="A PostgreSQL server, postgresql://user@host/database."),
        Option(["--table"], metavar="NAME", help="Table of the server.  [default: by the name of FOLDER]"),
        Option(["--changed-since"], metavar="T",
               help="Write only vectors that came or moved since: the number of a group, or a time such as "
                    "2026-03-01T12:00.  [default with --to: what the table does not have yet]"),
        JSON,
    ],
)  # fmt: skip

BACKUP = Command(
    "backup",
    work="live:backup",
    first=("output",),
    short_help="A copy, also while it is written.",
    help="""Copy FOLDER as one moment has it, while others may be writing it.

    \b
    graphrefine live backup web.live -o monday.live
    """,
    params=[
        FOLDER,
        Option(["-o", "--output"], required=True, metavar="COPY", help="Folder to make."),
        JSON,
    ],
)

SERVE = Command(
    "serve",
    work="live_serve:serve",
    first=("port", "token_file", "renew", "no_browser"),
    short_help="An API that takes changes, and a page that shows the map moving.",
    help="""Serve FOLDER as its one writer: POST /api/edges takes changes, a page shows vectors, bounds and refreshes.

    Every request needs the token, which is printed in the address. The server listens on this machine alone unless
    --host says otherwise, until Ctrl-C.

    \b
    graphrefine live serve web.live --port 8000
    """,
    params=[
        FOLDER,
        Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."),
        Option(["--port"], type=int, default=0, metavar="N", help="Port to listen on.  [default: any that is free]"),
        *TOKEN,
        Option(["--renew"], type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
               metavar="SECONDS", help="Time between two snapshots for the requests of graphrefine explore."),
        Option(["--no-browser"], is_flag=True, help="Do not open the page in a browser."),
        THREADS,
        Option(["--json", "as_json"], is_flag=True, help="Print one line of JSON with the address, then serve."),
    ],
)  # fmt: skip

LIVE = Group(
    "live",
    help="A folder with a graph that changes and vectors that follow it, within a bound.",
    commands=[CREATE, APPLY, REFRESH, CHECK, EXPORT, BACKUP, SERVE],
    no_args_is_help=False,
)
