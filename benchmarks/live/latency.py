"""Latency of live vectors, beside the bounds that they keep: seconds a change in groups, and of single changes.

    python benchmarks/live/latency.py [--graph web-google] [--model power] [--changes 100000] [--size 1000]
        [--tolerance 0.1] [--dim 128] [--single 500] [--sweep] [--plot FILE.svg] [--folder FOLDER]
        [--save]

Half of the changes remove edges and half add them, ends drawn by degree; a group counts once it is on the disk and
published. One thread; the folder is made before, and refreshes by itself are off: one is timed at the end.
"processor" is the processor's time of the same groups, which other work on the machine disturbs less. Bounds are shares
of the nodes with edges whose unit row is within 0.1: by `Live.bounds`, which holds whatever came, and by
`Live.sharp_bounds`, from the lags of this moment.

``--model power`` generates a power law instead, of a million nodes and hubs of 1e5 neighbors. ``--sweep`` runs
tolerances from 0.05 to 0.4, and ``--plot`` draws latency against bound. ``--save`` writes
docs/results/live-latency.json.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphrefine.live
from graphrefine.display.plots import encode, figure_style, new_figure
from graphrefine.graph.graph import Graph
from graphrefine.live.writer import Live
from workload import Changes, apply, at_least, at_most, graph, machine, replace_edges, results

SWEEP = (0.05, 0.1, 0.15, 0.2, 0.4)
BOUND, SHARE = 0.1, 0.99  # of the unit rows whose latency is promised
MEDIAN, P99, SINGLE = 100.0, 1000.0, 5.0  # microseconds a change, twice; milliseconds


class Point(NamedTuple):
    """Latency at one tolerance."""

    tolerance: float
    median: float  # microseconds a change
    p99: float
    bound: float  # that 99 % of the nodes keep
    sharp: float
    single: float  # milliseconds of a single change, the median
    single_p99: float


def read_graph(options: argparse.Namespace) -> tuple[str, Graph]:
    if options.model is None:
        return options.graph, graph(options.graph)
    from graphrefine.datasets import power_law

    return "power law", power_law(options.nodes, 5 * options.nodes, exponent=2.1, most=options.hub).graph


def run(
    whole: Graph, changes: Changes, tolerance: float, options: argparse.Namespace, place: Path
) -> tuple[Point, bool]:
    """Figures at one tolerance, printed; whether the bars were reached."""
    start = perf_counter()
    live = graphrefine.live.create(whole, place / f"{tolerance}.live", dim=options.dim, tolerance=tolerance, threads=1)
    live.auto_refresh = False
    print(f"\ntolerance {tolerance:g}, dim {options.dim}: created and opened in {perf_counter() - start:.1f} s")
    show_bounds("before the changes", live)
    made = live._kernel.made
    times = apply(live, changes.part(0, options.changes), size=options.size)
    wall, processor = times.wall / options.size * 1e6, times.processor / options.size * 1e6
    median, p99 = float(np.median(wall)), float(np.quantile(wall, 0.99))
    print(
        f"  {len(wall)} groups of {options.size:,}: {(live._kernel.made - made) / options.changes:.1f} rows made a "
        f"change; processor: median {np.median(processor):.1f}, p99 {np.quantile(processor, 0.99):.1f} us a change; "
        f"wall: mean {wall.mean():.1f}, largest {wall.max():.1f}"
    )
    passed = at_most("median of the groups, a change", median, MEDIAN, " us")
    passed &= at_most("p99 of the groups, a change", p99, P99, " us")
    singles = apply(live, changes.part(options.changes, len(changes)), size=1)
    single, single_p99 = (float(np.quantile(singles.wall, at)) * 1e3 for at in (0.5, 0.99))
    for name, some in (
        ("single changes", singles.wall),
        ("their processor", singles.processor),
        ("the disk alone, 4 KB", disk_seconds(place, len(singles.wall))),
    ):
        middle, high = (float(np.quantile(some, at)) * 1e3 for at in (0.5, 0.99))
        print(f"  {len(some)} {name + ':':22} median {middle:.3f}, p99 {high:.3f} ms")
    passed &= at_most("single changes, the longest", float(singles.wall.max()) * 1e3, SINGLE, " ms")
    bounds, sharp = show_bounds("after the changes", live)
    if tolerance == BOUND:
        passed &= at_least(f"share of bounds of at most {BOUND:g}, after", share(bounds), SHARE)
    figures = live.refresh()
    print(f"  a refresh, one thread: {figures['seconds']:.1f} s, drift {figures['drift']:.4f} on average")
    live.close()
    bound, sharp_bound = (float(np.quantile(each, SHARE)) for each in (bounds, sharp))
    return Point(tolerance, median, p99, bound, sharp_bound, single, single_p99), passed


def disk_seconds(place: Path, count: int) -> NDArray[np.float64]:
    """Seconds of writes of 4 KB that wait for the disk, as a single change does."""
    seconds = np.empty(count)
    with (place / "disk").open("wb") as file:
        for i in range(count):
            start = perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            seconds[i] = perf_counter() - start
    return seconds


def share(bounds: NDArray[np.float64]) -> float:
    return float(np.mean(bounds <= BOUND))


def show_bounds(when: str, live: Live) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the nodes with edges, by both ways; printed."""
    there = live._vectors.lengths[live._vectors.ordered()] >= 0
    both = live.bounds()[there], live.sharp_bounds()[there]
    for name, bounds in zip(("bounds()", "sharp_bounds()"), both, strict=True):
        print(
            f"  {when}, by {name + ':':16} {share(bounds):.3%} within {BOUND:g}, median {np.median(bounds):.4f}, "
            f"99 % within {np.quantile(bounds, SHARE):.4f}, {int(np.sum(bounds >= 2))} without a bound",
            flush=True,
        )
    return both


def tabulate(name: str, points: list[Point], size: int) -> results.Table:
    """A row for each tolerance."""
    columns = ["graph", "tolerance", f"a change, in groups of {size:,}", "slowest 1% of the groups"]
    columns += ["a single change", "slowest 1% of the single changes", "bound that 99% of the vectors keep"]
    rows = []
    for point in points:
        groups = (f"{each:.1f} µs" for each in (point.median, point.p99))
        singles = (f"{each:.3f} ms" for each in (point.single, point.single_p99))
        rows.append([results.title(name), f"{point.tolerance:g}", *groups, *singles, f"{point.bound:.4f}"])
    return results.Table(columns, rows)


def draw(points: list[Point], title: str, path: Path) -> None:
    """A plot of latency against bound."""
    with figure_style({"axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = new_figure((7.5, 4.8), dpi=150)
        for name, bounds, marker in (("always", "bound", "o"), ("of this moment", "sharp", "s")):
            at = [getattr(point, bounds) for point in points]
            (line,) = axes.plot(at, [point.median for point in points], marker=marker, label=f"median, bounds {name}")
            p99 = [point.p99 for point in points]
            axes.plot(at, p99, marker=marker, ls=":", color=line.get_color(), label=f"p99, bounds {name}")
        axes.set(xscale="log", yscale="log", xlabel="bound that 99 % of the unit rows keep", title=title)
        axes.set(ylabel="microseconds a change")
        axes.grid(alpha=0.3, which="both")
        axes.legend(frameon=False)
        path.write_bytes(encode(figure, path.suffix[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="web-google")
    parser.add_argument("--model", choices=["power"])
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of the model")
    parser.add_argument("--hub", type=int, default=220_000, help="expected degree of the first hub, of the model")
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--single", type=int, default=500)
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--folder", type=Path, help="where the live vectors are made, for a while")
    parser.add_argument("--save", action="store_true", help="write docs/results/live-latency.json")
    options = parser.parse_args()
    name, whole = read_graph(options)
    title = f"{name}: {whole.nodes:,} nodes, {whole.edges:,} edges, the largest hub has {whole.out_counts.max():,}"
    print(f"{machine()}, one thread\n{title}; refreshes by itself off")
    changes = replace_edges(whole, (options.changes + options.single) // 2)
    points, passed = list[Point](), True
    for tolerance in SWEEP if options.sweep else (options.tolerance,):
        with tempfile.TemporaryDirectory(dir=options.folder) as place:
            point, reached = run(whole, changes, tolerance, options, Path(place))
        points.append(point)
        passed &= reached or tolerance < BOUND
    if options.plot:
        draw(points, f"{name}, {whole.nodes:,} nodes, {options.dim} columns, groups of {options.size:,}", options.plot)
    if options.save:
        results.save("live-latency", latency=tabulate(name, points, options.size))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
