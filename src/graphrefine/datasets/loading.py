"""`load`: a dataset from the user's folder, from the cache, or from the internet, checked for what must be in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphrefine.datasets.catalogue import Entry, find
from graphrefine.datasets.dataset import Dataset
from graphrefine.datasets.download import fetch, sha256_of
from graphrefine.datasets.folders import by_hand, cache_folder, data_folder, locate
from graphrefine.errors import FormatError, InputError
from graphrefine.system.files import replacing

if TYPE_CHECKING:
    from graphrefine.progress import Watcher


def load(name: str, *, download: bool = True, threads: int | None = None, progress: Watcher | None = None) -> Dataset:
    """One of the paper's graphs, with its labels.

    It is looked for in the folder that ``GRAPHREFINE_DATA`` names, then in the cache (``GRAPHREFINE_CACHE``, or the
    system's place for such files), and is downloaded into the cache if it is in neither.

    Parameters
    ----------
    name : str
        A name in `graphrefine.datasets.DATASETS`.
    download : bool
        Whether it may be downloaded.
    threads : int, optional
        To read it with.
    progress : Watcher, optional
        Told of the stage "download", with a step for each percent.
    """
    return obtain(find(name), download=download, threads=threads, progress=progress)


def obtain(
    entry: Entry, *, download: bool = True, threads: int | None = None, progress: Watcher | None = None
) -> Dataset:
    """The dataset of an entry of the catalogue; see `load`."""
    path = locate(entry)
    if path is None and not download:
        raise InputError(f"{entry.title} is not here; {by_hand(entry)}; or leave out download=False")
    if path is None:
        path = cache_folder() / entry.file
        fetch(
            entry.url,
            path,
            sha256=entry.sha256,
            accept=lambda part: _check(entry, read(entry, part, threads=threads)),
            advice=by_hand(entry),
            progress=progress,
        )
        _record(path)
    elif path.parent != data_folder():
        _check_unchanged(entry, path)
    dataset = read(entry, path, threads=threads)
    _check(entry, dataset)
    return dataset


def read(entry: Entry, path: Path, *, threads: int | None = None) -> Dataset:
    """The graph and the labels in a file."""
    from graphrefine.readers.labels import read_labels
    from graphrefine.readers.read import read as read_graph

    graph = read_graph(path, threads=threads)
    return Dataset(entry.name, entry.title, graph, read_labels(path), path=path)


def _check(entry: Entry, dataset: Dataset) -> None:
    seen = (dataset.graph.nodes, dataset.graph.edges, dataset.classes)
    wanted = (entry.nodes, entry.edges, entry.classes)
    if seen != wanted:
        has, must = ("{:,} nodes, {:,} edges, {:,} classes".format(*counts) for counts in (seen, wanted))
        raise FormatError(
            str(dataset.path), f"this is not {entry.title}: it has {has}, and {must} are expected; move it elsewhere"
        )


def _sums(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _record(path: Path) -> None:
    """Write down the checksum of what has just been downloaded and found good."""
    with replacing(_sums(path)) as hidden:
        hidden.write_text(f"{sha256_of(path)}  {path.name}\n")


def _check_unchanged(entry: Entry, path: Path) -> None:
    """Hold a file in the cache to its checksum: the catalogue's, or that of its first download."""
    sums = _sums(path)
    wanted = entry.sha256 or (sums.read_text().split()[0] if sums.is_file() and sums.stat().st_size else None)
    if wanted is None:
        _record(path)  # put there by hand: what it is now is what it has to stay
    elif (seen := sha256_of(path)) != wanted:
        raise FormatError(
            path, f"its sha256 is {seen}, and {wanted} is expected: it is damaged; delete it to download it again"
        )
