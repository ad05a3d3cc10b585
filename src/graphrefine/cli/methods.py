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
    listed = [_describe(find_method(name), free) for name in names or METHODS]
    if as_json:
        return show_json({"free_bytes": free, "methods": listed})
    if not names:
        rows = [("name", "reference", "time", "largest here", "limit", "same bits")]
        for each in listed:
            bits = "every" if each["every_processor"] else "one kind"
            largest = _round(each["largest_nodes"])
            rows.append((each["name"], each["reference"], each["cost"], largest, each["limit"], bits))
        show_table(rows, left=(0, 1, 2, 4, 5))
        print(
            "\nn nodes, m edges, k dimensions; same bits: on every processor, or on one kind of processor; "
            "graphrefine methods NAME shows the settings of one"
        )
    for each in listed if names else ():
        print(f"{each['name']}: {each['summary']} ({each['reference']})")
        threads = "the same for any number of threads" if each["same_bits"] else "the same on one thread only"
        where = "every processor"
        if not each["every_processor"]:
            where = f"one kind of processor ({each['processor_dependence']})"
        settings = [f"{name}={value}" for name, value in each["settings"].items() if name not in each["fixed"]]
        pairs = [
            ("time", each["cost"]),
            ("memory", each["limit"]),
            ("largest here", f"{_round(each['largest_nodes'])} nodes"),
            ("directed", "yes" if each["directed"] else "no"),
            ("result", f"with the same seed, {threads}, on {where}"),
            ("settings", ", ".join(settings)),
        ]
        show_table(pairs, left=(1,))
    return None


FACTS = ("name", "reference", "summary", "cost", "most_nodes", "directed", "same_bits", "processor_dependence")


def _describe(method: Any, free: int) -> dict[str, Any]:
    return {
        **{name: getattr(method, name) for name in FACTS},
        "limit": method.bound,
        "largest_nodes": method.largest(free),
        "every_processor": method.processor_dependence is None,
        "settings": {field.name: method.fixed.get(field.name, field.default) for field in fields(method.settings)},
        "fixed": list(method.fixed),
    }


def _round(count: int) -> str:
    """Format a count of nodes, which is an estimate, with three digits."""
    return f"{float(f'{count:.3g}'):,.0f}"
