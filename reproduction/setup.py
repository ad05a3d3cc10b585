"""Extent of a run, everything that the paper has (`full`) or a little of everything (`quick`), and its graphs.

Both run the same code; a quick run has fewer seeds, splits and rounds, shorter walks, and slow methods on the smallest
graph alone. Each cell says what was left out or shortened. A graph is the real one, a part of it, a generated stand-in,
or the reason why there is none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphrefine.datasets import DATASETS, Dataset, block_model, locate
from graphrefine.errors import InputError
from graphrefine.evaluate import read_labels
from graphrefine.methods import registry as methods
from graphrefine.readers.read import read
from graphrefine.system.threads import usable_threads
from reproduction.findings import Gap
from reproduction.published import Shape
from reproduction.standins import STANDINS, standin

SLOW = frozenset({"line", "deepwalk", "node2vec", "netmf", "netsmf", "grarep", "harp", "mile"})
LARGE = frozenset({"flickr", "youtube"})
SHORTENED = ("walks", "samples")  # settings that time is proportional to
ON_WALKS = frozenset({"harp", "mile"})  # built on DeepWalk, whose walks are shortened
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
            raise InputError(
                f"data={os.fspath(folder)!r} is not a folder; name the one with the real graphs", argument="data"
            )
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


@dataclass(frozen=True)
class Setup:
    """Extent of a run, its graphs and threads."""

    name: str  # "full", "quick", or that of a test
    graphs: Graphs  # real graphs and stand-ins
    threads: int  # of everything that is not timed on one thread
    seed: int = 0  # first of the seeds
    dim: int = 128  # length k of the vectors
    seeds: int = 3  # embeddings for each cell; one for slow methods
    repeats: int = 10  # splits for each ratio
    ratios: int = 5  # number of the paper's ratios
    rounds: int = 5  # of each timing, the best of which counts
    shortening: int = 1  # divisor of walks and samples
    scale: float = 1.0  # size of generated graphs on which time or error is measured, in parts of the full run's
    slow_graphs: frozenset[str] = frozenset({"blogcatalog", "ppi", "wikipedia", "youtube-part"})  # for slow methods

    @property
    def full(self) -> bool:
        """Whether nothing is left out."""
        return self.name == "full"

    def select_ratios(self, ratios: tuple[float, ...]) -> tuple[float, ...]:
        """As many of the ratios as the run has: the middle first, then the ends.

        Examples
        --------
        >>> quick(threads=1, data=None).select_ratios((0.1, 0.3, 0.5, 0.7, 0.9))
        (0.1, 0.5, 0.9)
        """
        order = sorted(range(len(ratios)), key=lambda at: (at != len(ratios) // 2, at not in (0, len(ratios) - 1)))
        return tuple(ratios[at] for at in sorted(order[: self.ratios]))

    def list_seeds(self, method: str, *, limit: int | None = None) -> range:
        """Seeds of the embeddings by a method."""
        count = 1 if method in SLOW else self.seeds
        return range(self.seed, self.seed + min(count, limit or count))

    def scale_count(self, count: int) -> int:
        """Number of nodes or edges of a generated graph."""
        return max(1, round(count * self.scale))

    def check_method(self, graph: str, method: str) -> Gap | None:
        """A gap if the method does not run on the graph."""
        if method not in SLOW or graph in self.slow_graphs:
            return None
        if self.full:
            return Gap("left out", f"{method} would take hours on a graph of this size")
        return Gap("left out", f"by --quick, which runs {method} on small graphs only; the full run has it")

    def shorten(self, method: str) -> dict[str, Any]:
        """Settings that make a slow method quick; empty if nothing is shortened."""
        if self.shortening == 1:
            return {}
        if method in ON_WALKS:
            return {"base_settings": f"walks={max(1, 80 // self.shortening)}"}
        defaults: dict[str, Any] = {field.name: field.default for field in fields(methods.find_method(method).settings)}
        return {name: max(1, int(defaults[name]) // self.shortening) for name in SHORTENED if name in defaults}


def full(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """Everything that the paper has."""
    return Setup("full", Graphs.from_folder(data), usable_threads(threads), seed=seed)


def quick(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """A little of everything, in minutes."""
    return Setup(
        "quick",
        Graphs.from_folder(data, scale=0.3, largest=0.01),
        usable_threads(threads),
        seed=seed,
        seeds=1,
        repeats=2,
        ratios=3,
        rounds=2,
        shortening=10,
        scale=0.2,
        slow_graphs=frozenset({"ppi"}),
    )
