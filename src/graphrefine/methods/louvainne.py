"""LouvainNE (Bhowmick, Meneni, Danisch, Guillaume and Mitra, WSDM 2020): a tree of communities, and random vectors.

Louvain's method divides the graph, then each community, then each community of those, until none divides further. A
community at depth h has a random vector, uniform in (-1, 1), weighted by ``decay**h``, and so has a node below the leaf
of the tree that holds it. A node's vector is the sum of those on its way down from the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.methods.coarsening import communities
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.refine.settings import MethodSettings, setting

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from graphrefine.graph.graph import Graph

PARTITIONS = {"first": 1, "last": -1}  # how often Louvain aggregates


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of LouvainNE."""

    # The authors' value. A linear classifier then sees little but the first depth, unless it is hardly regularized; at
    # 0.5 it sees several.
    decay: float = setting(
        0.01, "Weight of a community against the one it is a part of; the authors' alpha.", above=0, most=1
    )
    partition: str = setting(
        "last",
        "Partition of Louvain that divides a community: the last, of the highest modularity, or the first, of small "
        "communities, before any are merged.",
        choices=PARTITIONS,
    )


class Depth(NamedTuple):
    """What happens at one depth of the tree."""

    nodes: NDArray[np.int64]  # those whose community divides
    communities: NDArray[np.int64]  # the part of it that each goes to, numbered from 0
    leaves: NDArray[np.int64]  # the nodes whose community does not divide


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by LouvainNE."""
    draw = np.random.default_rng(settings.seed)
    vectors = np.zeros((graph.nodes, settings.dim), np.float32)
    with resources.stages.stage("communities"):
        for depth, level in enumerate(tree(graph.to_scipy(), PARTITIONS[settings.partition])):
            weight = np.float32(settings.decay**depth)
            for nodes, groups in ((level.nodes, level.communities), (level.leaves, np.arange(len(level.leaves)))):
                size = (int(groups.max(initial=-1)) + 1, settings.dim)
                vectors[nodes] += weight * (2 * draw.random(size, np.float32) - 1)[groups]
    return vectors


def tree(adjacency: csr_array, aggregations: int) -> Iterator[Depth]:
    """Return the tree of communities, depth by depth.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> two_triangles = Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> for depth in tree(two_triangles.to_scipy(), -1):
    ...     print(depth.communities.tolist(), depth.leaves.tolist())
    [0, 0, 0, 1, 1, 1] []
    [] [0, 1, 2, 3, 4, 5]
    """
    # Each depth is one call for all communities at once: a tree takes a few passes over the edges, where a call for
    # each community would take as many as there are communities. igraph's Louvain has a license (GPL) and a global
    # random state that are of no use here.
    nodes = np.arange(adjacency.shape[0])
    parts = np.zeros(len(nodes), np.int64)  # of each node that is left
    while len(nodes):
        members = communities(adjacency, parts, aggregations=aggregations)
        _, numbers, sizes = np.unique(members, return_inverse=True, return_counts=True)
        within = np.bincount(parts)[parts]  # nodes in the part of each
        has_edges = np.bincount(parts, np.diff(adjacency.indptr))[parts] > 0
        divided = (sizes[numbers] < within) & has_edges
        remaining = np.unique(numbers[divided], return_inverse=True)[1]
        yield Depth(nodes[divided], remaining, nodes[~divided])
        adjacency = _inside(adjacency, numbers, divided)
        nodes, parts = nodes[divided], remaining


def _inside(adjacency: csr_array, groups: NDArray[np.int64], remaining: NDArray[np.bool_]) -> csr_array:
    """Return the rows and columns of some nodes, without the edges between groups."""
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(len(groups)), np.diff(adjacency.indptr))
    weights = np.where(groups[row] == groups[adjacency.indices], adjacency.data, 0)
    within = csr_array((weights, adjacency.indices.copy(), adjacency.indptr.copy()), shape=adjacency.shape)
    within.eliminate_zeros()
    return within[remaining][:, remaining]


def memory(shape: Shape, settings: Settings) -> int:
    """Return the vectors and those of a depth, and Louvain's copies of the graph, in float64."""
    return 3 * shape.nodes * settings.dim * 4 + shape.entries * 80 + shape.nodes * 160


LOUVAINNE = Method(
    name="louvainne",
    reference="Bhowmick et al., WSDM 2020",
    summary="random vectors of communities, communities of communities, and so on",
    cost="a few times m, and n k",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="three matrices n x k, copies of the graph",
    processor_dependence="scikit-network's Louvain",
    libraries=("scikit-network",),
)
