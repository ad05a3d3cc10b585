"""What is to be done, written down, so that a later run goes on only with the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphrefine.errors import OutputError
from graphrefine.ingestion.inputs import Input
from graphrefine.ingestion.limits import Budget, check_memory
from graphrefine.readers.options import Options
from graphrefine.readers.read import given_nodes
from graphrefine.system.work_folder import WorkFolder


@dataclass(frozen=True)
class Job:
    """The inputs, how they are read, and the budget."""

    inputs: Sequence[Input]
    options: Options
    nodes: Any  # a number, an array of names, or None
    budget: Budget
    resumed: bool


def begin(
    work: WorkFolder, inputs: Sequence[Input], options: Options, *, nodes: Any, memory: int | None, usual: int
) -> Job:
    """Begin in an empty work folder, or go on with what is there if it is the same job.

    A job that goes on keeps the budget with which it began, unless there is less now.
    """
    extra = given_nodes(nodes)
    told = {name: value for name, value in asdict(options).items() if name != "threads"}
    wanted = {"inputs": [each.fingerprint() for each in inputs], "options": told, "nodes": _nodes(nodes, extra)}
    wanted = json.loads(json.dumps(wanted))
    state = work.state("job")
    if state is None:
        budget = Budget(memory or usual)
        check_memory(budget.memory)
        work.clear()
        work.save("job", {**wanted, "memory": budget.memory})
        return Job(inputs, options, extra, budget, resumed=False)
    problem = _difference(state, wanted)
    if problem is None and memory is not None and memory < state["memory"]:
        problem = f"memory was {state['memory'] / 1e6:,.0f} MB and is less now"
    if problem is not None:
        raise OutputError(
            f"{work.path}: holds work that was begun differently ({problem}); delete that folder to start anew, or "
            "run what it was begun with"
        )
    return Job(inputs, options, extra, Budget(state["memory"]), resumed=True)


def _difference(state: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    before, now = ({path: rest for path, *rest in each["inputs"]} for each in (state, wanted))
    for path in [*before, *now]:
        if path not in now or path not in before:
            return f"{path} is {'no longer' if path in before else 'now'} one of the inputs"
        if before[path] != now[path]:
            return f"{path} has changed"
    if state["inputs"] != wanted["inputs"]:
        return "the inputs came in another order"
    for name, value in wanted["options"].items():
        if state["options"].get(name) != value:
            return f"{name} was {state['options'].get(name)!r} and is {value!r} now"
    return None if state["nodes"] == wanted["nodes"] else "nodes are not the same"


def _nodes(nodes: Any, extra: Any) -> Any:
    if isinstance(nodes, str | os.PathLike):
        return [os.path.realpath(nodes), Path(nodes).stat().st_mtime_ns, Path(nodes).stat().st_size]
    if extra is None or isinstance(extra, int):
        return extra
    return hashlib.blake2b("\n".join(map(str, extra.tolist())).encode("utf-8", "surrogateescape")).hexdigest()
