"""The child of ``attacks.py``: reads one file by one door of the program, and says what came of it and what it took.

    python benchmarks/trust/attack_child.py DOOR FILE [BREAK]

The exit code is that of the program: 0, or 2 for an error of ``errors.py``, which is printed. Memory is what the system
noted as the most of this process (VmHWM), time that of its processor.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

BUDGET = 256_000_000  # bytes: of it, compressed data may unpack to 64 MB
ROOM = 64_000_000  # more for `ingest`, which reads nothing whole with less


def read_graph(path: Path) -> object:
    """Read a graph, with a budget as ``embed --memory`` gives one."""
    from graphrefine.readers.read import read

    return read(path, threads=1)


def ingest_graph(path: Path) -> object:
    """Read a graph in pieces, or whole where its format has none."""
    import graphrefine

    return graphrefine.ingest(path, path.with_name("out.grf"), memory=BUDGET + ROOM, threads=1)


def load_vectors(path: Path) -> object:
    """Load an embedding, and look at all of it."""
    import graphrefine

    embedding = graphrefine.load(path)
    return len(embedding.names), float(abs(embedding.vectors).max(initial=0))


def read_labels(path: Path) -> object:
    """Read labels of nodes, without a graph."""
    from graphrefine.readers import labels

    return labels.read_labels(path)


def read_features(path: Path) -> object:
    """Read features of the nodes of a small graph."""
    from graphrefine.graph.graph import Graph
    from graphrefine.pipeline import feature_table

    return feature_table.read_features(path, Graph.from_edges([0, 1], [1, 2]))


def read_nodes(path: Path) -> object:
    """Read a list of nodes beside edges."""
    from graphrefine.readers.read import read

    return read([("ann", "bob"), ("bob", "cy")], nodes=path, threads=1)


def read_columns(path: Path) -> object:
    """Read a table of columns to color by."""
    from graphrefine.readers.small_table import read_table

    return read_table(path)


def read_config(path: Path) -> object:
    """Read settings."""
    from graphrefine.pipeline import settings

    return settings.read_config(path)


DOORS: dict[str, Callable[[Path], object]] = {
    "read": read_graph,
    "ingest": ingest_graph,
    "load": load_vectors,
    "labels": read_labels,
    "features": read_features,
    "nodes": read_nodes,
    "columns": read_columns,
    "config": read_config,
}


def allow_everything(*_: Any, **__: Any) -> None:
    """In place of a check, in the controls."""


BREAKS = {
    "limit": ("check_unpacked", "check_stated"),  # what compressed data unpacks to, and sizes that are only stated
}


def break_checks(name: str) -> None:
    """Take checks of `graphrefine.tables.source` away, also where they are imported already."""
    from graphrefine.tables import source

    for check in BREAKS[name]:
        own = getattr(source, check)
        for module in list(sys.modules.values()):
            if getattr(module, check, None) is own:
                setattr(module, check, allow_everything)


def peak_bytes() -> int:
    """The most memory that this process has held, pages of files among it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def main() -> None:
    door, path = DOORS[sys.argv[1]], Path(sys.argv[2])
    from graphrefine.errors import GraphRefineError
    from graphrefine.tables.source import reading_within

    if len(sys.argv) > 3:
        break_checks(sys.argv[3])
    warnings.simplefilter("ignore")
    about: dict[str, Any] = {"outcome": "read", "message": ""}
    start = process_time()
    try:
        with reading_within(BUDGET):
            door(path)
    except GraphRefineError as error:
        about = {"outcome": "refused", "message": str(error)}
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    about["seconds"] = process_time() - start + below.ru_utime + below.ru_stime
    about["bytes"] = peak_bytes()
    print(json.dumps(about), flush=True)
    os._exit(0 if about["outcome"] == "read" else 2)  # what is held need not be taken apart


if __name__ == "__main__":
    main()
