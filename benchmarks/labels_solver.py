"""The batched logistic regression against scikit-learn's liblinear: agreement of F1, and speed.

Both fit the same splits of the same vectors, one after the other, on one thread::

    GRAPHREFINE_DATA=... python benchmarks/labels_solver.py
    GRAPHREFINE_DATA=... python benchmarks/labels_solver.py --vectors vectors.npy --repeats 10

Without ``--vectors`` the graph is embedded first (``preset="paper"``).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from graphrefine.evaluate.classification import RATIOS
from graphrefine.evaluate.judges import make_split
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.evaluate.metrics import measure_labels
from graphrefine.linalg import unit_rows
from graphrefine.readers.labels import read_labels


def liblinear(rows: NDArray[Any], targets: NDArray[np.bool_], *, C: float) -> Classifiers:
    """One-vs-rest as scikit-learn does it; classes without positives or negatives come last or first."""
    positives = targets.sum(axis=0)
    weights = np.zeros((targets.shape[1], rows.shape[1]))
    intercepts = np.where(positives == 0, -np.inf, np.inf)
    for column in np.flatnonzero((positives > 0) & (positives < len(rows))):
        model = LogisticRegression(solver="liblinear", C=C).fit(rows, targets[:, column])
        weights[column], intercepts[column] = model.coef_[0], model.intercept_[0]
    return Classifiers(weights, intercepts)


def embedded(path: Path) -> NDArray[Any]:
    import graphrefine

    vectors: NDArray[Any] = graphrefine.embed(graphrefine.read(path), preset="paper").vectors
    return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="blogcatalog.mat", help="a file of GRAPHREFINE_DATA")
    parser.add_argument("--vectors", type=Path, help="a .npy file with a row for each node")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--C", type=float, default=1.0)
    arguments = parser.parse_args()
    if "GRAPHREFINE_DATA" not in os.environ:
        sys.exit("set GRAPHREFINE_DATA to the folder with blogcatalog.mat")
    path = Path(os.environ["GRAPHREFINE_DATA"]) / arguments.graph
    vectors = np.load(arguments.vectors, allow_pickle=False) if arguments.vectors else embedded(path)
    with threadpool_limits(1):
        compare(unit_rows(vectors), path, repeats=arguments.repeats, C=arguments.C)


def compare(rows: NDArray[np.float32], path: Path, *, repeats: int, C: float) -> None:
    truth = read_labels(path).indicator
    print(f"{path.name}: {truth.shape[0]} nodes, {truth.shape[1]} classes, C = {C:g}, {repeats} splits a ratio")
    print("train  Micro/Macro liblinear  ours          |d mean|     max |d| of a split  max |d score|  seconds")
    total = np.zeros(2)
    for ratio in RATIOS:
        f1, seconds, apart = np.zeros((2, repeats, 2)), np.zeros(2), 0.0
        for repeat in range(repeats):
            split = make_split(truth.shape[0], ratio, repeat=repeat, seed=0)
            known = rows[split.train], truth[split.train].toarray()
            scores = []
            for which, fit in enumerate((liblinear, fit_logistic)):
                start = time.perf_counter()
                classifiers = fit(*known, C=C)
                seconds[which] += time.perf_counter() - start
                figures = measure_labels(classifiers, rows[split.test], truth[split.test])
                f1[which, repeat] = figures["micro_f1"], figures["macro_f1"]
                scores.append(classifiers.decision(rows[split.test]))
            finite = np.isfinite(scores[0])
            apart = max(apart, float(np.abs(scores[0][finite] - scores[1][finite]).max()))
        means, worst = f1.mean(axis=1), np.abs(f1[0] - f1[1]).max(axis=0)
        change = np.abs(means[0] - means[1])
        print(
            f"{ratio:4.0%}   {means[0][0]:.3f}/{means[0][1]:.3f}          {means[1][0]:.3f}/{means[1][1]:.3f}"
            f"  {change[0]:.4f}/{change[1]:.4f}  {worst[0]:.4f}/{worst[1]:.4f}       {apart:.1e}"
            f"        {seconds[0]:.2f} / {seconds[1]:.2f} = {seconds[0] / seconds[1]:.1f}x"
        )
        total += seconds
    print(f"all fits: liblinear {total[0]:.1f} s, ours {total[1]:.1f} s: {total[0] / total[1]:.1f}x")


if __name__ == "__main__":
    main()
