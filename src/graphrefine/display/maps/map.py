"""Map: nodes in the plane with their names and classes; shown in a notebook, saved as a picture, a page or a table.

A page is one HTML file to look around in, up to a million points, without a request to anywhere: coordinates are 16
bits an axis and classes 8 bits, in base64; names are JSON that cannot end its script. Its template is ``map.html`` of
`graphrefine.display`, the script ``map.js`` beside it.

A parquet file is for Embedding Atlas (``embedding-atlas map.parquet --x x --y y --neighbors neighbors --text id``): a
row for each node, with ``id`` its name, ``x`` and ``y``, ``label`` and ``degree`` if the map has them, and
``neighbors``, a struct of ``ids``, which are rows counted from 0, and ``distances``, 1 minus the cosine, nearest first.
Rows without neighbors, as those of zero vectors, have -1.
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
from graphrefine.display.maps.nearest import COUNT, find_nearest
from graphrefine.display.maps.picture import NAMES, draw
from graphrefine.display.maps.points import MapPoints, assign_classes
from graphrefine.display.plots import can_draw
from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.progress import Stages
from graphrefine.system.files import check_writable, replacing
from graphrefine.system.threads import usable_threads

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

SUFFIXES = (".png", ".svg", ".html", ".parquet")
_NEEDS = {".png": ("matplotlib", "plot"), ".svg": ("matplotlib", "plot"), ".parquet": ("pyarrow", "io")}
NO_CLASS = 255  # in a page: the code of points without a class
PAGE_CLASSES = 41  # in a page; the rest are one of them
FARTHEST = 2.0  # in a parquet file: the largest distance, where the row of a neighbor is -1


@dataclass(frozen=True, repr=False)
class Map(MapPoints):
    """Nodes in the plane: `graphrefine.display.maps.points.MapPoints` that can be shown and saved.

    Examples
    --------
    >>> import graphrefine
    >>> people = graphrefine.Embedding(["ada", "bob", "cy"], [[1, 0], [0.9, 0.1], [0, 1]])
    >>> people.map(method="pca")
    Map(3 nodes by pca)
    """

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f", {len(self.classes.names)} classes"
        return f"Map({len(self)} nodes by {self.method}{classes})"

    def _repr_png_(self) -> bytes | None:
        """Return the picture, for notebooks; None without matplotlib."""
        return draw(self, "png", names=NAMES) if can_draw() else None

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        names: int | None = NAMES,
        dark: bool = False,
        threads: int | None = None,
    ) -> None:
        """Write the map, replacing what is there in one step.

        Parameters
        ----------
        path : path
            The suffix decides: ``.png`` and ``.svg`` a picture, ``.html`` one page to look around in, ``.parquet`` a
            table (id, x, y, label, degree, neighbors) that Embedding Atlas opens.
        names : int or None
            Number of names on a picture, of the nodes with the most neighbors.
        dark : bool
            A picture for a dark page. The html page is light or dark as the reader's system is.
        threads : int, optional
            For the search for the neighbors in a parquet file.

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
        try:
            with replacing(path) as hidden:
                if suffix == ".parquet":
                    write_table(self, hidden, threads=threads)
                elif suffix == ".html":
                    hidden.write_text(render_page(self), encoding="utf-8", errors="replace")
                else:
                    hidden.write_bytes(draw(self, suffix[1:], names=names or 0, dark=dark))
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error


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
    return Map(embedding.names, made.coordinates, classes, embedding.degrees, made.method, title, embedding.vectors)


def render_page(node_map: MapPoints) -> str:
    """Return the page of a map.

    Examples
    --------
    >>> page = render_page(Map(np.array(["</script><b>"], object), np.zeros((1, 2), np.float32), title="<i>"))
    >>> "<b>" in page, "<i>" in page, page.count("</script>")
    (False, False, 2)
    """
    digest = b64encode(sha256(render("map.js").encode()).digest()).decode()
    return render("map.html", title=node_map.title or "Map", digest=digest, data=_page_data(node_map))


def _page_data(node_map: MapPoints) -> dict[str, Any]:
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


def write_table(node_map: MapPoints, path: Path, *, threads: int | None = None) -> None:
    """Write a map as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {
        "id": pa.array(_texts(node_map.names)),
        "x": pa.array(node_map.coordinates[:, 0]),
        "y": pa.array(node_map.coordinates[:, 1]),
    }
    if node_map.classes is not None:
        codes = pa.array(node_map.classes.codes, mask=node_map.classes.codes < 0)
        classes = pa.array([*node_map.classes.names], pa.string())
        columns["label"] = pa.DictionaryArray.from_arrays(codes, classes).cast(pa.string())
    if node_map.degrees is not None:
        columns["degree"] = pa.array(np.asarray(node_map.degrees))
    if node_map.vectors is not None:
        columns["neighbors"] = _neighbor_lists(node_map.vectors, usable_threads(threads))
    parquet.write_table(pa.table(columns), path, compression="zstd")


def _texts(names: NDArray[Any]) -> Any:
    """Return names as Arrow takes them: bytes that were not UTF-8 become a replacement sign."""
    if names.dtype != object:
        return names
    return [str(name).encode("utf-8", "replace").decode() for name in names.tolist()]


def _neighbor_lists(vectors: NDArray[np.float32], threads: int) -> Any:
    import pyarrow as pa

    points = np.flatnonzero(vectors.any(axis=1))
    k = max(1, min(COUNT, len(points) - 1))
    ids, distances = np.full((len(vectors), k), -1, np.int32), np.full((len(vectors), k), FARTHEST, np.float32)
    if len(points) > 1:
        neighbors = find_nearest(vectors, points, threads=threads, stages=Stages())
        ids[points] = np.where(neighbors.rows >= 0, points[neighbors.rows], -1)
        distances[points] = np.where(neighbors.rows >= 0, 1 - neighbors.cosines, FARTHEST)
    ends = pa.array(np.arange(0, k * (len(vectors) + 1), k, dtype=np.int32))
    lists = (pa.ListArray.from_arrays(ends, pa.array(each.ravel())) for each in (ids, distances))
    return pa.StructArray.from_arrays([*lists], names=["ids", "distances"])
