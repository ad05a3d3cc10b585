"""``graphrefine methods``: the methods, what each costs and how large a graph it can take."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from graphrefine.cli.options import JSON, Command


@click.command(
    cls=Command,
    params=[click.Argument(["names"], metavar="[NAME]...", nargs=-1), JSON],
    short_help="Which methods there are, what they cost, what they can take.",
)
def methods(names: tuple[str, ...], as_json: bool) -> None:
    """The methods that `embed --method` knows: where each was published, its cost, the largest graph it can take here.

    With NAMEs, these methods with their settings, as `--set SETTING=VALUE` takes them. The largest graph is for 10
    edges a node, the default settings and the memory that is free now.
    """
    from graphrefine.methods.registry import METHODS, find_method
    from graphrefine.system.memory import available_bytes
    from graphrefine.visuals.console import show_json, show_table

    free = available_bytes()
    known = [_figures(find_method(name), free) for name in names or METHODS]
    if as_json:
        return show_json({"free_bytes": free, "methods": known})
    if names:
        for figures in known:
            _show(figures)
        return None
    rows = [("name", "reference", "time", "largest here", "limit")]
    rows += [(f["name"], f["reference"], f["cost"], _nodes(f["largest_nodes"]), f["limit"]) for f in known]
    show_table(rows, left=(0, 1, 2, 4))
    print("\nn nodes, m edges, k dimensions; graphrefine methods NAME shows the settings of one")
    return None


def _figures(method: Any, free: int | None) -> dict[str, Any]:
    return {
        "name": method.name,
        "reference": method.reference,
        "summary": method.summary,
        "cost": method.cost,
        "limit": method.bound,
        "most_nodes": method.most_nodes,
        "largest_nodes": None if free is None else method.largest(free),
        "directed": method.directed,
        "same_bits": method.same_bits,
        "settings": {field.name: method.fixed.get(field.name, field.default) for field in fields(method.settings)},
        "fixed": list(method.fixed),
    }


def _nodes(count: int | None) -> str:
    """A count of nodes in three figures.

    Examples
    --------
    >>> _nodes(1_234_567), _nodes(31_415)
    ('1,230,000', '31,400')
    """
    if count is None:
        return "not known"
    return f"{float(f'{count:.3g}'):,.0f}" if count else "0"


def _show(figures: dict[str, Any]) -> None:
    from graphrefine.visuals.console import show_pairs

    print(f"{figures['name']}: {figures['summary']} ({figures['reference']})")
    threads = "the same for any number of threads" if figures["same_bits"] else "the same on one thread only"
    pairs = [
        ("time", figures["cost"]),
        ("memory", figures["limit"]),
        ("largest here", f"{_nodes(figures['largest_nodes'])} nodes"),
        ("directed", "yes" if figures["directed"] else "no"),
        ("result", f"with the same seed, {threads}"),
    ]
    settings = [f"{name}={value}" for name, value in figures["settings"].items() if name not in figures["fixed"]]
    show_pairs([*pairs, ("settings", ", ".join(settings))])
