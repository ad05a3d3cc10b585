"""The public surface in ``surface.json``: names, signatures, commands, options, and the keys of JSON outputs."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import click

import graphrefine
from cli_runs import PROGRAM, run
from graphrefine import evaluate, live
from graphrefine.cli.commands import cli

SPECIAL = ("__arrow_c_stream__", "__array__", "__contains__", "__enter__", "__exit__", "__getitem__", "__iter__",
           "__len__")  # fmt: skip
EDGES = [(u, v) for first in (0, 6, 12, 18) for u in range(first, first + 6) for v in range(u + 1, first + 6)]
EDGES += [(0, 7), (6, 13), (12, 19), (18, 1)]

# Names and signatures


def list_names() -> dict[str, Any]:
    """List public names, with the parameters of functions."""
    modules = {"graphrefine": graphrefine, "graphrefine.live": live, "graphrefine.evaluate": evaluate}
    return {
        f"name/{path}/{name}": describe_member(getattr(module, name, None))
        for path, module in modules.items()
        for name in module.__all__
    }


def list_members() -> dict[str, Any]:
    """List the public members of an object of each public class."""
    graph = graphrefine.read(EDGES)
    objects: dict[str, Any] = {
        "Embedding": graphrefine.embed(graph, 4, threads=1),
        "Graph": graph,
        "REFINE": graphrefine.REFINE(dim=4).fit(graph.to_scipy()),
        "NodeVectors": graphrefine.NodeVectors(graph, dim=4).fit([0, 1, 2]),
    }
    with tempfile.TemporaryDirectory(prefix="freeze-") as folder:
        path = Path(folder, "names.live")
        live.create(graph, path, dim=4, threads=1).close()
        with live.open(path, threads=1) as writer:
            objects["live"] = writer
        with live.open(path, read_only=True, threads=1) as reader:
            objects["live read_only"] = reader
    return {
        f"member/{name}/{member}": description
        for name, thing in objects.items()
        for member, description in list_members_of(thing)
    }


def list_members_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """List the public members of an object that its own package defines, and its attributes."""
    kind = type(thing)
    own = [each for each in kind.__mro__ if each.__module__.partition(".")[0] == graphrefine.__name__]
    names = {name for each in own for name in (*vars(each), *inspect.get_annotations(each))} | set(vars(thing))
    yield "()", describe_member(kind)
    for name in sorted(names):
        public = not name.startswith("_") and not re.fullmatch(r"set_\w+_request", name)  # of scikit-learn's routing
        if public or name in SPECIAL:
            yield name, describe_member(inspect.getattr_static(kind, name, None))


def describe_member(member: Any) -> Any:
    """Describe a function by its parameters, anything else by one word."""
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    if inspect.isclass(member) or inspect.isroutine(member):
        try:
            return describe_parameters(inspect.signature(member))
        except (TypeError, ValueError):  # a cached property, or something without a signature
            return "attribute"
    return "attribute"


def describe_parameters(signature: inspect.Signature) -> list[str]:
    """List the parameters of a function: name, default, and its kind where that is not the usual one.

    >>> describe_parameters(inspect.signature(lambda a, *, b=1, **c: 0))
    ['a', 'b=1 keyword-only', 'c variadic keyword']
    """
    found = []
    for each in signature.parameters.values():
        default = "" if each.default is each.empty else f"={describe_default(each.default)}"
        kind = "" if each.kind is each.POSITIONAL_OR_KEYWORD else f" {each.kind.description}"
        found.append(f"{each.name}{default}{kind}")
    return found


def describe_default(value: Any) -> str:
    """Describe a default, without the address of an object."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))


# Commands


def list_commands(command: Any = cli, path: str = "graphrefine") -> Iterator[tuple[str, Any]]:
    """List a command and all below it, by the words that run them."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            yield from list_commands(command.get_command(context, name), f"{path} {name}")


def list_options() -> dict[str, Any]:
    """List commands with their options and arguments."""
    found: dict[str, Any] = {}
    for path, command in list_commands():
        found[f"command/{path}"] = "hidden" if command.hidden else "shown"
        for option in command.params:
            name = option.opts[0] if option.param_type_name == "option" else option.name
            found[f"command/{path}/{name}"] = describe_option(option)
    return found


def describe_option(option: Any) -> dict[str, Any]:
    """Describe an option or an argument."""
    kind = option.type
    described: dict[str, Any] = {"kind": option.param_type_name, "required": bool(option.required), "type": kind.name}
    if option.param_type_name == "option":
        described["spellings"] = sorted([*option.opts, *option.secondary_opts])
        described["is_flag"] = bool(option.is_flag)
        described["default"] = describe_option_default(option)
    if hasattr(kind, "choices"):
        described["choices"] = list(map(str, kind.choices))
    for limit in ("min", "max"):
        if getattr(kind, limit, None) is not None:
            described[limit] = getattr(kind, limit)
    if option.nargs != 1:
        described["nargs"] = option.nargs
    if getattr(option, "multiple", False):
        described["multiple"] = True
    return described


def describe_option_default(option: Any) -> str | None:
    """Describe the default of an option; None where there is none, whatever click's version calls that."""
    default = option.default
    if default is None or "Sentinel" in type(default).__name__ or (option.is_flag and default is False):
        return None
    return str(getattr(default, "__name__", type(default).__name__)) if callable(default) else str(default)


# Keys of JSON outputs

FIELD = re.compile(r"[A-Za-z]\w*")  # of a dictionary; other keys are data, as names of nodes are below
OPAQUE = ("best", "changes", "trail[].changes")  # settings, of which the time of a search decides
SERVERS = ("explore", "live serve")
RUNS: dict[str, str] = {  # by command: what is run, in this order, in a folder with `write_inputs`
    "embed": "edges.csv -o old --dim 4 --threads 1",
    "embed/same": "edges.csv -o new --dim 4 --seed 1 --threads 1 --align-to old",
    "embed/features": "edges.csv -o featured --dim 4 --threads 1 --features features.csv",
    "embed/learn": "edges.csv -o learned --dim 4 --threads 1 --quality fast",
    "embed/directed": "edges.csv -o arcs --dim 4 --threads 1 --directed",
    "embed/auto": "edges.csv -o auto --dim auto --threads 1",
    "embed/deepwalk": "edges.csv -o walks --dim 4 --threads 1 --method deepwalk --set walks=2 --set length=5",
    "embed/bipartite": "taken.csv -o sides --dim 2 --threads 1 --bipartite",
    "info/graph": "edges.csv",
    "info/bipartite": "taken.csv --bipartite",
    "info/stored": "stored.grf",
    "ingest": "edges.csv -o edges.grf",
    "convert": "old old.parquet",
    "evaluate labels": "old labels.csv --repeats 1 --ratios 0.5 --threads 1",
    "evaluate links": "edges.csv --dim 4 --threads 1",
    "evaluate reconstruction": "edges.csv --dim 4 --threads 1",
    "compare": "edges.csv --methods refine,randne --dims 4 --threads 1",
    "compare/labels": "edges.csv --methods refine --dims 4 --threads 1 --labels labels.csv --repeats 1",
    "tune": "edges.csv --budget 20s --dims 4 --threads 1 -o settings.json",
    "tune/labels": "edges.csv --budget 20s --dims 4 --threads 1 --labels labels.csv",
    "neighbors": "old Node-1 -k 2",
    "neighbors/all": "old --all -k 2 -o near.csv",
    "neighbors/label": "old Node-1 -k 2 --labels labels.csv --label Red-1",
    "duplicates": "old --graph edges.csv",
    "duplicates/cosine": "old --above 0.5",
    "communities": "old --graph edges.csv --count 4",
    "communities/alone": "old",
    "drift": "old new -k 3",
    "check": "old",
    "check/graph": "old --graph edges.csv --threads 1",
    "check/against": "old --against new --max-drift 2 -k 3",
    "map": "old -o map.parquet --threads 1",
    "map/labels": "old -o map.html --labels labels.csv --threads 1",
    "predict labels": "old some.csv --folds 2 --threads 1",
    "predict labels/all": "old some.csv --folds 2 --threads 1 --all",
    "predict links": "edges.csv --threads 1",
    "split": "edges.csv -o parts",
    "fold-in": "coming.csv --into old -o folded",
    "live create": "edges.csv -o folder.live --dim 4 --threads 1",
    "live apply": "folder.live changes.csv --threads 1",
    "live refresh": "folder.live --threads 1",
    "live check": "folder.live --threads 1",
    "live export": "folder.live -o exported.parquet",
    "live backup": "folder.live -o copy.live",
    "live serve": "folder.live --no-browser --threads 1",
    "explore": "old --no-browser",
    "methods": "",
    "methods/refine": "refine",
    "demo": "-o demo --threads 1",
}


def write_inputs(folder: Path) -> None:
    """Write the inputs of the commands."""
    names = [f"Node-{node}" for node in range(24)]
    lines = [f"{names[u]},{names[v]}\n" for u, v in EDGES]
    labels = [f"{name},Red-{node // 12}\n" for node, name in enumerate(names)]
    texts = {
        "edges.csv": "source,target\n" + "".join(lines),
        "taken.csv": "user,item\n" + "".join(f"User-{u},Item-{v % 7}\n" for u, v in EDGES),
        "labels.csv": "node,label\n" + "".join(labels),
        "some.csv": "node,label\n" + "".join(labels[:8] + labels[12:20]),
        "features.csv": "node,one,two\n" + "".join(f"{name},{at % 5},{at % 3}\n" for at, name in enumerate(names)),
        "coming.csv": "source,target\nNode-30,Node-1\nNode-30,Node-2\n",
        "changes.csv": "op,source,target,weight\n+,Node-1,Node-9,2\n-,Node-0,Node-1,\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    graphrefine.ingest(folder / "edges.csv", folder / "stored.grf", threads=1)


def list_json_keys() -> dict[str, Any]:
    """Run each command with --json on a small graph, and list the keys of what it prints."""
    found: dict[str, Any] = {}
    commands = {path for path, command in list_commands() if any("--json" in option.opts for option in command.params)}
    with tempfile.TemporaryDirectory(prefix="freeze-") as folder, chdir(folder):
        write_inputs(Path(folder))
        for name, text in RUNS.items():
            command = name.partition("/")[0]
            run_command = run_server if command in SERVERS else run_program
            keys = list_keys(run_command([*command.split(), *text.split(), "--json"]))
            found |= {f"json/{name}/{key}": 1 for key in sorted(keys)}
    not_run = commands - {f"graphrefine {name.partition('/')[0]}" for name in RUNS}
    return found | {f"json/{path}": "not run: RUNS of goldens/freeze_surface.py has no line for it" for path in not_run}


def run_program(arguments: Sequence[str]) -> Any:
    """Run the program in this process; return the JSON that it prints, or what went wrong."""
    done = run(*arguments)
    if done.code:
        print(f"{' '.join(arguments)}: {done.err.strip()}", file=sys.stderr)
        return {"exit_code": done.code}
    return json.loads(done.out)


def run_server(arguments: Sequence[str]) -> Any:
    """Run the program in another process until it prints a line; return its JSON."""
    with subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            return json.loads(process.stdout.readline() or b'{"exit_code": 1}')
        finally:
            process.terminate()


def list_keys(value: Any, path: str = "") -> set[str]:
    """List the keys of a JSON value: dotted paths, [] for lists, * for keys that are data.

    >>> sorted(list_keys({"a": [{"b": 1}, {"c": {"Node-1": 2}}]}))
    ['a', 'a[]', 'a[].b', 'a[].c', 'a[].c.*']
    """
    found: set[str] = set()
    if isinstance(value, list):
        for each in value:
            found |= {f"{path}[]"} | list_keys(each, f"{path}[]")
    elif isinstance(value, dict):
        for key, each in value.items():
            below = f"{path}.{key if FIELD.fullmatch(key) else '*'}".lstrip(".")
            found |= {below} if below in OPAQUE else {below} | list_keys(each, below)
    return found


GROUPS: dict[str, Callable[[], dict[str, Any]]] = {  # by the start of their ids
    "name/": list_names,
    "member/": list_members,
    "command/": list_options,
    "json/": list_json_keys,
}
