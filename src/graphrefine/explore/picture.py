"""The map as an image, for browsers that cannot draw a million points.

As `graphrefine map` draws it, if matplotlib is installed. Without it, discs in colours that people can tell apart, by
NumPy alone.
"""

from __future__ import annotations

import struct
import zlib
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.explore.columns import NONE, CategoryColumn
from graphrefine.visuals.colours import LIGHT, rgb

SIZE = 1000  # pixels each way
MARGIN = 30
COLORS = np.array([rgb(colour) for colour in (*LIGHT.classes, LIGHT.other)], np.float64)  # the last: all else


class Picture(NamedTuple):
    """The map to draw."""

    names: NDArray[Any]  # (n,)
    coordinates: NDArray[np.float32]  # (n, 2), within [-1, 1]
    degrees: NDArray[np.float32] | None  # (n,)
    title: str

    def png(self, column: CategoryColumn | None) -> bytes:
        """The image, in the colours of a column."""
        if find_spec("matplotlib") is None:
            return plain_png(self.coordinates, None if column is None else column.codes)
        from graphrefine.maps.classes import Classes
        from graphrefine.maps.map import NAMES, Map
        from graphrefine.maps.picture import draw

        classes = None
        if column is not None:
            codes = np.where(column.codes == NONE, -1, column.codes.astype(np.int32))  # -1 is no uint16
            names, counts = ([each[key] for each in column.categories] for key in ("name", "count"))
            classes = Classes(tuple(names), codes, np.array(counts, np.int64))
        degrees = None if self.degrees is None else np.nan_to_num(self.degrees)
        return draw(Map(self.names, self.coordinates, classes, degrees, title=self.title), "png", names=NAMES)


def plain_png(coordinates: NDArray[np.float32], codes: NDArray[np.uint16] | None = None) -> bytes:
    """The image of points in [-1, 1], in the colours of their categories; the first ten have one of their own.

    Examples
    --------
    >>> plain_png(np.zeros((1, 2), np.float32))[1:4]
    b'PNG'
    """
    codes = np.zeros(len(coordinates), np.uint16) if codes is None else codes
    kinds = np.minimum(codes, len(COLORS) - 1).astype(np.int64)
    place = np.rint(MARGIN + (np.clip(coordinates, -1, 1) + 1) / 2 * (SIZE - 1 - 2 * MARGIN)).astype(np.int64)
    column, row = place[:, 0], SIZE - 1 - place[:, 1]  # y grows upwards
    counts = np.zeros((len(COLORS), SIZE, SIZE))
    for down, right in _disc(len(coordinates)):
        at = (kinds * SIZE + row + down) * SIZE + column + right
        counts += np.bincount(at, minlength=counts.size).reshape(counts.shape)
    total = counts.sum(axis=0)
    mixed = np.einsum("kij,kc->ijc", counts, COLORS) / np.maximum(total, 1)[..., None]
    ink = np.where(total > 0, 0.55 + 0.45 * (1 - 1 / np.maximum(total, 1)), 0)[..., None]  # the more, the stronger
    return _encode(np.rint(255 * (1 - ink) + mixed * ink).astype(np.uint8))


def _disc(points: int) -> list[tuple[int, int]]:
    """The pixels of a point, around its place: the fewer points, the more."""
    radius = 4 if points <= 5_000 else 2 if points <= 50_000 else 1 if points <= 500_000 else 0
    steps = range(-radius, radius + 1)
    return [(down, right) for down in steps for right in steps if down * down + right * right <= radius * radius + 1]


def _encode(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # each row: no filter
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    )
