"""``graphrefine live``: a folder that holds a graph and its vectors, always in step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import (
    Group,
    Option,
    check_not_input,
    print_address,
    read_token,
    reading_options,
    show_notes,
)
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.formats import check_address, format_place
from graphrefine.errors import FormatError, InputError
from graphrefine.progress import Stages

if TYPE_CHECKING:
    from graphrefine.live.reader import LiveReader
    from graphrefine.live.writer import Live

FOLDER = click.Argument(["folder"], metavar="FOLDER")
live = Group(
    "live", help="A folder with a graph that changes and vectors that follow it, within a bound.", no_args_is_help=False
)


def _report(as_json: bool, stats: dict[str, Any], text: str) -> None:
    if as_json:
        show_json(stats)
    else:
        print(text)


@contextmanager
def _open_for(stage: str, folder: str, threads: int | None) -> Iterator[Live]:
    """Open a folder for writing, for one stage of work that is shown as it goes."""
    from graphrefine.live.writer import Live

    with progress_bar() as bar, Live(folder, threads=threads, watcher=bar) as live, Stages(bar).stage(stage):
        yield live


@live.command(
    "create",
    first=("output", "dim", "weights", "tolerance"),
    short_help="A folder of live vectors from a graph.",
    params=[
        opt.GRAPH,
        Option(["-o", "--output"], required=True, metavar="FOLDER", help="Folder to make; it ends in .live."),
        Option(["--dim"], type=int, default=128, show_default=True, metavar="K", help="Length of the vectors."),
        opt.SEED,
        Option(["--tolerance"], type=float, default=0.1, show_default=True, metavar="X",
               help="Bound of the error of unit vectors, for 99 % of them: the smaller, the slower changes are."),
        opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def create(
    graph: str, output: str, dim: int, seed: int, tolerance: float, threads: int | None, as_json: bool, **options: Any
) -> None:
    """Make a folder that holds GRAPH and vectors of its nodes, to be kept in step by `live apply`.

    \b
    graphrefine live create friends.csv -o friends.live
    """  # noqa: D301
    from graphrefine.live.model import LiveSettings
    from graphrefine.live.writer import create_live
    from graphrefine.readers.read import read

    start = perf_counter()
    check_not_input(output, [graph, options["nodes"]])
    settings = LiveSettings(dim=dim, seed=seed, tolerance=tolerance)
    with progress_bar() as bar:
        edges = read(graph, threads=threads, **reading_options(options))
        seconds = create_live(edges, output, settings, threads=threads, watcher=bar)
    note(f"read: {edges.reading}")
    show_notes(edges)
    seconds["total"] = total = perf_counter() - start
    stats = {"output": output, "nodes": edges.nodes, "edges": edges.edges, "reading": edges.reading, "seconds": seconds}
    _report(as_json, stats, f"{output}: {edges.nodes:,} nodes x {dim}, {edges.edges:,} edges, in {total:,.1f} s")


@live.command(
    "apply",
    first=("resume", "skip_unknown", "size", "as_json"),
    short_help="Edges and nodes that come and go.",
    params=[
        FOLDER,
        click.Argument(["changes"], metavar="CHANGES"),
        Option(["--size"], type=click.IntRange(1), default=1000, show_default=True, metavar="N",
               help="Changes in a group."),
        Option(["--resume"], is_flag=True, help="Go on after the records of the same file that count already."),
        Option(["--skip-unknown"], is_flag=True, help="Pass over removals of what is not there, and count them."),
        Option(["--format"], metavar="NAME", help="Format of CHANGES where its suffix does not say."),
        opt.THREADS, opt.JSON,
    ],
)  # fmt: skip
def apply(folder: str, changes: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """Apply CHANGES to FOLDER: edges and nodes that come and go, and weights that change.

    CHANGES has the columns op, source, target and weight: .csv, .tsv or .jsonl, also compressed, or '-', standard
    input. '+' adds an edge (to the weight of one that is there), '-' removes one, '=' sets its weight; '+' and
    '-' without a target are of a node. Changes count in groups, each all or nothing, and a killed run loses no group.

    \b
    op,source,target,weight
    +,ann,bob,2
    -,bob,cleo,
    """  # noqa: D301
    from graphrefine.live.changes import apply_changes

    start = perf_counter()
    with _open_for("apply", folder, threads) as live:
        counts = apply_changes(live, changes, **options)
        state = live.stats()
    stats = {"folder": folder, "changes_file": changes, **counts, **state, "seconds": perf_counter() - start}
    text = (
        f"{folder}: {counts['changes']:,} changes in {counts['groups']:,} groups, in {stats['seconds']:,.1f} s; "
        f"counted before: {counts['before']:,}; not there to be removed: {counts['skipped']:,}; {_describe(state)}"
    )
    _report(as_json, stats, text)


def _describe(state: dict[str, Any]) -> str:
    within = f"bounds within {state['tolerance']}: {state['within_tolerance']:.1%}, none: {state['without_bound']:,}"
    return f"{state['nodes']:,} nodes, {state['edges']:,} edges; {within}"


@live.command(
    "refresh",
    short_help="Fit basis and axes again, now.",
    params=[FOLDER, opt.THREADS, opt.JSON],
)
def refresh(folder: str, threads: int | None, as_json: bool) -> None:
    """Renew what is frozen between refreshes (basis, contexts, axes), and turn the new vectors onto the old ones.

    A writer does so by itself when it is due.
    """
    with _open_for("refresh", folder, threads) as live:
        stats = live.refresh()
    energy = f"the basis holds {stats['captured_energy']:.1%} of the energy"
    text = f"{folder}: refreshed in {stats['seconds']:,.1f} s; mean drift {stats['drift']:.3f}; {energy}"
    _report(as_json, {"folder": folder, **stats}, text)


@live.command(
    "check",
    short_help="Files, database and bounds.",
    params=[
        FOLDER, Option(["--quick"], is_flag=True, help="Leave out the residuals of all rows."), opt.THREADS, opt.JSON,
    ],
)  # fmt: skip
def check(folder: str, quick: bool, threads: int | None, as_json: bool) -> None:
    """Check that files and database are whole, and that every bound is true of the vectors of this moment.

    The exit code is 2 if not.
    """
    with _open_for("check", folder, threads) as live:
        stats = live.check(deep=not quick)
    text = f"{folder}: {_describe(stats)}; groups: {stats['group']:,}"
    if not quick:
        text += (
            f"\nlargest residual {stats['largest_residual']:.2e}, largest lag {stats['largest_lag']:.2e}, "
            f"tolerance {stats['lag_tolerance']:.2e}; rows beyond their lag: {stats['beyond_lag']:,}"
        )
    _report(as_json, {"folder": folder, **stats}, text)
    if stats["database"] != "ok" or stats.get("beyond_lag"):
        raise FormatError(folder, f"does not hold what it promises ({stats['database']}); go back to a backup")


@live.command(
    "export",
    first=("output", "to", "table", "changed_since"),
    short_help="The vectors of this moment.",
    params=[
        FOLDER,
        Option(["-o", "--output"], metavar="OUT",
               help=f"File or folder for the vectors. The suffix names the format: {opt.SUFFIXES}."),
        opt.OUTPUT_FORMAT,
        Option(["--to"], metavar="ADDRESS", help="A PostgreSQL server, postgresql://user@host/database."),
        Option(["--table"], metavar="NAME", help="Table of the server.  [default: by the name of FOLDER]"),
        Option(["--changed-since"], type=int, metavar="GROUP",
               help="Write into OUT only vectors that came or moved after that group."),
        opt.JSON,
    ],
)  # fmt: skip
def export(
    folder: str, output: str | None, output_format: str | None, to: str | None, table: str | None,
    changed_since: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Write the vectors of this moment, while others may be writing FOLDER.

    A table of PostgreSQL (pgvector) that has the vectors of this folder already is brought up to date: rows that moved
    since are put in, those of nodes that are gone are deleted, in one transaction.

    \b
    graphrefine live export web.live -o today.parquet
    graphrefine live export web.live --to postgresql://me@server/shop
    """  # noqa: D301
    from graphrefine.embedding.formats.pgvector import table_name
    from graphrefine.live.reader import LiveReader

    if to is not None and changed_since is not None:
        raise InputError("a table gets what it does not have yet; leave --changed-since out", argument="changed_since")
    check_not_input(output, [folder])
    with LiveReader(folder) as live:
        if to is not None and output is None:
            count, target = _export_table(live, to, table or table_name(folder))
        elif output is not None and to is None:
            embedding = live.snapshot(after=changed_since)
            embedding.save(output, format=output_format)
            count, target = len(embedding), output
        else:
            raise InputError("give -o, a file, or --to, the address of a PostgreSQL server", argument="output")
        counts = {"nodes": len(live), "written": count, "dim": live.dim, "group": live.group}
    text = f"{target}: {count:,} of {counts['nodes']:,} nodes x {counts['dim']}, after group {counts['group']:,}"
    _report(as_json, {"folder": folder, "output": target, **counts, "after": changed_since}, text)


def _export_table(live: LiveReader, address: str, table: str) -> tuple[int, str]:
    """Bring a table up to date, or make it; return the number of rows written, and the address."""
    from graphrefine.embedding.formats.pgvector import table_recipe, update, write
    from graphrefine.embedding.state import State

    check_address(address)
    # Two sides are written whole: the lengths of all targets change with the mean of their degrees.
    recipe = None if live.sources is not None else table_recipe(address, table=table)
    known = {} if recipe is None else recipe
    some = live.snapshot(after=known.get("group", live.group), generation=known.get("generation"))
    # A refresh moves all vectors without a group of its own: rows that moved since a group are those of one generation.
    if any(known.get(key) != some.recipe[key] for key in ("folder", "generation")):
        some = live.snapshot()
        write(address, some.data, table=table)
    else:
        update(address, some.data._replace(state=State()), every=live.names, table=table)
    return len(some), f"{format_place(address)}, table {table}"


@live.command(
    "backup",
    first=("output",),
    short_help="A copy, also while it is written.",
    params=[FOLDER, Option(["-o", "--output"], required=True, metavar="COPY", help="Folder to make."), opt.JSON],
)
def backup(folder: str, output: str, as_json: bool) -> None:
    """Copy FOLDER as one moment has it, while others may be writing it.

    \b
    graphrefine live backup web.live -o monday.live
    """  # noqa: D301
    from graphrefine.live.store import Store

    check_not_input(output, [folder])
    with closing(Store(folder, write=False)) as store:
        store.backup(output)
        group = store.group
    _report(as_json, {"folder": folder, "output": output, "group": group}, f"{output}: a copy of {folder}")


@live.command(
    "serve",
    first=("port", "token_file", "renew", "no_browser"),
    short_help="An API that takes changes, and a page that shows the map moving.",
    params=[
        FOLDER,
        Option(["--renew"], type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
               metavar="SECONDS", help="Time between two snapshots for the requests of graphrefine explore."),
        opt.THREADS, *opt.SERVER,
    ],
)  # fmt: skip
def serve(
    folder: str, token: str | None, token_file: str | None, no_browser: bool, as_json: bool, **options: Any
) -> None:
    """Serve FOLDER as its one writer: POST /api/edges takes changes, a page shows vectors, bounds and refreshes.

    Every request needs the token, which is printed in the address. The server listens on this machine alone unless
    --host says otherwise, until Ctrl-C.

    \b
    graphrefine live serve web.live --port 8000
    """  # noqa: D301
    from graphrefine.explore.server import can_open_browser
    from graphrefine.live.server import serve_live

    def on_start(url: str, bound: int, token: str, live: Live) -> None:
        print_address(as_json, url, bound, token=token, nodes=len(live), dim=live.dim, group=live.group)

    def note_refresh(live: Live) -> None:
        if live.refreshing:
            note("a refresh is under way; the folder is closed after it. All changes are on the disk already")

    options |= {"token": read_token(token, token_file), "browser": not no_browser and can_open_browser()}
    serve_live(folder, on_start=on_start, on_end=note_refresh, **options)
