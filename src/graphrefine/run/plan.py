"""Plan of a run: within the memory of this machine, on a cluster, or as unfinished work began it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphrefine.embedding.learn import can_learn, learning_bytes
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Method, Shape
from graphrefine.run.memory_plan import RUN, BudgetError, MemoryPlan, in_memory_bytes, plan_local, vector_bytes
from graphrefine.run.settings import Cluster
from graphrefine.system.memory import megabytes, private_bytes
from graphrefine.system.work_folder import WorkFolder


def plan_run(
    graph: Graph,
    settings: Any,
    *,
    method: Method[Any],
    budget: int,
    work: WorkFolder,
    in_memory_for: str | None = None,
    cluster: Cluster | None = None,
    learn: bool = False,
    writing: int = 0,
) -> MemoryPlan:
    """The plan of a run within a budget; InputError where there is none.

    Work that waits in the folder ``work`` keeps its plan. ``in_memory_for`` is why the vectors must be in memory,
    whatever the method needs; ``cluster`` does the work, if given; ``learn`` adds the stage that learns,
    where there is something to learn; ``writing`` is the memory of the writer beside vectors and names.
    """
    reason = method.on_disk(graph, settings) if in_memory_for is None else in_memory_for
    learning = learning_bytes(graph.nodes, len(graph.indices), settings.dim) if learn and can_learn(graph) else 0
    extra = max(learning, writing)
    if reason is None:
        method.check(graph, settings, in_memory=False)
        if cluster is not None:
            from graphrefine.run.cluster_plan import plan_cluster  # loads Dask's engine

            return plan_cluster(graph, settings, budget, workers=cluster.workers)
        return resumed_plan(work.path, plan_local(graph, settings, budget, extra=extra))
    if cluster is not None:
        raise InputError(f"a Dask cluster cannot be used for {method.name} on {graph.source}: {reason}")
    simple = method.on_disk(graph, settings) is None
    counted = in_memory_bytes(graph, settings) if simple else private_bytes() + method.memory(Shape.of(graph), settings)
    needed = max(counted, private_bytes() + vector_bytes(graph, settings) + extra)
    if needed > budget:
        method.check(graph, settings)  # which says what would fit
        raise BudgetError(
            f"memory={megabytes(budget)} is too little: {method.name} needs {megabytes(needed)} for {graph.source}, "
            f"and {reason}"
        )
    return MemoryPlan("memory", budget, needed)


def resumed_plan(folder: Path, plan: MemoryPlan) -> MemoryPlan:
    """The plan of the work that waits in a folder, if some does and the budget has room for it; else the plan given."""
    try:
        begun = json.loads((folder / f"{RUN}.json").read_bytes())["plan"]
        waiting = replace(plan, **{name: begun[name] for name in ("mode", "predicted", "disk", "panel", "panels")})
    except (OSError, ValueError, KeyError, TypeError):
        return plan
    if waiting.predicted > plan.budget:
        raise InputError(
            f"memory={megabytes(plan.budget)}: {folder} holds unfinished work that needs "
            f"{megabytes(waiting.predicted)}; give that much to go on with it, or delete it to start anew"
        )
    return waiting
