"""Where names stand on a map: classes where they are densest, hubs that are not all in one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphrefine.maps.map import Map

APART = 0.06  # between hubs that are named, so that their names find room
CELLS = 64  # of the grid, along each axis
REACH = 0.09  # over which points count for the place of a name
STEPS = 5  # lines up or down that the name of a class may move

Place = tuple[float, float]


def densest(points: NDArray[np.float32]) -> Place:
    """Where most points lie together, over distances that a name covers: the middle of a cell of a grid over [-1, 1].

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


def hub_rows(drawn: Map, many: int) -> NDArray[np.int64]:
    """The nodes with the most neighbours, passing over those close to one that is named already."""
    if drawn.degrees is None or many < 1 or not len(drawn):
        return np.zeros(0, np.int64)
    chosen: list[int] = []
    for row in np.argsort(-np.asarray(drawn.degrees), kind="stable")[: 20 * many].tolist():
        apart = np.abs(drawn.coordinates[chosen] - drawn.coordinates[row]).max(axis=1) if chosen else np.ones(1)
        if drawn.degrees[row] > 0 and apart.min() > APART:
            chosen.append(row)
        if len(chosen) == many:
            break
    return np.array(chosen, np.int64)


def free_places(
    axes: Axes, texts: Sequence[str], wanted: Sequence[Place], *, size: int
) -> Iterator[tuple[str, Place, list[Place]]]:
    """Each text, where its middle can stand without covering one before it, and points all over its box."""
    figure: Any = axes.get_figure()
    figure.draw_without_rendering()  # so that the layout is settled
    back = axes.transData.inverted()
    taken: list[tuple[float, float, float, float]] = []
    for text, place in zip(texts, wanted, strict=True):
        trial = axes.text(0, 0, text, fontsize=size, fontweight="bold")
        extent = trial.get_window_extent(figure.canvas.get_renderer())
        trial.remove()
        width, height = extent.width / 2 + 2, extent.height / 2 + 1
        x, y = axes.transData.transform(place).tolist()
        left, _, right, _ = np.asarray(axes.get_window_extent().extents).tolist()
        x = min(max(x, left + width), right - width)
        lines = sorted(range(-STEPS, STEPS + 1), key=abs)
        boxes = [(x - width, y + 2 * n * height - height, x + width, y + 2 * n * height + height) for n in lines]
        box = min(boxes, key=lambda box: sum(_common(box, other) for other in taken))
        taken.append(box)
        across, up = np.meshgrid(np.linspace(box[0], box[2], 9), np.linspace(box[1], box[3], 3))
        over = back.transform(np.stack([across.ravel(), up.ravel()], axis=1)).tolist()
        middle = back.transform(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)).tolist()
        yield text, (middle[0], middle[1]), [(a, b) for a, b in over]


def _common(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    width, height = (min(one[at + 2], other[at + 2]) - max(one[at], other[at]) for at in (0, 1))
    return max(width, 0.0) * max(height, 0.0)
