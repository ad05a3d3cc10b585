"""What there is to say about a graph: counted figures, the same in words, and what reading it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphrefine.console import seconds

if TYPE_CHECKING:
    from graphrefine.graph import Graph
    from graphrefine.plan import Estimate
    from graphrefine.refine import Settings

REMARKS = {
    "self_loops": "self-loops left out",
    "duplicates": "edges listed again, their weights added (1 each where there are none)",
    "reciprocal": "edges listed in both directions, counted once",
    "zero_weights": "edges of weight 0 left out",
    "missing": "records with an empty end left out",
    "isolated": "nodes without edges, their vectors zero",
}
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


def remarks(graph: Graph) -> list[str]:
    """What reading did that a person may not expect."""
    counts = {**graph.report, "isolated": graph.isolated}
    if counts.get("reciprocal") == graph.edges:  # a symmetric matrix, or a list meant so
        del counts["reciprocal"]
    return [f"note: {text}: {counts[name]:,}" for name, text in REMARKS.items() if counts.get(name)]


def figures(graph: Graph) -> dict[str, Any]:
    """What can be counted in a graph."""
    components, member_of = graph.components()
    quantiles = np.quantile(graph.out_counts, SHARES).tolist()
    weights = graph.weights
    return {
        **graph.summary(),
        "weights": None if weights is None else {"min": float(weights.min()), "max": float(weights.max())},
        "components": components,
        "largest_component": int(np.bincount(member_of).max()),
        "degree_quantiles": {f"{share:g}": value for share, value in zip(SHARES, quantiles, strict=True)},
    }


def described(
    figures: dict[str, Any], chosen: Settings, cost: Estimate, *, threads: int
) -> list[tuple[str, str]]:
    """The same figures in words, and what embedding the graph will cost."""
    weights = "{min:g} to {max:g}".format(**figures["weights"]) if figures["weights"] else "none"
    quantiles = figures["degree_quantiles"].items()
    degrees = (f"{round(100 * float(share))}%: {value:g}" for share, value in quantiles)
    cores = "1 thread" if threads == 1 else f"{threads} threads"
    return [
        ("graph", figures["source"]),
        ("nodes", f"{figures['nodes']:,} ({figures['isolated']:,} isolated)"),
        ("edges", f"{figures['edges']:,} {'directed' if figures['directed'] else 'undirected'}"),
        ("weights", weights),
        ("components", f"{figures['components']:,}, the largest of {figures['largest_component']:,} nodes"),
        ("out-degree" if figures["directed"] else "degree", ", ".join(degrees)),
        ("embedding", f"dim {chosen.dim} takes about {seconds(cost.seconds)} on {cores} and "
                      f"{cost.peak_bytes / 1e6:,.0f} MB, reading and writing aside"),
    ]  # fmt: skip
