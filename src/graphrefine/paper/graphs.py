"""Graphs of the experiments: the real one, a part of it, a generated stand-in, or the reason why there is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrefine.datasets import DATASETS, Dataset, block_model, locate, standin
from graphrefine.datasets.generate import STANDINS
from graphrefine.errors import InputError
from graphrefine.evaluate import read_labels
from graphrefine.paper.findings import Gap
from graphrefine.paper.published import Shape
from graphrefine.readers.read import read

OTHERS = {  # graphs that the paper does not use, or not in this form: their files, and their sizes
    "youtube-part": ("youtube-77k-groups.mat", Shape(77_381, 391_179, 47)),
    "coauthor-cs": ("coauthor-cs.mat", Shape(18_333, 81_894, 15)),
    "pubmed": ("planetoid-pubmed.mat", Shape(19_717, 44_324, 3)),
    "lastfm": ("lastfm-asia.mat", Shape(7_624, 27_806, 18)),
    "amazon-photo": ("amazon-photo.mat", Shape(7_650, 119_081, 8)),
}
PARTS = {"youtube-part": "a part of the YouTube graph: 77,381 of its 1,138,499 nodes, those that belong to groups"}
SMALLEST = 200  # nodes of a stand-in


@dataclass(frozen=True)
class Source:
    """File of a real graph, or recipe of a stand-in."""

    name: str
    path: Path | None = None  # of a real one
    scale: float = 1.0  # of a stand-in: its size in parts of the real one's

    @property
    def standin(self) -> bool:
        """Whether the graph is generated, so that F1 on it cannot be compared with the paper's."""
        return self.path is None

    @property
    def comparable(self) -> bool:
        """Whether the paper's figures are about this very graph."""
        return not self.standin and self.name not in PARTS

    @property
    def note(self) -> str:
        """Note for a figure that is not about the paper's graph."""
        if not self.standin:
            return PARTS.get(self.name, "")
        size = "of the same size" if self.scale == 1 else f"{self.scale:g} times its size"
        return f"stand-in: generated, {size}, with planted labels"

    @property
    def size(self) -> Shape:
        """Numbers of nodes, edges and labels."""
        if self.name in OTHERS:
            return OTHERS[self.name][1]
        entry = DATASETS[self.name]
        if self.scale == 1:
            return Shape(entry.nodes, entry.edges, entry.classes)
        nodes = max(SMALLEST, round(entry.nodes * self.scale))
        edges = min(round(entry.edges * nodes / entry.nodes), nodes * (nodes - 1) // 16)  # or it is all but complete
        return Shape(nodes, edges, min(entry.classes, nodes // 20))

    @property
    def fingerprint(self) -> dict[str, Any]:
        """The graph's part in the key of a measurement."""
        if self.path is None:
            return {"name": self.name, "standin": list(self.size)}
        return {"name": self.name, "file": self.path.name, "bytes": self.path.stat().st_size}

    def load(self, threads: int | None = None) -> Dataset:
        """Read or generate the graph, with its labels."""
        if self.path is not None:
            graph = read(self.path, threads=threads)
            return Dataset(self.name, self.name, graph, read_labels(self.path), path=self.path)
        if self.name in STANDINS and self.scale == 1:
            return standin(self.name, threads=threads)
        nodes, edges, classes = self.size
        return block_model(nodes, edges, classes=classes, labels_per_node=1.4, noise=0.1, threads=threads)


@dataclass(frozen=True)
class Graphs:
    """Real graphs in a folder, and stand-ins for those of the paper that are not there.

    Examples
    --------
    >>> graphs = Graphs(Path("/nowhere"))
    >>> graphs.find("coauthor-cs").status, graphs.find("ppi").standin
    ('missing', True)
    """

    folder: Path | None  # None: the places where `graphrefine.datasets` looks
    scale: float = 1.0  # of stand-ins
    largest: float = 1.0  # of stand-ins for Flickr and YouTube

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str] | None, **scales: float) -> Graphs:
        """Graphs in a folder; None for that of GRAPHREFINE_DATA, or the cache."""
        if folder is not None and not Path(folder).is_dir():
            raise InputError(f"data={os.fspath(folder)!r} is not a folder; name the one with the real graphs")
        return cls(None if folder is None else Path(folder), **scales)

    def find_real(self, name: str) -> Source | Gap:
        """The real graph; or a gap, which names the way to get it."""
        entry = DATASETS.get(name)
        file = entry.file if entry else OTHERS[name][0]
        folder = self.folder or os.environ.get("GRAPHREFINE_DATA")
        path = Path(folder) / file if folder else None
        if path is not None and path.is_file():
            return Source(name, path)
        elsewhere = locate(entry) if entry and self.folder is None else None
        if elsewhere is not None:
            return Source(name, elsewhere)
        # A report names no folder of the machine that it was made on.
        where = f"no {file} in the folder with the real graphs" if folder else "GRAPHREFINE_DATA is not set"
        way = f"download {entry.url}" if entry else f"find {file}"
        return Gap("missing", f"{where}; {way}, put it into a folder, and name that by --data or GRAPHREFINE_DATA")

    def find_or_replace(self, name: str) -> Source:
        """A graph of the paper: the real one, or a stand-in."""
        source = self.find_real(name)
        if isinstance(source, Source):
            return source
        return Source(name, scale=self.largest if name in STANDINS else self.scale)

    def find(self, name: str) -> Source | Gap:
        """The real graph; for those of the paper else a stand-in; else the gap."""
        return self.find_or_replace(name) if name in DATASETS else self.find_real(name)
