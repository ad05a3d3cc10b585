"""A map as a picture: points by class, the name of each class where it is densest, the names of hubs.

Up to `SHADED` points each is a dot. Of more, pixels are shaded by how many lie there, on a logarithmic scale, in the
mean color of their classes. Every class has its name on the map, as no ten colors can be told apart safely by all;
the legend has its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import THEMES, Theme, rgb
from graphrefine.display.html import shorten
from graphrefine.display.maps.points import OTHER, Classes, MapPoints
from graphrefine.display.plots import Box, encode, figure_style, label_points, measure_text, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = 12  # of hubs, the nodes with the most neighbors, on the map
INCHES = 7.0
SHADED = 60_000
EXTENT = 1.02  # of the shaded picture, to either side of the middle
PIXELS = 1000  # of the shaded picture, along each axis
LONGEST = 26  # letters of a class or a node
APART = 0.06  # between hubs that are named, so that their names find room
CELLS = 64  # of the grid, along each axis
REACH = 0.09  # over which points count for the position of a name
STEPS = 5  # lines up or down that the name of a class may move

Position = tuple[float, float]


def draw(node_map: MapPoints, format: str, *, names: int, dark: bool = False) -> bytes:
    """Draw a map as png or svg: the same bytes for the same map."""
    theme = THEMES["dark" if dark else "light"]
    classes = None if node_map.classes is None else node_map.classes.most_frequent(len(theme.classes) + 1)
    with figure_style({"font.size": 9, "text.color": theme.ink, "savefig.facecolor": theme.paper}):
        legend = classes is not None and len(classes.names) > 0
        figure, axes = new_figure((INCHES + (1.9 if legend else 0), INCHES), dpi=140)
        axes.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04), aspect="equal", facecolor=theme.paper)
        axes.set_axis_off()
        axes.set_title(plain(shorten(node_map.title, 80)), loc="left", fontsize=11, fontweight="bold")
        _draw_points(axes, node_map, classes, theme)
        if classes is not None and legend:
            _draw_legend(axes, classes, theme)
        _write_names(axes, node_map, classes, hubs=names, theme=theme)
        return encode(figure, format)


def _colors(classes: Classes | None, theme: Theme) -> list[str]:
    """Return the color of each class, and that of points without one at the end."""
    if classes is None:
        return [theme.single]
    beyond = max(len(classes.names) - len(theme.classes), 0)
    return [*theme.classes[: len(classes.names)], *[theme.other] * (beyond + 1)]


def _codes(node_map: MapPoints, classes: Classes | None) -> NDArray[np.int32]:
    """Return the position of each point's color among `_colors`."""
    if classes is None:
        return np.zeros(len(node_map), np.int32)
    return np.where(classes.codes < 0, np.int32(len(classes.names)), classes.codes)


def _draw_points(axes: Axes, node_map: MapPoints, classes: Classes | None, theme: Theme) -> None:
    codes, colors = _codes(node_map, classes), _colors(classes, theme)
    if len(node_map) > SHADED:
        image = shade(node_map.coordinates, codes, colors, PIXELS)
        axes.imshow(
            image, extent=(-EXTENT, EXTENT, -EXTENT, EXTENT), origin="lower", interpolation="antialiased", zorder=1
        )
        return
    size = float(np.clip(30_000 / max(len(node_map), 1), 1.4, 26))
    order = _drawing_order(codes, without=len(colors) - 1)
    points = node_map.coordinates[order]
    axes.scatter(
        points[:, 0], points[:, 1], s=size, c=np.asarray(colors)[codes[order]], linewidths=0,
        alpha=0.85 if len(node_map) < 5000 else 0.65, rasterized=len(node_map) > 2000, zorder=1,
    )  # fmt: skip


def _drawing_order(codes: NDArray[np.int32], *, without: int) -> NDArray[np.int64]:
    """Order points: those without a class first, below the others, which are mixed so that no class hides another."""
    order = np.random.default_rng(0).permutation(len(codes))
    return order[np.argsort(codes[order] != without, kind="stable")]


def shade(points: NDArray[np.float32], codes: NDArray[np.int32], colors: list[str], pixels: int) -> NDArray[np.float64]:
    """Draw pixels in the mean color of their points; the more points, the more opaque.  # (pixels, pixels, 4)."""
    across, up = ((points[:, axis] + EXTENT) / (2 * EXTENT) * pixels for axis in (0, 1))
    at = np.clip(up.astype(np.int64), 0, pixels - 1) * pixels + np.clip(across.astype(np.int64), 0, pixels - 1)
    values = (np.array([rgb(color) for color in colors]) / 255)[codes]
    counts = np.bincount(at, minlength=pixels**2).astype(np.float64)
    image = np.zeros((pixels**2, 4))
    for channel in range(3):
        image[:, channel] = np.bincount(at, values[:, channel], minlength=pixels**2) / np.maximum(counts, 1)
    usual = max(float(np.quantile(counts[counts > 0], 0.98)), 2.0) if len(points) else 2.0
    image[:, 3] = np.where(counts > 0, np.clip(0.35 + 0.65 * np.log1p(counts) / np.log1p(usual), 0, 1), 0)
    return image.reshape(pixels, pixels, 4)


def _draw_legend(axes: Axes, classes: Classes, theme: Theme) -> None:
    from matplotlib.lines import Line2D

    missing = int((classes.codes < 0).sum())
    rows = [*zip(classes.names, classes.counts, _colors(classes, theme), strict=False)]
    rows += [("no label", missing, theme.other)] * bool(missing)
    entries = []
    for name, count, color in rows:
        text = f"{plain(shorten(name, LONGEST))}  {count:,}"
        entries.append(Line2D([], [], color=color, marker="o", linestyle="", markersize=7, label=text))
    axes.legend(handles=entries, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handletextpad=0.3)


def _write_names(axes: Axes, node_map: MapPoints, classes: Classes | None, *, hubs: int, theme: Theme) -> None:
    """Write the names of classes where they are densest, and of hubs next to their points, all clear of each other."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3, foreground=theme.paper)]
    name_points: list[tuple[float, float]] = []
    if classes is not None:
        codes = [code for code, name in enumerate(classes.names) if name != OTHER or code < len(classes.names) - 1]
        texts = [plain(shorten(classes.names[code], LONGEST)) for code in codes]
        centers = [densest(node_map.coordinates[classes.codes == code]) for code in codes]
        for text, (x, y), box in arrange_texts(axes, texts, centers, size=11):
            axes.text(
                x, y, text, fontsize=11, fontweight="bold", color=theme.ink, ha="center", va="center", zorder=4,
                path_effects=halo,
            ).set_in_layout(False)  # fmt: skip
            name_points += box
    rows = hub_rows(node_map, hubs)
    if len(rows):
        before = len(axes.texts)
        x, y = node_map.coordinates[rows].T
        texts = [shorten(node_map.names[row], LONGEST) for row in rows]
        axes.scatter(x, y, s=14, facecolors="none", edgecolors=theme.ink, linewidths=0.8, zorder=3)
        label_points(axes, x.tolist(), y.tolist(), texts, clear_of=name_points)
        for label in axes.texts[before:]:
            label.set(color=theme.ink, path_effects=halo, zorder=5)


def densest(points: NDArray[np.float32]) -> Position:
    """Return the densest position, over distances that a name covers: the middle of a cell of a grid over [-1, 1].

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
    """Return the nodes with the most neighbors, passing over those close to one before them."""
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


def arrange_texts(
    axes: Axes, texts: Sequence[str], positions: Sequence[Position], *, size: int
) -> Iterator[tuple[str, Position, list[Position]]]:
    """Yield each text, its middle near its position and clear of the texts before it, and points all over its box."""
    figure: Any = axes.get_figure()
    figure.draw_without_rendering()  # so that the layout is settled
    back = axes.transData.inverted()
    earlier: list[Box] = []
    for text, position in zip(texts, positions, strict=True):
        width, height = measure_text(axes, text, fontsize=size, fontweight="bold")
        width, height = width / 2 + 2, height / 2 + 1
        x, y = axes.transData.transform(position).tolist()
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
