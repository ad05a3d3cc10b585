"""REFINE from graph to vectors: the settings, and the stages in the order of the paper.

``M`` (Eqs. 2-4, `operators.proximity`) -> ``C, R`` (Algorithm 1, `rangefinder.range_finder`) -> unit rows ->
``R*`` (Eq. 7, `filters.diffuse`) -> ``U S^1/2`` of R*, unit rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.engine import Engine, T
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.filters import coefficients, diffuse, principal_rotation
from graphrefine.operators import proximity, transition
from graphrefine.progress import Stages, Watcher
from graphrefine.rangefinder import range_finder

if TYPE_CHECKING:
    from graphrefine.embedding import Embedding
    from graphrefine.graph import Graph


@dataclass(frozen=True)
class Settings:
    """What makes an embedding what it is, apart from the graph.

    Parameters
    ----------
    dim
        Length k of the vectors.
    block
        Width b of the column blocks that Algorithm 1 orthonormalises. It groups the arithmetic and never changes the
        span, so the paper's ``q b >= k`` is not enforced.
    power
        Number q of products with M before the basis is taken.
    negative, exponent
        Lambda, and the exponent of the context distribution (Eqs. 2-4).
    log_weights
        Whether ln A_ij stays in M, as Eqs. 3-4 have it. The authors' code cancels it.
    two_sided
        Whether the products alternate between M and M^T; by default only on directed graphs, where M^q can vanish.
    filter, order, scale
        Eq. 7: a name in `graphrefine.filters.FILTERS`, ``"none"`` (RBQR) or the coefficients; its K; its parameter.
    bfloat16
        Whether products gather from bfloat16: twice as fast, with a relative rounding of 0.4% in what is gathered.
    seed
        Of the random sketch.
    """

    dim: int = 128
    block: int = 16
    power: int = 3
    negative: float = 1.0
    exponent: float = 0.75
    log_weights: bool = True
    two_sided: bool | None = None
    filter: str | tuple[float, ...] = "taylor"
    order: int | None = None
    scale: float | None = None
    bfloat16: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("dim", "block", "power"):
            _check_integer(name, getattr(self, name), least=1)
        _check_integer("seed", self.seed, least=0, most=2**64 - 1)
        for name, least in (("negative", 0.0), ("exponent", None)):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.integer, np.floating)) or not math.isfinite(value):
                raise InputError(f"{name}={value!r} must be a finite number")
            if least is not None and value <= least:
                raise InputError(f"{name}={value!r} must be greater than {least:g}")
        coefficients(self.filter, order=self.order, scale=self.scale)


PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # What the authors' code computes: ln A_ij cancels in M, so weights count through the degrees alone.
    "paper": {"log_weights": False, "two_sided": False},
}


def settings(preset: str | None = None, **options: Any) -> Settings:
    """The settings of a preset, with those options that are not None in place of its own.

    Examples
    --------
    >>> settings("paper", power=2).log_weights, settings("paper", power=2).power
    (False, 2)
    """
    chosen = PRESETS.get(preset or "default")
    if chosen is None:
        raise InputError(f"preset={preset!r} is not known; the presets are {', '.join(map(repr, PRESETS))}")
    given = {name: value for name, value in options.items() if value is not None}
    unknown = set(given) - {field.name for field in fields(Settings)}
    if unknown:
        raise InputError(f"unknown setting {sorted(unknown)[0]!r}; see graphrefine.refine.Settings for the known ones")
    if not isinstance(given.get("filter", ""), str):
        given["filter"] = tuple(float(c) for c in given["filter"])
    return Settings(**{**chosen, **given})


def refine(
    engine: Engine[T], graph: Graph, chosen: Settings, stages: Stages, *, threads: int = 1
) -> NDArray[np.float32]:
    """The vectors (n, k) of a checked graph by checked settings: the paper, stage by stage."""
    theta = coefficients(chosen.filter, order=chosen.order, scale=chosen.scale)
    two_sided = graph.directed if chosen.two_sided is None else chosen.two_sided
    with stages.stage("proximity"):
        M = proximity(
            graph,
            negative=chosen.negative,
            exponent=chosen.exponent,
            log_weights=chosen.log_weights,
            threads=threads,
        )
        sketch = engine.random(seed=chosen.seed)
    with stages.stage("range", steps=chosen.power + 1):
        R = range_finder(
            engine,
            M,
            sketch,
            block=chosen.block,
            power=chosen.power,
            two_sided=two_sided,
            unit=True,
            precise=theta is None,
            advance=stages.advance,
        ).target
    with stages.stage("filter", steps=len(theta or ()) or 1):
        if theta is None:
            return engine.collect(R)
        F = diffuse(engine, transition(graph), R, theta, advance=stages.advance)
        del R
        return engine.collect(F, principal_rotation(engine.gram(F)), unit=True)


def embed_graph(
    graph: Graph, chosen: Settings, *, threads: int | None = None, watcher: Watcher | None = None
) -> tuple[Embedding, Stages]:
    """An `Embedding` of a graph, and how long its stages took."""
    from graphrefine.embedding import Embedding
    from graphrefine.graph import usable_threads

    check_size(graph, chosen)
    threads = usable_threads(threads)
    stages = Stages(watcher)
    with stages.stage("proximity"):
        engine = LocalEngine(graph, columns=chosen.dim, threads=threads, bfloat16=chosen.bfloat16)
    vectors = refine(engine, graph, chosen, stages, threads=threads)
    recipe = {"method": "refine", **asdict(chosen), "directed": graph.directed, "version": __version__}
    return Embedding(graph.names, vectors, recipe), stages


def embed(
    graph: Any,
    dim: int = 128,
    *,
    directed: bool = False,
    preset: str | None = None,
    threads: int | None = None,
    block: int | None = None,
    power: int | None = None,
    negative: float | None = None,
    exponent: float | None = None,
    log_weights: bool | None = None,
    two_sided: bool | None = None,
    filter: str | Sequence[float] | None = None,
    order: int | None = None,
    scale: float | None = None,
    bfloat16: bool | None = None,
    seed: int | None = None,
) -> Embedding:
    """Vectors for the nodes of a graph.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes: a file, a SciPy matrix, a NetworkX or igraph graph, a table of edges ...
    dim
        Length of the vectors; at most the number of nodes.
    directed
        Whether edges have a direction.
    preset
        ``"paper"`` computes what the authors' code computes; options given beside it override it.
    threads
        How many to use; by default as many as this process may run on. The result does not depend on it.
    block, power, negative, exponent, log_weights, two_sided, filter, order, scale, bfloat16, seed
        See `graphrefine.refine.Settings`. None leaves the preset's choice.

    Returns
    -------
    Embedding
        Names and unit-length vectors, row by row. A node without edges has a zero vector.

    Examples
    --------
    >>> import graphrefine
    >>> ring = [(i, (i + 1) % 6) for i in range(6)]
    >>> embedding = graphrefine.embed(ring, dim=2)
    >>> embedding.vectors.shape, embedding.names.tolist()
    ((6, 2), [0, 1, 2, 3, 4, 5])
    """
    from graphrefine.reader import read

    chosen = settings(
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
        bfloat16=bfloat16,
        seed=seed,
    )
    return embed_graph(read(graph, directed=directed), chosen, threads=threads)[0]


def check_size(graph: Graph, chosen: Settings) -> None:
    """A graph can have at most as many dimensions as nodes."""
    if chosen.dim > graph.nodes:
        raise InputError(
            f"dim={chosen.dim} is larger than the graph ({graph.source}: {graph.nodes} nodes); "
            f"choose dim={graph.nodes} or less"
        )


def _check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name}={value!r} must be a whole number")
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(f"{name}={value!r} must be at least {least}{upper}")
