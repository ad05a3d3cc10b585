"""`embed`: the one call from anything that holds a graph to an `Embedding`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import KeywordError, suggest
from graphrefine.methods.registry import find_method
from graphrefine.pipeline.embed_run import EmbedRun, make_request
from graphrefine.pipeline.settings import RunSettings
from graphrefine.progress import Watcher
from graphrefine.readers.options import OPTION_NAMES, list_options, split_reading
from graphrefine.refine.settings import RefineSettings


@list_options
def embed(
    graph: Any,
    dim: int | str | None = None,
    *,
    method: str = "refine",
    features: Any = None,
    align_to: Embedding | None = None,
    preset: str | None = None,
    quality: str | None = None,
    block: int | None = None,
    power: int | None = None,
    negative: float | None = None,
    exponent: float | None = None,
    log_weights: bool | None = None,
    two_sided: bool | None = None,
    spectrum: float | None = None,
    filter: str | Sequence[float] | None = None,
    order: int | None = None,
    scale: float | None = None,
    loop: float | None = None,
    center: bool | None = None,
    axes: float | None = None,
    bfloat16: bool | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | os.PathLike[str] | None = None,
    executor: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    tls_ca_file: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    trusted_network: bool = False,
    learn: bool | None = None,
    watcher: Watcher | None = None,
    **others: Any,
) -> Embedding:
    """Compute vectors for the nodes of a graph.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes: a file, a SciPy matrix, a NetworkX or igraph graph, a table of edges ...
        A graph that says itself that it is directed is embedded so, unless ``directed=False`` is passed.
    dim
        Length of the vectors; 128 by default, or the number of nodes, with a warning, if that is less. ``"auto"``
        takes as many axes of the spectrum as held-out edges confirm, up to 256 (`graphrefine.refine.dimension`);
        ``recipe["auto_dim"]`` has what 32, 64, 128 and 256 of them would lose.
    method
        A name in `graphrefine.methods.registry.METHODS`; ``graphrefine methods`` lists them.
    features
        What is known of the nodes in addition to the edges, for REFINE to use: a matrix (n, f), sparse or dense, where
        the nodes are called 0 to n-1; else a file, a mapping, a DataFrame or a pair (names, matrix).
    align_to
        An older embedding of some of the same nodes, onto which the vectors are rotated: `Embedding.align_to`.
    preset
        ``"paper"`` computes what the authors' code computes; further options override it.
    quality, block, power, negative, exponent, log_weights, two_sided, spectrum, filter, order, scale, loop, center
        Settings of REFINE: `graphrefine.refine.settings.RefineSettings`. None leaves the preset's value.
    axes, bfloat16, seed
        Likewise.
    threads, memory, work, executor, scheduler, workers, tls_ca_file, tls_cert, tls_key, trusted_network
        Settings of the run: `graphrefine.pipeline.settings.RunSettings`. REFINE's vectors do not depend on them. With
        ``memory``, vectors that do not fit are kept on disk, and mapped from a file in the end.
    learn
        True adds what `Embedding.fold_in` and `Embedding.score` learn from the graph; see `Embedding.learn`.
    watcher
        A listener to the stages: `graphrefine.progress.Watcher`.
    directed
        Whether edges have a direction: ``embedding.source`` and ``embedding.target`` are half of the columns each. By
        default as the graph says (NetworkX, igraph, GraphML ...), else False.
    bipartite
        Whether edges join two sets of nodes, users and items say: ``embedding.source`` are the rows of the one,
        ``embedding.target`` those of the other.
    weights, source, target, nodes, format, delimiter, header, quote, comments, encoding, time, since, until, half_life
        Options of reading the graph: `graphrefine.read`.
    names, query, variable
        Likewise.
    others
        Settings of the other methods, such as ``window`` of ``deepwalk``.

    Returns
    -------
    Embedding
        Names and vectors, row by row; REFINE's have length 1, but for two sides. A node without edges or features has a
        zero vector.

    Examples
    --------
    >>> embedding = embed([(i, (i + 1) % 6) for i in range(6)], dim=2)
    >>> embedding.vectors.shape, embedding.names.tolist()
    ((6, 2), [0, 1, 2, 3, 4, 5])
    """
    # Each setting by its name, so that a new one is a field and a keyword above, and no third line here. This must stay
    # the first statement: later ones would add their names.
    given = dict(locals())
    reading, others = split_reading(others)
    _check_keywords(others, method)
    request = make_request(
        graph,
        settings={**{each.name: given[each.name] for each in fields(RefineSettings)}, **others},
        method=method,
        preset=preset,
        reading=reading,
        features=features,
        align_to=align_to,
        run=RunSettings(**{each.name: given[each.name] for each in fields(RunSettings)}),
    )
    with EmbedRun(request) as run:
        run.read(watcher)
        run.make_plan(learn=bool(learn))
        return run.embed()


def _check_keywords(others: dict[str, Any], method: str) -> None:
    """Raise KeywordError for a keyword that is neither a setting of the method nor an option of `embed`."""
    settings = [each.name for each in fields(find_method(method).settings)]
    for unknown in sorted(others.keys() - set(settings)):
        # The method's own error would not know the options of reading: 'wieghts' is nearer to 'weights' than to a
        # setting of REFINE.
        near = suggest(unknown, [*settings, *OPTION_NAMES, *(embed.__kwdefaults__ or {})])
        raise KeywordError(
            f"{unknown!r} is neither an option of embed nor a setting of method {method!r}{near}; its settings are "
            f"{', '.join(settings)}"
        )
