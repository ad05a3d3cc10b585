"""Where an embedding is made: in memory if the budget has room, else on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.budget import Plan, in_memory, make_plan, megabytes
from graphrefine.errors import InputError
from graphrefine.memory import private_bytes
from graphrefine.methods import embed_graph, find
from graphrefine.methods.contract import Chosen, Shape
from graphrefine.out_of_core import resumed_plan, working
from graphrefine.progress import Stages, Watcher

if TYPE_CHECKING:
    from graphrefine.embedding import Embedding
    from graphrefine.graph import Graph

BESIDE = {"features": "features are joined to the vectors in memory", "align_to": "vectors are aligned in memory"}


def plan_for(
    graph: Graph, chosen: Any, *, method: str, budget: int, folder: Path, beside: str | None = None
) -> Plan:
    """How a graph is to be embedded within a budget; InputError where it cannot.

    ``beside`` is what else is done with the vectors, a key of `BESIDE`; ``folder`` where unfinished work may wait.
    """
    by = find(method)
    reason = by.on_disk(graph, chosen) if beside is None else BESIDE[beside]
    if reason is None:
        by.check(graph, chosen, in_memory=False)
        return resumed_plan(folder, make_plan(graph, chosen, budget))
    simple = by.on_disk(graph, chosen) is None
    needed = in_memory(graph, chosen) if simple else private_bytes() + by.memory(Shape.of(graph), chosen)
    if needed > budget:
        by.check(graph, chosen)  # which says what would fit
        raise InputError(
            f"memory={megabytes(budget)} is too little: {method} needs {megabytes(needed)} for {graph.source}, and "
            f"{reason}"
        )
    return Plan("memory", budget, needed)


@contextmanager
def embed_within(
    plan: Plan,
    graph: Graph,
    chosen: Chosen,
    *,
    method: str,
    folder: Path,
    threads: int,
    features: Any = None,
    watcher: Watcher | None = None,
) -> Iterator[tuple[Embedding, Stages, bool]]:
    """An embedding made as planned, how long its stages took, and whether unfinished work was taken up.

    Vectors that are on disk are in the work folder, which goes away after the block.
    """
    how: dict[str, Any] = {"method": method, "threads": threads, "watcher": watcher}
    if plan.mode == "memory":
        yield *embed_graph(graph, chosen, features=features, **how), False
        return
    before = Stages(watcher)
    preparing: dict[str, Any] = {"folder": folder, "method": method, "threads": threads, "stages": before}
    with working(graph, chosen, plan, **preparing) as (place, resumed):  # type: ignore[arg-type]
        embedding, stages = embed_graph(graph, chosen, place=place, **how)
        stages.seconds = {**before.seconds, **stages.seconds}
        yield embedding, stages, resumed
