"""The one palette: colors of classes, plots, pages and notebooks, on light and on dark paper.

The first six hues are Okabe and Ito's, which people who see few colors can tell apart, less those that vanish on white
or on black; the other four (bordeaux, indigo, olive, brown) lie between them. No ten colors are safe for everybody, so
every picture also writes names or varies markers.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

ThemeName = Literal["light", "dark"]


class Theme(NamedTuple):
    """Colors on one kind of paper, as ``#rrggbb``."""

    paper: str
    ink: str
    soft: str  # text of less weight
    line: str  # between rows and boxes
    stripe: str  # behind every second row
    grid: str  # of a plot
    good: str
    bad: str
    focus: str  # the outline of the element that has the keyboard
    single: str  # points where there are no classes
    other: str  # points beyond the classes, or without one: a grey without hue
    none: str  # points without a class, where others are beyond the classes
    faded: str  # points of other classes, where one is highlighted
    classes: tuple[str, ...]


LIGHT = Theme(
    paper="#ffffff", ink="#1b1f24", soft="#59636e", line="#d1d9e0", stripe="#f6f8fa", grid="#d9dee3",
    good="#0a6b3d", bad="#b3261e", focus="#0072b2", single="#0072B2", other="#ACACAC",
    none="#c9cdd2", faded="#e3e6e9",
    classes=(
        "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288", "#999933", "#7F4F24",
    ),
)  # fmt: skip
DARK = Theme(
    paper="#14181d", ink="#e6edf3", soft="#9aa4af", line="#3d444d", stripe="#1c2128", grid="#343b44",
    good="#4fd191", bad="#ff8a80", focus="#7cc7f2", single="#7CC7F2", other="#727272",
    none="#434a54", faded="#2a3038",
    classes=(
        "#3A9BDC", "#E8743B", "#1DB88A", "#DE8FBB", "#E69F00", "#7CC7F2", "#C2578C", "#9A8CF0", "#B5B54A", "#B98A5E",
    ),
)  # fmt: skip
THEMES: dict[ThemeName, Theme] = {"light": LIGHT, "dark": DARK}

# The same on either paper.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")  # numbers
SERIES = LIGHT.classes[:6]  # of plots, which have markers too
LEADER = "#8a949e"  # lines that lead to a label, or show a baseline
POSITIVE, NEGATIVE = "#2b8cc4", "#e0762b"  # numbers in a notebook
