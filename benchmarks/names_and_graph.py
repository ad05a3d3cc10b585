"""F1 of what an npm package depends on: from its name, from the graph of the other packages, and from both.

    python benchmarks/names_and_graph.py [--packages 12000] [--splits 3] [--dim 128] [--C 1,10]

Fifteen popular packages (`TARGETS`) are taken out of the graph of dependencies, with all of their edges. The question
is which of them a package depends on: several labels for each package, asked of packages that depend on at least one.
No edge that answers it is left in the graph; what a package needs beside them is, and so are the packages that need
it. A package that has no other edge is not in the graph at all: its vector is zero.

``name`` is tf-idf of two to four characters of the package's own name, ``graph`` is `graphrefine.NodeVectors`, ``both``
is a ColumnTransformer of the two. The classifier is one logistic regression for each target, the same for all three;
half of the packages train it, the other half test it. ``shuffled`` is the control: vectors of other packages.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import graphrefine
from common import data, machine
from graphrefine import Graph, NodeVectors
from graphrefine.errors import ArgumentWarning

TARGETS = [
    "express",
    "react",
    "yeoman-generator",
    "coffee-script",
    "jquery",
    "cheerio",
    "gulp-util",
    "socket.io",
    "redis",
    "handlebars",
    "superagent",
    "mongodb",
    "aws-sdk",
    "grunt",
    "ember-cli-babel",
]


def split_graph() -> tuple[Graph, pd.DataFrame]:
    """The graph without the targets, and for each package that needs one of them a row of the targets it needs."""
    edges = pd.read_csv(
        data("npm-dependencies.tsv.gz"), sep="\t", dtype=str, keep_default_na=False, quoting=3, skipinitialspace=False
    )
    edges = edges[(edges["dependent"].str.strip() != "") & (edges["dependency"].str.strip() != "")]
    asked = edges["dependency"].isin(TARGETS)
    labels = pd.crosstab(edges.loc[asked, "dependent"], edges.loc[asked, "dependency"]).clip(upper=1)
    hidden = asked | edges["dependent"].isin(TARGETS)
    graph = graphrefine.read(edges[~hidden], source="dependent", target="dependency")
    return graph, labels.drop(index=TARGETS, errors="ignore")[TARGETS]


def models(graph: Graph, dim: int, C: float) -> dict[str, Any]:
    """A classifier for each kind of features."""
    name = (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2), "package")
    vectors = (NodeVectors(graph, dim, unknown="skip"), "package")
    shuffled = (NodeVectors(graph, dim, unknown="skip"), "another")
    kinds = {"name": [name], "graph": [vectors], "both": [name, vectors], "shuffled": [name, shuffled]}
    classifier = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
    return {kind: make_pipeline(make_column_transformer(*columns), classifier) for kind, columns in kinds.items()}


def measure(model: Any, table: pd.DataFrame, labels: NDArray[Any], split: int) -> Mapping[str, float]:
    train, test, y_train, y_test = train_test_split(table, labels, test_size=0.5, random_state=split)
    predicted = model.fit(train, y_train).predict(test)
    return {kind: 100 * f1_score(y_test, predicted, average=kind, zero_division=0.0) for kind in ("micro", "macro")}


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--packages", type=int, default=12_000)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--C", default="1,10")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ArgumentWarning)  # packages that are not in the graph: counted below
    graph, labels = split_graph()
    labels = labels.sample(min(options.packages, len(labels)), random_state=0)
    table = pd.DataFrame({"package": labels.index})
    table["another"] = table["package"].sample(frac=1, random_state=1).to_numpy()
    known = table["package"].isin(set(graph.names.tolist())).mean()
    print(f"{machine()}; {graph}")
    print(f"{len(table):,} packages, {known:.0%} in the graph, {labels.to_numpy().sum(axis=1).mean():.2f} labels each")
    figures = []
    for C in map(float, options.C.split(",")):
        print(f"C = {C:g}, dim {options.dim}: mean of {options.splits} splits, each in brackets")
        for kind, model in models(graph, options.dim, C).items():
            start = perf_counter()
            runs = [measure(model, table, labels.to_numpy(), split) for split in range(options.splits)]
            for each in ("micro", "macro"):
                scores = [run[each] for run in runs]
                figures.append({"C": C, "kind": kind, "f1": each, "splits": scores, "mean": float(np.mean(scores))})
                listed = ", ".join(f"{score:.1f}" for score in scores)
                print(f"  {kind:9} {each} F1 {np.mean(scores):5.1f}  ({listed})", flush=True)
            print(f"  {'':9} {perf_counter() - start:.0f} s", file=sys.stderr)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
