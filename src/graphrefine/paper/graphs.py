"""The graphs of the experiments: the real one, a part of it, a generated stand-in, or the reason why there is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrefine.datasets import DATASETS, Dataset, block_model, locate, standin
from graphrefine.datasets.standins import STANDINS
from graphrefine.errors import InputError
from graphrefine.paper.jobs import Gap
from graphrefine.paper.published import Shape

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
    """Where a graph comes from."""

    name: str
    path: Path | None = None  # of a real one
    scale: float = 1.0  # of a stand-in: its size in parts of the real one's

    @property
    def standin(self) -> bool:
        """Whether it is generated, so that F1 on it cannot be compared with the paper's."""
        return self.path is None

    @property
    def comparable(self) -> bool:
        """Whether the paper's figures are about this very graph."""
        return not self.standin and self.name not in PARTS

    @property
    def note(self) -> str:
        """What to say beside a figure, if it is not about the paper's graph."""
        if not self.standin:
            return PARTS.get(self.name, "")
        size = "of the same size" if self.scale == 1 else f"{self.scale:g} times its size"
        return f"stand-in: generated, {size}, with planted labels"

    @property
    def size(self) -> Shape:
        """Nodes, edges and labels."""
        if self.name in OTHERS:
            return OTHERS[self.name][1]
        entry = DATASETS[self.name]
        if self.scale == 1:
            return Shape(entry.nodes, entry.edges, entry.classes)
        nodes = max(SMALLEST, round(entry.nodes * self.scale))
        edges = min(round(entry.edges * nodes / entry.nodes), nodes * (nodes - 1) // 16)  # or it is all but complete
        return Shape(nodes, edges, min(entry.classes, nodes // 20))

    @property
    def asked(self) -> dict[str, Any]:
        """What an outcome depends on."""
        if self.path is None:
            return {"name": self.name, "standin": list(self.size)}
        return {"name": self.name, "file": self.path.name, "bytes": self.path.stat().st_size}

    def load(self, threads: int) -> Dataset:
        """The graph in memory, with its labels."""
        from graphrefine.evaluate import read_labels
        from graphrefine.reader import read

        if self.path is not None:
            graph = read(self.path, threads=threads)
            return Dataset(self.name, self.name, graph, read_labels(self.path), path=self.path)
        if self.name in STANDINS and self.scale == 1:
            return standin(self.name, threads=threads)
        nodes, edges, classes = self.size
        return block_model(nodes, edges, classes=classes, labels_per_node=1.4, noise=0.1, threads=threads)


@dataclass(frozen=True)
class Graphs:
    """Which graphs there are: real ones in a folder, and stand-ins for the others.

    Examples
    --------
    >>> graphs = Graphs(Path("/nowhere"))
    >>> graphs.find("coauthor-cs").status, graphs.find("ppi").standin
    ('missing', True)
    """

    folder: Path | None  # None: where `graphrefine.datasets` looks
    scale: float = 1.0  # of stand-ins
    largest: float = 1.0  # of stand-ins for Flickr and YouTube

    @classmethod
    def of(cls, folder: str | os.PathLike[str] | None, **scales: float) -> Graphs:
        """Graphs in a folder, or in that which GRAPHREFINE_DATA names, or in the cache."""
        if folder is not None and not Path(folder).is_dir():
            raise InputError(f"data={os.fspath(folder)!r} is not a folder; name the one with the real graphs")
        return cls(None if folder is None else Path(folder), **scales)

    def real(self, name: str) -> Source | Gap:
        """The real graph, or what to do to have it."""
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
        source = f"download {entry.url}" if entry else f"find {file}"
        return Gap("missing", f"{where}; {source}, put it into a folder, and name that by --data or GRAPHREFINE_DATA")

    def find(self, name: str) -> Source | Gap:
        """The real graph; else a stand-in for one of the paper's; else the gap."""
        found = self.real(name)
        if isinstance(found, Source) or name not in DATASETS:
            return found
        return Source(name, scale=self.largest if name in STANDINS else self.scale)

    def load(self, name: str, threads: int) -> Dataset:
        """A graph that `find` finds, in memory."""
        source = self.find(name)
        if isinstance(source, Gap):
            raise InputError(f"{name}: {source.reason}")
        return source.load(threads)
