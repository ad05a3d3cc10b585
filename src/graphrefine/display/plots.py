"""Plots by matplotlib, for a light page and a dark one: the same bytes for the same numbers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrefine.display.colors import SERIES, THEMES, Theme
from graphrefine.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
SIZE = (7.5, 4.8)  # inches


class Picture(NamedTuple):
    """A drawn plot, as svg for a light page and for a dark one."""

    light: bytes
    dark: bytes


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def missing_plots_note() -> str:
    """Return the note of a report without plots."""
    return f"Plots were left out: {MissingExtraError('drawing', 'matplotlib', 'plot')}."


def draw_plot(title: str, paint: Callable[[Axes], Any]) -> Picture:
    """Draw a plot for a light page and a dark one; ``paint`` is called with the axes of each."""
    pictures = []
    for theme in THEMES.values():
        with figure_style(_plot_style(theme)):
            figure, axes = new_figure(SIZE, dpi=150)
            axes.set_title(plain(title), loc="left", fontweight="bold", wrap=True)
            paint(axes)
            pictures.append(encode(figure, "svg"))
    return Picture(*pictures)


def figure_style(style: dict[str, Any]) -> AbstractContextManager[None]:
    """Use matplotlib's own defaults with these settings on top, not those of the user."""
    import matplotlib as mpl

    # Otherwise matplotlib draws random ids into an svg, and the same numbers would not give the same bytes.
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


def _plot_style(theme: Theme) -> dict[str, Any]:
    from cycler import cycler  # a package that matplotlib itself is built on

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
