"""Map: nodes in the plane with their names and classes; shown in a notebook, saved as a picture, a page or a table."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.display.html import count_of
from graphrefine.display.maps.classes import assign_classes
from graphrefine.display.maps.layout_cache import obtain_layout
from graphrefine.display.maps.page import render_page
from graphrefine.display.maps.picture import NAMES, draw
from graphrefine.display.maps.points import MapPoints
from graphrefine.display.maps.table import write_table
from graphrefine.display.plots import can_draw
from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.system.files import check_writable, replacing

if TYPE_CHECKING:
    from graphrefine.embedding.table import VectorTable

SUFFIXES = (".png", ".svg", ".html", ".parquet")
_NEEDS = {".png": ("matplotlib", "plot"), ".svg": ("matplotlib", "plot"), ".parquet": ("pyarrow", "io")}


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
        """The picture, for notebooks; None without matplotlib."""
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


def map_of(embedding: VectorTable, labels: Any = None, *, title: str | None = None, **layout: Any) -> Map:
    """The map of an embedding, with options of `obtain_layout`; see `graphrefine.Embedding.map`."""
    if labels is not None and not len(embedding):
        raise InputError("the embedding is empty, so there is nothing that labels could be of")
    classes = None if labels is None else assign_classes(labels, embedding.names)
    places = obtain_layout(embedding, **layout)
    if title is None:
        size = count_of(len(embedding), "node")
        title = size if embedding.path is None else f"{embedding.path.name}: {size}"
    return Map(embedding.names, places.coordinates, classes, embedding.degrees, places.method, title, embedding.vectors)
