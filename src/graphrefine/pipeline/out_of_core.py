"""Embedding with tall matrices on disk: the work folder, and the engine that works in it.

The work folder holds what is needed to go on after an interruption, and what says of which run it is. It belongs to one
run at a time, and is gone when that is done.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine import __version__
from graphrefine.embedding.fingerprint import digest_graph
from graphrefine.engine.block_compute import BlockCompute, Pattern
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.dask import Cluster, cluster_engine
from graphrefine.engine.layout import Layout, cut_chunks, cut_rows
from graphrefine.engine.pipeline import Pipeline
from graphrefine.engine.stage_cache import FolderStageCache, StageCache
from graphrefine.errors import GraphRefineError, InputError, OutputError
from graphrefine.graph.graph import store
from graphrefine.graph.node_ids import identities
from graphrefine.graph.stored import StoredGraph, open_stored, read_patterns
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.pipeline.memory_plan import RUN, MemoryPlan
from graphrefine.system.files import check_free_disk
from graphrefine.system.storage import Storage
from graphrefine.system.work_folder import FORMAT, WorkFolder

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.progress import Stages, Watcher
    from graphrefine.refine.settings import RefineSettings

STAMP, INPUT = "input", "input.grf"  # a graph file that had to be ingested: of what it was made, and what it became
GRAPH = "graph.grf"  # a graph from elsewhere, for the workers of a cluster


@dataclass
class OutOfCore:
    """An `EngineFactory` whose tall matrices are files in a folder; `make_engine` makes one in a part of it."""

    folder: Path
    engines: int = field(default=0, kw_only=True)
    blocks: int = field(default=0, kw_only=True)  # of the engine made last

    def engine(self, graph: Graph, *, columns: int, bfloat16: bool) -> BlockEngine:
        """Return an engine for tall matrices of this width on the nodes of a graph."""
        self.engines += 1
        return self.make_engine(self.folder / f"engine-{self.engines - 1}", graph, columns, bfloat16=bfloat16)

    def stage_cache(self, graph: Graph, *, bfloat16: bool) -> StageCache:
        """Return a cache for the results of stages in the same folder, with engines of any width."""
        return FolderStageCache(
            self.folder, lambda path, columns: self.make_engine(path, graph, columns, bfloat16=bfloat16)
        )

    def make_engine(self, path: Path, graph: Graph, columns: int, *, bfloat16: bool) -> BlockEngine:
        """Return an engine in this folder."""
        raise NotImplementedError


@dataclass
class OnDisk(OutOfCore):
    """Engines of this process, which gather from a panel of columns at a time."""

    panel: int
    threads: int

    def make_engine(self, path: Path, graph: Graph, columns: int, *, bfloat16: bool) -> BlockEngine:
        """Return an engine in this folder."""
        bounds = cut_rows(graph.indptr, columns=columns)
        layout = Layout(bounds, cut_chunks(bounds, rows=graph.nodes), columns, self.panel)
        storage, self.blocks = Storage(path), layout.blocks
        # Names that are row numbers need no hash, and may still be on disk: they are not read for it.
        by_row = isinstance(graph, StoredGraph) and graph.has_row_names
        hashes = None if by_row else identities(graph.names)
        compute = BlockCompute(storage, layout, patterns(graph), threads=self.threads, identities=hashes)
        return BlockEngine(storage, layout, Pipeline(compute), bfloat16=bfloat16, threads=self.threads)


@dataclass
class OnCluster(OutOfCore):
    """Engines of a Dask cluster whose workers share the folder and the graph."""

    client: Any
    worker_memory: int | None
    threads: int = 1  # of this process, for the work on rows
    executors: list[Cluster] = field(default_factory=list)

    def make_engine(self, path: Path, graph: Graph, columns: int, *, bfloat16: bool) -> BlockEngine:
        """Return an engine in this folder."""
        assert isinstance(graph, StoredGraph)
        engine = cluster_engine(
            self.client, graph, str(path), columns=columns, bfloat16=bfloat16, worker_memory=self.worker_memory
        )
        engine.threads, self.blocks = self.threads, engine.layout.blocks
        self.executors.append(engine.executor)  # type: ignore[arg-type]
        return engine

    def workers(self) -> list[dict[str, Any]]:
        """Return what each worker has done, for all engines."""
        total: dict[str, Counter[str]] = defaultdict(Counter)
        for executor in self.executors:
            for report in executor.workers_report():
                total[report["name"]].update({key: value for key, value in report.items() if key != "name"})
        return [{"name": name, **counts} for name, counts in sorted(total.items())]


def patterns(graph: Graph) -> dict[str, Pattern]:
    """Return the rows of a graph and of its reversed arcs: in memory, or read from disk as they are needed."""
    if isinstance(graph, StoredGraph):
        return dict(read_patterns(graph))
    return {"rows": graph, "arrivals": graph.transposed()}


def store_in(folder: Path, graph: Graph, *, threads: int) -> StoredGraph:
    """Return a graph on disk: itself, or put into the folder where it is in memory."""
    if isinstance(graph, StoredGraph):
        return graph
    if not (folder / GRAPH).exists():
        store(graph, folder / GRAPH, threads=threads)
    return open_stored(folder / GRAPH)


@contextmanager
def working(
    graph: Graph, settings: RefineSettings, plan: MemoryPlan, *, work: WorkFolder, method: str, stages: Stages
) -> Iterator[bool]:
    """Lock a folder for the work of embedding a graph, and yield whether work of an earlier run is continued.

    The folder goes away if all goes well, and stays for the next run if not.
    """
    mark = {
        "graph": graph.fingerprint if isinstance(graph, StoredGraph) else digest_graph(graph),
        "method": method,
        "settings": json.loads(json.dumps(asdict(settings))),  # lists for tuples, as the state of the folder has them
        "version": __version__,
        **numerics_entry(),
    }
    earlier = work.state(RUN)
    if earlier is None:
        work.clear(keep=(INPUT, f"{STAMP}.json"))
        check_free_disk(work.path, plan.disk, advice="choose another folder with --work")
        work.save(RUN, {"format": FORMAT, **mark, "plan": asdict(plan)})
    else:
        work.check_format(earlier)
        _check_same(work.path, earlier, mark)
    if isinstance(graph, StoredGraph):
        verify(graph, stages)
    try:
        yield earlier is not None
    except OSError as error:
        if isinstance(error, GraphRefineError):
            raise
        raise OutputError(
            f"{error.filename or work.path}: {error.strerror or error}; the same command goes on from {work.path}"
        ) from error
    work.finish()


def ingest_in(work: WorkFolder, path: str, *, budget: int, reading: dict[str, Any], watcher: Watcher | None) -> Graph:
    """Return a graph file that is too large to be read into memory, as a graph on disk in the work folder."""
    from graphrefine.ingestion.ingest import ingest_files
    from graphrefine.readers.options import ReadOptions

    about, target = Path(path).stat(), work.path / INPUT
    stamp = {
        "path": str(Path(path).absolute()),
        "size": about.st_size,
        "changed": about.st_mtime_ns,
        "reading": {name: str(value) for name, value in reading.items() if name != "threads"},
    }
    _check_same(work.path, work.state(STAMP) or stamp, stamp)
    work.save(STAMP, stamp)
    if not target.exists():
        try:
            ingest_files(path, target, ReadOptions(**reading), memory=budget, watcher=watcher)
        except InputError:
            work.finish()  # a mistake of the user's, and there is nothing to go on with
            raise
    return open_stored(target)


def verify(graph: StoredGraph, stages: Stages) -> None:
    """Raise FormatError unless every block of a graph on disk has its checksum."""
    # Before hours of work, and also before work goes on: products read blocks at random, where a damaged one would only
    # make other vectors.
    sides: list[Any] = [graph, graph.transposed()] if graph.directed else [graph]
    blocks = [(side, block) for side in sides for block in range(len(side.blocks) - 1)]
    with stages.stage("check", steps=len(blocks)):
        for side, block in blocks:
            side.verify_block(block)
            stages.advance()


def _check_same(folder: Path, earlier: Any, mark: dict[str, Any]) -> None:
    """Raise OutputError for work that another run has begun, on another graph or with other settings."""
    theirs = earlier if isinstance(earlier, dict) else {}
    differing = [name for name, value in mark.items() if theirs.get(name) != value]
    if differing:
        raise OutputError(
            f"{folder}: holds the unfinished work of another run ({', '.join(differing)}); delete it to start again, "
            "or choose another folder with --work"
        )
