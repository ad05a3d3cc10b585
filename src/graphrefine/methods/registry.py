"""Every method behind one door: `embed`, `embed_graph`, and what there is to know of each method.

>>> from graphrefine.methods import registry as methods
>>> methods.find("rbqr").summary
'REFINE without its filter: Algorithm 1 alone'
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from graphrefine.errors import InputError
from graphrefine.methods.contract import Chosen, Method, Place, Run
from graphrefine.progress import Stages, Watcher
from graphrefine.refine.method_settings import choose
from graphrefine.system.version import __version__

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.graph.graph import Graph
    from graphrefine.run.feature_table import Features

METHODS = {  # name -> its module in this folder and the name of its Method there; loaded on first use
    "refine": ("refine", "REFINE"),
    "rbqr": ("refine", "RBQR"),
    "prone": ("prone", "PRONE"),
    "netmf": ("netmf", "NETMF"),
    "netsmf": ("netsmf", "NETSMF"),
    "grarep": ("grarep", "GRAREP"),
    "hope": ("hope", "HOPE"),
    "arope": ("arope", "AROPE"),
    "randne": ("randne", "RANDNE"),
    "fastrp": ("fastrp", "FASTRP"),
    "deepwalk": ("random_walks", "DEEPWALK"),
    "node2vec": ("random_walks", "NODE2VEC"),
    "line": ("line", "LINE"),
    "pte": ("line", "PTE"),
    "harp": ("harp", "HARP"),
    "mile": ("mile", "MILE"),
    "louvainne": ("louvainne", "LOUVAINNE"),
}


def find(name: str) -> Method[Any]:
    """The method of this name.

    Examples
    --------
    >>> find("refine").reference
    'Zhu and Koniusz, CIKM 2021'
    """
    if name not in METHODS:
        near = difflib.get_close_matches(str(name), METHODS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"method={name!r} is not known{hint}; the methods are {', '.join(METHODS)}")
    module, attribute = METHODS[name]
    found: Method[Any] = getattr(import_module(f"graphrefine.methods.{module}"), attribute)
    return found


def settings(name: str, preset: str | None = None, **options: Any) -> Any:
    """The settings of a method: those of a preset, with the options that are not None in place of its own.

    Examples
    --------
    >>> settings("rbqr", dim=16).filter
    'none'
    """
    chosen = find(name)
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in chosen.fixed.items():
        if given.setdefault(option, value) != value:
            raise InputError(f"{option}={given[option]!r} cannot be set with method={name!r}; leave it out")
    return choose(chosen.settings, given, presets=chosen.presets, preset=preset, of=f"method {name!r}")


def embed_graph(
    graph: Graph,
    chosen: Chosen,
    *,
    method: str = "refine",
    features: Any = None,
    threads: int | None = None,
    watcher: Watcher | None = None,
    place: Place | None = None,
) -> tuple[Embedding, Stages]:
    """An `Embedding` of a graph by a method with settings of its own, and how long the stages took.

    ``place`` is where tall matrices are kept, in memory if not given.
    """
    from functools import partial

    from graphrefine.embedding import degree_weight as weighing
    from graphrefine.embedding import fold_in as folding
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.system.threads import usable_threads

    by = find(method)
    by.check(graph, chosen, in_memory=place is None)
    run = Run(usable_threads(threads), Stages(watcher), place)
    given = None if features is None else _read_features(by, graph, chosen, features)
    vectors = by.fit(graph, chosen, run)
    if graph.isolated:
        vectors[graph.without_edges()] = 0.0  # whatever the method made of them
    settings_used = asdict(chosen)  # type: ignore[call-overload]
    sides = by.sides(graph, chosen)
    recipe = {"method": method, **settings_used, "directed": graph.directed, **sides, "version": __version__}
    if given is not None:
        from graphrefine.run.joined_features import add_features

        recipe["features"] = add_features(vectors, graph, given, seed=chosen.seed, run=run)
    degrees = graph.neighbour_counts().astype("float32")
    learning: dict[str, Any] = {}
    if graph.edges and not graph.directed and not sides:  # when it is asked for: many embeddings never are
        learn = partial(folding.learn_from, graph, vectors, degrees, seed=chosen.seed)
        weigh = partial(weighing.learn_from, graph, vectors, seed=chosen.seed)
        learning = {"fold_map": learn, "degree_weight": weigh}
    return Embedding(graph.names, vectors, recipe, degrees=degrees, **learning), run.stages


def _read_features(by: Method[Any], graph: Graph, chosen: Chosen, features: Any) -> Features:
    """The features, before any work is done for nothing."""
    from graphrefine.run.feature_table import read_features

    if not by.features:
        able = ", ".join(name for name in METHODS if find(name).features)
        raise InputError(f"features= cannot be used with method={by.name!r}; it can with {able}")
    if by.sides(graph, chosen):
        raise InputError(
            f"features= cannot be used with {graph.source}, whose vectors have two sides; read it as undirected"
        )
    return read_features(features, graph)


def embed(
    graph: Any,
    dim: int = 128,
    *,
    method: str = "refine",
    directed: bool = False,
    bipartite: bool = False,
    features: Any = None,
    preset: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | PathLike[str] | None = None,
    block: int | None = None,
    power: int | None = None,
    negative: float | None = None,
    exponent: float | None = None,
    log_weights: bool | None = None,
    two_sided: bool | None = None,
    filter: str | Sequence[float] | None = None,
    order: int | None = None,
    scale: float | None = None,
    quality: str | None = None,
    bfloat16: bool | None = None,
    seed: int | None = None,
    **others: Any,
) -> Embedding:
    """Vectors for the nodes of a graph.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes: a file, a SciPy matrix, a NetworkX or igraph graph, a table of edges ...
    dim
        Length of the vectors; at most the number of nodes.
    method
        A name in `METHODS`; ``graphrefine methods`` tells about them.
    directed
        Whether edges have a direction: then ``embedding.source`` and ``embedding.target`` are half of the columns each.
    bipartite
        Whether the ends of edges are two sets of nodes, users and items say: then ``embedding.source`` and
        ``embedding.target`` are the rows of the one and of the other.
    features
        What is known of the nodes beside the edges, for REFINE to use: a matrix (n, f), sparse or dense, where the
        nodes are called 0 to n-1; else a file, a mapping, a DataFrame or a pair (names, matrix).
    preset
        ``"paper"`` computes what the authors' code computes; options given beside it override it.
    threads
        How many to use; by default as many as this process may run on. The result of REFINE does not depend on it.
    memory
        Memory to do with, in bytes or as ``"8GB"``: where it is too little, vectors, and the graph if need be, are kept
        on disk and worked in blocks. REFINE's vectors are then mapped from a file. By default everything is in memory.
    work
        The folder for that, a temporary one if not given. A run that was interrupted goes on with what is there.
    quality
        ``"high"`` for better vectors at many times the time.
    block, power, negative, exponent, log_weights, two_sided, filter, order, scale, bfloat16, seed
        Of REFINE, see `graphrefine.refine.refine.Settings`. None leaves the preset's choice.
    others
        Settings of the other methods, such as ``window`` of ``deepwalk``.

    Returns
    -------
    Embedding
        Names and vectors, row by row; REFINE's have length 1, but for directed and bipartite graphs. A node without
        edges has a zero vector, unless it has features.

    Examples
    --------
    >>> import graphrefine
    >>> ring = [(i, (i + 1) % 6) for i in range(6)]
    >>> embedding = graphrefine.embed(ring, dim=2)
    >>> embedding.vectors.shape, embedding.names.tolist()
    ((6, 2), [0, 1, 2, 3, 4, 5])
    """
    from graphrefine.readers.read import read

    chosen = settings(
        method,
        preset,
        dim=dim,
        block=block,
        power=power,
        negative=negative,
        exponent=exponent,
        log_weights=log_weights,
        two_sided=two_sided,
        filter=filter,
        order=order,
        scale=scale,
        quality=quality,
        bfloat16=bfloat16,
        seed=seed,
        **others,
    )
    reading: dict[str, Any] = {"directed": directed, "bipartite": bipartite}
    if memory is None:
        if work is not None:
            raise InputError("work= is where vectors are kept that memory= has no room for; say how much there is")
        return embed_graph(read(graph, **reading), chosen, method=method, features=features, threads=threads)[0]
    from graphrefine.run.placement import embed_in

    return embed_in(memory, work, graph, chosen, method=method, features=features, threads=threads, reading=reading)
