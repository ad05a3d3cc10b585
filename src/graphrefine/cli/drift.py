"""``graphrefine drift``: what has become of the nodes of an older embedding in a newer one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.analysis.drift import SAMPLE, measure_drift
from graphrefine.cli.answer import show_answer
from graphrefine.display.console import progress_bar
from graphrefine.display.table_files import check_table_path
from graphrefine.embedding.embedding import load


def drift(
    old: str, new: str, k: int, every: bool, output: str | None, seed: int, format: str | None,
    threads: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Print what has become of each node."""
    if output is not None:
        check_table_path(output)
    before, after = (load(path, format=format) for path in (old, new))
    start = perf_counter()
    with progress_bar() as bar:
        table = measure_drift(
            before, after, k=k, sample=None if every else SAMPLE, seed=seed, threads=threads, watcher=bar
        )
    spent = perf_counter() - start
    lines = describe_drift(table.figures)
    show_answer(table, output=output, as_json=as_json, lines=lines, seconds=spent, old=old, new_embedding=new)


def describe_drift(figures: dict[str, Any]) -> list[str]:
    """The figures of drift in words."""
    lines = [f"{figures['shared']:,} nodes shared, {figures['lost']:,} lost, {figures['new']:,} new"]
    if figures["vanished"]:
        lines[0] += f"; {figures['vanished']:,} shared nodes have zero vectors now, which they had not"
    sides = {f"{side} side: ": each for side, each in figures.get("sides", {}).items()} or {"": figures}
    for prefix, each in sides.items():
        if (moved := each["moved"]) is not None:
            spread = f"median {moved['median']:.3f}, 95% below {moved['p95']:.3f}"
            lines.append(f"{prefix}moved: mean {moved['mean']:.3f}, {spread}")
        if each["kept"] is not None:
            lines.append(f"{prefix}neighbors kept: {_describe_share(each, each['shared'])}")
    targets = figures.get("targets")
    if targets is not None and targets["kept"] is not None:
        shared = figures["sides"]["source"]["shared"] if "sides" in figures else figures["shared"]
        lines.append(f"targets of sources kept: {_describe_share(targets, shared)}")
    return lines


def _describe_share(figures: dict[str, Any], shared: int) -> str:
    """The share that is kept, what it would be by chance, and of which nodes, where not of all that are shared."""
    chance = f" ({figures['chance']:.2f} by chance)" if figures["chance"] > 0.1 else ""
    nodes = ""
    if figures["sampled"] < figures["eligible"]:
        nodes = f", of {figures['sampled']:,} nodes drawn at random"
    elif figures["eligible"] < shared:
        nodes = f", of the {figures['eligible']:,} shared nodes that had vectors"
    return f"{figures['kept']:.3f} of the {figures['k']} nearest{chance}{nodes}"
