"""``graphrefine live``: a folder that holds a graph and its vectors, always in step."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine.cli.describe import remarks
from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.formats import check_address, format_address
from graphrefine.embedding.formats.pgvector_server import write
from graphrefine.embedding.formats.pgvector_sql import table_name
from graphrefine.embedding.formats.pgvector_update import table_recipe, update
from graphrefine.embedding.table import Parts
from graphrefine.errors import FormatError, InputError
from graphrefine.live.backup import back_up
from graphrefine.live.check import check_live
from graphrefine.live.create import create_live
from graphrefine.live.frozen import LiveSettings
from graphrefine.live.live import Live
from graphrefine.live.store import Store
from graphrefine.live.streams import apply_stream
from graphrefine.live.vectors import LiveReader
from graphrefine.progress import Stages
from graphrefine.readers.read import read


def create(
    graph: str, output: str, dim: int, seed: int, tolerance: float, threads: int | None, as_json: bool, **options: Any
) -> None:
    """Make a folder of live vectors from a graph."""
    start = perf_counter()
    settings = LiveSettings(dim=dim, seed=seed, tolerance=tolerance)
    with progress_bar() as bar:
        edges = read(graph, threads=threads, **reading_options(options))
        seconds = create_live(edges, output, settings, threads=threads, watcher=bar)
    note(f"read: {edges.reading}")
    for line in remarks(edges):
        note(f"note: {line}")
    total = perf_counter() - start
    figures = {"output": output, "nodes": edges.nodes, "edges": edges.edges, "reading": edges.reading}
    figures["seconds"] = {**seconds, "total": total}
    if as_json:
        return show_json(figures)
    print(f"{output}: {edges.nodes:,} nodes x {dim}, {edges.edges:,} edges, in {total:,.1f} s")
    return None


def apply(
    folder: str, changes: str, size: int, resume: bool, again: bool, skip_unknown: bool, format: str | None,
    threads: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Apply a stream of changes."""
    start = perf_counter()
    with progress_bar() as bar, Live(folder, threads=threads, watcher=bar) as live:
        with Stages(bar).stage("apply"):
            figures = apply_stream(
                live, changes, size=size, resume=resume, again=again, skip_unknown=skip_unknown, format=format
            )
        state = live.figures()
        refreshes = len(live.drift())
    spent = perf_counter() - start
    counts = asdict(figures)
    if as_json:
        return show_json({"folder": folder, "changes_file": changes, **counts, **state, "seconds": spent})
    if figures.before:
        note(f"{figures.before:,} records counted already")
    if figures.skipped:
        note(f"note: removals of what was not there, passed over: {figures.skipped:,}")
    print(
        f"{folder}: {figures.changes:,} changes in {figures.groups:,} groups, {figures.new_nodes:,} new nodes, in "
        f"{spent:,.1f} s; {state['nodes']:,} nodes, {state['edges']:,} edges; bounds within {state['tolerance']}: "
        f"{state['within_tolerance']:.1%}; refreshes: {refreshes}"
    )
    return None


def refresh(folder: str, threads: int | None, as_json: bool) -> None:
    """Renew the frozen parts now."""
    with progress_bar() as bar, Live(folder, threads=threads, watcher=bar) as live, Stages(bar).stage("refresh"):
        figures = live.refresh()
    if as_json:
        return show_json({"folder": folder, **figures})
    print(
        f"{folder}: refreshed in {figures['seconds']:,.1f} s; mean drift {figures['drift']:.3f}; the basis holds "
        f"{figures['captured_energy']:.1%} of the energy"
    )
    return None


def check(folder: str, quick: bool, threads: int | None, as_json: bool) -> None:
    """Check files, database and bounds."""
    with progress_bar() as bar, Live(folder, threads=threads, watcher=bar) as live, Stages(bar).stage("check"):
        figures = check_live(live, deep=not quick)
    if as_json:
        show_json({"folder": folder, **figures})
    else:
        print(
            f"{folder}: {figures['nodes']:,} nodes, {figures['edges']:,} edges, {figures['group']:,} groups; bounds "
            f"within {figures['tolerance']}: {figures['within_tolerance']:.1%}, none: {figures['without_bound']:,}"
        )
        if not quick:
            print(
                f"largest residual {figures['largest_residual']:.2e}, largest lag {figures['largest_lag']:.2e}, "
                f"tolerance {figures['lag_tolerance']:.2e}; rows beyond their lag: {figures['beyond_lag']:,}"
            )
    if figures["database"] != "ok" or figures.get("beyond_lag"):
        raise FormatError(folder, f"does not hold what it promises ({figures['database']}); go back to a backup")


def export(
    folder: str, output: str | None, output_format: str | None, to: str | None, table: str | None,
    changed_since: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Write the vectors of this moment, or those that moved, to a file or into a table of PostgreSQL."""
    if (output is None) == (to is None):
        raise InputError("give -o, a file, or --to, the address of a PostgreSQL server", mentions=["output", "to"])
    with LiveReader(folder) as live:
        after = None if changed_since is None else parse_moment(changed_since, live)
        if to is not None:
            count, place = _export_table(live, to, table or table_name(folder), after)
        else:
            assert output is not None
            embedding = live.snapshot(after=after)
            embedding.save(output, format=output_format)
            count, place = len(embedding), output
        figures = {"folder": folder, "output": place, "nodes": len(live), "written": count, "dim": live.dim}
        figures |= {"group": live.group, "after": after}
    if as_json:
        return show_json(figures)
    print(f"{place}: {count:,} of {figures['nodes']:,} nodes x {figures['dim']}, after group {figures['group']:,}")
    return None


def _export_table(live: LiveReader, address: str, table: str, after: int | None) -> tuple[int, str]:
    """Bring a table up to date, or make it; the number of rows written, and the place."""
    check_address(address)
    recipe = None if live.sources is not None else table_recipe(address, table=table)  # two sides are written whole
    ours = recipe is not None and recipe.get("folder") == live.id
    if recipe is None or not ours:
        whole = live.snapshot()
        write(address, Parts(whole.names, whole.vectors, whole.recipe, state=whole.state), table=table)
        return len(whole), f"{format_address(address)}, table {table}"
    if after is None:
        after = int(recipe["group"])
    elif after > int(recipe["group"]):
        raise InputError(
            f"the table has the vectors of group {recipe['group']}, and those that moved between it and group {after} "
            "would be missing; leave --changed-since out",
            argument="changed_since",
        )
    some = live.snapshot(after=after)
    update(address, Parts(some.names, some.vectors, some.recipe), every=live.names, table=table)
    return len(some), f"{format_address(address)}, table {table}"


def parse_moment(text: str, live: LiveReader) -> int:
    """A group from its number, or the last one before a date and time."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text!r} is neither the number of a group nor a time such as 2026-03-01T12:00"
        raise InputError(problem, argument="changed_since") from None
    return live.group_at(moment.timestamp())


def backup(folder: str, output: str, as_json: bool) -> None:
    """Copy a folder, also while it is written."""
    store = Store(folder, write=False)
    try:
        back_up(store, Path(output))
        group = store.group
    finally:
        store.close()
    if as_json:
        return show_json({"folder": folder, "output": output, "group": group})
    print(f"{output}: a copy of {folder}")
    return None
