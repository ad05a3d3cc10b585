"""A run, stage by stage: settings -> graph -> memory plan -> engine -> method -> learn -> `Embedding`.

`embed` is the run as one call. `EmbedRun` is the same step by step, for callers that look in between, such as the
command line, which checks its output once the graph is known.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.formats.parts import Parts
from graphrefine.embedding.learn import can_learn, count_degrees, learn_state
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import EngineFactory, Resources
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.read import read
from graphrefine.readers.source import reading_bytes
from graphrefine.refine.method_settings import MethodSettings
from graphrefine.run.memory_plan import BudgetError, MemoryPlan, plan_run
from graphrefine.run.settings import RunSettings
from graphrefine.system.memory import budget_of, private_bytes, release_free_memory
from graphrefine.system.threads import usable_threads
from graphrefine.system.version import __version__
from graphrefine.system.work_folder import WorkFolder


@dataclass(frozen=True)
class Request:
    """All that a run is asked for: a graph, a method with its settings, and where to work."""

    source: Any  # a graph, or anything that `graphrefine.read` takes
    settings: MethodSettings
    method: str = "refine"
    dim_is_default: bool = False  # then dim is lowered, with a warning, for a graph of fewer nodes
    reading: dict[str, Any] = field(default_factory=dict)  # options of `graphrefine.read`
    features: Any = None
    align_to: Embedding | None = None
    learn: bool = False  # from the graph, where that is possible
    run: RunSettings = field(default_factory=RunSettings)
    writing: int = 0  # bytes of memory that the writer of the output holds beside the vectors


class EmbedRun:
    """One run, as a context manager: `read`, then `make_plan`, then `embed`.

    Vectors that are too large for the memory are in the work folder, which goes away at the end of the block, unless an
    error ends it: then the next run goes on from there.

    Examples
    --------
    >>> ring = [(i, (i + 1) % 6) for i in range(6)]
    >>> with EmbedRun(Request(ring, make_settings("refine", dim=2))) as run:
    ...     graph, plan = run.read(), run.make_plan()
    ...     embedding = run.embed()
    >>> graph.nodes, plan.mode, list(run.stages.seconds)
    (6, 'memory', ['read', 'proximity', 'range', 'filter'])
    """

    def __init__(self, request: Request) -> None:
        self.request, self.cluster = request, request.run.cluster()
        self.settings: Any = request.settings
        self.resumed, self.blocks, self.learn = False, 0, request.learn
        self.workers: list[dict[str, Any]] | None = None
        self.graph: Graph
        self.plan: MemoryPlan
        self._stack, self._lowered = ExitStack(), ""

    def __enter__(self) -> EmbedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.plan.mode == "memory" and self._ingested:
            self.work.finish()
        self._stack.__exit__(kind, error, trace)

    def read(self, watcher: Watcher | None = None) -> Graph:
        """The graph, in memory; one whose file is too large for that is put on disk first, in the work folder."""
        source, run = self.request.source, self.request.run
        folder = run.work
        if folder is None:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="graphrefine-"))) / "work"
        self.method = find_method(self.request.method)
        is_file = run.memory is not None and isinstance(source, str | os.PathLike)
        needed = reading_bytes(os.fspath(source)) if is_file else 0
        self.stages, self.work = Stages(watcher), WorkFolder(folder)
        self.threads, self.budget = usable_threads(run.threads), budget_of(run.memory)
        self._ingested = needed > 0 and needed + private_bytes() > self.budget
        reading = {**self.request.reading, "threads": self.threads}
        with self.stages.stage("read"):
            self.graph = self._ingest(reading, watcher) if self._ingested else read(source, **reading)
            release_free_memory()
        self._fit_dim()
        return self.graph

    def _ingest(self, reading: dict[str, Any], watcher: Watcher | None) -> Graph:
        from graphrefine.run.out_of_core import ingest_in

        self._stack.enter_context(self.work)
        path = os.fspath(self.request.source)
        return ingest_in(self.work, path, budget=self.budget, reading=reading, watcher=watcher)

    def _fit_dim(self) -> None:
        """Lower a dim that nobody asked for to the most that the graph allows; `make_plan` warns of it."""
        graph, dim = self.graph, self.settings.dim
        most = self.method.most_columns(graph, self.settings)
        if self.request.dim_is_default and dim > most:
            to = "that" if most == graph.nodes else f"{most}, as it must be even"
            self._lowered = f"{graph.source} has {graph.nodes} nodes: dim= is lowered from {dim} to {to}"
            self.settings = replace(self.settings, dim=most)

    def make_plan(self) -> MemoryPlan:
        """How the graph is embedded within the budget; InputError where it cannot be.

        Learning that nobody asked for by name is left out where the budget has no room for it.
        """
        if self._lowered:
            warnings.warn(self._lowered, stacklevel=3)
        try:
            self.plan = self._plan()
        except BudgetError:
            if not self.learn or self.request.run.learn:
                raise
            self.learn = False
            self.plan = self._plan()
        return self.plan

    def _plan(self) -> MemoryPlan:
        return plan_run(
            self.graph,
            self.settings,
            method=self.method,
            budget=self.budget,
            work=self.work,
            in_memory_for=self._in_memory_for(),
            cluster=self.cluster,
            learn=self.learn,
            writing=self.request.writing,
        )

    def _in_memory_for(self) -> str | None:
        """Why the vectors must be in memory, whatever the method needs."""
        if self.request.features is not None:
            return "features are joined to the vectors in memory"
        return "vectors are aligned in memory" if self.request.align_to is not None else None

    def embed(self) -> Embedding:
        """The embedding, made as planned."""
        engines = None if self.plan.mode == "memory" else self._engines()
        stages = self.stages
        embedding = embed_graph(
            self.graph,
            self.settings,
            method=self.request.method,
            features=self.request.features,
            threads=self.threads,
            learn=self.learn,
            engines=engines,
            stages=stages,
        )[0]
        if engines is not None:
            self.blocks = engines.blocks
            self.workers = engines.workers() if self.cluster is not None else None
        if self.request.align_to is not None:
            with stages.stage("align"):
                embedding = embedding.align_to(self.request.align_to)
        return embedding

    def _engines(self) -> Any:
        """The factory of engines on disk or on a cluster; the work folder is locked, and goes with success."""
        from graphrefine.run.out_of_core import OnCluster, OnDisk, store_in, working

        client: Any = None
        if self.cluster is not None:
            with self.stages.stage("connect"):
                client = self._stack.enter_context(self.cluster.connect())
        self._stack.enter_context(self.work)
        self.resumed = self._stack.enter_context(
            working(
                self.graph,
                self.settings,
                self.plan,
                work=self.work,
                method=self.request.method,
                stages=self.stages,
            )
        )
        if client is None:
            return OnDisk(self.work.path, self.plan.panel, self.threads)
        self.graph = store_in(self.work.path, self.graph, threads=self.threads)
        return OnCluster(self.work.path, client, self.plan.each)


def embed_graph(
    graph: Graph,
    settings: MethodSettings,
    *,
    method: str = "refine",
    features: Any = None,
    threads: int | None = None,
    learn: bool = False,
    watcher: Watcher | None = None,
    engines: EngineFactory | None = None,
    stages: Stages | None = None,
) -> tuple[Embedding, Stages]:
    """An `Embedding` of a graph by a method with settings of its own, and the time of each stage.

    ``engines`` make the tall matrices, in memory if not given; ``learn`` adds the stage of that name.
    """
    contract = find_method(method)
    contract.check(graph, settings, in_memory=engines is None)
    resources = Resources(usable_threads(threads), Stages(watcher) if stages is None else stages, engines)
    if features is not None:  # read before any work is done for nothing
        from graphrefine.run import feature_table

        table = feature_table.read_for_method(features, contract, graph, settings)
    vectors = contract.fit(graph, settings, resources)
    release_free_memory()
    sides = contract.sides(graph, settings)
    learn = learn and not sides and can_learn(graph)
    state = count_degrees(graph)
    if graph.isolated:
        vectors[graph.without_edges()] = 0.0  # whatever the method made of them
    recipe = {"method": method, **asdict(settings), "directed": graph.directed, **sides, "version": __version__}
    if features is not None:
        added = feature_table.add_features(vectors, graph, table, seed=settings.seed, resources=resources)
        recipe["features"] = added
    if learn:
        with resources.stages.stage("learn"):
            state = learn_state(graph, vectors, seed=settings.seed, degrees=state.degrees)
            release_free_memory()
    return Embedding.from_parts(Parts(graph.names, vectors, recipe, state=state)), resources.stages


def aligned_dim(dim: int | None, old: Embedding, name: str) -> int:
    """The length of vectors that are to be aligned: that of the old ones, or an error before the work."""
    if dim is not None and dim != old.dim:
        raise InputError(f"dim={dim} is not that of {name}, whose vectors have {old.dim} numbers; leave dim out")
    return old.dim


def embed(
    graph: Any,
    dim: int | None = None,
    *,
    method: str = "refine",
    directed: bool = False,
    bipartite: bool = False,
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
    centre: bool | None = None,
    axes: float | None = None,
    bfloat16: bool | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | os.PathLike[str] | None = None,
    executor: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    learn: bool | None = None,
    watcher: Watcher | None = None,
    **others: Any,
) -> Embedding:
    """Vectors for the nodes of a graph.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes: a file, a SciPy matrix, a NetworkX or igraph graph, a table of edges ...
    dim
        Length of the vectors; 128 by default, or the number of nodes, with a warning, if that is less.
    method
        A name in `graphrefine.methods.registry.METHODS`; ``graphrefine methods`` lists them.
    directed
        Whether edges have a direction: then ``embedding.source`` and ``embedding.target`` are half of the columns each.
    bipartite
        Whether the ends of edges are two sets of nodes, users and items say: then ``embedding.source`` and
        ``embedding.target`` are the rows of the one and of the other.
    features
        Further knowledge of the nodes beside the edges, for REFINE to use: a matrix (n, f), sparse or dense, where the
        nodes are called 0 to n-1; else a file, a mapping, a DataFrame or a pair (names, matrix).
    align_to
        An older embedding of some of the same nodes, onto which the vectors are rotated: `Embedding.align_to`.
    preset
        ``"paper"`` computes what the authors' code computes; options given beside it override it.
    quality, block, power, negative, exponent, log_weights, two_sided, spectrum, filter, order, scale, loop, centre
        Settings of REFINE: `graphrefine.refine.settings.RefineSettings`. None leaves the preset's value.
    axes, bfloat16, seed
        Likewise.
    threads, memory, work, executor, scheduler, workers
        Settings of the run: `graphrefine.run.settings.RunSettings`. REFINE's vectors do not depend on them. With
        ``memory``, vectors that do not fit are kept on disk, and mapped from a file in the end.
    learn
        True adds what `Embedding.fold_in` and `Embedding.score` learn from the graph; see `Embedding.learn`.
    watcher
        Is told about the stages; see `graphrefine.progress.Watcher`.
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
    if memory is None and work is not None and executor == "local":
        raise InputError("work= is where vectors are kept that memory= has no room for; say how much there is")
    dim = dim if align_to is None else aligned_dim(dim, align_to, "align_to")
    settings = make_settings(
        method,
        preset,
        dim=dim,
        quality=quality,
        block=block,
        power=power,
        negative=negative,
        exponent=exponent,
        log_weights=log_weights,
        two_sided=two_sided,
        spectrum=spectrum,
        filter=filter,
        order=order,
        scale=scale,
        loop=loop,
        centre=centre,
        axes=axes,
        bfloat16=bfloat16,
        seed=seed,
        **others,
    )
    request = Request(
        graph,
        settings,
        method=method,
        dim_is_default=dim is None,
        reading={"directed": directed, "bipartite": bipartite},
        features=features,
        align_to=align_to,
        learn=bool(learn),
        run=RunSettings(threads, memory, work, executor, scheduler, workers, learn),
    )
    with EmbedRun(request) as run:
        run.read(watcher)
        run.make_plan()
        return run.embed()
