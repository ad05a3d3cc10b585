"""A map as a picture: points by class, the name of each class where it is densest, the names of hubs.

Up to `SHADED` points each is a dot. Of more, pixels are shaded by how many lie there, on a logarithmic scale, in the
mean colour of their classes. Colours can be told apart by people who see few of them; as no ten colours can be told
apart safely, every class has its name on the map, and the legend tells its size.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.maps.classes import OTHER, Classes
from graphrefine.maps.map import name_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphrefine.maps.map import Map

# The six of reports, and four between them: bordeaux, indigo, olive, brown; two of them lighter on dark paper.
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288", "#999933", "#7F4F24")
DARK = ("#3A9BDC", "#E8743B", "#1DB88A", "#DE8FBB", "#E69F00", "#7CC7F2", "#C2578C", "#9A8CF0", "#B5B54A", "#B98A5E")
GREY = {"light": "#A7ADB4", "dark": "#6B737C"}
ONE = {"light": "#0072B2", "dark": "#7CC7F2"}  # where there are no classes
INCHES = 7.0
SHADED = 60_000
PIXELS = 1000  # of the shaded picture, along each axis
LONGEST = 26  # letters of a class or a node


def draw(drawn: Map, format: str, *, names: int, dark: bool = False) -> bytes:
    """The picture as png or svg: the same bytes for the same map."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from graphrefine.reports.drawing import INK, PAPER, plain

    theme = "dark" if dark else "light"
    ink, paper = INK[theme], PAPER[theme]
    few = None if drawn.classes is None else drawn.classes.most_frequent(len(LIGHT) + 1)
    style: dict[str, Any] = {"svg.hashsalt": "graphrefine", "svg.fonttype": "path", "font.size": 9, "text.color": ink}
    with mpl.rc_context({**mpl.rcParamsDefault, **style, "savefig.facecolor": paper}):
        legend = few is not None and len(few.names) > 0
        figure = Figure(figsize=(INCHES + (1.9 if legend else 0), INCHES), dpi=140, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04), aspect="equal", facecolor=paper)
        axes.set_axis_off()
        axes.set_title(plain(name_text(drawn.title, 80)), loc="left", fontsize=11, fontweight="bold")
        _points(axes, drawn, few, theme)
        if few is not None and legend:
            _legend(axes, few, theme)
        _names(axes, drawn, few, names, ink, paper)
        written = BytesIO()
        figure.savefig(written, format=format, metadata={"Date": None} if format == "svg" else {"Software": None})
    return written.getvalue()


def colours(classes: Classes | None, theme: str) -> list[str]:
    """The colour of each class, and that of points without one at the end."""
    if classes is None:
        return [ONE[theme]]
    palette = LIGHT if theme == "light" else DARK
    taken = (palette[place] if place < len(palette) else GREY[theme] for place in range(len(classes.names)))
    return [*taken, GREY[theme]]


def _codes(drawn: Map, classes: Classes | None) -> NDArray[np.int32]:
    """Which colour each point has."""
    if classes is None:
        return np.zeros(len(drawn), np.int32)
    return np.where(classes.codes < 0, np.int32(len(classes.names)), classes.codes)


def _points(axes: Axes, drawn: Map, classes: Classes | None, theme: str) -> None:
    codes, tones = _codes(drawn, classes), colours(classes, theme)
    if len(drawn) > SHADED:
        image = shaded(drawn.coordinates, codes, tones, PIXELS)
        axes.imshow(image, extent=(-1.02, 1.02, -1.02, 1.02), origin="lower", interpolation="antialiased", zorder=1)
        return
    size = float(np.clip(30_000 / max(len(drawn), 1), 1.4, 26))
    order = _shuffled(codes, len(tones))
    points = drawn.coordinates[order]
    axes.scatter(
        points[:, 0], points[:, 1], s=size, c=np.asarray(tones)[codes[order]], linewidths=0,
        alpha=0.85 if len(drawn) < 5000 else 0.65, rasterized=len(drawn) > 2000, zorder=1,
    )  # fmt: skip


def _shuffled(codes: NDArray[np.int32], many: int) -> NDArray[np.int64]:
    """Points without a class first, so that they lie below; the others mixed, so that no class hides another."""
    mixed = np.random.default_rng(0).permutation(len(codes))
    return mixed[np.argsort(codes[mixed] != many - 1, kind="stable")]


def shaded(points: NDArray[np.float32], codes: NDArray[np.int32], tones: list[str], pixels: int) -> NDArray[np.float64]:
    """Pixels in the mean colour of their points, the more opaque the more there are.  # (pixels, pixels, 4)."""
    from matplotlib.colors import to_rgb

    across, up = ((points[:, axis] + 1.02) / 2.04 * pixels for axis in (0, 1))
    at = np.clip(up.astype(np.int64), 0, pixels - 1) * pixels + np.clip(across.astype(np.int64), 0, pixels - 1)
    rgb = np.array([to_rgb(tone) for tone in tones])[codes]
    counts = np.bincount(at, minlength=pixels**2).astype(np.float64)
    image = np.zeros((pixels**2, 4))
    for channel in range(3):
        image[:, channel] = np.bincount(at, rgb[:, channel], minlength=pixels**2) / np.maximum(counts, 1)
    usual = max(float(np.quantile(counts[counts > 0], 0.98)), 2.0) if len(points) else 2.0
    image[:, 3] = np.where(counts > 0, np.clip(0.35 + 0.65 * np.log1p(counts) / np.log1p(usual), 0, 1), 0)
    return image.reshape(pixels, pixels, 4)


def _legend(axes: Axes, classes: Classes, theme: str) -> None:
    from matplotlib.lines import Line2D

    from graphrefine.reports.drawing import plain

    lines = []
    for tone, name, count in zip(colours(classes, theme)[:-1], classes.names, classes.counts, strict=True):
        text = f"{plain(name_text(name, LONGEST))}  {count:,}"
        lines.append(Line2D([], [], color=tone, marker="o", linestyle="", markersize=7, label=text))
    missing = int((classes.codes < 0).sum())
    if missing:
        text = f"no label  {missing:,}"
        lines.append(Line2D([], [], color=GREY[theme], marker="o", linestyle="", markersize=7, label=text))
    axes.legend(handles=lines, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handletextpad=0.3)


def _names(axes: Axes, drawn: Map, classes: Classes | None, hubs: int, ink: str, paper: str) -> None:
    """The names of classes at their densest places, and of hubs beside their points, all clear of each other."""
    from matplotlib.patheffects import withStroke

    from graphrefine.maps.labels import densest, free_places, hub_rows
    from graphrefine.reports.drawing import label_points, plain

    halo = [withStroke(linewidth=3, foreground=paper)]
    clear: list[tuple[float, float]] = []
    if classes is not None:
        named = [at for at, name in enumerate(classes.names) if name != OTHER or at < len(classes.names) - 1]
        texts = [plain(name_text(classes.names[at], LONGEST)) for at in named]
        wanted = [densest(drawn.coordinates[classes.codes == at]) for at in named]
        for text, (x, y), box in free_places(axes, texts, wanted, size=11):
            axes.text(
                x, y, text, fontsize=11, fontweight="bold", color=ink, ha="center", va="center", zorder=4,
                path_effects=halo,
            ).set_in_layout(False)  # fmt: skip
            clear += box
    rows = hub_rows(drawn, hubs)
    if len(rows):
        before = len(axes.texts)
        points = drawn.coordinates[rows]
        texts = [name_text(drawn.names[row], LONGEST) for row in rows]
        axes.scatter(points[:, 0], points[:, 1], s=14, facecolors="none", edgecolors=ink, linewidths=0.8, zorder=3)
        label_points(axes, points[:, 0].tolist(), points[:, 1].tolist(), texts, clear_of=clear)
        for written in axes.texts[before:]:
            written.set(color=ink, path_effects=halo, zorder=5)
