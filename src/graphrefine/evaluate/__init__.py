"""Evaluation of embeddings: by labels, by links, by reconstruction; comparison of methods, search of settings."""

from __future__ import annotations

from graphrefine.evaluate.classification import evaluate_labels, random_control
from graphrefine.evaluate.links import evaluate_links
from graphrefine.evaluate.reconstruction import evaluate_reconstruction
from graphrefine.evaluate.results import LabelScores, LinkScores, RatioScores, Reconstruction, ScoreFigures
from graphrefine.readers.labels import Labels, as_labels, read_labels

__all__ = [
    "LabelScores",
    "Labels",
    "LinkScores",
    "RatioScores",
    "Reconstruction",
    "ScoreFigures",
    "as_labels",
    "evaluate_labels",
    "evaluate_links",
    "evaluate_reconstruction",
    "random_control",
    "read_labels",
]
