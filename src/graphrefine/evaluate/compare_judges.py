"""What decides which method is best: labels of nodes if there are any, else edges that were held out.

A judge is given a function that makes vectors from a graph, and says how good they are: `Verdict`. The graph is the
whole one for labels, and one without some of its edges for links.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.evaluate import as_labels, evaluate_labels, random_control

if TYPE_CHECKING:
    from graphrefine.evaluate import Labels, LabelScores, LinkScores
    from graphrefine.graph.graph import Graph

HELD_OUT = 0.3
SCORES = ("dot", "cosine", "dot-degree", "cosine-degree")  # those that are made from the vectors

Maker = Callable[["Graph"], NDArray[Any]]


class Verdict(NamedTuple):
    """How good vectors are."""

    quality: float  # the more the better
    shown: dict[str, str]  # a cell for each of the judge's columns
    figures: dict[str, Any]  # all of it, for JSON
    protocol: str = ""


class Judge(Protocol):
    """Says how good vectors are."""

    columns: tuple[str, ...]
    axis: str

    def judge(self, make: Maker) -> Verdict:
        """Judge what a function makes."""

    def baselines(self, dim: int) -> dict[str, Verdict]:
        """What vectors must beat; everything that is wrong with the input is found here, before the work."""

    def inputs(self) -> dict[str, Any]:
        """What the verdicts depend on beside the graph."""


@dataclass
class LabelJudge:
    """Node classification, see `graphrefine.evaluate.evaluate_labels`."""

    graph: Graph
    labels: Labels
    ratios: Sequence[float]
    repeats: int
    C: float | Sequence[float] | Literal["cv"]
    seed: int
    threads: int
    axis: str = "Micro F1, %"
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        at = [f" at {100 * ratio:g}%" * (len(self.ratios) > 1) for ratio in self.ratios]
        self.columns = tuple(f"{kind} F1{part}" for part in at for kind in ("Micro", "Macro"))

    def judge(self, make: Maker) -> Verdict:
        """See `Judge.judge`."""
        found = evaluate_labels(
            Embedding(self.graph.names, make(self.graph)),
            self.labels,
            ratios=self.ratios,
            repeats=self.repeats,
            C=self.C,
            seed=self.seed,
            threads=self.threads,
        )
        cells = [cell for row in found.table()[1:] for cell in row[1:]]
        quality = float(np.mean([at.micro_mean for at in found.ratios]))
        figures = {"ratios": found.to_dict()["ratios"]}
        return Verdict(quality, dict(zip(self.columns, cells, strict=True)), figures, _with_rare(found, self._rare()))

    def baselines(self, dim: int) -> dict[str, Verdict]:
        """See `Judge.baselines`."""
        known = self._known()
        if known.size == 1:
            raise InputError(
                f"{self.labels.source} has one label for all nodes of the graph, {self.labels.classes[known[0]]!r}: "
                "there is nothing to tell apart; compare without labels instead"
            )
        return {"random vectors": self.judge(lambda graph: random_control(graph.nodes, dim, seed=self.seed))}

    def inputs(self) -> dict[str, Any]:
        """See `Judge.inputs`."""
        indicator, names = self.labels.indicator, [*map(str, self.labels.names.tolist()), *self.labels.classes]
        print_ = fingerprint(indicator.indptr, indicator.indices, names=names)
        C = list(self.C) if isinstance(self.C, tuple | list) else self.C
        return {"task": "labels", "labels": print_, "ratios": list(self.ratios), "repeats": self.repeats, "C": C}

    def _counts(self) -> NDArray[np.int64]:
        """Nodes of the graph with each label."""
        there = set(map(str, self.graph.names.tolist()))
        rows = [row for row, name in enumerate(self.labels.names.tolist()) if str(name) in there]
        return np.asarray(self.labels.indicator[rows].sum(axis=0)).ravel()

    def _known(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._counts())

    def _rare(self) -> int:
        return int((self._counts() == 1).sum())


def _with_rare(found: LabelScores, rare: int) -> str:
    if not rare:
        return found.protocol
    return f"{found.protocol}; {rare} of the classes have a single node, which cannot be both learnt and tested"


@dataclass
class LinkJudge:
    """Link prediction, see `graphrefine.evaluate.evaluate_links`."""

    graph: Graph
    repeats: int
    seed: int
    threads: int
    axis: str = "AUC of held-out edges"
    columns: tuple[str, ...] = ("AUC", "AP", "score")

    def judge(self, make: Maker) -> Verdict:
        """See `Judge.judge`; of several scores made from the vectors, the best one counts."""
        return self._best(self._evaluated(make))

    def baselines(self, dim: int) -> dict[str, Verdict]:
        """See `Judge.baselines`."""
        found = self._evaluated(lambda graph: random_control(graph.nodes, dim, seed=self.seed))
        return {"random vectors": self._best(found), "degree product": self._verdict(found, "degree")}

    def inputs(self) -> dict[str, Any]:
        """See `Judge.inputs`."""
        return {"task": "links", "held_out": HELD_OUT, "repeats": self.repeats}

    def _evaluated(self, make: Maker) -> LinkScores:
        from graphrefine.evaluate import evaluate_links

        settings: dict[str, Any] = {"held_out": HELD_OUT, "repeats": self.repeats, "scores": SCORES, "seed": self.seed}
        # AUC and AP alone are asked for: ranks are left at the least.
        return evaluate_links(self.graph, make, corruptions=1, ranked=1, threads=self.threads, **settings)

    def _best(self, found: LinkScores) -> Verdict:
        score = max(SCORES, key=lambda score: found[score].mean("auc"))
        protocol = (
            f"{found.nodes} nodes; {found.held_out_edges} of {found.edges} edges ({found.held_out:.0%}) held out, to "
            "be told from as many pairs without an edge by vectors made from the rest; of the scores "
            f"{', '.join(SCORES)} the one of the highest AUC; {found.repeats} repeat{'s' * (found.repeats > 1)}, "
            f"seed {found.seed}"
        )
        return self._verdict(found, score, protocol)

    def _verdict(self, found: LinkScores, score: str, protocol: str = "") -> Verdict:
        figures = {each.score: {name: each.to_dict()[name] for name in ("auc", "ap")} for each in found.scores}
        best, cells = found[score], []
        for name in ("auc", "ap"):
            spread = f" ± {best.std(name):.4f}" if found.repeats > 1 else ""
            cells.append(f"{best.mean(name):.4f}{spread}")
        shown = dict(zip(self.columns, [*cells, score], strict=True))
        return Verdict(best.mean("auc"), shown, {"scores": figures}, protocol)


def choose_judge(
    graph: Graph,
    labels: Any,
    *,
    ratios: Sequence[float],
    repeats: int | None,
    C: float | Sequence[float] | Literal["cv"],
    seed: int,
    threads: int,
) -> Judge:
    """The judge for what is there: labels, or nothing but the graph."""
    if labels is not None:
        splits = 10 if repeats is None else repeats
        return LabelJudge(graph, as_labels(labels), tuple(ratios), splits, C=C, seed=seed, threads=threads)
    if graph.directed:
        raise InputError(
            f"{graph.source} was read as directed, and without labels methods are compared by links of an undirected "
            "graph; give labels, or read it without directed"
        )
    return LinkJudge(graph, 1 if repeats is None else repeats, seed=seed, threads=threads)


def fingerprint(*arrays: NDArray[Any] | None, names: Sequence[str]) -> str:
    """A few digits that differ where the input differs."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    for name in names:
        digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
