"""``graphrefine drift``: what has become of the nodes of an older embedding in a newer one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_table_output, command, show_table_or_json
from graphrefine.display.console import progress_bar


@command(
    "drift",
    first=("output", "k", "every", "format"),
    short_help="What has become of each node: moved, lost, new.",
    params=[
        click.Argument(["old"], metavar="OLD"),
        click.Argument(["new"], metavar="NEW"),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbors to compare."),
        opt.EVERY, opt.TABLE, opt.SEED,
        Option(["--format"], metavar="NAME", help="Format of OLD and NEW if their suffixes do not say."),
        opt.THREADS, opt.JSON,
    ],
)  # fmt: skip
def drift(
    old: str, new: str, every: bool, output: str | None, format: str | None, as_json: bool, **options: Any
) -> None:
    """Print what has become of the nodes of OLD in NEW: moved how far, lost, new, and how many neighbors each has kept.

    Rotations do not count: NEW is aligned to OLD first. Two seeds on one graph do not keep all neighbors either.
    """
    from graphrefine.analysis.drift import SAMPLE, measure_drift
    from graphrefine.embedding.embedding import load

    check_table_output(output, old, new)
    before, after = (load(path, format=format) for path in (old, new))
    start = perf_counter()
    with progress_bar() as bar:
        table = measure_drift(before, after, sample=None if every else SAMPLE, watcher=bar, **options)
    spent = perf_counter() - start
    lines = describe_drift(table.stats)
    show_table_or_json(table, output=output, as_json=as_json, lines=lines, seconds=spent, old=old, new_embedding=new)


def describe_drift(stats: dict[str, Any]) -> list[str]:
    """Return the stats of drift in words."""
    lines = [f"{stats['shared']:,} nodes shared, {stats['lost']:,} lost, {stats['new']:,} new"]
    if stats["vanished"]:
        lines[0] += f"; {stats['vanished']:,} shared nodes have zero vectors now, which they had not"
    sides = {f"{side} side: ": each for side, each in stats.get("sides", {}).items()} or {"": stats}
    for prefix, each in sides.items():
        if (moved := each["moved"]) is not None:
            spread = f"median {moved['median']:.3f}, 95% below {moved['p95']:.3f}"
            lines.append(f"{prefix}moved: mean {moved['mean']:.3f}, {spread}")
        if each["kept"] is not None:
            lines.append(f"{prefix}neighbors kept: {_describe_share(each, each['shared'])}")
    targets = stats.get("targets")
    if targets is not None and targets["kept"] is not None:
        shared = stats["sides"]["source"]["shared"] if "sides" in stats else stats["shared"]
        lines.append(f"targets of sources kept: {_describe_share(targets, shared)}")
    return lines


def _describe_share(stats: dict[str, Any], shared: int) -> str:
    """Return the share that is kept, the share by chance, and of which nodes if not of all that are shared."""
    # Of a small graph, k nodes are many: without the share by chance 0.5 would look like stable vectors.
    chance = f" ({stats['chance']:.2f} by chance)" if stats["chance"] > 0.1 else ""
    nodes = ""
    if stats["sampled"] < stats["eligible"]:
        nodes = f", of {stats['sampled']:,} nodes drawn at random"
    elif stats["eligible"] < shared:
        nodes = f", of the {stats['eligible']:,} shared nodes that had vectors"
    return f"{stats['kept']:.3f} of the {stats['k']} nearest{chance}{nodes}"
