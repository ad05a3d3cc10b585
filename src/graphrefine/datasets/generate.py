"""Random graphs, from a thousand edges to a hundred million: power laws, communities, labels.

Each node i has an expected degree t_i. They fall as a power law and level off at the largest,

``t_i ~ (i + i0)^(-1 / (exponent - 1))``, with i0 such that the first is ``most`` and the sum is twice the edges.

Each edge starts at a node, in proportion to t. It ends at a node drawn in proportion to t: among all nodes with
probability ``mixing``, else among those of one of the communities of its start. That is the degree-corrected stochastic
block model of Karrer and Newman (Physical Review E, 2011) and, with ``mixing`` 1, the model of Chung and Lu. Self-loops
and repeated edges are drawn anew, so the number of edges is exact.

Stand-ins are graphs of the shape of Flickr and YouTube, in place of the real ones. The numbers of nodes, edges, classes
and labeled nodes are those of the real graph; the largest degree and the labels of a node are about the same. The
mixing of communities and the noise of labels were set so that REFINE's F1 with 9% of the labels comes out near the
published one. So a stand-in shows the cost of a method at that size; its scores there are figures of the generator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphrefine.datasets.catalog import find
from graphrefine.datasets.dataset import Dataset
from graphrefine.datasets.edge_sampling import Floats, Places, draw, least_offset
from graphrefine.errors import InputError
from graphrefine.readers.labels import Labels
from graphrefine.system.checks import check_integer, check_number
from graphrefine.system.threads import usable_threads

SIZES = 0.7  # classes are as large as rank^-SIZES


def power_law(
    nodes: int,
    edges: int,
    *,
    exponent: float = 2.5,
    most: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Dataset:
    """A graph whose degrees fall as a power law, without any other structure.

    Parameters
    ----------
    nodes, edges : int
        Numbers of both; the edges at most a quarter of all pairs.
    exponent : float
        A degree of x has a probability of about ``x^-exponent``; above 2.
    most : int, optional
        About the largest degree; by the exponent if not given.
    seed : int
        Seed of all that is drawn.
    threads : int, optional
        The number of processors if not given. The graph does not depend on it.

    Examples
    --------
    >>> graph = power_law(1000, 5000).graph
    >>> graph.nodes, graph.edges, int(graph.out_counts.max()) > 100
    (1000, 5000, True)
    """
    degrees = expected_degrees(nodes, edges, exponent=exponent, most=most)
    recipe = {"model": "power law", "nodes": nodes, "edges": edges, "exponent": exponent, "most": most, "seed": seed}
    rng = np.random.default_rng((seed, 0))
    one_class = sp.csr_array(
        (np.ones(nodes, np.bool_), (np.arange(nodes), np.zeros(nodes, np.int64))), shape=(nodes, 1)
    )
    places = Places.of(rng.permutation(degrees), one_class, edges, mixing=1.0, rng=rng)
    graph = draw(places, edges, seed=seed, threads=usable_threads(threads))
    return Dataset("power-law", "power law, generated", graph, generated=True, note="no labels", recipe=recipe)


def block_model(
    nodes: int,
    edges: int,
    *,
    classes: int = 10,
    mixing: float = 0.3,
    exponent: float = 2.5,
    most: int | None = None,
    labels_per_node: float = 1.0,
    labeled: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
) -> Dataset:
    """A graph of communities, of different sizes and with hubs in them; the communities of a node are its labels.

    Parameters
    ----------
    nodes, edges, exponent, most, seed, threads
        See `power_law`.
    classes : int
        Communities; the first is the largest.
    mixing : float
        Part of the edges without regard to communities, from 0 to 1.
    labels_per_node : float
        Mean number of communities of a node, at least 1.
    labeled : int, optional
        Number of nodes with labels, nodes with many edges more often than others; all if not given.
    noise : float
        Part of the labels that are replaced by random ones, which no method can predict, from 0 to 1.

    Examples
    --------
    >>> block_model(300, 2000, classes=3)
    Dataset('block-model': generated, 300 nodes, 2,000 edges, 3 classes)
    """
    degrees = expected_degrees(nodes, edges, exponent=exponent, most=most)
    check_integer("classes", classes, least=1, most=nodes)
    check_number("mixing", mixing, least=0, most=1)
    check_number("labels_per_node", labels_per_node, least=1, most=classes)
    check_number("noise", noise, least=0, most=1)
    check_integer("labeled", nodes if labeled is None else labeled, least=1, most=nodes)
    recipe = {name: value for name, value in locals().items() if name not in ("degrees", "threads")}
    rng = np.random.default_rng((seed, 1))
    share = np.arange(1, classes + 1) ** -SIZES
    members = _members(nodes, share / share.sum(), labels_per_node, rng)
    places = Places.of(rng.permutation(degrees), members, edges, mixing=mixing, rng=rng)
    labels = _labels(places, labeled, noise, share / share.sum(), rng)
    graph = draw(places, edges, seed=seed, threads=usable_threads(threads))
    return Dataset(
        "block-model", "block model, generated", graph, labels, generated=True, recipe={"model": "blocks", **recipe}
    )


def expected_degrees(nodes: int, edges: int, *, exponent: float, most: int | None) -> Floats:
    """Degrees that fall as a power law, largest first; their sum is twice the edges.

    Examples
    --------
    >>> degrees = expected_degrees(1000, 5000, exponent=2.5, most=200)
    >>> round(degrees.sum()), round(degrees[0]), round(degrees[-1])
    (10000, 200, 4)
    """
    check_integer("nodes", nodes, least=3, most=2**31 - 1)
    check_integer("edges", edges, least=1, most=nodes * (nodes - 1) // 4)
    check_number("exponent", exponent, above=2)
    rank, power, mean = np.arange(1.0, nodes + 1), -1 / (exponent - 1), 2 * edges / nodes
    if most is not None:
        check_integer("most", most, least=int(mean) + 1, most=nodes - 1)

    def scaled(offset: float) -> Floats:
        fall = (rank + offset) ** power
        return np.asarray(fall * (2 * edges / fall.sum()))

    largest = most or nodes - 1  # the exponent alone may ask for more neighbors than there are nodes
    return scaled(least_offset(lambda offset: scaled(offset)[0], largest, rounds=30))


def _members(nodes: int, share: Floats, labels_per_node: float, rng: np.random.Generator) -> sp.csr_array[np.bool_]:
    """Communities of the nodes: the first in order, further ones at random.  # (n, classes)."""
    bounds = np.concatenate([[0], np.cumsum(share)])
    first = np.searchsorted(bounds[1:-1], (np.arange(nodes) + 0.5) / nodes)
    further = np.repeat(np.arange(nodes), rng.poisson(labels_per_node - 1, nodes))
    others = np.searchsorted(bounds[1:-1], rng.random(len(further)))
    rows, columns = np.concatenate([np.arange(nodes), further]), np.concatenate([first, others])
    return sp.csr_array((np.ones(len(rows), np.bool_), (rows, columns)), shape=(nodes, len(share)))


def _labels(places: Places, labeled: int | None, noise: float, share: Floats, rng: np.random.Generator) -> Labels:
    """The communities as labels, some of them wrong, of all nodes or of a part."""
    n, classes = places.members.shape
    rows, columns = places.members.tocoo().coords
    columns = np.where(rng.random(len(rows)) < noise, rng.choice(classes, len(rows), p=share), columns)
    if labeled is not None:
        chance = rng.exponential(size=n) / places.degrees  # the smallest of these are a draw in proportion to degrees
        is_labeled = np.zeros(n, np.bool_)
        is_labeled[np.argpartition(chance, labeled - 1)[:labeled]] = True
        rows, columns = rows[is_labeled[rows]], columns[is_labeled[rows]]
    indicator = sp.csr_array((np.ones(len(rows), np.bool_), (places.names[rows], columns)), shape=(n, classes))
    names = tuple(str(number) for number in range(classes))
    return Labels(np.arange(n), indicator, names, by_row=True, source="generated", by_number=True)


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
    """A generated graph of the shape of a real one.

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
