"""A map as an image, for browsers that cannot draw a million points: discs in colours that people can tell apart.

It needs nothing beyond NumPy, and takes a moment whatever the number of points.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIZE = 1000  # pixels each way
MARGIN = 30
# Okabe and Ito's colours, which colour-blind people tell apart too; the last is for all else.
COLOURS = np.array(
    [
        *((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66)),
        (153, 153, 153),
    ],
    np.float64,
)


def png(coordinates: NDArray[np.float32], codes: NDArray[np.uint16] | None = None) -> bytes:
    """The image of points in [-1, 1], in the colours of their categories; the first seven have one of their own.

    Examples
    --------
    >>> png(np.zeros((1, 2), np.float32))[1:4]
    b'PNG'
    """
    kinds = (
        np.zeros(len(coordinates), np.int64) if codes is None else np.minimum(codes, len(COLOURS) - 1).astype(np.int64)
    )
    place = np.rint(MARGIN + (np.clip(coordinates, -1, 1) + 1) / 2 * (SIZE - 1 - 2 * MARGIN)).astype(np.int64)
    column, row = place[:, 0], SIZE - 1 - place[:, 1]  # y grows upwards
    counts = np.zeros((len(COLOURS), SIZE, SIZE))
    for down, right in _disc(len(coordinates)):
        at = (kinds * SIZE + row + down) * SIZE + column + right
        counts += np.bincount(at, minlength=counts.size).reshape(counts.shape)
    total = counts.sum(axis=0)
    mixed = np.einsum("kij,kc->ijc", counts, COLOURS) / np.maximum(total, 1)[..., None]
    ink = np.where(total > 0, 0.55 + 0.45 * (1 - 1 / np.maximum(total, 1)), 0)[..., None]  # the more, the stronger
    return _encoded(np.rint(255 * (1 - ink) + mixed * ink).astype(np.uint8))


def _disc(points: int) -> list[tuple[int, int]]:
    """The pixels of a point, around its place: the fewer points, the more."""
    radius = 4 if points <= 5_000 else 2 if points <= 50_000 else 1 if points <= 500_000 else 0
    steps = range(-radius, radius + 1)
    return [(down, right) for down in steps for right in steps if down * down + right * right <= radius * radius + 1]


def _encoded(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # each row: no filter
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    )
