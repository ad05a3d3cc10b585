"""Rows of the table of bits, computed in a process of its own: ``bits.py`` starts one for each instruction set.

``python benchmarks/bits_worker.py "ROW;..." "WAY;..."`` prints the instruction set in a line of JSON, then a line for
each row in each way: ``["fast, weighted", "memory", "6e6b..."]``. It imports the ways of ``tests/goldens``, and nothing
that an emulated Python would not have.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from goldens import graphs
from goldens.covered import SHORT, TIERS, WAYS, Row
from goldens.hashes import hash_embedding
from graphrefine.kernels import native

FILES = ("disk", "dask")  # ways that need tall matrices in files
WALKS = ("deepwalk", "node2vec", "line", "pte")
SEPARATOR = ";"  # between rows on the command line: their names have commas


@cache
def read_arcs() -> Any:
    """Each edge of PPI once, from the lower to the higher number.  # (m, 2)."""
    graph = graphs.real("ppi")
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    once = rows < graph.indices
    return np.column_stack([rows[once], graph.indices[once]])


def name_sides() -> list[tuple[str, str]]:
    """PPI as a graph of users and items."""
    return [(f"user {u}", f"item {v}") for u, v in read_arcs().tolist()]


def list_rows() -> Iterator[Row]:
    """The rows: methods on generated graphs and on PPI."""
    ppi: Callable[[], Any] = partial(graphs.real, "ppi")
    plain: dict[str, Callable[[], Any]] = {"weighted": graphs.weighted, "blocks": graphs.blocks, "PPI": ppi}
    for tier in ("paper", "fast", "default", "best"):
        for name, graph in plain.items():
            yield Row(f"{tier}, {name}", graph, {"dim": 48, **TIERS[tier]}, FILES)
    for name, graph in plain.items():
        yield Row(f"rbqr, {name}", graph, {"dim": 48, "method": "rbqr"}, FILES)
    arcs: dict[str, Callable[[], Any]] = {"generated": graphs.directed, "PPI": read_arcs}
    sides: dict[str, Callable[[], Any]] = {"generated": graphs.bipartite, "PPI": name_sides}
    for tier in ("default", "fast"):
        for name in arcs:
            yield Row(f"directed {tier}, {name}", arcs[name], {"dim": 48, "directed": True, **TIERS[tier]})
        for name in sides:
            yield Row(f"bipartite {tier}, {name}", sides[name], {"dim": 48, "bipartite": True, **TIERS[tier]})
    nodes = {"generated": (graphs.isolated, 300), "PPI": (ppi, 3890)}
    for name, (graph, count) in nodes.items():
        yield Row(f"features, {name}", graph, {"dim": 48, "features": graphs.features(count)})
    for method in WALKS:
        for name, graph in plain.items():
            yield Row(f"{method}, {name}", graph, {"dim": 48, "method": method, **SHORT[method]})


ROWS = {row.name: row for row in list_rows()}


def change_bit(vectors: Any) -> None:
    """The control: change the last bit of one number in place.

    >>> vectors = np.ones((2, 2), np.float32)
    >>> change_bit(vectors)
    >>> float(vectors[0, 0]).hex()
    '0x1.0000020000000p+0'
    """
    vectors.reshape(-1)[:1].view(np.int32)[0] ^= 1


def main() -> None:
    """Print the hashes of rows in some ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", help=f"names, with {SEPARATOR!r} between them")
    parser.add_argument("ways", help="likewise")
    parser.add_argument("--break", dest="broken", action="store_true", help="change the last bit of one number")
    options = parser.parse_args()
    rows, ways = options.rows.split(SEPARATOR), options.ways.split(SEPARATOR)
    warnings.simplefilter("ignore")  # about graphs that are made to be odd
    print(json.dumps(native.simd()), flush=True)
    print_hashes(rows, ways, broken=options.broken)


def print_hashes(names: list[str], ways: list[str], *, broken: bool) -> None:
    """Print a line for each row in each way that it has."""
    for name in names:
        row = ROWS[name]
        for way in ways:
            if way in FILES and way not in row.ways:
                continue
            embedding = WAYS[way](row.graph, **row.settings)
            if broken:
                change_bit(embedding.vectors)
            print(json.dumps([name, way, hash_embedding(embedding)]), flush=True)


if __name__ == "__main__":
    main()
