"""Tasks of a comparison: labels of nodes if there are any, else held-out edges.

A task evaluates a function that makes vectors from a graph (the whole graph for labels, a graph without some of its
edges for links), and has the columns of a table, the axis of a plot, and the baselines that methods must beat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import choose_repeats, evaluate_labels, random_control
from graphrefine.evaluate.links import evaluate_links
from graphrefine.evaluate.metrics import METRICS
from graphrefine.evaluate.results import LinkScores
from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import Labels, align, as_labels
from graphrefine.system.digest import hash_parts

HELD_OUT = 0.3
SCORES = ("dot", "cosine", "dot-degree", "cosine-degree")  # scores by vectors

Make = Callable[[Graph], NDArray[Any]]


class Verdict(NamedTuple):
    """Quality of vectors."""

    quality: float  # rows are sorted by it, the highest first
    cells: dict[str, str]  # a text for each column
    figures: dict[str, Any]  # all figures, for JSON
    protocol: str = ""


class Task(NamedTuple):
    """A way to judge vectors."""

    axis: str  # name of the quality
    columns: tuple[str, ...]
    inputs: dict[str, Any]  # all that verdicts depend on beside the graph
    evaluate: Callable[[Make], Verdict]
    baselines: Callable[[int], dict[str, Verdict]]  # by dimension: to be beaten; bad input is refused here


def choose_task(
    graph: Graph,
    labels: Any,
    *,
    ratios: Sequence[float],
    repeats: int | None,
    C: float | Sequence[float] | Literal["cv"],
    seed: int,
    threads: int,
) -> Task:
    """Labels if they are given, else links."""
    if labels is not None:
        usual = {choose_repeats(ratio) for ratio in ratios}
        if repeats is None and len(usual) == 1:
            repeats = usual.pop()
        protocol = {"ratios": tuple(ratios), "repeats": repeats, "C": C}
        node_labels = as_labels(labels, names=graph.names, graph=graph)
        return _make_label_task(graph, node_labels, protocol, seed=seed, threads=threads)
    if graph.directed:
        raise InputError(
            f"{graph.source} was read as directed, and without labels methods are compared by links of an undirected "
            "graph; give labels, or read it with directed=False",
            argument="directed",
        )
    return _make_link_task(graph, 1 if repeats is None else repeats, seed=seed, threads=threads)


def _make_label_task(graph: Graph, labels: Labels, protocol: dict[str, Any], *, seed: int, threads: int) -> Task:
    """Node classification, see `graphrefine.evaluate.evaluate_labels`."""
    ratios = protocol["ratios"]
    suffixes = [f" at {100 * ratio:g}%" * (len(ratios) > 1) for ratio in ratios]
    columns = tuple(f"{metric.title}{suffix}" for suffix in suffixes for metric in METRICS.values())
    aligned = align(labels, graph.names, unlabeled="drop")
    sizes = np.asarray(aligned.indicator.sum(axis=0)).ravel()  # (classes,): nodes of the graph

    def evaluate(make: Make) -> Verdict:
        scores = evaluate_labels(Embedding(graph.names, make(graph)), labels, seed=seed, threads=threads, **protocol)
        cells = [each.cell(name) for each in scores.ratios for name in METRICS]
        quality = float(np.mean([at_ratio.micro_mean for at_ratio in scores.ratios]))
        text, single = scores.protocol, int((sizes == 1).sum())
        if single:
            text += f"; {single} of the classes have a single node, which cannot be both learnt and tested"
        return Verdict(quality, dict(zip(columns, cells, strict=True)), {"ratios": scores.to_dict()["ratios"]}, text)

    def baselines(dim: int) -> dict[str, Verdict]:
        classes = np.flatnonzero(sizes)
        if classes.size == 1:
            raise InputError(
                f"{labels.source} has one label for all nodes of the graph, {labels.classes[classes[0]]!r}: "
                "there is nothing to tell apart; compare without labels instead"
            )
        return {"random vectors": evaluate(lambda graph: random_control(graph.nodes, dim, seed=seed))}

    names = [*map(str, labels.names.tolist()), *labels.classes]
    digits = hash_parts(labels.indicator.indptr, labels.indicator.indices, encode_names(names))
    plain = {name: list(value) if isinstance(value, tuple | list) else value for name, value in protocol.items()}
    return Task("Micro F1, %", columns, {"task": "labels", "labels": digits, **plain}, evaluate, baselines)


def _make_link_task(graph: Graph, repeats: int, *, seed: int, threads: int) -> Task:
    """Link prediction, see `graphrefine.evaluate.evaluate_links`."""
    columns = ("AUC", "AP", "score")
    protocol: dict[str, Any] = {"held_out": HELD_OUT, "repeats": repeats, "scores": SCORES, "seed": seed}
    protocol |= {"corruptions": 1, "ranked": 1}  # only AUC and AP are needed: next to no work for ranks

    def score(make: Make) -> LinkScores:
        return evaluate_links(graph, make, threads=threads, **protocol)

    def judge(scores: LinkScores, name: str, text: str = "") -> Verdict:
        figures = {each.score: {figure: each.to_dict()[figure] for figure in ("auc", "ap")} for each in scores.scores}
        cells = [scores[name].cell(figure, 4) for figure in ("auc", "ap")]
        texts = dict(zip(columns, [*cells, name], strict=True))
        return Verdict(scores[name].mean("auc"), texts, {"scores": figures}, text)

    def judge_best(scores: LinkScores) -> Verdict:
        best = max(SCORES, key=lambda name: scores[name].mean("auc"))
        text = (
            f"{scores.nodes} nodes; {scores.held_out_edges} of {scores.edges} edges ({scores.held_out:.0%}) held out, "
            "to be told from as many pairs without an edge by vectors made from the rest; of the scores "
            f"{', '.join(SCORES)} the one of the highest AUC; {scores.repeats} repeat{'s' * (scores.repeats > 1)}, "
            f"seed {scores.seed}"
        )
        return judge(scores, best, text)

    def baselines(dim: int) -> dict[str, Verdict]:
        scores = score(lambda graph: random_control(graph.nodes, dim, seed=seed))
        return {"random vectors": judge_best(scores), "degree product": judge(scores, "degree")}

    inputs = {"task": "links", "held_out": HELD_OUT, "repeats": repeats}
    return Task("AUC of held-out edges", columns, inputs, lambda make: judge_best(score(make)), baselines)


def encode_names(names: Sequence[str]) -> bytes:
    """Names as bytes, for a fingerprint."""
    return "".join(f"{name}\0" for name in names).encode("utf-8", "surrogatepass")
