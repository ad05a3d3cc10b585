"""A run: settings -> graph -> memory plan -> engine -> method -> learn -> `Embedding`; `EmbedRun` is its steps."""

from __future__ import annotations

import logging
import os
import warnings
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from graphrefine import __version__
from graphrefine.embedding.embedding import Embedding, check_embedding
from graphrefine.embedding.fingerprint import GRAPH, digest_graph
from graphrefine.embedding.learn import can_learn, learn_state
from graphrefine.embedding.state import EmbeddingData, State
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import ONE, Sides
from graphrefine.kernels.numerics import made_on, numerics_entry
from graphrefine.methods.contract import Method, Resources, Shape
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.memory_plan import MemoryPlan, choose_dimension, plan_run
from graphrefine.pipeline.settings import RunSettings, work_folder
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.read import read
from graphrefine.refine.settings import MethodSettings
from graphrefine.system.files import temporary_folder
from graphrefine.system.memory import budget_of, gigabytes, private_bytes, release_free_memory
from graphrefine.system.threads import one_blas_thread, usable_threads
from graphrefine.tables.source import UnpackedError, reading_bytes, reading_within

if TYPE_CHECKING:
    from graphrefine.refine.dimension import Dimension
    from graphrefine.system.work_folder import WorkFolder


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """All that a run is asked for: a graph, a method with its settings, and where to work."""

    source: Any  # a graph, or anything that `graphrefine.read` takes
    settings: MethodSettings
    method: Method[Any] = field(default_factory=lambda: find_method("refine"))
    dim_is_default: bool = False  # then dim is reduced, with a warning, for a graph of fewer nodes
    dim_is_automatic: bool = False  # then dim is chosen from the spectrum of the graph
    reading: dict[str, Any] = field(default_factory=dict)  # options of `graphrefine.read`
    features: Any = None
    align_to: Embedding | None = None
    run: RunSettings = field(default_factory=RunSettings)
    output: str | os.PathLike[str] | None = None  # what the vectors are for: unfinished work is kept next to it


def make_request(
    source: Any,
    *,
    settings: dict[str, Any],
    method: str = "refine",
    preset: str | None = None,
    align_to: Embedding | None = None,
    **rest: Any,
) -> Request:
    """Return the request that the options of `embed` make; InputError where one is out of its bounds.

    ``settings`` are those of the method that a preset may complete, dim among them; ``rest`` are fields of a `Request`.
    """
    dim = settings["dim"]
    if align_to is not None:
        check_embedding(align_to, "align_to")
        if dim is not None and dim != align_to.dim:
            old = f"align_to, whose vectors have {align_to.dim} numbers"
            raise InputError(f"dim={dim} is not that of {old}; leave dim out", argument="dim")
        dim = align_to.dim
    automatic = isinstance(dim, str) and dim == "auto"
    return Request(
        source,
        make_settings(method, preset, **{**settings, "dim": None if automatic else dim}),
        method=find_method(method),
        dim_is_default=dim is None,
        dim_is_automatic=automatic,
        align_to=align_to,
        **rest,
    )


class EmbedRun:
    """One run, as a context manager: `read`, then `make_plan`, then `embed`.

    Vectors too large for the memory are in the work folder, which goes away at the end, unless an error ends the block.
    """

    def __init__(self, request: Request) -> None:
        self.request, self.method = request, request.method
        self.cluster = request.run if request.run.executor == "dask" else None
        self.settings: Any = request.settings
        self.resumed, self.blocks = False, 0
        self.dimension: Dimension | None = None  # where it is automatic
        self.workers: list[dict[str, Any]] | None = None
        self.graph: Graph
        self.plan: MemoryPlan
        self._stack = ExitStack()
        self._ingested = False
        self._reduced: ArgumentWarning | None = None

    def __enter__(self) -> EmbedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The graph of a finished run in memory is the only work that `working` does not remove itself. After an error
        # the folder stays, so that the same command goes on from there.
        if kind is None and self._ingested and self.plan.mode == "memory":
            self._stack.callback(self.work.finish)
        self._stack.__exit__(kind, error, trace)

    @property
    def named_folder(self) -> Path | None:
        """The work folder that an interrupted run goes on from; None where the run has none that lasts."""
        work, output = self.request.run.work, self.request.output
        if work is not None:
            return Path(work)
        return None if output is None else work_folder(output)

    @cached_property
    def folder(self) -> Path:
        """The work folder; a temporary one where none is named."""
        return self.named_folder or self._stack.enter_context(temporary_folder()) / "work"

    @cached_property
    def work(self) -> WorkFolder:
        """The work folder, locked until the end of the run."""
        from graphrefine.system.work_folder import WorkFolder

        return self._stack.enter_context(WorkFolder(self.folder))

    def read(self, watcher: Watcher | None = None) -> Graph:
        """Read the graph into memory; one whose file is too large for that goes to disk first, in the work folder."""
        source, run = self.request.source, self.request.run
        self.stages = Stages(watcher)
        self.threads, self.budget = usable_threads(run.threads), budget_of(run.memory)
        is_file = run.memory is not None and isinstance(source, str | os.PathLike)
        needed = reading_bytes(os.fspath(source)) if is_file else 0
        self._ingested = needed > 0 and needed + private_bytes() > self.budget
        reading = {**self.request.reading, "threads": self.threads}
        with self.stages.stage("read"):
            self.graph = self._ingest(reading, watcher) if self._ingested else self._read(reading, watcher)
            self.can_learn = can_learn(self.graph)
            # The parser's buffers are free by now, and would be counted as used by the plan.
            release_free_memory()
        return self.graph

    def _read(self, reading: dict[str, Any], watcher: Watcher | None) -> Graph:
        """Read the source; a compressed file that turns out too large for the budget goes to disk too."""
        try:
            with reading_within(None if self.request.run.memory is None else self.budget):
                return read(self.request.source, **reading)
        except UnpackedError:
            if self.request.run.memory is None or not Path(os.fspath(self.request.source)).is_file():
                raise
            self._ingested = True
            return self._ingest(reading, watcher)

    def _ingest(self, reading: dict[str, Any], watcher: Watcher | None) -> Graph:
        from graphrefine.pipeline.out_of_core import ingest_in

        path = os.fspath(self.request.source)
        return ingest_in(self.work, path, budget=self.budget, reading=reading, watcher=watcher)

    def make_plan(self, *, learn: bool = False, writing: int = 0) -> MemoryPlan:
        """Return how the graph is embedded within the budget; InputError where it cannot be.

        A default dim is reduced to the most that the graph allows; `embed` warns of it. ``learn`` adds the stage that
        learns from the graph, where that is possible and, unless the request has learn=True, the budget has room for
        it. ``writing`` are bytes of memory that the writer of the output holds in addition to the vectors.
        """
        if self.request.dim_is_automatic and self.dimension is None:
            with self.stages.stage("dimension"):
                self.dimension = choose_dimension(
                    self.graph, method=self.method.name, budget=self.budget, threads=self.threads
                )
            self.settings = replace(self.settings, dim=self.dimension.dim)
        self._fit_dim()
        reason = self.method.on_disk(self.graph, self.settings)  # why the vectors must be in memory
        if self.request.features is not None:
            reason = "features are joined to the vectors in memory"
        elif self.request.align_to is not None:
            reason = "vectors are aligned in memory"
        self.method.check(self.graph, self.settings, in_memory=False)
        self.plan = plan_run(
            self.graph,
            self.settings,
            learn=learn,
            must_learn=bool(self.request.run.learn),
            method=self.method,
            budget=self.budget,
            folder=self.named_folder,
            in_memory_for=reason,
            cluster=self.cluster,
            writing=writing,
            threads=self.threads,
        )
        sizes = gigabytes(self.plan.predicted), gigabytes(self.plan.budget)
        _log.info("plan: %s, %s expected of %s", self.plan.mode, *sizes)
        return self.plan

    def _fit_dim(self) -> None:
        graph, dim = self.graph, self.settings.dim
        if self.request.dim_is_default and dim > (most := self.method.most_columns(graph, self.settings)):
            self.settings = replace(self.settings, dim=most)
            why = f"the number of nodes of {graph.source}"
            if most != graph.nodes:
                why = f"an even number, as {graph.source} has {graph.nodes} nodes"
            text = f"dim is reduced from {dim} to {most} ({why})"
            self._reduced = ArgumentWarning(text, argument="dim")

    def embed(self) -> Embedding:
        """Return the embedding, made as planned."""
        if self._reduced is not None:
            warnings.warn(self._reduced, stacklevel=3)
        engines = None if self.plan.mode == "memory" else self._engines()
        _log.info("embed by %s, dim %d, threads %d", self.method.name, self.settings.dim, self.threads)
        embedding = _embed(
            self.graph,
            self.settings,
            self.method,
            Resources(self.threads, self.stages, engines),
            features=self.request.features,
            learn=self.plan.learn,
        )
        if self.dimension is not None:
            embedding.recipe["auto_dim"] = self.dimension.stats()
        if engines is not None:
            self.blocks = engines.blocks
            self.workers = engines.workers() if self.cluster is not None else None
        if self.request.align_to is not None:
            with self.stages.stage("align"):
                embedding = embedding.align_to(self.request.align_to)
        return embedding

    def stats(self, *, total: float) -> dict[str, Any]:
        """Return the stats of a run that is done; ``total`` is its time in seconds.

        Of the seconds, ``compute`` is all but reading, learning and writing.
        """
        spent = self.stages.seconds
        apart = sum(spent.get(stage, 0.0) for stage in ("read", "learn", "write"))
        stats = {
            "method": self.method.name,
            "seconds": {**spent, "total": total, "compute": total - apart},
            "threads": self.threads,
            "seed": self.settings.seed,
            "plan": {**self.plan.to_dict(), "blocks": self.blocks, "resumed": self.resumed},
        }
        if self.dimension is not None:
            stats["auto_dim"] = self.dimension.stats()
        return stats if self.workers is None else {**stats, "workers": self.workers}

    def _engines(self) -> Any:
        """Return the factory of engines on disk or on a cluster; the work folder is locked, and removed on success."""
        # Only here: most runs fit into memory, and a small graph is embedded faster than this is imported.
        from graphrefine.pipeline import out_of_core as disk

        # In this order: the stack of the run closes in reverse, and workers still write into the folder when they end.
        folder, client = self.folder, None
        if self.cluster is not None:
            with self.stages.stage("connect"):
                client = self._stack.enter_context(self.cluster.connect())
        self.resumed = self._stack.enter_context(
            disk.working(
                self.graph, self.settings, self.plan, work=self.work, method=self.method.name, stages=self.stages
            )
        )
        if client is None:
            return disk.OnDisk(folder, self.plan.panel, self.threads)
        self.graph = disk.store_in(folder, self.graph, threads=self.threads)
        return disk.OnCluster(folder, client, self.plan.each, self.threads)


def embed_graph(
    graph: Graph,
    settings: MethodSettings,
    *,
    method: str = "refine",
    features: Any = None,
    learn: bool = False,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> tuple[Embedding, Stages]:
    """Return an `Embedding` of a graph in memory by a method with its settings, and the time of each stage.

    ``learn`` adds what can be learned from the graph, if anything can.
    """
    contract, stages = find_method(method), Stages(watcher)
    contract.check(graph, settings)
    resources = Resources(usable_threads(threads), stages)
    return _embed(graph, settings, contract, resources, features=features, learn=learn and can_learn(graph)), stages


def _embed(
    graph: Graph, settings: MethodSettings, method: Method[Any], resources: Resources, *, features: Any, learn: bool
) -> Embedding:
    """Return the embedding of a graph that the method was checked to take."""
    settings = method.resolve(Shape.of(graph), settings)
    sides = method.sides(graph, settings)
    recipe = {"method": method.name, **asdict(settings), "directed": graph.directed, **sides, **method.bits()}
    if features is not None:  # read before any work is done for nothing
        from graphrefine.pipeline import feature_table

        table = feature_table.read_for_method(features, method, graph, settings)
    # Products of BLAS have other last bits on several threads. Methods that promise the same bits on every processor
    # call none; the others get at least the same bits for any number of threads.
    with nullcontext() if method.processor_dependence is None else one_blas_thread():
        try:
            vectors = method.fit(graph, settings, resources)
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"{method.name} came to numbers that floats do not hold ({error}); choose settings nearer to the "
                "defaults, or weights nearer to 1"
            ) from error
    if graph.isolated:
        vectors[graph.without_edges()] = 0.0  # as the documentation promises for every method
    release_free_memory()
    if features is not None:
        added = feature_table.add_features(vectors, graph, table, seed=settings.seed, resources=resources)
        recipe["features"] = added
    with resources.stages.stage("learn") if learn else nullcontext():
        recipe |= {"version": __version__, **numerics_entry(), **made_on(method.libraries)}
        recipe[GRAPH] = digest_graph(graph)
        degrees = graph.neighbor_counts().astype(np.float32)
        recipe["reading"] = graph.reading
        parts = Sides.from_recipe(sides, vectors.shape) if sides else ONE
        state = State(degrees)
        if learn:
            with one_blas_thread():
                state = learn_state(graph, vectors, degrees, seed=settings.seed, sides=parts)
        release_free_memory()
    return Embedding.from_data(EmbeddingData(graph.names, vectors, recipe, state=state))
