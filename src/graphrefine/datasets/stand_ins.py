"""Generated graphs of the shape of Flickr and YouTube, for those who do not have the real ones.

Nodes, edges, classes and labelled nodes are those of the real graph, the largest degree and the labels of a node about
so. How far edges heed communities and how many labels are noise was chosen so that REFINE's F1 with 9% of the labels
comes out near the published one. So a stand-in shows what a method costs at that size; what it scores there is a figure
of the generator's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphrefine.datasets.catalogue import find
from graphrefine.datasets.dataset import Dataset
from graphrefine.errors import InputError

STANDINS: dict[str, dict[str, Any]] = {
    # `most` is above the largest degree of the real graph (5,706 and 28,754): hubs meet the same neighbours again.
    "flickr": {"most": 6_600, "exponent": 2.4, "labels_per_node": 1.34, "mixing": 0.8, "noise": 0.42},
    "youtube": {
        "most": 52_000,
        "exponent": 2.3,
        "labels_per_node": 1.6,
        "labelled": 31_703,
        "mixing": 0.4,
        "noise": 0.15,
    },
}


def standin(name: str, *, seed: int = 0, threads: int | None = None) -> Dataset:
    """A generated graph of the shape of a real one.

    Parameters
    ----------
    name : {"flickr", "youtube"}
        Whose shape.
    seed : int
        Of all that is drawn.
    threads : int, optional
        As many as there are processors if not given. The graph is the same.

    Returns
    -------
    Dataset
        Its ``generated`` is True, and so are its title and its note clear about it.

    Examples
    --------
    >>> standin("ppi")
    Traceback (most recent call last):
    graphrefine.errors.InputError: there is no stand-in for 'ppi'; there are flickr, youtube
    """
    if name not in STANDINS:
        raise InputError(f"there is no stand-in for {name!r}; there are {', '.join(STANDINS)}")
    from graphrefine.datasets.generate import block_model

    entry = find(name)
    drawn = block_model(entry.nodes, entry.edges, classes=entry.classes, seed=seed, threads=threads, **STANDINS[name])
    return replace(
        drawn,
        name=name,
        title=f"{entry.title} (generated stand-in)",
        note=f"generated: the shape of {entry.title} (nodes, edges, classes, degrees), not its edges or labels",
    )
