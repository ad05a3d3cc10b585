"""Map: nodes in the plane with their names and classes; shown in a notebook, saved as a picture, a page or a table.

A picture has the name of every class on the map, as no ten colors are different to everybody; the legend has its size.
A page is one HTML file to look around in, up to a million points, without a request to anywhere. Its template is
``map.html`` of `graphrefine.display`, the script ``map.js``. A parquet file is for other viewers, such as Embedding
Atlas: columns ``id``, the name of a node, ``x`` and ``y``, and ``label`` and ``degree`` if the map has them.
"""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import DARK, LIGHT, THEMES, Theme
from graphrefine.display.html import count_of, render, shorten
from graphrefine.display.maps.layout import obtain_layout
from graphrefine.display.maps.points import OTHER, Classes, assign_classes
from graphrefine.display.plots import can_draw, encode, figure_style, new_figure, plain
from graphrefine.display.table import save_table
from graphrefine.errors import InputError, OutputError, require
from graphrefine.system.files import check_writable, replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from graphrefine.search.vectors import VectorTable

SUFFIXES = (".png", ".svg", ".html", ".parquet")
_NEEDS = {".png": ("matplotlib", "plot"), ".svg": ("matplotlib", "plot"), ".parquet": ("pyarrow", "io")}
NAMES = 40  # of hubs, the nodes with the most neighbors, on the map: at most, as none may overlap another
BESIDE = ((5, 4), (-5, 4), (5, -11), (-5, -11))  # of a name from its point, in printer's points
INCHES = 7.0
LONGEST = 26  # letters of a class or a node
NO_CLASS = 255  # in a page: the code of points without a class
PAGE_CLASSES = 41  # in a page; the rest are one of them


@dataclass(frozen=True, repr=False)
class Map:
    """Nodes in the plane, which can be shown and saved.

    Attributes
    ----------
    names : ndarray of n int64 or str
    coordinates : ndarray of float32, (n, 2), within [-1, 1]
    classes : Classes or None
        The class of each node.
    degrees : ndarray of float32, (n,), or None
    method : str
        Of the layout: "clusters" or "pca".
    title : str

    Examples
    --------
    >>> import graphrefine
    >>> people = graphrefine.Embedding(["ada", "bob", "cy"], [[1, 0], [0.9, 0.1], [0, 1]])
    >>> people.map(method="pca")
    Map(3 nodes by pca)
    """

    names: NDArray[Any]
    coordinates: NDArray[np.float32]
    classes: Classes | None = None
    degrees: NDArray[np.float32] | None = None
    method: str = "clusters"
    title: str = ""

    def __len__(self) -> int:
        return len(self.coordinates)

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f", {len(self.classes.names)} classes"
        return f"Map({len(self)} nodes by {self.method}{classes})"

    def _repr_png_(self) -> bytes | None:
        """Return the picture, for notebooks; None without matplotlib."""
        return draw(self, "png", names=NAMES) if can_draw() else None

    def save(self, path: str | os.PathLike[str], *, names: int | None = NAMES, dark: bool = False) -> None:
        """Write the map, replacing what is there in one step.

        Parameters
        ----------
        path : path
            The suffix decides: ``.png`` and ``.svg`` a picture, ``.html`` one page to look around in, ``.parquet`` a
            table (id, x, y, label, degree) that other viewers open.
        names : int or None
            Number of names on a picture, of the nodes with the most neighbors.
        dark : bool
            A picture for a dark page. The html page is light or dark as the reader's system is.

        Examples
        --------
        >>> import tempfile
        >>> from graphrefine import Embedding
        >>> path = Path(tempfile.mkdtemp()) / "people.html"
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).map().save(path)
        >>> path.read_text().startswith("<!DOCTYPE html>")
        True
        """
        suffix = check_map_output(path)
        if suffix == ".parquet":
            save_table(_columns(self), path)
            return
        with replacing(path) as hidden:
            if suffix == ".html":
                hidden.write_text(render_page(self), encoding="utf-8", errors="replace")
            else:
                hidden.write_bytes(draw(self, suffix[1:], names=names or 0, dark=dark))


def check_map_output(path: str | os.PathLike[str]) -> str:
    """Check before the work that a map can be saved there; return its suffix.

    Examples
    --------
    >>> check_map_output("map.gif")
    Traceback (most recent call last):
    graphrefine.errors.OutputError: map.gif: a map is saved as .png, .svg, .html or .parquet; choose one of these
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        others = ", ".join(SUFFIXES[:-1])
        raise OutputError(f"{os.fspath(path)}: a map is saved as {others} or {SUFFIXES[-1]}; choose one of these")
    package, extra = _NEEDS.get(suffix, ("", ""))
    if package:
        require(package, f"a map as {suffix}", extra)
    check_writable(path)
    return suffix


def make_map(embedding: VectorTable, labels: Any = None, *, title: str | None = None, **layout: Any) -> Map:
    """Return the map of an embedding, with options of `obtain_layout`; see `graphrefine.Embedding.map`."""
    if labels is not None and not len(embedding):
        raise InputError("labels of an empty embedding")
    classes = None if labels is None else assign_classes(labels, embedding.names)
    made = obtain_layout(embedding, **layout)
    if title is None:
        size = count_of(len(embedding), "node")
        title = size if embedding.path is None else f"{embedding.path.name}: {size}"
    return Map(embedding.names, made.coordinates, classes, embedding.degrees, made.method, title)


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
        _write_names(figure, axes, node_map, classes, hubs=names, theme=theme)
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
    # Points without a class first, below the others, which are mixed so that no class hides another.
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order] != len(colors) - 1, kind="stable")]
    points = node_map.coordinates[order]
    # Rasterized in an svg beyond a few thousand: one element for each point would make files that no viewer opens.
    axes.scatter(
        points[:, 0], points[:, 1], s=size, c=np.asarray(colors)[codes[order]], linewidths=0, alpha=alpha,
        rasterized=len(node_map) > 2000, zorder=1,
    )  # fmt: skip


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


def _write_names(
    figure: Figure, axes: Axes, node_map: Map, classes: Classes | None, *, hubs: int, theme: Theme
) -> None:
    """Write the names of classes in their middle, and of hubs next to their points; no two names overlap."""
    from matplotlib.patheffects import withStroke

    style: dict[str, Any] = {"color": theme.ink, "path_effects": [withStroke(linewidth=3, foreground=theme.paper)]}
    figure.draw_without_rendering()  # the layout decides where a name lies, in pixels
    taken: list[Bbox] = []
    if classes is not None:
        bold = {"fontsize": 11, "fontweight": "bold", "va": "center", "zorder": 5, **style}
        for code, name in enumerate(classes.names):
            if name == OTHER and code == len(theme.classes):
                continue
            # At the median: the mean of a class with a few points far away lies where it has none.
            x, y = np.median(node_map.coordinates[classes.codes == code], axis=0).tolist()
            _place(axes, plain(shorten(name, LONGEST)), (x, y), [(0, 0)], taken, **bold)
    named = 0
    for row in rank_hubs(node_map)[: 20 * hubs].tolist():
        x, y = node_map.coordinates[row].tolist()
        text = plain(shorten(node_map.names[row], LONGEST))
        if _place(axes, text, (x, y), BESIDE, taken, zorder=4, **style):
            axes.scatter(x, y, s=14, facecolors="none", edgecolors=theme.ink, linewidths=0.8, zorder=3)
            named += 1
        if named == hubs:
            break


def _place(
    axes: Axes,
    text: str,
    point: tuple[float, float],
    offsets: Sequence[tuple[int, int]],
    taken: list[Bbox],
    **style: Any,
) -> bool:
    """Write a name at the first offset from its point where it overlaps no other; return whether there is one."""
    for offset in offsets:
        side = "center" if not offset[0] else "left" if offset[0] > 0 else "right"
        name = axes.annotate(text, point, xytext=offset, textcoords="offset points", ha=side, **style)
        name.set_in_layout(False)
        box = name.get_window_extent()
        if not box.count_overlaps(taken):
            taken.append(box)
            return True
        name.remove()
    return False


def rank_hubs(node_map: Map) -> NDArray[np.int64]:
    """Return the nodes with neighbors, the one with the most first."""
    if node_map.degrees is None:
        return np.zeros(0, np.int64)
    order = np.argsort(-np.asarray(node_map.degrees), kind="stable")
    return order[np.asarray(node_map.degrees)[order] > 0]


def render_page(node_map: Map) -> str:
    """Return the page of a map.

    Examples
    --------
    >>> page = render_page(Map(np.array(["</script><b>"], object), np.zeros((1, 2), np.float32), title="<i>"))
    >>> "<b>" in page, "<i>" in page, page.count("</script>")
    (False, False, 2)
    """
    digest = b64encode(sha256(render("map.js").encode()).digest()).decode()
    return render("map.html", title=node_map.title or "Map", digest=digest, data=_page_data(node_map))


def _page_data(node_map: Map) -> dict[str, Any]:
    # 16 bits an axis are finer than a pixel of any screen, and make a page of a million points half as large.
    coordinates = np.round((node_map.coordinates.astype(np.float64) + 1) / 2 * 65535).astype("<u2")
    data: dict[str, Any] = {
        "count": len(node_map),
        "coordinates": _pack(coordinates),
        "names": [name if isinstance(name, int) else str(name) for name in node_map.names.tolist()],
        "classes": [],
        "light": LIGHT.classes,
        "dark": DARK.classes,
        "other": {"light": LIGHT.other, "dark": DARK.other},
        "single": {"light": LIGHT.single, "dark": DARK.single},
    }
    if node_map.classes is not None:
        frequent = node_map.classes.most_frequent(PAGE_CLASSES)
        data["classes"] = [*zip(frequent.names, frequent.counts.tolist(), strict=True)]
        data["codes"] = _pack(np.where(frequent.codes < 0, NO_CLASS, frequent.codes).astype(np.uint8))
        data["unlabeled"] = int((frequent.codes < 0).sum())
    return data


def _pack(numbers: NDArray[Any]) -> str:
    return b64encode(numbers.tobytes()).decode()


def _columns(node_map: Map) -> dict[str, NDArray[Any]]:
    """Return the columns of a parquet file."""
    x, y = node_map.coordinates.T
    columns: dict[str, NDArray[Any]] = {"id": node_map.names, "x": x, "y": y}
    if node_map.classes is not None:
        columns["label"] = np.array([*node_map.classes.names, None], object)[node_map.classes.codes]  # -1 is the last
    if node_map.degrees is not None:
        columns["degree"] = np.asarray(node_map.degrees)
    return columns
