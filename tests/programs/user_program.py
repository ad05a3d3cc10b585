"""A user's program: an embedding and a graph put to every use, with types. It is run, and checked strictly.

Other packages are used through `Any` alone: their own types are theirs to keep.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import graphrefine
from graphrefine import Embedding, Graph, GraphRefineError

FRIENDS = [("ann", "bob"), ("bob", "cleo"), ("cleo", "ann"), ("cleo", "dan"), ("dan", "eve"), ("eve", "finn")]


def best_friend(embedding: Embedding, name: str) -> str:
    """The name of the nearest node, or nothing."""
    try:
        near = embedding.neighbors(name, k=1)
    except KeyError as error:
        return str(error)
    return "" if not near else f"{near[0].node}: {near[0].score:.1f}"


def mean_score(embedding: Embedding, pairs: list[tuple[str, str]]) -> float:
    """The mean score of pairs."""
    first, second = [u for u, _ in pairs], [v for _, v in pairs]
    scores: NDArray[np.float32] = embedding.score(first, second)
    one: float = embedding.score(*pairs[0])
    return float(scores.mean()) if len(scores) > 1 else one


def use_graph(folder: Path) -> Graph:
    """A graph, saved and read again."""
    graph = graphrefine.read(FRIENDS)
    weights: dict[str, float] = graph.neighbors("cleo")
    part: Graph = graph.subgraph(list(weights))
    part.save(folder / "part.csv")
    assert graphrefine.read(folder / "part.csv").edges == part.edges
    print(graph.node_table()[0], graph.to_scipy().shape)
    return graph


def main(folder: Path) -> Embedding:
    """Make vectors, ask them, take them apart, and put them together."""
    graph = use_graph(folder)
    embedding = graphrefine.embed(graph, dim=4, learn=True)
    vector: NDArray[np.float32] = embedding["ann"]
    block: NDArray[np.float32] = embedding[["ann", "bob"]]
    assert block.shape == (2, embedding.dim) and np.asarray(embedding).shape == embedding.shape
    print(vector.shape, best_friend(embedding, "ann"), best_friend(embedding, "anna"))
    for ranking in embedding.neighbors(["ann", "bob"], k=2, score="link"):
        print([(near.node, near.score) for near in ranking])
    for target, score in embedding.recommend("ann", 2, exclude=graph):
        print(target, f"{score:.2f}")
    table = embedding.recommend(["ann", "eve"], k=1).table()
    table.save(folder / "targets.csv")
    print(len(table), embedding.all_neighbors(k=1).stats, mean_score(embedding, FRIENDS) > 0)
    some, others = embedding.subset(["ann", "bob"]), embedding.subset(slice(2, None))
    whole = Embedding.concat([some, others])
    print(np.array_equal(whole, embedding), whole.truncated(2).shape, embedding.get("nobody"))
    print(sorted(embedding.keys()), {name: row.shape for name, row in embedding.items()}["ann"])
    try:
        embedding.truncated(99)
    except GraphRefineError as error:
        print(error.argument)
    embedding.save(folder / "friends.parquet")
    return graphrefine.load(folder / "friends.parquet")
