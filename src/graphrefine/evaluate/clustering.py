"""Node clustering: clusters of the vectors, found without labels, against the labels of the nodes.

k-means (`graphrefine.linalg.kmeans`) finds as many clusters of rows of length 1 as there are classes. Two numbers
measure how far clusters and classes are the same groups:

* NMI, normalized mutual information: ``2 I(clusters, classes) / (H(clusters) + H(classes))``, from 0 to 1.
* ARI, adjusted Rand index: part of the pairs of nodes on which both agree, scaled to 0 by chance and 1 at best.

Clusters do not overlap, so only nodes with exactly one label count. The scores of random unit vectors are the control.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.evaluate.classification import NamedVectors, random_control, split_names
from graphrefine.evaluate.results import ClusterScores
from graphrefine.linalg.kmeans import find_clusters
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import align, as_labels
from graphrefine.search.vectors import check_finite
from graphrefine.system.checks import check_integer

STARTS = 10
MOST = 100_000  # nodes that centers are found with

Ints = NDArray[np.int64]


def evaluate_clusters(
    embedding: NamedVectors | NDArray[Any],
    labels: Any,
    *,
    starts: int = STARTS,
    seed: int = 0,
    watcher: Watcher | None = None,
) -> ClusterScores:
    """Measure NMI and adjusted Rand index of clusters of the vectors and labels of the nodes.

    Parameters
    ----------
    embedding : Embedding, or ndarray (n, k)
        The rows of an array are the nodes 0 to n-1.
    labels
        Anything that `as_labels` takes. Nodes with no label or several are counted and left out.
    starts : int
        Starts of k-means; the lowest sum of squares counts.
    seed : int
        Seed of the starts, and of the random vectors.
    watcher : Watcher, optional
        Watcher of the stage "cluster", with a step for the vectors and one for the random control.

    Notes
    -----
    The scores depend on the names of the nodes, not on the order of the rows or the number of threads. Zero
    vectors are one more group. Centers are found with at most 100,000 nodes; every node is in a cluster.

    Examples
    --------
    Two directions, two classes:

    >>> vectors = np.array([[1, 0], [0, 1], [2, 0.1], [0.1, 3], [4, 0.1], [0.2, 5]])
    >>> scores = evaluate_clusters(vectors, ["a", "b"] * 3)
    >>> scores.nmi, scores.ari, scores.clusters
    (1.0, 1.0, 2)
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    check_integer("starts", starts, least=1)
    check_integer("seed", seed, least=0)
    vectors, names = split_names(embedding)
    labels = as_labels(labels, names=names)
    order, indicator, missing = align(labels, names, unlabeled="drop")
    is_single = np.diff(indicator.indptr) == 1
    single, column = order[is_single], indicator[is_single].indices
    classes = len(np.unique(column))
    if classes < 2:
        raise InputError(
            f"{labels.source}: clusters are compared with nodes that have one label, of at least 2 classes; "
            f"{len(single)} of the {len(order)} labeled nodes have one, of {classes}",
            argument="labels",
        )
    rows = vectors[single]
    check_finite(rows, names[single])
    # The control is clustered in the same way, as NMI by chance is above 0, and the higher the fewer nodes a class has.
    stages, stats = Stages(watcher), list[tuple[Ints, float, float]]()
    with stages.stage("cluster", steps=2):
        for each in (rows, random_control(len(rows), rows.shape[1], seed=seed)):
            groups = find_clusters(each, count=classes, seed=seed, starts=starts, sample=MOST).groups
            nmi = normalized_mutual_info_score(column, groups, average_method="arithmetic")
            stats.append((groups, float(nmi), float(adjusted_rand_score(column, groups))))
            stages.advance()
    (groups, nmi, ari), (_, control_nmi, control_ari) = stats
    return ClusterScores(
        nodes=len(single),
        classes=classes,
        clusters=int(groups.max()) + 1,
        sampled_nodes=min(len(single), MOST),
        zero_nodes=int((groups < 0).sum()),
        several_nodes=len(order) - len(single),
        unlabeled_nodes=len(names) - len(order),
        missing_nodes=missing,
        starts=starts,
        seed=seed,
        nmi=nmi,
        ari=ari,
        control_nmi=control_nmi,
        control_ari=control_ari,
        source=labels.source,
        reading=labels.describe(names),
    )
