"""Where an embedding is made: in memory if the budget has room, else on disk, or by a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from graphrefine.engine.dask_client import connect
from graphrefine.errors import InputError
from graphrefine.graph.stored import is_stored
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import embed_graph, find
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.read import read
from graphrefine.run.memory_plan import Plan, budget_of, cluster_plan, in_memory, make_plan, megabytes, reading_bytes
from graphrefine.run.out_of_core import OnCluster, OnDisk, ingested_in, resumed_plan, stored_in, working
from graphrefine.system.memory import private_bytes
from graphrefine.system.threads import usable_threads
from graphrefine.system.work_folder import WorkFolder

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.graph.graph import Graph

BESIDE = {"features": "features are joined to the vectors in memory", "align_to": "vectors are aligned in memory"}


@dataclass(frozen=True)
class Machines:
    """Who does the work, if not this process: the workers of a Dask cluster, one that runs or one that is started."""

    scheduler: str | None = None
    workers: int | None = None  # to start on this machine


def plan_for(
    graph: Graph,
    chosen: Any,
    *,
    method: str,
    budget: int,
    work: WorkFolder,
    beside: str | None = None,
    machines: Machines | None = None,
) -> Plan:
    """How a graph is to be embedded within a budget; InputError where it cannot.

    ``beside`` is what else is done with the vectors, a key of `BESIDE`; ``work`` where unfinished work may wait.
    """
    by = find(method)
    reason = by.on_disk(graph, chosen) if beside is None else BESIDE[beside]
    if reason is None:
        by.check(graph, chosen, in_memory=False)
        if machines is not None:
            return cluster_plan(graph, chosen, budget, workers=machines.workers)
        return resumed_plan(work.path, make_plan(graph, chosen, budget))
    if machines is not None:
        raise InputError(f"a Dask cluster cannot be used for {method} on {graph.source}: {reason}")
    simple = by.on_disk(graph, chosen) is None
    needed = in_memory(graph, chosen) if simple else private_bytes() + by.memory(Shape.of(graph), chosen)
    if needed > budget:
        by.check(graph, chosen)  # which says what would fit
        raise InputError(
            f"memory={megabytes(budget)} is too little: {method} needs {megabytes(needed)} for {graph.source}, and "
            f"{reason}"
        )
    return Plan("memory", budget, needed)


@dataclass(frozen=True)
class Made:
    """An embedding that was made as planned."""

    embedding: Embedding
    stages: Stages
    resumed: bool = False  # whether unfinished work was taken up
    blocks: int = 0  # of rows, where work was on disk
    workers: list[dict[str, Any]] | None = None  # of a cluster: what each has done


def read_within(
    graph: Any, *, budget: int, work: WorkFolder, threads: int, reading: dict[str, Any], watcher: Watcher | None = None
) -> Graph:
    """A graph read into memory; one whose file is too large for that is put on disk first, in the work folder."""
    path = os.fspath(graph) if isinstance(graph, str | os.PathLike) else "-"
    needed = 0 if is_stored(path) else reading_bytes(path)
    if not needed or needed + private_bytes() <= budget:
        return read(graph, threads=threads, **reading)
    work.lock()
    return ingested_in(work, path, budget=budget, reading={**reading, "threads": threads}, watcher=watcher)


@contextmanager
def embed_within(
    plan: Plan,
    graph: Graph,
    chosen: Any,
    *,
    method: str,
    work: WorkFolder,
    threads: int,
    features: Any = None,
    machines: Machines | None = None,
    watcher: Watcher | None = None,
) -> Iterator[Made]:
    """An embedding made as planned.

    Vectors that are on disk are in the work folder, which goes away after the block.
    """
    how: dict[str, Any] = {"method": method, "threads": threads, "watcher": watcher}
    if plan.mode == "memory":
        yield Made(*embed_graph(graph, chosen, features=features, **how))
        if work.locked:  # the graph is there
            work.finish()
        return
    before = Stages(watcher)
    with ExitStack() as stack:
        if machines is not None:
            with before.stage("connect"):
                client = stack.enter_context(connect(scheduler=machines.scheduler, workers=machines.workers))
        stack.enter_context(work)
        resumed = stack.enter_context(working(graph, chosen, plan, work=work, method=method, stages=before))
        place: OnDisk | OnCluster = OnDisk(work.path, plan.panel, threads)
        if machines is not None:
            graph = stored_in(work.path, graph, threads=threads)
            place = OnCluster(work.path, client, plan.each)
        embedding, stages = embed_graph(graph, chosen, place=place, **how)
        stages.seconds = {**before.seconds, **stages.seconds}
        workers = place.workers() if isinstance(place, OnCluster) else None
        yield Made(embedding, stages, resumed, place.blocks, workers)


def embed_in(
    memory: int | str,
    folder: str | os.PathLike[str] | None,
    graph: Any,
    chosen: Any,
    *,
    method: str,
    features: Any,
    threads: int | None,
    reading: dict[str, Any],
) -> Embedding:
    """An embedding made within so much memory, with the work in a folder, a temporary one if None."""
    budget, count = budget_of(memory), usable_threads(threads)
    with TemporaryDirectory(prefix="graphrefine-") as temporary, ExitStack() as stack:
        work = stack.enter_context(closing(WorkFolder(Path(temporary) / "work" if folder is None else folder)))
        found = read_within(graph, budget=budget, work=work, threads=count, reading=reading)
        beside = None if features is None else "features"
        plan = plan_for(found, chosen, method=method, budget=budget, work=work, beside=beside)
        with embed_within(plan, found, chosen, method=method, work=work, threads=count, features=features) as made:
            return made.embedding
