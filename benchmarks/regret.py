"""Regret of the default tier: how far it is from the best of all methods on each graph, and on a graph left out.

    python benchmarks/regret.py --vectors FOLDER [--graphs ppi,...] [--methods deepwalk,...] [--seeds 3] [--threads N]
        [--limit 25] [--kept] [--rules] [--table fast,default,best,deepwalk,netmf-256,netsmf,prone]

Micro F1 with C = 1 on unit rows of labeled nodes, 1, 10 and 50 % of them for training (50, 10 and 10 splits, the same
for every method). The vectors of other methods are kept in FOLDER (GRAPH-METHOD-SEED.npy), as are all scores, so that a
second run computes those of the tiers alone. A method that takes more than ``--limit`` minutes of processor on a graph
is given up there; ``--kept`` makes no vectors of other methods. Tiers have ``--seeds`` seeds, the others seed 0 and
those further ones whose vectors are kept. `best` is printed, but no leader: it costs more than the default. ``--table``
prints the rows of the table in docs/explanation/quality.md, of these methods.

``--rules`` leaves one graph out: the rules of h in `graphrefine.refine.views` (exponent of the far view's spectrum,
shares of the views) were chosen on these graphs. For every graph, the setting of a small grid with the best mean over
the *other* graphs (a fifth of the splits, seed 0), its Micro F1 on the one left out (all splits), and its distance from
the leader there. The worst setting of the grid stands beside it: how much there is to choose.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import graphrefine
from common import data, graph, machine
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import METHODS
from graphrefine.refine import views
from tiers import GRAPHS, SPLITS, TIERS

Rows = NDArray[np.float32]
Means = dict[str, dict[str, NDArray[np.float64]]]  # of graph and method: Micro F1 at each ratio
Shares = Callable[[float], tuple[float, float, float]]

BAR = 0.5  # Micro F1 that the default may be below the leader, on all graphs but one
SETTINGS: dict[str, dict[str, Any]] = {  # names that are no methods
    "paper": {"preset": "paper"},
    "netmf-256": {"method": "netmf", "rank": 256},
}
OTHERS = (*SETTINGS, *(method for method in METHODS if method != "refine"))


def share_rule(far: Callable[[float], float], refine: float) -> Shares:
    """Shares of REFINE's, the local and the far view by h: ``far(h)``, and ``refine`` of what is left."""

    def shares(memory: float) -> tuple[float, float, float]:
        distant = min(far(memory), views.MOST)
        return refine * (1 - distant), (1 - refine) * (1 - distant), distant

    return shares


SPECTRA = (0.0, 0.2, 0.4)
SHARES: dict[str, Shares] = {
    "far h": share_rule(lambda h: h, 1 / 3),
    "far h, REFINE as local": share_rule(lambda h: h, 1 / 2),
    "far h/2 + 1/4": share_rule(lambda h: h / 2 + 0.25, 1 / 3),
    "far 1/2": share_rule(lambda h: 0.5, 1 / 3),
}
CHOICE = {ratio: repeats // 5 for ratio, repeats in SPLITS.items()}  # splits by which a rule is chosen
RULES = {f"h + {spectrum}, {name}": (spectrum, rule) for spectrum in SPECTRA for name, rule in SHARES.items()}


def embed(read: Graph, method: str, seed: int, threads: int) -> Rows:
    """Vectors by a tier, a rule or a method."""
    if method in TIERS:
        return graphrefine.embed(read, quality=method, seed=seed, threads=threads).vectors
    if method in RULES:
        spectrum, rule = RULES[method]
        with patch.multiple(views, SPECTRUM=spectrum, shares=rule):
            return graphrefine.embed(read, quality="default", seed=seed, threads=threads).vectors
    options = SETTINGS.get(method, {"method": method})
    return graphrefine.embed(read, seed=seed, threads=threads, **options).vectors


def find_vectors(read: Graph, name: str, method: str, seed: int, given: argparse.Namespace) -> Rows | None:
    """Vectors of tiers and rules anew, those of other methods from the folder or by a process that puts them there."""
    if method in TIERS or method in RULES:
        return embed(read, method, seed, given.threads)
    kept = given.vectors / f"{name}-{method}-{seed}.npy"
    if not kept.exists() and seed == 0 and not given.kept:
        command = [sys.executable, __file__, "--vectors", given.vectors, "--one", name, method]
        options = ["--threads", str(given.threads), "--limit", str(given.limit)]
        done = subprocess.run([*command, *options], capture_output=True, text=True)
        if done.returncode:
            why = done.stderr.strip().splitlines()[-1:] or [f"more than {given.limit} minutes of processor"]
            print(f"  {method:12} not finished: {why[0]}", flush=True)
    rows: Rows | None = np.load(kept) if kept.exists() else None
    return rows


def keep_vectors(name: str, method: str, given: argparse.Namespace) -> None:
    """Put the vectors of a method with seed 0 into the folder, within the limit."""
    seconds = int(60 * given.limit)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    rows = embed(graph(name), method, 0, given.threads)
    hidden = given.vectors / f".{name}-{method}-0.npy"
    np.save(hidden, rows)
    hidden.rename(given.vectors / f"{name}-{method}-0.npy")


def score(
    name: str, method: str, seed: int, rows: Rows, given: argparse.Namespace, splits: dict[float, int]
) -> list[list[float]]:
    """Micro F1 of the splits at each ratio; from the folder if the same vectors were scored before."""
    path = given.vectors / f"{name}-{method.replace('/', ' by ')}-{seed}-{sum(splits.values())}.json"
    check = hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
    if path.exists():
        before = json.loads(path.read_text())
        if before["check"] == check:
            scores: list[list[float]] = before["micro"]
            return scores
    labels = read_labels(data(f"{name}.mat"))
    micro = list[list[float]]()
    for ratio, repeats in splits.items():
        at = evaluate_labels(rows, labels, ratios=(ratio,), repeats=repeats, C=1.0, threads=given.threads).ratios[0]
        micro.append(list(at.values["micro_f1"]))
    path.write_text(json.dumps({"check": check, "micro": micro}))
    return micro


def measure(
    read: Graph, name: str, method: str, given: argparse.Namespace, *, seeds: int, splits: dict[float, int]
) -> tuple[NDArray[np.float64], int] | None:
    """Mean Micro F1 at each ratio over splits and seeds, and how many seeds; None without vectors."""
    cells = []
    for seed in range(seeds):
        rows = find_vectors(read, name, method, seed, given)
        if rows is not None:
            cells.append([np.mean(values) for values in score(name, method, seed, rows, given, splits)])
    return (np.mean(cells, axis=0), len(cells)) if cells else None


def figures(values: Sequence[float] | NDArray[np.float64]) -> str:
    return "  ".join(f"{value:6.2f}" for value in values)


def measure_methods(given: argparse.Namespace) -> Means:
    """Every method on every graph, printed."""
    means: Means = {}
    for name in given.graphs.split(","):
        read, here = graph(name), dict[str, NDArray[np.float64]]()
        print(f"\n{name}: {read.nodes:,} nodes, Micro F1 at {', '.join(f'{ratio:.0%}' for ratio in SPLITS)}")
        for method in (*TIERS, *given.methods.split(",")):
            start = perf_counter()
            answer = measure(read, name, method, given, seeds=given.seeds, splits=SPLITS)
            if answer is not None:
                here[method] = answer[0]
                seconds = perf_counter() - start
                print(f"  {method:12} {figures(answer[0])}   seeds {answer[1]} ({seconds:.0f} s)", flush=True)
        missing = [method for method in given.methods.split(",") if method not in here]
        print(f"  without vectors: {', '.join(missing)}" if missing else "  all methods", flush=True)
        means[name] = here
    return means


def leaders(here: dict[str, NDArray[np.float64]]) -> list[tuple[str, float]]:
    """The best method but `best`, and its Micro F1, at each ratio."""
    eligible = [method for method in here if method != "best" and method not in RULES]
    names = [max(eligible, key=lambda method: float(here[method][at])) for at in range(len(SPLITS))]
    return [(method, float(here[method][at])) for at, method in enumerate(names)]


def show_regret(means: Means, ours: dict[str, str], title: str) -> None:
    """Distance from the leader at each ratio, of the method named for each graph."""
    print(f"\n{title}: Micro F1 below the leader at {', '.join(f'{ratio:.0%}' for ratio in SPLITS)}")
    within = 0
    for name, here in means.items():
        first, mine = leaders(here), here[ours[name]]
        below = [top - float(value) for (_, top), value in zip(first, mine, strict=True)]
        within += max(below) <= BAR
        who = ", ".join(method for method, _ in first)
        mark = "" if max(below) <= BAR else "   MISSED"
        extra = "" if ours[name] == "default" else f"   {ours[name]}"
        print(f"  {name:20} {figures(below)}   leaders: {who}{mark}{extra}")
    bar = f"at most {BAR} on {max(len(means) - 1, 1)} of {len(means)} graphs"
    print(f"  within {BAR} at every ratio: {within} of {len(means)} graphs; bar: {bar}", flush=True)


def show_table(means: Means, methods: Sequence[str]) -> None:
    """Rows of a table in Markdown: the figures of a method in one cell, the best of each ratio in bold."""
    print(f"\n| | {' | '.join(methods)} |\n|---|{'---|' * len(methods)}")
    for name, here in means.items():
        shown = {method: [f"{value:.1f}" for value in here[method]] for method in methods if method in here}
        best = [max((each[at] for each in shown.values()), key=float) for at in range(len(SPLITS))]
        row = [
            ", ".join(f"**{value}**" if value == top else value for value, top in zip(shown[method], best, strict=True))
            if method in shown
            else "-"
            for method in methods
        ]
        print(f"| {name} | {' | '.join(row).replace('**, **', ', ')} |", flush=True)


def leave_one_out(means: Means, given: argparse.Namespace) -> None:
    """The rule that is best on all other graphs, on each graph."""
    print("\nrules of h: mean Micro F1 over the ratios, by graph")
    print(f"  {'':36}" + "  ".join(f"{name[:9]:>9}" for name in means) + "       all")
    graphs, table = {name: graph(name) for name in means}, list[list[float]]()  # (rules, graphs)
    for rule in RULES:
        table.append([])
        for name, read in graphs.items():
            answer = measure(read, name, rule, given, seeds=1, splits=CHOICE)
            assert answer is not None, rule
            table[-1].append(float(answer[0].mean()))
        cells = "  ".join(f"{cell:9.2f}" for cell in table[-1])
        print(f"  {rule:36}{cells}  {np.mean(table[-1]):8.3f}", flush=True)
    choice, worst = dict[str, str](), dict[str, str]()
    for at, (name, read) in enumerate(graphs.items()):
        others = np.delete(table, at, axis=1).mean(axis=1)
        choice[name] = list(RULES)[int(others.argmax())]
        worst[name] = list(RULES)[int(np.argmin(table, axis=0)[at])]
        for rule in (choice[name], worst[name]):
            answer = measure(read, name, rule, given, seeds=given.seeds, splits=SPLITS)
            assert answer is not None, rule
            means[name][rule] = answer[0]
    show_regret(means, choice, "one graph left out, the rule chosen on the others")
    show_regret(means, worst, "control, the rule that is worst on the graph itself")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, required=True, help="a folder outside of the project")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--methods", default=",".join(OTHERS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=25.0, help="minutes of processor for a method on a graph")
    parser.add_argument("--kept", action="store_true", help="no other method is run: what has no vectors is left out")
    parser.add_argument("--rules", action="store_true", help="leave one graph out")
    parser.add_argument("--table", help="methods of a table in Markdown")
    parser.add_argument("--one", nargs=2, metavar=("GRAPH", "METHOD"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.vectors.mkdir(parents=True, exist_ok=True)
    if given.one:
        keep_vectors(given.one[0], given.one[1], given)
        return
    print(f"{machine()}, {given.threads} threads")
    means = measure_methods(given)
    show_regret(means, dict.fromkeys(means, "default"), "the default")
    if given.table:
        show_table(means, given.table.split(","))
    if given.rules:
        leave_one_out(means, given)


if __name__ == "__main__":
    main()
