"""Plots by matplotlib, for a light page and a dark one: the same bytes for the same numbers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrefine.display.colors import LEADER, SERIES, THEMES, ThemeName
from graphrefine.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
SIZE = (7.5, 4.8)  # inches
LABEL_SIZE = 9  # points


class Picture(NamedTuple):
    """A drawn plot."""

    png: bytes
    svg: bytes
    dark: bytes  # svg


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def missing_plots_note() -> str:
    """Return the note of a report without plots."""
    return f"Plots were left out: {MissingExtraError('drawing', 'matplotlib', 'plot')}."


def draw_plot(title: str, paint: Callable[[Axes], Any]) -> Picture:
    """Draw a plot in every form that a report needs; ``paint`` is called with the axes of each."""
    forms: tuple[tuple[ThemeName, str], ...] = (("light", "png"), ("light", "svg"), ("dark", "svg"))
    return Picture(*(_draw(title, paint, theme, format) for theme, format in forms))


def _draw(title: str, paint: Callable[[Axes], Any], theme: ThemeName, format: str) -> bytes:
    with figure_style(_plot_style(theme)):
        figure, axes = new_figure(SIZE, dpi=150)
        axes.set_title(plain(title), loc="left", fontweight="bold", wrap=True)
        paint(axes)
        return encode(figure, format)


def figure_style(style: dict[str, Any]) -> AbstractContextManager[None]:
    """Use matplotlib's own defaults with these settings on top, not those of the user."""
    import matplotlib as mpl

    fixed = {"svg.hashsalt": "graphrefine", "svg.fonttype": "path"}
    context: AbstractContextManager[None] = mpl.rc_context({**mpl.rcParamsDefault, **fixed, **style})
    return context


def new_figure(size: tuple[float, float], *, dpi: int) -> tuple[Figure, Axes]:
    """Make a figure that no window shows, and its axes; `size` in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def encode(figure: Figure, format: str) -> bytes:
    """Encode a figure as png or svg, without a date or a version."""
    picture = BytesIO()
    figure.savefig(picture, format=format, metadata={"Date": None} if format == "svg" else {"Software": None})
    return picture.getvalue()


def _plot_style(name: ThemeName) -> dict[str, Any]:
    from cycler import cycler  # a package that matplotlib itself is built on

    theme = THEMES[name]
    return {
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=SERIES),
        "grid.color": theme.grid,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), theme.paper),
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), theme.ink),
    }


def plain(text: str) -> str:
    r"""Escape text so that matplotlib sees no formula.

    Examples
    --------
    >>> print(plain("a $5 bill"))
    a \$5 bill
    """
    return text.replace("$", r"\$")


def log_seconds(axes: Axes, label: str = "seconds") -> None:
    """Make a logarithmic axis of time, a decade of it at least, its ticks as a person would write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} s"))
    low, high = axes.get_xlim()
    factor = max(10 * low / high, 1) ** 0.5
    axes.set_xlim(low / factor, high * factor)
    if high / low < 50:  # powers of ten alone would be a tick or two
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def style_of(position: int) -> dict[str, Any]:
    """Return color and marker of a series by its position; no two of the first thirty are the same."""
    return {"color": SERIES[position % len(SERIES)], "marker": MARKERS[position % len(MARKERS)]}


# Positions of a label next to its point: to the right first, then farther and farther round it.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_DISTANCES = (6, 14, 24, 36, 50)  # in points


def path_points(path: Sequence[tuple[float, float]], *, steps: int = 24) -> list[tuple[float, float]]:
    """Return points along the lines between points whose first axis is logarithmic, for labels to keep clear of.

    Examples
    --------
    >>> path_points([(1.0, 0.0), (100.0, 4.0)], steps=2)
    [(10.0, 2.0)]
    """
    parts = [step / steps for step in range(1, steps)]
    pairs = pairwise(path)
    return [(x * (to_x / x) ** part, y + (to_y - y) * part) for (x, y), (to_x, to_y) in pairs for part in parts]


def label_points(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    texts: Sequence[str],
    *,
    clear_of: Sequence[tuple[float, float]] = (),
) -> None:
    """Write each text next to its point, clear of other texts and points as far as there is room.

    Call it last: later drawing may move the axes.

    Parameters
    ----------
    axes, x, y, texts
        The points, and the text of each.
    clear_of
        Further points that no text should cover, such as those of `path_points`.
    """
    figure: Any = axes.get_figure()
    figure.draw_without_rendering()  # so that the layout is settled
    dots = axes.transData.transform([*zip(x, y, strict=True), *clear_of]).tolist()
    frame = Box(*axes.get_window_extent().extents)
    boxes = [Box(px - 6, py - 6, px + 6, py + 6) for px, py in dots[: len(texts)]]
    boxes += [Box(px - 2, py - 2, px + 2, py + 2) for px, py in dots[len(texts) :]]
    for number, text in enumerate(texts):
        size = measure_text(axes, plain(text), fontsize=LABEL_SIZE)
        others = [*boxes[:number], *boxes[number + 1 :]]
        spot = min(_spots(dots[number], size, figure.dpi / 72), key=lambda spot: _cost(spot, others, frame))
        _write(axes, plain(text), (x[number], y[number]), spot)
        boxes.append(spot.box)


class Box(NamedTuple):
    """A rectangle, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Return the area of the overlap with another box."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)


class _Spot(NamedTuple):
    """A position for a label."""

    side: tuple[int, int]
    distance: float  # in points
    box: Box


def measure_text(axes: Axes, text: str, **style: Any) -> tuple[float, float]:
    """Return width and height of a text, in pixels."""
    figure: Any = axes.get_figure()
    trial = axes.text(0, 0, text, **style)
    extent = trial.get_window_extent(figure.canvas.get_renderer())
    trial.remove()
    return extent.width, extent.height


def _spots(dot: Sequence[float], size: tuple[float, float], scale: float) -> list[_Spot]:
    spots = []
    for distance in _DISTANCES:
        for side in _SIDES:
            reach = distance * scale / (1.4 if all(side) else 1)
            left, bottom = (
                at + way * reach - length * (1 - way) / 2 for at, way, length in zip(dot, side, size, strict=True)
            )
            spots.append(_Spot(side, distance, Box(left, bottom, left + size[0], bottom + size[1])))
    return spots


def _cost(spot: _Spot, others: Sequence[Box], frame: Box) -> tuple[float, float]:
    """Count covered pixels, those outside the frame included; then the distance."""
    outside = spot.box.overlap(spot.box) - spot.box.overlap(frame)
    return round(outside + sum(spot.box.overlap(other) for other in others)), spot.distance


def _write(axes: Axes, text: str, point: tuple[float, float], spot: _Spot) -> None:
    across, up = spot.side
    reach = spot.distance / (1.4 if all(spot.side) else 1)
    line = {"arrowstyle": "-", "color": LEADER, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 3}
    axes.annotate(
        text,
        point,
        xytext=(across * reach, up * reach),
        textcoords="offset points",
        fontsize=LABEL_SIZE,
        ha=("right", "center", "left")[across + 1],
        va=("top", "center", "bottom")[up + 1],
        arrowprops=line if spot.distance > _DISTANCES[1] else None,
    ).set_in_layout(False)
