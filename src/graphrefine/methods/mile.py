"""MILE (Liang, Gurukar and Parthasarathy, ICWSM 2021): coarsen, embed the coarsest graph, refine by graph convolution.

Equivalent nodes and heavy edges are merged (`coarsening.matched`), a few levels deep, and the base method embeds the
coarsest graph. From there to the given graph, level by level, the vectors ``E`` of the merged nodes are refined::

    H(X) = unit rows of tanh(L tanh(L X W1) W2),    X = the vectors of the nodes that each node was merged into

with ``L = D^-1/2 (A + lambda D) D^-1/2 / (1 + lambda)`` of the finer graph; A holds the weights inside merged nodes on
its diagonal, and D its row sums. ``W1`` and ``W2`` (k, k) are learned once, on the coarsest graph, where ``H(E)``
should be E: Adam minimizes ``|H(E) - E|^2 / n + decay (|W1|^2 + |W2|^2) / 2`` (the authors' values throughout).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, native
from graphrefine.linalg import unit_rows
from graphrefine.methods.coarsening import Level, hierarchy, matched
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.methods.multilevel import BaseSettings, hierarchy_memory
from graphrefine.refine.settings import setting

Layers = tuple[NDArray[Any], NDArray[Any]]  # W1 and W2, (k, k)
Smooth = Callable[[NDArray[Any]], NDArray[Any]]  # x -> L x
DECAY = 5e-4  # of the matrices
CALM = 50  # the training ends where the loss is above the mean of this many steps before it


@dataclass(frozen=True)
class Settings(BaseSettings):
    """Settings of MILE."""

    levels: int = setting(
        2, "Coarsenings, at most: a level of fewer nodes than dimensions is not made. Each halves the graph.",
        least=1, most=1000,
    )  # fmt: skip
    loop: float = setting(0.05, "Lambda, the weight of a node's own vector in the convolution.", least=0, most=1e6)
    rate: float = setting(0.001, "Learning rate of the training.", above=0, most=1000)
    steps: int = setting(200, "Steps of the training, at most.", least=1, most=1_000_000)


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by MILE."""
    base, inner = settings.base_method()
    with resources.stages.stage("coarsen"):
        strategy = partial(matched, most=5 * 2**settings.levels)  # the authors' limit: five times the average
        least = settings.dim + 1
        levels = hierarchy(graph, strategy, least=least, levels=settings.levels, threads=resources.threads)
    coarsest = levels[-1]
    base.check(coarsest.graph, inner)
    vectors = unit_rows(base.fit(coarsest.graph, inner, resources))
    if len(levels) == 1:
        return vectors
    with resources.stages.stage("train", steps=settings.steps):
        smooth = convolution(coarsest, loop=settings.loop, threads=resources.threads)
        layers = train(smooth, vectors, settings, resources.stages.advance)
    with resources.stages.stage("refine", steps=len(levels) - 1):
        for level in reversed(levels[:-1]):
            smooth = convolution(level, loop=settings.loop, threads=resources.threads)
            _, hidden = forward(smooth, smooth(vectors[level.groups]), layers)
            vectors = unit_rows(hidden[1])
            resources.stages.advance()
    return vectors


def convolution(level: Level, *, loop: float, threads: int) -> Smooth:
    """Return the product with ``L`` of a level, by the kernels."""
    graph, degrees = level.graph, level.degrees()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0).astype(np.float32)
    diagonal = np.divide(level.loops, degrees, out=np.zeros_like(degrees), where=degrees > 0) + loop
    product = native.Product(
        graph.indptr,
        graph.indices,
        columns=graph.nodes,
        value=graph.weights,
        row_scale=scale,
        column_scale=scale,
        constant=1.0 if graph.weights is None else 0.0,
    )

    def smooth(x: NDArray[Any]) -> NDArray[Any]:
        k = x.shape[1]
        padded = np.zeros((len(x), -(-k // PAD) * PAD), np.float32)
        padded[:, :k] = x
        out = np.empty_like(padded)
        product.apply(padded, out=out, threads=threads)
        out[:, :k] += diagonal.astype(np.float32)[:, None] * x
        return out[:, :k] / np.float32(1.0 + loop)

    return smooth


def forward(smooth: Smooth, smoothed: NDArray[Any], layers: Layers) -> tuple[NDArray[Any], Layers]:
    """Return the input of the second layer, and the outputs of both, from ``L X``."""
    first = np.tanh(smoothed @ layers[0])
    again = smooth(first)
    return again, (first, np.tanh(again @ layers[1]))


def loss_and_slopes(
    smooth: Smooth, smoothed: NDArray[Any], target: NDArray[Any], layers: Layers
) -> tuple[float, Layers]:
    """Return the loss of ``H`` against vectors of length 1, and its derivatives by both matrices."""
    again, (first, second) = forward(smooth, smoothed, layers)
    length = np.sqrt(np.square(second).sum(axis=1, keepdims=True))
    length[length == 0] = 1.0
    unit = second / length
    error = unit - target
    loss = np.square(error).sum() / len(target) + DECAY / 2 * sum(float(np.square(W).sum()) for W in layers)
    by_unit = error * (2.0 / len(target))
    by_second = (by_unit - unit * (unit * by_unit).sum(axis=1, keepdims=True)) / length
    by_second *= 1.0 - np.square(second)
    # L is symmetric, so the product backwards is the product itself.
    by_first = smooth(by_second @ layers[1].T) * (1.0 - np.square(first))
    slopes = smoothed.T @ by_first + DECAY * layers[0], again.T @ by_second + DECAY * layers[1]
    return float(loss), slopes


def train(smooth: Smooth, target: Floats, settings: Settings, advance: Callable[[], None]) -> Layers:
    """Learn the W1 and W2 for which ``H`` gives the vectors back, by Adam from Glorot's uniform start."""
    k = target.shape[1]
    draw = np.random.default_rng(settings.seed)
    layers = tuple(draw.uniform(-1, 1, (k, k)).astype(np.float32) * np.float32(np.sqrt(3.0 / k)) for _ in range(2))
    means, squares = [np.zeros((k, k), np.float32) for _ in layers], [np.zeros((k, k), np.float32) for _ in layers]
    smoothed, losses = smooth(target), list[float]()
    for step in range(1, settings.steps + 1):
        loss, slopes = loss_and_slopes(smooth, smoothed, target, (layers[0], layers[1]))
        # Adam's means begin at zero: without this factor the first steps would be far too short.
        rate = np.float32(settings.rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
        for W, slope, mean, square in zip(layers, slopes, means, squares, strict=True):
            mean += np.float32(0.1) * (slope - mean)
            square += np.float32(0.001) * (np.square(slope) - square)
            W -= rate * mean / (np.sqrt(square) + np.float32(1e-8))
        losses.append(loss)
        advance()
        if step > CALM + 1 and loss > np.mean(losses[-CALM - 1 : -1]):
            break
    return layers[0], layers[1]


def memory(shape: Shape, settings: Settings) -> int:
    """Return what the base holds on the coarsest graph, or what the refinement does: about six matrices n x k."""
    share = 2**-settings.levels
    coarsest = Shape(int(shape.nodes * share), shape.entries, weighted=True)  # entries hardly fall on dense graphs
    refinement = 6 * shape.nodes * settings.dim * 4
    base, inner = settings.base_method()
    return max(base.memory(coarsest, inner), refinement) + hierarchy_memory(shape)


MILE = Method(
    name="mile",
    reference="Liang, Gurukar and Parthasarathy, ICWSM 2021",
    summary="a base method on a coarsened graph, refined by a graph convolution",
    cost="the base's on 2^-levels of the graph, and m k + n k^2",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="six matrices n x k, or the base's on the coarsest graph",
    processor_dependence="dense products by BLAS, NumPy's hyperbolic tangents",
)
