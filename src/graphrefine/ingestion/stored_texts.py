"""Texts on disk as a sequence: the names of a graph that is being made, of which a few are in memory at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_ids import unpack
from graphrefine.graph.stored_writer import map_file


class StoredTexts(Sequence[str]):
    """Texts that are unpacked when they are asked for.

    Examples
    --------
    >>> texts = StoredTexts(np.frombuffer(b"adabobcleo", np.uint8), np.array([0, 3, 6, 10]))
    >>> len(texts), texts[2], texts[1:9]
    (3, 'cleo', ['bob', 'cleo'])
    """

    def __init__(self, text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._text, self._offsets = text, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: Any) -> Any:
        """A text by its place, or a list of those of a slice without steps."""
        if not isinstance(place, slice):
            return self[place : place + 1][0]
        offsets = self._offsets[place.start : place.stop + 1]
        if len(offsets) < 2:
            return []
        return unpack(self._text[offsets[0] : offsets[-1]], offsets - offsets[0]).tolist()


def open_texts(folder: Path, sources: int | None) -> list[StoredTexts]:
    """The names in the folder of a graph; of a bipartite one, those of each side."""
    text, offsets = map_file(folder / "names.npy"), map_file(folder / "offsets.npy")
    bounds = [0, len(offsets) - 1] if sources is None else [0, sources, len(offsets) - 1]
    return [StoredTexts(text, offsets[start : stop + 1]) for start, stop in pairwise(bounds)]
