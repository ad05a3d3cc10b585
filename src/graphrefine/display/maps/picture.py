"""A map as a picture: points by class, the name of each class in its middle, the names of hubs.

Every class has its name on the map, as no ten colors can be told apart safely by all; the legend has its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import THEMES, Theme
from graphrefine.display.html import shorten
from graphrefine.display.maps.points import OTHER, Classes
from graphrefine.display.plots import encode, figure_style, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphrefine.display.maps.map import Map

NAMES = 12  # of hubs, the nodes with the most neighbors, on the map
INCHES = 7.0
LONGEST = 26  # letters of a class or a node
APART = 0.06  # between hubs that are named, so that their names find room


def draw(node_map: Map, format: str, *, names: int, dark: bool = False) -> bytes:
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


def _codes(node_map: Map, classes: Classes | None) -> NDArray[np.int32]:
    """Return the position of each point's color among `_colors`."""
    if classes is None:
        return np.zeros(len(node_map), np.int32)
    return np.where(classes.codes < 0, np.int32(len(classes.names)), classes.codes)


def _draw_points(axes: Axes, node_map: Map, classes: Classes | None, theme: Theme) -> None:
    codes, colors = _codes(node_map, classes), _colors(classes, theme)
    # Points are smaller and fainter the more there are: where they lie on each other, shades show how many.
    size = float(np.clip(30_000 / max(len(node_map), 1), 0.3, 26))
    alpha = float(np.clip(5_000 / max(len(node_map), 1), 0.2, 0.85))
    order = _drawing_order(codes, without=len(colors) - 1)
    points = node_map.coordinates[order]
    # Rasterized in an svg beyond a few thousand: one element for each point would make files that no viewer opens.
    axes.scatter(
        points[:, 0], points[:, 1], s=size, c=np.asarray(colors)[codes[order]], linewidths=0, alpha=alpha,
        rasterized=len(node_map) > 2000, zorder=1,
    )  # fmt: skip


def _drawing_order(codes: NDArray[np.int32], *, without: int) -> NDArray[np.int64]:
    """Order points: those without a class first, below the others, which are mixed so that no class hides another."""
    order = np.random.default_rng(0).permutation(len(codes))
    return order[np.argsort(codes[order] != without, kind="stable")]


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


def _write_names(axes: Axes, node_map: Map, classes: Classes | None, *, hubs: int, theme: Theme) -> None:
    """Write the names of classes in their middle, and of hubs next to their points."""
    from matplotlib.patheffects import withStroke

    style: dict[str, Any] = {"color": theme.ink, "path_effects": [withStroke(linewidth=3, foreground=theme.paper)]}
    for row in hub_rows(node_map, hubs).tolist():
        x, y = node_map.coordinates[row].tolist()
        axes.scatter(x, y, s=14, facecolors="none", edgecolors=theme.ink, linewidths=0.8, zorder=3)
        text = plain(shorten(node_map.names[row], LONGEST))
        axes.annotate(text, (x, y), xytext=(5, 4), textcoords="offset points", zorder=4, **style).set_in_layout(False)
    if classes is None:
        return
    for code, name in enumerate(classes.names):
        if name == OTHER and code == len(theme.classes):
            continue
        # At the median: the mean of a class with a few points far away lies where it has none.
        x, y = np.median(node_map.coordinates[classes.codes == code], axis=0).tolist()
        label = axes.text(x, y, plain(shorten(name, LONGEST)), fontsize=11, fontweight="bold", zorder=5, **style)
        label.set(ha="center", va="center", in_layout=False)


def hub_rows(node_map: Map, count: int) -> NDArray[np.int64]:
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
