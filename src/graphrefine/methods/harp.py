"""HARP (Chen, Perozzi, Hu and Skiena, AAAI 2018): coarsen, embed the coarsest graph, then prolong and refine.

Stars and edges are collapsed (`coarsening.hybrid_collapse`) until about 100 nodes are left. The base method embeds
that graph; each node of the next finer graph starts with the vector of the node it was merged into, and the base goes
on from there, graph by graph, up to the given one.

A base that can resume (`Method.resume`: those trained by skip-gram) does as published. Any other embeds each graph
from the start; then the prolonged vectors P are averaged with the fresh ones F: ``E = (F + c P Q) / 2``, where the
orthogonal ``Q`` minimizes ``|P Q - F|``, and c makes the lengths equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphrefine.graph.graph import Graph
from graphrefine.methods.coarsening import hierarchy, hybrid_collapse
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.methods.multilevel import BaseSettings, hierarchy_memory
from graphrefine.refine.settings import setting

# Each level costs a run of the base: one that keeps more of the nodes than this is not worth it, and ends the
# coarsening.
SHRINK = 0.9
ROWS = 65536  # rows whose products are summed in float64 at a time


@dataclass(frozen=True)
class Settings(BaseSettings):
    """Settings of HARP.

    Walks of the base are those of HARP's paper, 40 of length 10 from each node, where ``base_settings`` does not say
    otherwise: the base runs on every level.
    """

    coarsest: int = setting(100, "Graphs of more nodes than this are coarsened further.", least=2, most=2**31 - 1)

    def base_defaults(self) -> Mapping[str, Any]:
        """HARP's paper has its bases walk less than they do alone."""
        return {"walks": 40, "length": 10} if self.base in ("deepwalk", "node2vec") else {}


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by HARP."""
    base, inner = settings.base_method()
    base.check(graph, inner)
    with resources.stages.stage("coarsen"):
        least = 2 if base.resume else max(2, settings.dim)  # only a base that resumes takes more dimensions than nodes
        levels = hierarchy(
            graph, hybrid_collapse, enough=settings.coarsest, least=least, shrink=SHRINK, threads=resources.threads
        )
    vectors = base.fit(levels[-1].graph, inner, resources)
    for level in reversed(levels[:-1]):
        prolonged = vectors[level.groups]
        if base.resume:
            vectors = base.resume(level.graph, inner, resources, prolonged)
        else:
            vectors = blend(base.fit(level.graph, inner, resources), prolonged)
    return vectors


def blend(fresh: Floats, prolonged: Floats) -> Floats:
    """Return the mean of fresh vectors and of prolonged ones, turned and scaled to fit them.

    Examples
    --------
    >>> square = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.float32)
    >>> quarter_turn = np.array([[0, 1], [-1, 0]], np.float32)
    >>> bool(np.allclose(blend(square, 3 * square @ quarter_turn), square))
    True
    """
    k = fresh.shape[1]
    crossed, lengths = np.zeros((k, k)), np.zeros(2)
    for start in range(0, len(fresh), ROWS):
        mine, theirs = (x[start : start + ROWS].astype(np.float64) for x in (prolonged, fresh))
        crossed += mine.T @ theirs
        lengths += np.square(mine).sum(), np.square(theirs).sum()
    # Two runs of a method agree but for a rotation: without the best orthogonal matrix (Procrustes) the mean of both
    # would be a mean of unrelated columns. Lengths differ from level to level too.
    left, _, right = np.linalg.svd(crossed)
    scale = np.sqrt(lengths[1] / lengths[0]) if lengths[0] > 0 else 0.0
    mean: Floats = 0.5 * fresh + prolonged @ (0.5 * scale * left @ right).astype(np.float32)
    return mean


def memory(shape: Shape, settings: Settings) -> int:
    """Return what the base holds, the vectors it starts from, and the coarser graphs."""
    base, inner = settings.base_method()
    return base.memory(shape, inner) + 3 * shape.nodes * settings.dim * 4 + hierarchy_memory(shape)


HARP = Method(
    name="harp",
    reference="Chen, Perozzi, Hu and Skiena, AAAI 2018",
    summary="a base method on coarser and coarser graphs, from the coarsest back",
    cost="about 2 to 4 times the base's",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="the base method's",
    processor_dependence="dense products by BLAS, LAPACK",
)
