"""Truth of live vectors: every unit row within its bound of a run from scratch with the same frozen parts.

    python benchmarks/live/truth.py [--graphs web-google,ppi,...,growth] [--tolerance 0.1] [--size 1000] [--dim 128]
        [--break bounds|group] [--folder FOLDER]

On each graph 1, 10 and 30 % of the edges are replaced (removed, and as many added, ends drawn by degree), in groups
and without a refresh; "growth" is a generated graph of preferential attachment whose second half of edges comes in the
model's order. The run from scratch is in float64 with SciPy (``scratch.py``). All rows are checked, by `Live.bounds`
and by `Live.sharp_bounds`. At 1 % also the drift of nodes without a changed edge: before a refresh, after one, and
beside it that of two embeddings of the default tier that `align_to` turns onto each other.

``--break`` is a control that must fail: "bounds" of a twentieth, or a last "group" whose rows are not made anew.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphrefine
import graphrefine.live
from graphrefine import Embedding
from graphrefine.graph.graph import Graph
from graphrefine.live.writer import Live
from scratch import judge, scratch_vectors
from workload import Changes, apply, at_most, graph, grow, machine, replace_edges

GRAPHS = "web-google,ppi,lastfm-asia,blogcatalog,wikipedia-pos,planetoid-pubmed,growth"
SHARES = (0.01, 0.1, 0.3)
DRIFT = 0.1
BROKEN = 0.05  # share of the bounds, in the control


class Unsettled:
    """The kernel's graph, whose rows stay as they are."""

    def __init__(self, live: Any) -> None:
        self._live = live

    def settle(self) -> None:
        """Nothing, where rows would be made anew."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._live, name)


def follow(live: Live, changes: Changes, options: argparse.Namespace) -> None:
    """Commit the changes; the last group without settling, if that is the control."""
    last = max(len(changes) - options.size, 0) if options.broken == "group" else len(changes)
    apply(live, changes.part(0, last), size=options.size)
    if options.broken == "group":
        kernel = live._kernel
        live._kernel = Unsettled(kernel)
        apply(live, changes.part(last, len(changes)), size=options.size)
        live._kernel = kernel


def check(live: Live, title: str, options: argparse.Namespace) -> bool:
    """Whether all rows are within their bounds; printed."""
    start = perf_counter()
    vectors, truth = live.snapshot().vectors, scratch_vectors(live._model, *live._kernel.rows())
    passed = True
    for name, bounds in (("bounds()", live.bounds()), ("sharp_bounds()", live.sharp_bounds())):
        verdict = judge(vectors, truth, bounds * (BROKEN if options.broken == "bounds" else 1))
        passed &= verdict.beyond == 0
        print(
            f"  {title:22} {name:15} {verdict.rows:,} rows, {verdict.without} without a bound, median bound "
            f"{verdict.bound:.4f}; largest error {verdict.error:.4f}, error / bound at most {verdict.ratio:.3f}; "
            f"beyond: {verdict.beyond} (bar 0: {'MISSED' if verdict.beyond else 'reached'})   "
            f"({perf_counter() - start:.0f} s)",
            flush=True,
        )
    return passed


def distance(old: Embedding, new: Embedding, rows: NDArray[np.bool_]) -> float:
    """Mean distance of the unit rows of some nodes; rows of zeros do not count."""
    both = [each.vectors[: len(rows)][rows] for each in (old, new)]
    there = np.all([np.any(each, axis=1) for each in both], axis=0)
    units = [each[there] / np.linalg.norm(each[there], axis=1, keepdims=True) for each in both]
    return float(np.linalg.norm(units[0] - units[1], axis=1).mean())


def check_drift(live: Live, before: Embedding, whole: Graph, changes: Changes, place: Path) -> bool:
    """Whether nodes without a changed edge have stayed where they were."""
    same = np.ones(whole.nodes, bool)
    same[changes.ends()] = False
    copy = place / "copy.live"
    live.backup(copy)
    drift = distance(before, live.snapshot(), same)
    passed = at_most(f"drift at 1 %, {int(same.sum()):,} nodes without a changed edge", drift, DRIFT)
    with graphrefine.live.open(copy) as fresh:
        fresh.refresh()
        passed &= at_most("drift after a refresh", distance(before, fresh.snapshot(), same), DRIFT)
        now = fresh.graph()
    embeddings = [graphrefine.embed(each) for each in (whole, now)]
    turned = embeddings[1].align_to(embeddings[0])
    print(f"  (embed and align_to, default tier: {distance(embeddings[0], turned, same):.4f})", flush=True)
    return passed


def measure(name: str, options: argparse.Namespace, place: Path) -> bool:
    """All checks on one graph."""
    growth = name == "growth"
    if growth:
        first, changes = grow(options.nodes, 5)
        steps = {"half of it new": len(changes)}
    else:
        first = graph(name)
        changes = replace_edges(first, round(max(SHARES) * first.edges))
        steps = {f"{share:.0%} replaced": 2 * round(share * first.edges) for share in SHARES}
    print(f"\n{name}: {first.nodes:,} nodes, {first.edges:,} edges, tolerance {options.tolerance:g}", flush=True)
    passed, at = True, 0
    live = graphrefine.live.create(first, place / f"{name}.live", dim=options.dim, tolerance=options.tolerance)
    live.auto_refresh, before = False, live.snapshot()
    passed &= check(live, "as it was made", options)
    for title, end in steps.items():
        follow(live, changes.part(at, end), options)
        at = end
        passed &= check(live, title, options)
        if title.startswith("1%") and not options.broken:
            passed &= check_drift(live, before, first, changes.part(0, end), place)
    live.close()
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--nodes", type=int, default=20_000, help="of the graph that grows")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--size", type=int, default=1000, help="changes of a group")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--break", dest="broken", choices=["bounds", "group"])
    parser.add_argument("--folder", type=Path, help="where the live vectors are made, for a while")
    options = parser.parse_args()
    print(machine() + (f"; BROKEN on purpose: {options.broken}" if options.broken else ""))
    passed = True
    for name in options.graphs.split(","):
        with tempfile.TemporaryDirectory(dir=options.folder) as place:
            passed &= measure(name, options, Path(place))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
