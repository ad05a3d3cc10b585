"""Evaluation of embeddings: by labels, clusters, links, reconstruction; comparison of methods, search of settings."""

from __future__ import annotations

from graphrefine.evaluate.classification import evaluate_labels, random_control
from graphrefine.evaluate.clustering import evaluate_clusters
from graphrefine.evaluate.links import evaluate_links
from graphrefine.evaluate.reconstruction import evaluate_reconstruction
from graphrefine.evaluate.results import (
    ClusterScores,
    LabelScores,
    LinkScores,
    RatioScores,
    Reconstruction,
    ScoreStats,
)
from graphrefine.readers.labels import Labels, as_labels, read_labels

__all__ = [
    "ClusterScores",
    "LabelScores",
    "Labels",
    "LinkScores",
    "RatioScores",
    "Reconstruction",
    "ScoreStats",
    "as_labels",
    "evaluate_clusters",
    "evaluate_labels",
    "evaluate_links",
    "evaluate_reconstruction",
    "random_control",
    "read_labels",
]
