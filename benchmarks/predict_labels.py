"""Labels that `predict_labels` gives, beside those of scikit-learn from the same vectors: F1 of hidden labels.

Of each graph's labeled nodes a part is hidden, and predicted from the others. scikit-learn (one-vs-rest, liblinear,
the same C) gets the same unit rows and the same rule for probabilities and number of labels; ``held out`` is what
`predict_labels` itself says of the labels that it knows, ``control`` the same by frequencies alone::

    GRAPHREFINE_DATA=... python benchmarks/predict_labels.py
    GRAPHREFINE_DATA=... python benchmarks/predict_labels.py --graphs ppi,lastfm-asia --hidden 0.5

``--save`` writes docs/results/predict-labels.json.
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
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

import graphrefine
import results
from graphrefine.analysis.label_prediction import Rule
from graphrefine.display.console import show_table
from graphrefine.linalg import unit_rows
from graphrefine.readers.labels import align, read_labels

GRAPHS = "ppi,blogcatalog,wikipedia-pos,lastfm-asia,amazon-photo,coauthor-cs,planetoid-pubmed"


def measure(path: Path, hidden_part: float, seed: int) -> list[tuple[str, ...]]:
    embedding = graphrefine.embed(path, threads=1)
    labels = read_labels(path, names=embedding.names)
    order, indicator, _ = align(labels, embedding.names, unlabeled="drop")
    nonzero = embedding.vectors[order].any(axis=1)
    order, truth = order[nonzero], indicator.toarray()[nonzero]
    hidden = np.random.default_rng(seed).random(len(order)) < hidden_part
    truth = truth[:, truth[~hidden].any(axis=0)]
    known = np.zeros((len(embedding.names), truth.shape[1]), np.bool_)
    known[order[~hidden]] = truth[~hidden]

    start = time.perf_counter()
    table = graphrefine.predict_labels(embedding, known, seed=seed)
    seconds = time.perf_counter() - start
    figures = table.stats
    place = {name: row for row, name in enumerate(embedding.names[order[hidden]].tolist())}
    answer = np.zeros((int(hidden.sum()), truth.shape[1]), np.bool_)
    for row in table:
        if row.node in place:
            answer[place[row.node], int(row.label)] = True

    rows = unit_rows(embedding.vectors[order])
    start = time.perf_counter()
    regression = LogisticRegression(C=figures["C"], solver="liblinear")
    model = OneVsRestClassifier(regression).fit(rows[~hidden], truth[~hidden])
    theirs_seconds = time.perf_counter() - start
    rule = Rule(figures["several"], figures["scale"], figures["shift"], figures["threshold"] or 2.0)
    theirs = rule.choose(rule.probabilities(model.decision_function(rows[hidden])))

    scores = [f1(truth[hidden], each, average) for average in ("micro", "macro") for each in (answer, theirs)]
    held, control = figures["held_out"], figures["control"]
    return [
        (results.title(path.stem), f"{figures['labeled']:,}", f"{hidden.sum():,}", f"{truth.shape[1]}",
         f"{figures['C']:g}",
         *(f"{score:.2f}" for score in scores), f"{held['micro_f1']:.2f}", f"{held['macro_f1']:.2f}",
         f"{control['micro_f1']:.2f}", f"{control['macro_f1']:.2f}", f"{seconds:.1f}", f"{theirs_seconds:.1f}"),
    ]  # fmt: skip


def f1(truth: NDArray[Any], answer: NDArray[Any], average: str) -> float:
    return 100 * float(f1_score(truth, answer, average=average, zero_division=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS, help="files of GRAPHREFINE_DATA, without .mat")
    parser.add_argument("--hidden", type=float, default=0.3, help="part of the labeled nodes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", action="store_true", help="write docs/results/predict-labels.json")
    arguments = parser.parse_args()
    if "GRAPHREFINE_DATA" not in os.environ:
        sys.exit("set GRAPHREFINE_DATA to the folder with the graphs")
    folder = Path(os.environ["GRAPHREFINE_DATA"])
    titles = (
        "graph", "labeled", "hidden", "classes", "C", "Micro F1", "sklearn", "Macro F1", "sklearn", "held out Micro",
        "Macro", "control Micro", "Macro", "seconds (7 C, 5 folds)", "sklearn (1 fit)",
    )  # fmt: skip
    lines = []
    for name in arguments.graphs.split(","):
        lines += measure(folder / f"{name}.mat", arguments.hidden, arguments.seed)
        print(name, file=sys.stderr)
    show_table([titles, *lines])
    if arguments.save:
        shown = {
            0: "graph", 3: "classes", 5: "Micro F1", 9: "Micro F1 as estimated", 6: "Micro F1 of scikit-learn",
            11: "Micro F1 by frequencies", 7: "Macro F1", 8: "Macro F1 of scikit-learn",
        }  # fmt: skip
        rows = [[line[column] for column in shown] for line in lines]
        results.save("predict-labels", f1=results.Table(list(shown.values()), rows))


if __name__ == "__main__":
    main()
