"""The map as an image, for browsers that cannot draw a million points.

As `graphrefine map` draws it, if matplotlib is installed. Without it, discs in colors that people can tell apart, by
NumPy alone.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import LIGHT
from graphrefine.display.maps.picture import EXTENT, NAMES, draw, shade
from graphrefine.display.maps.points import MapPoints
from graphrefine.display.plots import can_draw

SIZE = 1000  # pixels each way
MARGIN = 30
COLORS = [*LIGHT.classes, LIGHT.other]  # of classes; the last is for all else


def draw_png(points: MapPoints) -> bytes:
    """The image of a map."""
    if can_draw():
        return draw(points, "png", names=NAMES)
    return plain_png(points.coordinates, None if points.classes is None else points.classes.codes)


def plain_png(coordinates: NDArray[np.float32], codes: NDArray[np.int32] | None = None) -> bytes:
    """The image of points in [-1, 1], in the colors of their classes; the first ten have one of their own.

    Examples
    --------
    >>> plain_png(np.zeros((1, 2), np.float32))[1:4]
    b'PNG'
    """
    codes = np.zeros(len(coordinates), np.int32) if codes is None else codes
    kinds = np.where((codes < 0) | (codes >= len(COLORS)), len(COLORS) - 1, codes)
    pixel = 2 * EXTENT / SIZE
    disc = _disc(len(coordinates)) * pixel
    spots = (coordinates * (EXTENT - MARGIN * pixel))[:, None] + disc  # (n, pixels of a point, 2)
    image = shade(spots.reshape(-1, 2), np.repeat(kinds, len(disc)), COLORS, SIZE)[::-1]  # y grows upwards
    color, ink = image[..., :3], image[..., 3:]
    return _encode(np.rint(255 * (1 - ink + color * ink)).astype(np.uint8))


def _disc(points: int) -> NDArray[np.int64]:
    """The pixels of a point, around its place: the fewer points, the more.  # (pixels, 2)."""
    radius = 4 if points <= 5_000 else 2 if points <= 50_000 else 1 if points <= 500_000 else 0
    steps = range(-radius, radius + 1)
    return np.array([(right, up) for up in steps for right in steps if up * up + right * right <= radius * radius + 1])


def _encode(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # each row: no filter
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    )
