"""Places of names on a map: classes where they are densest, hubs that are not all in one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.maps.points import MapPoints
from graphrefine.visuals.plots import Box, measure_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

APART = 0.06  # between hubs that are named, so that their names find room
CELLS = 64  # of the grid, along each axis
REACH = 0.09  # over which points count for the place of a name
STEPS = 5  # lines up or down that the name of a class may move

Place = tuple[float, float]


def densest(points: NDArray[np.float32]) -> Place:
    """The densest place, over distances that a name covers: the middle of a cell of a grid over [-1, 1].

    Examples
    --------
    >>> x, y = densest(np.array([[0.5, 0.5], [0.5, 0.52], [-1, -1]], np.float32))
    >>> abs(x - 0.5) < 0.05 and abs(y - 0.51) < 0.05
    True
    """
    from scipy.ndimage import gaussian_filter

    at = np.clip(((points + 1) / 2 * CELLS).astype(np.int64), 0, CELLS - 1)
    counts = np.bincount(at[:, 1] * CELLS + at[:, 0], minlength=CELLS**2).reshape(CELLS, CELLS)
    smooth = gaussian_filter(counts.astype(np.float64), REACH * CELLS / 2, mode="constant")
    row, column = divmod(int(smooth.argmax()), CELLS)
    return (column + 0.5) / CELLS * 2 - 1, (row + 0.5) / CELLS * 2 - 1


def hub_rows(node_map: MapPoints, count: int) -> NDArray[np.int64]:
    """The nodes with the most neighbours, passing over those close to one before them."""
    degrees, coordinates = node_map.degrees, node_map.coordinates
    if degrees is None or count < 1 or not len(node_map):
        return np.zeros(0, np.int64)
    hubs: list[int] = []
    for row in np.argsort(-np.asarray(degrees), kind="stable")[: 20 * count].tolist():
        distances = np.abs(coordinates[hubs] - coordinates[row]).max(axis=1) if hubs else np.ones(1)
        if degrees[row] > 0 and distances.min() > APART:
            hubs.append(row)
        if len(hubs) == count:
            break
    return np.array(hubs, np.int64)


def free_places(
    axes: Axes, texts: Sequence[str], places: Sequence[Place], *, size: int
) -> Iterator[tuple[str, Place, list[Place]]]:
    """Each text, its middle near its place and clear of the texts before it, and points all over its box."""
    figure: Any = axes.get_figure()
    figure.draw_without_rendering()  # so that the layout is settled
    back = axes.transData.inverted()
    earlier: list[Box] = []
    for text, place in zip(texts, places, strict=True):
        width, height = measure_text(axes, text, fontsize=size, fontweight="bold")
        width, height = width / 2 + 2, height / 2 + 1
        x, y = axes.transData.transform(place).tolist()
        left, _, right, _ = np.asarray(axes.get_window_extent().extents).tolist()
        x = min(max(x, left + width), right - width)
        lines = sorted(range(-STEPS, STEPS + 1), key=abs)
        boxes = [Box(x - width, y + 2 * n * height - height, x + width, y + 2 * n * height + height) for n in lines]
        box = min(boxes, key=lambda box: sum(box.overlap(other) for other in earlier))
        earlier.append(box)
        across, up = np.meshgrid(np.linspace(box.left, box.right, 9), np.linspace(box.bottom, box.top, 3))
        over = back.transform(np.stack([across.ravel(), up.ravel()], axis=1)).tolist()
        middle = back.transform(((box.left + box.right) / 2, (box.bottom + box.top) / 2)).tolist()
        yield text, (middle[0], middle[1]), [(a, b) for a, b in over]
