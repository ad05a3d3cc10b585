"""Tasks of a comparison: labels of nodes if there are any, else held-out edges.

A task evaluates a function that makes vectors from a graph (the whole graph for labels, a graph without some of its
edges for links), and has the columns of a table, the axis of a plot, and the baselines that methods must beat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import evaluate_labels, random_control
from graphrefine.evaluate.label_metrics import METRICS
from graphrefine.evaluate.link_results import LinkScores
from graphrefine.evaluate.links import evaluate_links
from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import Labels, as_labels

HELD_OUT = 0.3
SCORES = ("dot", "cosine", "dot-degree", "cosine-degree")  # scores by vectors

Make = Callable[[Graph], NDArray[Any]]


class Verdict(NamedTuple):
    """Quality of vectors."""

    quality: float  # rows are sorted by it, the highest first
    cells: dict[str, str]  # a text for each column
    figures: dict[str, Any]  # all figures, for JSON
    protocol: str = ""


@dataclass(frozen=True)
class LabelTask:
    """Node classification, see `graphrefine.evaluate.evaluate_labels`."""

    graph: Graph
    labels: Labels
    ratios: Sequence[float]
    repeats: int
    C: float | Sequence[float] | Literal["cv"]
    seed: int
    threads: int
    axis: str = "Micro F1, %"

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the columns in a table."""
        suffixes = [f" at {100 * ratio:g}%" * (len(self.ratios) > 1) for ratio in self.ratios]
        return tuple(f"{metric.title}{suffix}" for suffix in suffixes for metric in METRICS.values())

    def evaluate(self, make: Make) -> Verdict:
        """Evaluate the vectors that a function makes."""
        scores = evaluate_labels(
            Embedding(self.graph.names, make(self.graph)),
            self.labels,
            ratios=self.ratios,
            repeats=self.repeats,
            C=self.C,
            seed=self.seed,
            threads=self.threads,
        )
        cells = [cell for row in scores.table()[1:] for cell in row[1:]]
        quality = float(np.mean([at_ratio.micro_mean for at_ratio in scores.ratios]))
        figures = {"ratios": scores.to_dict()["ratios"]}
        protocol, single = scores.protocol, int((self._class_sizes() == 1).sum())
        if single:
            protocol += f"; {single} of the classes have a single node, which cannot be both learnt and tested"
        return Verdict(quality, dict(zip(self.columns, cells, strict=True)), figures, protocol)

    def baselines(self, dim: int) -> dict[str, Verdict]:
        """Verdicts that methods must beat; bad input is refused here, before the work."""
        classes = np.flatnonzero(self._class_sizes())
        if classes.size == 1:
            raise InputError(
                f"{self.labels.source} has one label for all nodes of the graph, {self.labels.classes[classes[0]]!r}: "
                "there is nothing to tell apart; compare without labels instead"
            )
        return {"random vectors": self.evaluate(lambda graph: random_control(graph.nodes, dim, seed=self.seed))}

    def inputs(self) -> dict[str, Any]:
        """All that verdicts depend on beside the graph."""
        indicator, names = self.labels.indicator, [*map(str, self.labels.names.tolist()), *self.labels.classes]
        labels = fingerprint(indicator.indptr, indicator.indices, names=names)
        C = list(self.C) if isinstance(self.C, tuple | list) else self.C
        return {"task": "labels", "labels": labels, "ratios": list(self.ratios), "repeats": self.repeats, "C": C}

    def _class_sizes(self) -> NDArray[np.int64]:
        """Number of nodes of the graph with each label."""
        nodes = set(map(str, self.graph.names.tolist()))
        rows = [row for row, name in enumerate(self.labels.names.tolist()) if str(name) in nodes]
        return np.asarray(self.labels.indicator[rows].sum(axis=0)).ravel()


@dataclass(frozen=True)
class LinkTask:
    """Link prediction, see `graphrefine.evaluate.evaluate_links`."""

    graph: Graph
    repeats: int
    seed: int
    threads: int
    axis: str = "AUC of held-out edges"
    columns: tuple[str, ...] = ("AUC", "AP", "score")

    def evaluate(self, make: Make) -> Verdict:
        """Evaluate the vectors that a function makes; of several scores by them, the best one counts."""
        return self._best(self._evaluate(make))

    def baselines(self, dim: int) -> dict[str, Verdict]:
        """Verdicts that methods must beat; bad input is refused here, before the work."""
        scores = self._evaluate(lambda graph: random_control(graph.nodes, dim, seed=self.seed))
        return {"random vectors": self._best(scores), "degree product": self._verdict(scores, "degree")}

    def inputs(self) -> dict[str, Any]:
        """All that verdicts depend on beside the graph."""
        return {"task": "links", "held_out": HELD_OUT, "repeats": self.repeats}

    def _evaluate(self, make: Make) -> LinkScores:
        return evaluate_links(
            self.graph,
            make,
            held_out=HELD_OUT,
            repeats=self.repeats,
            scores=SCORES,
            corruptions=1,  # only AUC and AP are needed: next to no work for ranks
            ranked=1,
            seed=self.seed,
            threads=self.threads,
        )

    def _best(self, scores: LinkScores) -> Verdict:
        best = max(SCORES, key=lambda name: scores[name].mean("auc"))
        protocol = (
            f"{scores.nodes} nodes; {scores.held_out_edges} of {scores.edges} edges ({scores.held_out:.0%}) held out, "
            "to be told from as many pairs without an edge by vectors made from the rest; of the scores "
            f"{', '.join(SCORES)} the one of the highest AUC; {scores.repeats} repeat{'s' * (scores.repeats > 1)}, "
            f"seed {scores.seed}"
        )
        return self._verdict(scores, best, protocol)

    def _verdict(self, scores: LinkScores, name: str, protocol: str = "") -> Verdict:
        figures = {each.score: {figure: each.to_dict()[figure] for figure in ("auc", "ap")} for each in scores.scores}
        values, cells = scores[name], []
        for figure in ("auc", "ap"):
            spread = f" ± {values.std(figure):.4f}" if scores.repeats > 1 else ""
            cells.append(f"{values.mean(figure):.4f}{spread}")
        texts = dict(zip(self.columns, [*cells, name], strict=True))
        return Verdict(values.mean("auc"), texts, {"scores": figures}, protocol)


Task = LabelTask | LinkTask


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
        splits = 10 if repeats is None else repeats
        return LabelTask(graph, as_labels(labels), tuple(ratios), splits, C=C, seed=seed, threads=threads)
    if graph.directed:
        raise InputError(
            f"{graph.source} was read as directed, and without labels methods are compared by links of an undirected "
            "graph; give labels, or read it without directed"
        )
    return LinkTask(graph, 1 if repeats is None else repeats, seed=seed, threads=threads)


def fingerprint(*arrays: NDArray[Any] | None, names: Sequence[str]) -> str:
    """Digits that differ for different inputs."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    for name in names:
        digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
