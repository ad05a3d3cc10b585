"""Plan of a run: within the memory of this machine, on a cluster, or as unfinished work began it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphrefine.embedding.learn import learning_bytes
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Method, Shape
from graphrefine.run.memory_plan import RUN, BudgetError, MemoryPlan, in_memory_bytes, plan_local, vector_bytes
from graphrefine.run.settings import Cluster
from graphrefine.system.memory import megabytes, private_bytes


def plan_run(
    graph: Graph,
    settings: Any,
    *,
    method: Method[Any],
    budget: int,
    folder: Path | None,
    in_memory_for: str | None = None,
    cluster: Cluster | None = None,
    learn: bool = False,
    writing: int = 0,
) -> MemoryPlan:
    """The plan of a run within a budget; InputError where there is none.

    Work that waits in ``folder`` keeps its plan. ``in_memory_for`` is why the vectors must be in memory,
    whatever the method needs; ``cluster`` does the work, if given; ``learn`` adds the stage that learns;
    ``writing`` is the memory of the writer beside vectors and names.
    """
    learning = learning_bytes(graph.nodes, len(graph.indices), settings.dim) if learn else 0
    reason = method.on_disk(graph, settings) if in_memory_for is None else in_memory_for
    extra = max(learning, writing)
    if reason is None:
        method.check(graph, settings, in_memory=False)
        if cluster is not None:
            from graphrefine.run.cluster_plan import plan_cluster  # loads Dask's engine

            return plan_cluster(graph, settings, budget, workers=cluster.workers)
        begun = begun_plan(folder)
        plan = plan_local(graph, settings, budget, extra=extra)
        if begun is not None:
            plan = replace(plan, **begun)
            if plan.predicted > budget:
                raise InputError(
                    f"memory={megabytes(budget)}: {folder} holds unfinished work that needs "
                    f"{megabytes(plan.predicted)}; give that much to go on with it, or delete it to start anew"
                )
        if plan.mode == "memory":
            method.check_room(graph, settings)
        return plan
    if cluster is not None:
        raise InputError(f"a Dask cluster cannot be used for {method.name} on {graph.source}: {reason}")
    simple = method.on_disk(graph, settings) is None
    counted = in_memory_bytes(graph, settings) if simple else private_bytes() + method.memory(Shape.of(graph), settings)
    needed = max(counted, private_bytes() + vector_bytes(graph, settings) + extra)
    method.check(graph, settings)  # which says what would fit
    if needed > budget:
        raise BudgetError(
            f"memory={megabytes(budget)} is too little: {method.name} needs {megabytes(needed)} for {graph.source}, "
            f"and {reason}"
        )
    return MemoryPlan("memory", budget, needed)


def begun_plan(folder: Path | None) -> dict[str, Any] | None:
    """The plan of the work that waits in a folder; None if there is none."""
    if folder is None:
        return None
    try:
        begun = json.loads((folder / f"{RUN}.json").read_bytes())["plan"]
        return {name: begun[name] for name in ("mode", "predicted", "disk", "panel", "panels")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
