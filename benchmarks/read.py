"""Reading text: integers, strings and quotes, against another tree of sources; and names that were made to collide.

    python benchmarks/read.py [--tree OTHER/src] [--rounds 5] [--threads 2] [--colliding 50000]

4.3 million lines of integers (web-google, where GRAPHREFINE_DATA is set, else drawn), a million lines of strings, half
a million lines with quotes. Each is read by a process of its own, the trees in turn, and the best counts; ``--tree`` is
the folder ``src`` of another checkout, which was built: its ``.venv`` is used, where it has one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from colliding_names import colliding_ids, colliding_names, edge_list, edge_list_of_ids, ordinary_ids, ordinary_names
from common import graph, machine, show

CHILD = """
import sys
from pathlib import Path
from time import perf_counter

tree, path, threads = sys.argv[1:]
sys.path.insert(0, tree)
import graphrefine

if not Path(graphrefine.__file__).is_relative_to(tree):
    sys.exit(f"the package is {graphrefine.__file__}")
graphrefine.read([(0, 1)])  # what a first reading loads
start = perf_counter()
graphrefine.read(path, threads=int(threads))
print(perf_counter() - start)
"""
THIS, OTHER = "this tree", "other tree"
SLOWDOWN = 3.0  # of names that collide, against those that do not


def write_integers(path: Path) -> None:
    if os.environ.get("GRAPHREFINE_DATA"):
        whole = graph("web-google")
        row = np.repeat(np.arange(whole.nodes, dtype=np.int32), np.diff(whole.indptr))
        once = row < whole.indices
        pairs = np.stack([row[once], whole.indices[once]], axis=1)
    else:
        pairs = np.random.default_rng(0).integers(900_000, size=(4_300_000, 2))
    write_lines(path, (b"%d\t%d" % (u, v) for u, v in pairs.tolist()))


def write_strings(path: Path) -> None:
    pairs = np.random.default_rng(1).integers(200_000, size=(1_000_000, 2)).tolist()
    write_lines(path, (b"user_%d,item-%d" % (u, v) for u, v in pairs), header=b"source,target")


def write_quotes(path: Path) -> None:
    pairs = np.random.default_rng(2).integers(100_000, size=(500_000, 2)).tolist()
    lines = (b'"Doe, %d","the ""%d""","a note, and more",3' % (u, v) for u, v in pairs)
    write_lines(path, lines, header=b"source,target,note,weight")


def write_lines(path: Path, lines: Iterable[bytes], *, header: bytes | None = None) -> None:
    with path.open("wb") as file:
        if header is not None:
            file.write(header + b"\n")
        file.writelines(line + b"\n" for line in lines)


def run(tree: Path, path: Path, threads: int) -> float:
    """Seconds of one reading by the sources of a tree, in a process of its own."""
    own = tree.parent / ".venv" / "bin" / "python"
    program = [str(own if own.exists() else sys.executable), "-c", CHILD, str(tree), str(path), str(threads)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{tree}: {done.stderr.strip() or done.stdout}")
    return float(done.stdout)


def compare_trees(trees: dict[str, Path], folder: Path, *, rounds: int, threads: int) -> None:
    for name, write in (("integers.tsv", write_integers), ("strings.csv", write_strings), ("quotes.csv", write_quotes)):
        path = folder / name
        write(path)
        seconds: dict[str, list[float]] = {tree: [] for tree in trees}
        for _ in range(rounds):
            for tree, place in trees.items():
                seconds[tree].append(run(place, path, threads))
        show(f"{name}, {path.stat().st_size / 1e6:.0f} MB", seconds, against=list(trees)[-1], bars={})
        path.unlink()


def flood(tree: Path, folder: Path, *, count: int, rounds: int, threads: int) -> bool:
    passed = True
    for kind, texts in (
        ("names", {"ordinary": edge_list(ordinary_names(count)), "colliding": edge_list(colliding_names(count))}),
        (
            "ids",
            {"ordinary": edge_list_of_ids(ordinary_ids(count)), "colliding": edge_list_of_ids(colliding_ids(count))},
        ),
    ):
        seconds: dict[str, list[float]] = {name: [] for name in texts}
        for name, text in texts.items():
            (folder / f"{name}.csv").write_bytes(text)
        for _ in range(rounds):
            for name in texts:
                seconds[name].append(run(tree, folder / f"{name}.csv", threads))
        title = f"{count:,} {kind} that collide, {THIS}"
        passed &= show(title, seconds, against="ordinary", bars={"colliding": 1 / SLOWDOWN})
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, help="the folder src of another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--colliding", type=int, default=50_000)
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads")
    trees = {THIS: Path(__file__).resolve().parents[1] / "src"}
    if given.tree:
        trees[OTHER] = given.tree.resolve()
    with tempfile.TemporaryDirectory() as name:
        compare_trees(trees, Path(name), rounds=given.rounds, threads=given.threads)
        passed = flood(
            trees[THIS], Path(name), count=given.colliding, rounds=min(given.rounds, 3), threads=given.threads
        )
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
