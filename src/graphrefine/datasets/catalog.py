"""Datasets, and the catalog of the paper's five graphs. A new one is an entry of `DATASETS`: address, sizes, checksum.

The sizes are those of Table 3, edges counted once; for PPI and Wikipedia the table counts entries of the matrix, two
for an edge and one for a self-loop. The checksums are those of the files that this project is tested with, whose
headers bear the dates of the originals (2009 and 2015); they were not compared with the servers. None is published for
Flickr and YouTube, and their server is asked without TLS: a download cannot be verified, so it needs
``unverified=True``, and must have the sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphrefine.errors import InputError, suggest
from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import Labels

_SOCIAL = "http://leitang.net/code/social-dimension/data"
_SNAP = "https://snap.stanford.edu/node2vec"
_LICENSE = "no license is known; published for research: cite the reference, and do not pass the file on"


@dataclass(frozen=True)
class Dataset:
    """A graph with labels.

    Attributes
    ----------
    name, title : str
        Name for `load`, and title in reports.
    graph : Graph
    labels : Labels, optional
    path : Path, optional
        File of the graph.
    generated : bool
        True if the graph was drawn at random: scores on it say nothing of a real graph of the same shape.
    note : str
        Note for readers of scores.
    recipe : dict
        Settings of the generator.
    """

    name: str
    title: str
    graph: Graph
    labels: Labels | None = None
    path: Path | None = None
    generated: bool = False
    note: str = ""
    recipe: dict[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Number of different labels."""
        return 0 if self.labels is None else len(self.labels.classes)

    def __repr__(self) -> str:
        kind = "generated, " if self.generated else ""
        size = f"{self.graph.nodes:,} nodes, {self.graph.edges:,} edges, {self.classes} classes"
        return f"Dataset({self.name!r}: {kind}{size})"


@dataclass(frozen=True)
class Entry:
    """Catalog entry of a graph.

    Attributes
    ----------
    name, title : str
        Name for `load`, and title in the paper.
    file : str
        File in ``GRAPHREFINE_DATA`` or in the cache: a ``.mat`` with the matrices ``network`` and ``group``.
    url : str
        Address of the file.
    nodes, edges, classes : int
        Sizes that the file must have.
    table_edges : int
        Number of edges in Table 3 of the paper.
    sha256 : str or None
        Checksum of the file, if there is one.
    reference, license : str
    """

    name: str
    title: str
    file: str
    url: str
    nodes: int
    edges: int
    classes: int
    table_edges: int
    sha256: str | None
    reference: str
    license: str = _LICENSE


DATASETS = {
    entry.name: entry
    for entry in (
        Entry(
            name="blogcatalog",
            title="BlogCatalog",
            file="blogcatalog.mat",
            url=f"{_SOCIAL}/blogcatalog.mat",
            nodes=10_312,
            edges=333_983,
            classes=39,
            table_edges=333_983,
            sha256="d4f4fb89ce1ccd4b7e2a183386c000773cc9362cc61f1be5b246a6d9c259da8f",
            reference="Tang and Liu, KDD 2009",
        ),
        Entry(
            name="ppi",
            title="PPI",
            file="ppi.mat",
            url=f"{_SNAP}/Homo_sapiens.mat",
            nodes=3_890,
            edges=37_845,
            classes=50,
            table_edges=76_584,
            sha256="8a32b88b0576276f02d7aaa3fd282e8617a3e6db8d39abb6212a283363bf1183",
            reference="Grover and Leskovec, KDD 2016",
        ),
        Entry(
            name="wikipedia",
            title="Wikipedia",
            file="wikipedia-pos.mat",
            url=f"{_SNAP}/POS.mat",
            nodes=4_777,
            edges=92_295,
            classes=40,
            table_edges=184_812,
            sha256="b40977b48dec1d5016af0f6d5d2bce6f1c1037ccab948c2bbe324cea16754835",
            reference="Grover and Leskovec, KDD 2016",
        ),
        Entry(
            name="flickr",
            title="Flickr",
            file="flickr.mat",
            url=f"{_SOCIAL}/flickr.mat",
            nodes=80_513,
            edges=5_899_882,
            classes=195,
            table_edges=5_899_882,
            sha256=None,
            reference="Tang and Liu, KDD 2009",
        ),
        Entry(
            name="youtube",
            title="YouTube",
            file="youtube.mat",
            url=f"{_SOCIAL}/youtube.mat",
            nodes=1_138_499,
            edges=2_990_443,
            classes=47,
            table_edges=2_990_443,
            sha256=None,
            reference="Tang and Liu, CIKM 2009",
        ),
    )
}


def find(name: str) -> Entry:
    """Return the entry of the graph of this name.

    Examples
    --------
    >>> find("ppi").url
    'https://snap.stanford.edu/node2vec/Homo_sapiens.mat'
    """
    if name not in DATASETS:
        raise InputError(f"there is no dataset {name!r}{suggest(name, DATASETS)}; there are {', '.join(DATASETS)}")
    return DATASETS[name]
