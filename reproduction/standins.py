"""Stand-ins: generated graphs of the shape of Flickr and YouTube.

The numbers of nodes, edges, classes and labeled nodes are those of the real graph; the largest degree and the labels of
a node are about the same. The mixing of communities and the noise of labels were set so that REFINE's F1 with 9% of the
labels comes out near the published one. So a stand-in shows the cost of a method at that size; its scores there are
those of the generator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphrefine.datasets import Dataset, block_model, find
from graphrefine.errors import InputError

STANDINS: dict[str, dict[str, Any]] = {
    # `most` is above the largest degree of the real graph (5,706 and 28,754): hubs meet the same neighbors again.
    "flickr": {"most": 6_600, "exponent": 2.4, "labels_per_node": 1.34, "mixing": 0.8, "noise": 0.42},
    "youtube": {
        "most": 52_000,
        "exponent": 2.3,
        "labels_per_node": 1.6,
        "labeled": 31_703,
        "mixing": 0.4,
        "noise": 0.15,
    },
}


def standin(name: str, *, seed: int = 0, threads: int | None = None) -> Dataset:
    """Draw a graph of the shape of a real one.

    Parameters
    ----------
    name : {"flickr", "youtube"}
        The real graph.
    seed : int
        Seed of all that is drawn.
    threads : int, optional
        The number of processors if not given. The graph does not depend on it.

    Returns
    -------
    Dataset
        Its ``generated`` is True, and its title and its note say so.

    Examples
    --------
    >>> standin("ppi")
    Traceback (most recent call last):
    graphrefine.errors.InputError: there is no stand-in for 'ppi'; there are flickr, youtube
    """
    if name not in STANDINS:
        raise InputError(f"there is no stand-in for {name!r}; there are {', '.join(STANDINS)}")
    entry = find(name)
    dataset = block_model(entry.nodes, entry.edges, classes=entry.classes, seed=seed, threads=threads, **STANDINS[name])
    return replace(
        dataset,
        name=name,
        title=f"{entry.title} (generated stand-in)",
        note=f"generated: the shape of {entry.title} (nodes, edges, classes, degrees), not its edges or labels",
    )
