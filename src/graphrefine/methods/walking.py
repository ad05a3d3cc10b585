"""DeepWalk and node2vec: skip-gram on random walks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import sampling
from graphrefine.kernels.twin import mixed
from graphrefine.methods.contract import Floats, Method, Run
from graphrefine.methods.skipgram import (
    CHUNK,
    LOWEST,
    SkipGramSettings,
    memory,
    noise_table,
    parts_of,
    steps_of,
    tables,
)
from graphrefine.settings import check_integer, check_number

if TYPE_CHECKING:
    from graphrefine.graph import Graph


@dataclass(frozen=True)
class WalkSettings(SkipGramSettings):
    """Settings of DeepWalk."""

    walks: int = 80
    length: int = 40
    window: int = 10
    epochs: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("walks", self.walks, least=1)
        check_integer("length", self.length, least=2)
        check_integer("window", self.window, least=1)
        check_integer("epochs", self.epochs, least=1)


@dataclass(frozen=True)
class Node2VecSettings(WalkSettings):
    """Settings of node2vec."""

    walks: int = 10
    length: int = 80
    p: float = 1.0
    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("p", self.p, least=0.001, most=1000.0)
        check_number("q", self.q, least=0.001, most=1000.0)


def fit(graph: Graph, chosen: WalkSettings, run: Run, vectors: Floats | None = None) -> Floats:
    """The vectors by skip-gram on walks, from random or given ones."""
    steps, starts = steps_of(graph), np.flatnonzero(graph.out_counts).astype(np.int32)
    if not len(starts):
        return np.zeros((graph.nodes, chosen.dim), np.float32)
    p, q = (chosen.p, chosen.q) if isinstance(chosen, Node2VecSettings) else (1.0, 1.0)

    def walks(round: int, begin: int, end: int) -> NDArray[np.int32]:
        return sampling.random_walks(
            steps,
            in_order(starts, chosen.seed, round)[begin:end],
            length=chosen.length,
            seed=chosen.seed,
            round=round,
            p=p,
            q=q,
            threads=run.threads,
        )

    pieces = list(_pieces(len(starts), chosen))
    with run.stages.stage("counting", steps=len(pieces)):
        counts = np.zeros(graph.nodes)
        for begin, end in pieces:
            counts += np.bincount(walks(0, begin, end).ravel() + 1, minlength=graph.nodes + 1)[1:]
            run.stages.advance()
        model = sampling.skip_gram(
            noise_table(counts),
            window=chosen.window,
            negatives=chosen.negatives,
            both=True,
            seed=chosen.seed,
            parts=parts_of(graph.nodes),
        )
    centers, contexts = tables(graph.nodes, chosen, vectors)
    done, total = 0, chosen.epochs * chosen.walks * len(starts)
    with run.stages.stage("training", steps=chosen.epochs * chosen.walks * len(pieces)):
        for _ in range(chosen.epochs):
            for round in range(chosen.walks):
                for begin, end in pieces:
                    chunk = walks(round, begin, end)
                    rate, last = (chosen.rate * max(LOWEST, 1 - at / total) for at in (done, done + len(chunk)))
                    model.train(centers, contexts, chunk, first=done, rate=rate, last_rate=last, threads=run.threads)
                    done += len(chunk)
                    run.stages.advance()
    return np.ascontiguousarray(centers[:, : chosen.dim])


def _pieces(starts: int, chosen: WalkSettings) -> Iterator[tuple[int, int]]:
    size = max(16, CHUNK // (chosen.length * (chosen.window + 1) * (chosen.negatives + 1)))
    for begin in range(0, starts, size):
        yield begin, min(starts, begin + size)


def in_order(starts: NDArray[np.int32], seed: int, round: int) -> NDArray[np.int32]:
    """The starts in an order that differs from round to round."""
    count = len(starts)
    factor, shift = (
        int(word) % count for word in mixed(np.array([2 * round, 2 * round + 1], np.uint64) + np.uint64(seed))
    )
    while math.gcd(factor, count) > 1:
        factor += 1
    return starts[(factor * np.arange(count) + shift) % count]


DEEPWALK = Method(
    name="deepwalk",
    reference="Perozzi, Al-Rfou and Skiena, KDD 2014",
    summary="skip-gram with negative sampling on random walks",
    cost="walks length window negatives n k",
    settings=WalkSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    resume=fit,
)
NODE2VEC = Method(
    name="node2vec",
    reference="Grover and Leskovec, KDD 2016",
    summary="DeepWalk whose walks prefer to stay near or to go far",
    cost="walks length window negatives n k",
    settings=Node2VecSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    resume=fit,
)
