"""k-means: every row is in the cluster of its nearest center, in and out of the sample."""

from __future__ import annotations

import numpy as np

from graphrefine.linalg.kmeans import find_clusters


def test_rows_go_to_the_nearest_center_and_not_to_the_longest() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal([0.9, 0, 0], 1.0, (300, 3))
    tight = rng.normal([0, 1, 0], 0.02, (300, 3))
    rows = np.concatenate([wide, tight]).astype(np.float32)  # the center of the wide group is much shorter
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    groups = find_clusters(rows, count=3, seed=0).groups
    centers = np.stack([unit[groups == group].mean(axis=0) for group in range(3)])
    assert np.ptp(np.linalg.norm(centers, axis=1)) > 0.2, "the control: centers of different lengths"
    distances = np.linalg.norm(unit[:, None] - centers, axis=2)
    np.testing.assert_array_equal(groups, distances.argmin(axis=1))
