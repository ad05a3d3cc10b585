"""Micro F1 and time of all methods on labeled graphs, by `graphrefine.evaluate.compare`.

    python benchmarks/methods.py [--graphs ppi,lastfm-asia,wikipedia-pos] [--methods refine,...] [--limit 5]
        [--threads 2] [--save]

Each run has a process of its own. One seed, the settings that are the defaults of the methods, half of the labeled
nodes for training (10 splits), C = 1, unit rows. A method that takes longer than the limit in minutes has no score.
``--save`` writes docs/results/methods.json.
"""

from __future__ import annotations

import argparse

import results
from common import data, graph, machine
from graphrefine.evaluate import read_labels
from graphrefine.evaluate.compare import compare
from graphrefine.evaluate.results import Comparison, Row
from graphrefine.methods.registry import METHODS


def show(_: Comparison, row: Row | None) -> None:
    if row is not None:
        print(f"  {row.method:12} {' '.join(cells(row)):16} {row.message or ''}", flush=True)


def cells(row: Row) -> list[str]:
    """Micro F1 and seconds; a dash for each if there is none."""
    return ["-" if value is None else f"{value:.2f}" for value in (row.quality, row.seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="ppi,lastfm-asia,wikipedia-pos")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--limit", type=float, default=5.0, help="minutes of a run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="write docs/results/methods.json")
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads")
    names, methods = given.graphs.split(","), given.methods.split(",")
    found = dict[tuple[str, str], list[str]]()
    for name in names:
        print(f"\n{name}: Micro F1, seconds")
        labels = read_labels(data(f"{name}.mat"))
        limits = {"time_limit": 60 * given.limit, "threads": given.threads}
        comparison = compare(graph(name), labels=labels, methods=methods, on_row=show, **limits)
        found |= {(row.method, name): cells(row) for row in comparison.rows}
    if given.save:
        rows = [[method, *(found[method, name][0] for name in names), found[method, names[0]][1]] for method in methods]
        columns = ["method", *map(results.title, names), f"seconds on {results.title(names[0])}"]
        results.save("methods", f1=results.Table(columns, rows))


if __name__ == "__main__":
    main()
