"""Graphs to try things on: the paper's five, and generators of random ones.

>>> from graphrefine import datasets
>>> datasets.find("flickr").nodes
80513
>>> datasets.block_model(1000, 5000, classes=4)
Dataset('block-model': generated, 1,000 nodes, 5,000 edges, 4 classes)
"""

from __future__ import annotations

from graphrefine.datasets.catalog import DATASETS, Dataset, Entry, find
from graphrefine.datasets.generate import block_model, power_law
from graphrefine.datasets.loading import cache_folder, load, locate

__all__ = [
    "DATASETS",
    "Dataset",
    "Entry",
    "block_model",
    "cache_folder",
    "find",
    "load",
    "locate",
    "power_law",
]
