"""Writers: every command that writes, with inputs of a few nodes; what it writes first, and what over that."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from faults.trials import MEMORY, State, Tree, Writer, write_tree

ONE = ("--threads", "1")
EMBED = ("embed", "FROM/graph.csv", *ONE)
FORMATS = ("npy", "npz", "parquet", "arrow", "safetensors", "vec", "bin", "csv", "csv.gz")


def write_inputs(folder: Path) -> None:
    """Graphs and changes that the commands read; nothing of this folder is watched."""
    folder.mkdir(parents=True)
    edges = [(node, (node + step) % 40, 1 + node % 3) for node in range(40) for step in (1, 5, 7)]
    lines = [f"n{source},n{target},{weight}\n" for source, target, weight in edges]
    (folder / "graph.csv").write_text("source,target,weight\n" + "".join(lines))
    (folder / "less.csv").write_text("source,target,weight\n" + "".join(lines[:60]))
    (folder / "numbers.csv").write_text("".join(f"{source},{target}\n" for source, target, _ in edges))
    (folder / "changes.csv").write_text("op,source,target,weight\n+,n1,m1,2\n-,n0,n1,\n")
    (folder / "new.csv").write_text("source,target\nm1,n3\nm1,n4\n")


def patch_slow_parts() -> None:
    """Have `compare` take no seconds for its pictures."""
    import graphrefine.display.report
    from graphrefine.display.plots import Picture

    report: Any = graphrefine.display.report
    report.draw_plot = lambda title, draw: Picture(*2 * [b"<svg>" + b" " * 99 + b"</svg>"])


def have_no_memory() -> None:
    """Have vectors and the graph be on disk, although they are small."""
    from graphrefine.pipeline import memory_plan

    memory_plan.in_memory_bytes = lambda *_, **__: 10**18


def embeddings() -> list[Writer]:
    """Return `embed` in every format, and with work on disk."""
    writers = []
    for name in ("x", *(f"x.{suffix}" for suffix in FORMATS)):
        embed = (*EMBED, "-o", f"TO/{name}", "--quality", "fast", "--dim")
        title = f"embed, {name.partition('.')[2] or 'folder'}"
        writers.append(Writer(title, (*embed, "8"), [(*embed, "4")], [name]))
    before = [("ingest", "FROM/graph.csv", "-o", "FROM/graph.grf"), (*EMBED, "--dim", "4", "-o", "TO/x")]
    for title, graph in (("embed, columns on disk", "graph.csv"), ("embed, graph on disk", "graph.grf")):
        command = ("embed", f"FROM/{graph}", "-o", "TO/x", *ONE, "--dim", "8", "--memory", "3GB")
        writers.append(Writer(title, command, before, ["x"], work=["x.work"], patch=have_no_memory))
    return writers


def graphs() -> list[Writer]:
    """Return `ingest` of names and of numbers, and `split`."""
    less = ("ingest", "FROM/less.csv", "-o", "TO/x.grf", *ONE)
    split = ("split", "FROM/graph.csv", "-o", "TO/x", *ONE)
    ingests = [
        Writer(f"ingest, {title}", ("ingest", f"FROM/{name}.csv", "-o", "TO/x.grf", *ONE), [less], ["x.grf"],
               work=["x.grf.work"])
        for title, name in (("names", "graph"), ("numbers", "numbers"))
    ]  # fmt: skip
    return [*ingests, Writer("split", (*split, "--seed", "1"), [split], ["x"])]


def derived() -> list[Writer]:
    """Return what is made of an embedding: `convert`, `map`, an index, tables, fold-in."""
    first, other = ((*EMBED, "--quality", "fast", "--dim", dim, "-o", "TO/e") for dim in ("4", "8"))
    convert, draw = ("convert", "TO/e", "TO/x.npz"), ("map", "TO/e", "-o", "TO/x.html", *ONE)
    fold = ("fold-in", "FROM/new.csv", "--into", "TO/e", "-o", "TO/x.npz")
    near = ("neighbors", "TO/e", "--all", *ONE, "-k", "3", "-o")
    found = [
        Writer("convert", convert, [first, convert, other], ["x.npz"]),
        Writer("map", draw, [first, draw, other], ["x.html"], extras=["e.map"], read=_without_stamps),
        Writer("index", ("neighbors", "TO/e", "n1", "--index", *ONE), [first], [], extras=["e.cosine.index"],
               read=_without_stamps),
        Writer("fold-in", fold, [first, convert], ["x.npz"]),
    ]  # fmt: skip
    for suffix in ("csv", "jsonl", "parquet", "arrow"):
        table = (*near, f"TO/x.{suffix}")
        found.append(Writer(f"neighbors, {suffix}", table, [first, table, other], [f"x.{suffix}"]))
    return found


def _without_stamps(tree: Tree) -> State:
    """Files but for the times of the embedding that a companion was made from."""
    metas = {name: json.loads(data) for name, data in tree.items() if data and name.endswith("meta.json")}
    return {**tree, **{name: _without_stamp(meta) for name, meta in metas.items()}}


STAMPS = {"size", "mtime_ns", "seconds", "digest"}  # the digest is of all that the file holds, and of the others too


def _without_stamp(meta: Any) -> object:
    """What a companion knows, but for what depends on the time."""
    if not isinstance(meta, dict):
        return meta
    return {key: _without_stamp(value) for key, value in meta.items() if key not in STAMPS}


def reports() -> list[Writer]:
    """Return `compare`, whose files are replaced one by one: finished figures are kept whatever happens."""
    compare = ("compare", "FROM/graph.csv", "--dims", "8", "-o", "TO/x", *ONE, "--methods")
    extras = ["x/cells", "x/results.json"]
    before = [(*compare, "refine")]
    return [Writer("compare", (*compare, "refine,rbqr"), before, ["x"], extras, read=_read_report, seconds=90)]


def _read_report(tree: Tree) -> State:
    """Return whether each file of a report is whole, and is new: has the mark of the second method."""
    return {name: _read_page(name, data, b"rbqr") for name, data in tree.items() if not name.startswith("x/cells/")}


def _read_page(name: str, data: bytes | None, mark: bytes) -> object:
    if data is None:
        return None
    if name.endswith(".json"):
        json.loads(data)
    ends = {".html": b"</html>", ".svg": b"</svg>", ".json": b"}"}
    assert data.rstrip().endswith(ends[Path(name).suffix]), f"{name} is cut short"
    return mark in data or name.endswith(".svg")


def live() -> list[Writer]:
    """Return the commands on folders of live vectors."""
    create = ("live", "create", "FROM/graph.csv", "-o", "TO/x.live", "--dim", "4", *ONE)
    apply = ("live", "apply", "TO/x.live", "FROM/changes.csv", *ONE)
    refresh = ("live", "refresh", "TO/x.live", *ONE)
    export = ("live", "export", "TO/x.live", "-o", "TO/x.csv")
    backup = ("live", "backup", "TO/x.live", "-o", "TO/y.live")
    return [
        Writer("live create", create, [], ["x.live"], read=read_live),
        Writer("live apply", apply, [create], ["x.live"], read=read_live, again=(*apply, "--resume")),
        Writer("live refresh", refresh, [create, apply], ["x.live"], read=read_live, same=False),
        Writer("live export", export, [create, export, apply], ["x.csv"]),
        Writer("live backup", backup, [create], ["y.live"], read=read_live),
    ]


def read_live(tree: Tree) -> State:
    """What a writer that opens a folder of live vectors finds: group, names, vectors, number of the generation."""
    if not tree:
        return {}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, _read_live(tree))
        except BaseException as error:  # whatever: it is not whole
            os.write(writer, f"broken: {error}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    assert text and not text.startswith(b"broken"), text
    return {"live": text}


def _read_live(tree: Tree) -> bytes:
    import hashlib

    from graphrefine.live.writer import Live
    from live_states import bits

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stderr = sys.stdout
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        write_tree(Path(folder), tree)
        (path,) = Path(folder).glob("*.live")
        with Live(path, threads=1) as live:
            live.check(deep=False)
            return f"{live.stats()['generation']} {hashlib.sha256(repr(bits(live)).encode()).hexdigest()}".encode()


def all_writers() -> list[Writer]:
    """Return every writer."""
    return [*embeddings(), *graphs(), *derived(), *reports(), *live()]
