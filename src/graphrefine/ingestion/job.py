"""Job: input files, by names, folders and patterns; options; budget; written down, so that a later run has the same."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphrefine.errors import InputError, OutputError
from graphrefine.graph.stored import is_stored
from graphrefine.ingestion.limits import Budget, check_memory
from graphrefine.readers.formats import BY_SUFFIX, Format, find_format, is_ogb_folder
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read_nodes
from graphrefine.system.work_folder import FORMAT, WorkFolder
from graphrefine.tables.source import Source

LOGGED = {"Delta Lake": "_delta_log", "Iceberg": "metadata/*.metadata.json", "Hudi": ".hoodie"}  # marks of folders
DEEPEST = 3  # folders above a file, one of which may be such a table
_BESIDE = ("json", "sqlite", "duckdb")  # formats of files that lie beside tables, and are none of their parts


@dataclass(frozen=True)
class Input:
    """A file of edges."""

    source: Source
    format: Format
    size: int  # in bytes
    changed: int  # when, in nanoseconds

    def fingerprint(self) -> list[Any]:
        """Path, format, size and time, which must not change until the work is done."""
        return [os.path.realpath(self.source.path), self.format.name, self.size, self.changed]


def find_inputs(paths: Sequence[str | os.PathLike[str]], name: str | None) -> list[Input]:
    """Return the files of names, folders (every file in them with the suffix of a format) and patterns, in order."""
    files = [file for path in paths for file in _files(os.fspath(path))]
    if not files:
        raise InputError("there is nothing to ingest: name at least one file", argument="paths")
    places: set[str] = set()
    for path in files:
        if os.path.realpath(path) in places:
            raise InputError(
                f"{path}: is given twice, and its edges would count twice; leave one out", argument="paths"
            )
        places.add(os.path.realpath(path))
    _check_plain(dict.fromkeys(folder for each in files for folder in [*Path(each).absolute().parents][:DEEPEST]))
    return [_input(path, name) for path in files]


def _files(path: str) -> list[str]:
    if path == "-":
        raise InputError(
            "standard input cannot be ingested, as it cannot be read again if it must be: use a file", argument="paths"
        )
    if Path(path).is_dir():
        if is_stored(path):
            raise InputError(f"{path}: is a graph on disk already; embed it as it is", argument="paths")
        if is_ogb_folder(path):
            raise InputError(f"{path}: is a graph of OGB; name the file raw/edge.csv.gz in it", argument="paths")
        _check_plain([Path(path), *(each for each in Path(path).rglob("*") if each.is_dir())])
        inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file() and _is_table(each))
        if not inside:
            raise InputError(f"{path}: there is no file of a known format in this folder", argument="paths")
        return inside
    if not os.path.lexists(path) and glob.has_magic(path):
        matched = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())  # noqa: PTH207
        if not matched:
            raise InputError(f"{path}: no file matches this pattern", argument="paths")
        return matched
    return [path]


def _check_plain(folders: Iterable[Path]) -> None:
    """Refuse tables of Delta Lake, Iceberg and Hudi, of whose files only those count that their log names."""
    for folder in folders:
        for kind, mark in LOGGED.items():
            if any(folder.glob(mark)):
                raise InputError(
                    f"{folder}: is a table of {kind}, whose folder also holds files that were deleted or replaced; "
                    "write the rows that count as plain parquet first, and name that",
                    argument="paths",
                )


def _is_table(path: Path) -> bool:
    format = BY_SUFFIX.get(Source(path).suffix)
    return format is not None and format.name not in _BESIDE and not path.name.startswith((".", "_"))


def _input(path: str, name: str | None) -> Input:
    source = Source(path)
    try:
        about = Path(path).stat()
    except FileNotFoundError:
        raise source.error("there is no such file") from None
    except OSError as error:
        raise source.error(f"the file cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(about.st_mode):
        raise source.error("a pipe or device cannot be ingested, as it cannot be read again if it must be: use a file")
    return Input(source, find_format(source, name, lambda: source.head), about.st_size, about.st_mtime_ns)


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
        work.save("job", {"format": FORMAT, **description, "memory": budget.memory})
        return Job(inputs, options, nodes, budget, resumed=False)
    work.check_format(state)
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
    """Return the option ``nodes`` in JSON: a file by its path, time and size, names by a hash."""
    if isinstance(option, str | os.PathLike):
        return [os.path.realpath(option), Path(option).stat().st_mtime_ns, Path(option).stat().st_size]
    if nodes is None or isinstance(nodes, int):
        return nodes
    return hashlib.blake2b("\n".join(map(str, nodes.tolist())).encode("utf-8", "surrogateescape")).hexdigest()
