"""Job: inputs, options and budget, written down, so that a later run goes on only with the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphrefine.errors import OutputError
from graphrefine.ingestion.inputs import Input
from graphrefine.ingestion.limits import Budget, check_memory
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read_nodes
from graphrefine.system.work_folder import WorkFolder


@dataclass(frozen=True)
class Job:
    """The inputs, the options of reading them, and the budget."""

    inputs: Sequence[Input]
    options: ReadOptions
    nodes: Any  # a number, an array of names, or None
    budget: Budget
    resumed: bool


def begin(work: WorkFolder, inputs: Sequence[Input], options: ReadOptions, *, memory: int | None, usual: int) -> Job:
    """Begin in an empty work folder, or go on with the work in it if it is the same job.

    A job that goes on keeps the budget with which it began, unless there is less now.
    """
    nodes = read_nodes(options.nodes)
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    values = {name: value for name, value in values.items() if name not in ("threads", "nodes")}
    stamps = [each.fingerprint() for each in inputs]
    description = {"inputs": stamps, "options": values, "nodes": _describe_nodes(options.nodes, nodes)}
    description = json.loads(json.dumps(description))
    state = work.state("job")
    if state is None:
        budget = Budget(memory or usual)
        check_memory(budget.memory)
        work.clear()
        work.save("job", {**description, "memory": budget.memory})
        return Job(inputs, options, nodes, budget, resumed=False)
    problem = _difference(state, description)
    if problem is None and memory is not None and memory < state["memory"]:
        problem = f"memory was {state['memory'] / 1e6:,.0f} MB and is less now"
    if problem is not None:
        raise OutputError(
            f"{work.path}: holds work that was begun differently ({problem}); delete that folder to start anew, or "
            "run the job that it was begun with"
        )
    return Job(inputs, options, nodes, Budget(state["memory"]), resumed=True)


def _difference(state: dict[str, Any], description: dict[str, Any]) -> str | None:
    before, now = ({path: rest for path, *rest in each["inputs"]} for each in (state, description))
    for path in [*before, *now]:
        if path not in now or path not in before:
            return f"{path} is {'no longer' if path in before else 'now'} one of the inputs"
        if before[path] != now[path]:
            return f"{path} has changed"
    if state["inputs"] != description["inputs"]:
        return "the inputs came in another order"
    for name, value in description["options"].items():
        if state["options"].get(name) != value:
            return f"{name} was {state['options'].get(name)!r} and is {value!r} now"
    return None if state["nodes"] == description["nodes"] else "nodes are not the same"


def _describe_nodes(option: Any, nodes: Any) -> Any:
    """The option ``nodes`` in JSON: a file by its path, time and size, names by a hash."""
    if isinstance(option, str | os.PathLike):
        return [os.path.realpath(option), Path(option).stat().st_mtime_ns, Path(option).stat().st_size]
    if nodes is None or isinstance(nodes, int):
        return nodes
    return hashlib.blake2b("\n".join(map(str, nodes.tolist())).encode("utf-8", "surrogateescape")).hexdigest()
