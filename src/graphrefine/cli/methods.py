"""``graphrefine methods``: the methods, what each costs and how large a graph it can take."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from graphrefine.cli.options import JSON, command
from graphrefine.display.console import show_json, show_table
from graphrefine.system.memory import available_bytes


@command(
    "methods",
    short_help="Which methods there are, what they cost, what they can take.",
    params=[click.Argument(["names"], metavar="[NAME]...", nargs=-1), JSON],
)  # fmt: skip
def methods(names: tuple[str, ...], as_json: bool) -> None:
    """Print the methods of `embed --method`: where each was published, its cost, the largest graph it can take here.

    With NAMEs, these methods with their settings, as `--set SETTING=VALUE` takes them. The largest graph is for 10
    edges a node, the default settings and the memory that is free now.
    """
    from graphrefine.methods.registry import METHODS, find_method

    free = available_bytes()
    figures = [_figures(find_method(name), free) for name in names or METHODS]
    if as_json:
        return show_json({"free_bytes": free, "methods": figures})
    if names:
        for entry in figures:
            _show(entry)
        return None
    rows = [("name", "reference", "time", "largest here", "limit", "same bits")]
    rows += [
        (f["name"], f["reference"], f["cost"], _nodes(f["largest_nodes"]), f["limit"], _processors(f)) for f in figures
    ]
    show_table(rows, left=(0, 1, 2, 4, 5))
    print(
        "\nn nodes, m edges, k dimensions; same bits: on every processor, or on one kind of processor; "
        "graphrefine methods NAME shows the settings of one"
    )
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
        "every_processor": method.processor_dependence is None,
        "processor_dependence": method.processor_dependence,
        "settings": {field.name: method.fixed.get(field.name, field.default) for field in fields(method.settings)},
        "fixed": list(method.fixed),
    }


def _nodes(count: int | None) -> str:
    """Format a count of nodes with three digits.

    Examples
    --------
    >>> _nodes(1_234_567), _nodes(31_415)
    ('1,230,000', '31,400')
    """
    if count is None:
        return "not known"
    return f"{float(f'{count:.3g}'):,.0f}" if count else "0"


def _processors(figures: dict[str, Any]) -> str:
    return "every" if figures["every_processor"] else "one kind"


def _show(figures: dict[str, Any]) -> None:
    print(f"{figures['name']}: {figures['summary']} ({figures['reference']})")
    threads = "the same for any number of threads" if figures["same_bits"] else "the same on one thread only"
    where = "every processor"
    if not figures["every_processor"]:
        where = f"one kind of processor ({figures['processor_dependence']})"
    pairs = [
        ("time", figures["cost"]),
        ("memory", figures["limit"]),
        ("largest here", f"{_nodes(figures['largest_nodes'])} nodes"),
        ("directed", "yes" if figures["directed"] else "no"),
        ("result", f"with the same seed, {threads}, on {where}"),
    ]
    settings = [f"{name}={value}" for name, value in figures["settings"].items() if name not in figures["fixed"]]
    show_table([*pairs, ("settings", ", ".join(settings))], left=(1,))
