"""Writers: every command that writes, with inputs of a few nodes; what it writes first, and what over that."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults.trials import State, Tree, Writer, write_tree

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


def embeddings(folder: Path) -> list[Writer]:
    """`embed` in every format, and with work on disk."""
    writers = [_embedding("folder", "x"), *(_embedding(suffix, f"x.{suffix}") for suffix in FORMATS)]
    for name, graph in (("columns on disk", "graph.csv"), ("graph on disk", "graph.grf")):
        command = ("embed", f"FROM/{graph}", "-o", "TO/x", *ONE, "--dim", "8", "--memory", "3GB")
        before = [("ingest", "FROM/graph.csv", "-o", "FROM/graph.grf"), (*EMBED, "--dim", "4", "-o", "TO/x")]
        places: dict[str, Any] = {"before": before, "outputs": ["x"], "work": ["x.work"]}
        writers.append(Writer(f"embed, {name}", command, patch=have_no_memory, **places))
    return writers


def _embedding(format: str, name: str) -> Writer:
    command = (*EMBED, "-o", f"TO/{name}", "--quality", "fast")
    return Writer(f"embed, {format}", (*command, "--dim", "8"), before=[(*command, "--dim", "4")], outputs=[name])


def graphs(folder: Path) -> list[Writer]:
    """`ingest` of names and of numbers, and `split`."""
    names, numbers = (("ingest", f"FROM/{name}.csv", "-o", "TO/x.grf", *ONE) for name in ("graph", "numbers"))
    less = ("ingest", "FROM/less.csv", "-o", "TO/x.grf", *ONE)
    split = ("split", "FROM/graph.csv", "-o", "TO/x", *ONE)
    return [
        Writer("ingest, names", names, before=[less], outputs=["x.grf"], work=["x.grf.work"]),
        Writer("ingest, numbers", numbers, before=[less], outputs=["x.grf"], work=["x.grf.work"]),
        Writer("split", (*split, "--seed", "1"), before=[split], outputs=["x"]),
    ]


def derived(folder: Path) -> list[Writer]:
    """What is made of an embedding: `convert`, `map`, an index, tables, fold-in."""
    first, other = ((*EMBED, "--quality", "fast", "--dim", dim, "-o", "TO/e") for dim in ("4", "8"))
    near = ("neighbors", "TO/e", "--all", *ONE, "-k", "3", "-o")
    found = [
        Writer("convert", ("convert", "TO/e", "TO/x.npz"), before=[first, ("convert", "TO/e", "TO/x.npz"), other],
               outputs=["x.npz"]),
        Writer("map", ("map", "TO/e", "-o", "TO/x.html", *ONE), before=[first, ("map", "TO/e", "-o", "TO/x.html", *ONE),
               other], outputs=["x.html"], extras=["e.map"], read=_without_stamps),
        Writer("index", ("neighbors", "TO/e", "n1", "--index", *ONE), before=[first],
               outputs=[], extras=["e.cosine.index"], read=_without_stamps),
        Writer("fold-in", ("fold-in", "FROM/new.csv", "--into", "TO/e", "-o", "TO/x.npz"), before=[first, ("convert",
               "TO/e", "TO/x.npz")], outputs=["x.npz"]),
    ]  # fmt: skip
    for suffix in ("csv", "jsonl", "parquet", "arrow"):
        before = [first, (*near, f"TO/x.{suffix}"), other]
        found.append(Writer(f"neighbors, {suffix}", (*near, f"TO/x.{suffix}"), before=before, outputs=[f"x.{suffix}"]))
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


def reports(folder: Path) -> list[Writer]:
    """`compare`, whose files are replaced one by one: finished figures are kept whatever happens."""
    compare = ("compare", "FROM/graph.csv", "--dims", "8", "-o", "TO/x", *ONE, "--methods")
    return [
        Writer("compare", (*compare, "refine,rbqr"), before=[(*compare, "refine")], read=_read_report(b"rbqr"),
               outputs=["x"], extras=["x/cells", "x/results.json"], seconds=90),
    ]  # fmt: skip


def _read_report(mark: bytes) -> Callable[[Tree], State]:
    """A reader of reports: whether each file is whole, and is new."""

    def read(tree: Tree) -> State:
        return {name: _read_page(name, data, mark) for name, data in tree.items() if not name.startswith("x/cells/")}

    return read


def _read_page(name: str, data: bytes | None, mark: bytes) -> object:
    if data is None:
        return None
    if name.endswith(".json"):
        json.loads(data)
    ends = {".html": b"</html>", ".svg": b"</svg>", ".json": b"}"}
    assert data.rstrip().endswith(ends[Path(name).suffix]), f"{name} is cut short"
    return mark in data or name.endswith(".svg")


def live(folder: Path) -> list[Writer]:
    """Folders of live vectors."""
    create = ("live", "create", "FROM/graph.csv", "-o", "TO/x.live", "--dim", "4", *ONE)
    apply = ("live", "apply", "TO/x.live", "FROM/changes.csv", *ONE)
    export = ("live", "export", "TO/x.live", "-o", "TO/x.csv")
    return [
        Writer("live create", create, outputs=["x.live"], read=read_live),
        Writer("live apply", apply, before=[create], outputs=["x.live"], read=read_live, again=(*apply, "--resume")),
        Writer("live refresh", ("live", "refresh", "TO/x.live", *ONE), before=[create, apply], outputs=["x.live"],
               read=read_live, same=False),
        Writer("live export", export, before=[create, export, apply], outputs=["x.csv"]),
        Writer("live backup", ("live", "backup", "TO/x.live", "-o", "TO/y.live"), before=[create], outputs=["y.live"],
               read=read_live),
    ]  # fmt: skip


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
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        write_tree(Path(folder), tree)
        (path,) = Path(folder).glob("*.live")
        with Live(path, threads=1) as live:
            live.check(deep=False)
            return f"{live.stats()['generation']} {hashlib.sha256(repr(bits(live)).encode()).hexdigest()}".encode()


GROUPS = (embeddings, graphs, derived, reports, live)


def all_writers(folder: Path) -> list[Writer]:
    """Every writer."""
    return [writer for group in GROUPS for writer in group(folder)]
