"""Saved embeddings, told from graphs where both are named by a path."""

from __future__ import annotations

import os
from pathlib import Path

from graphrefine.embedding.formats import arrow_files, folder, is_address, numpy_files

_OWN = (".safetensors", ".npy", ".vec", ".w2v", ".bin")  # suffixes that no graph has


def is_saved_embedding(path: str | os.PathLike[str]) -> bool:
    """Whether a path holds an embedding rather than a graph: by its suffix, or by its content where both have it.

    Tables in text (csv, txt) may be either, and are no embeddings here.

    Examples
    --------
    >>> is_saved_embedding("friends.safetensors"), is_saved_embedding("friends.csv")
    (True, False)
    """
    if is_address(path):
        return True
    place = Path(path)
    if place.is_dir():
        return folder.is_embedding(place)
    suffix = place.suffix.lower()
    if suffix in (".parquet", ".arrow", ".feather"):
        return place.is_file() and arrow_files.is_embedding(place)
    if suffix == ".npz":
        return place.is_file() and numpy_files.is_embedding(place)
    return suffix in _OWN
