"""Map: nodes in the plane with their names and classes; shown in a notebook, saved as a picture, a page or a table.

A page is one HTML file to look around in, up to a million points, without a request to anywhere: coordinates are 16
bits an axis and classes 8 bits, in base64; names are JSON that cannot end its script. Its template is ``map.html`` of
`graphrefine.display`, the script ``map.js`` beside it.

A parquet file is for other viewers, such as Embedding Atlas (``embedding-atlas map.parquet --x x --y y --text id``): a
row for each node, with ``id`` its name, ``x`` and ``y``, and ``label`` and ``degree`` if the map has them.
"""

from __future__ import annotations

import importlib.util
import os
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import DARK, LIGHT
from graphrefine.display.html import count_of, render
from graphrefine.display.maps.layout import obtain_layout
from graphrefine.display.maps.picture import NAMES, draw
from graphrefine.display.maps.points import Classes, assign_classes
from graphrefine.display.plots import can_draw
from graphrefine.display.table import save_table
from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.system.files import check_writable, replacing

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

SUFFIXES = (".png", ".svg", ".html", ".parquet")
_NEEDS = {".png": ("matplotlib", "plot"), ".svg": ("matplotlib", "plot"), ".parquet": ("pyarrow", "io")}
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
    if package and importlib.util.find_spec(package) is None:
        raise MissingExtraError(f"a map as {suffix}", package, extra)
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
