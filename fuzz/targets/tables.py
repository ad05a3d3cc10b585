"""Small tables about nodes: labels, features, lists of nodes, columns to color by; in every form they come in."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzz.codecs import below_gzip, below_zip
from fuzz.mutations import Mutation
from fuzz.target import Target
from fuzz.targets.readers import table_seeds

NAMES = ("ann", "bob", "cy", "dee", "eve")


def read_labels_of(suffix: str) -> Callable[[bytes, Path], None]:
    """A function that reads bytes as labels, without names of nodes and then with them."""

    def run(data: bytes, folder: Path) -> None:
        import numpy as np

        from graphrefine.errors import GraphRefineError
        from graphrefine.readers.labels import align, read_labels

        path = folder / f"labels{suffix}"
        path.write_bytes(data)
        with suppress(GraphRefineError):
            read_labels(path)
        for names in (np.array(NAMES, object), np.arange(5)):
            try:
                aligned = align(read_labels(path, names=names), names, unlabeled="drop")
            except GraphRefineError:
                continue
            assert len(aligned.order) == aligned.indicator.shape[0] and (aligned.order < len(names)).all()

    return run


def read_features_of(suffix: str) -> Callable[[bytes, Path], None]:
    """A function that reads bytes as features of the nodes of two graphs, one with names and one with numbers."""

    def run(data: bytes, folder: Path) -> None:
        import numpy as np

        from graphrefine.errors import GraphRefineError
        from graphrefine.graph.graph import Graph
        from graphrefine.pipeline.feature_table import read_features

        path = folder / f"features{suffix}"
        path.write_bytes(data)
        for names in (list(NAMES), list(range(5))):
            graph = Graph.from_edges(names[:-1], names[1:])
            try:
                matrix = read_features(path, graph).matrix
            except GraphRefineError:
                continue
            assert matrix.shape[0] == 5 and matrix.shape[1] > 0
            values = matrix.data if hasattr(matrix, "tocsr") else matrix
            assert values.dtype.kind in "biuf" and np.isfinite(values).all()

    return run


def read_node_list(data: bytes, folder: Path) -> None:
    """Read bytes as a list of nodes beside edges."""
    from graphrefine.readers.read import read

    path = folder / "nodes.txt"
    path.write_bytes(data)
    graph = read([("ann", "bob"), ("bob", "cy")], nodes=path, threads=1)
    assert graph.nodes >= 3


def read_small_table(data: bytes, folder: Path) -> None:
    """Read bytes as a table with a header, as columns to color by are."""
    from graphrefine.readers.small_table import read_table

    path = folder / "table.csv"
    path.write_bytes(data)
    table = read_table(path)
    assert len({len(column) for column in table.columns.values()}) == 1
    assert table.node_column in table.columns


def label_seeds() -> list[bytes]:
    """Tables of nodes and labels, with and without headers, quotes and comments."""
    return [
        b"node,label\nann,red\nbob,blue\ncy,red\ndee,\neve,blue\n",
        b"ann red\nbob blue\ncy red\n",
        b"# c\n0\t1\n1\t2\n2\t1\n3\t2\n4\t1\n",
        b'id;class\n"ann ""a""";"x;y"\nbob;z\n',
        b"ann,red\r\nbob,blue\r\n",
        b"ann red\rbob blue\rcy red\r",
        "a\tü\nann\té\nbob\té\n".encode("latin-1"),
    ]


def json_seeds() -> list[bytes]:
    """Mappings and objects."""
    mapping = dict(zip(NAMES, ["red", "blue", ["red", "blue"], 1, True], strict=True))
    objects = [{"node": name, "label": at % 2} for at, name in enumerate(NAMES)]
    return [json.dumps(mapping).encode(), json.dumps(objects).encode()]


def lines_seeds() -> list[bytes]:
    """An object on each line."""
    return ["".join(json.dumps({"node": name, "label": at % 2}) + "\n" for at, name in enumerate(NAMES)).encode()]


def npy_seeds() -> list[bytes]:
    """Arrays of numbers, texts and memberships."""
    import numpy as np

    out = []
    for array in (np.array([0, 1, 0, 1, 2]), np.eye(5), np.array(["a", "b", "a", "b", "c"]), np.eye(5, dtype=bool).T):
        file = io.BytesIO()
        np.save(file, array)
        out.append(file.getvalue())
    return out


def sparse_seeds() -> list[bytes]:
    """Sparse features, and an embedding, as npz."""
    import numpy as np
    import scipy.sparse as sp

    out = []
    for kind in ("csr", "coo"):
        file = io.BytesIO()
        sp.save_npz(file, sp.csr_array(np.eye(5, 3)).asformat(kind), compressed=False)
        out.append(file.getvalue())
    file = io.BytesIO()
    np.savez(file, names=np.array(NAMES), vectors=np.eye(5, dtype=np.float32))
    return [*out, file.getvalue()]


def feature_seeds() -> list[bytes]:
    """Features as a text table."""
    rows = "".join(f"{name}\t{at}\t{at / 2}\n" for at, name in enumerate(NAMES))
    return [f"name\ta\tb\n{rows}".encode(), b"id\tx\n0\t1\n1\t2\n2\t3\n3\t4\n4\t5\n"]


def feature_tables() -> list[bytes]:
    """Features as tables of other programs."""
    tables = [table.replace(b"\t", mark) for table in feature_seeds() for mark in (b",", b";", b"|")]
    index = b",node,a,b\n" + b"".join(b"%d,%d,%d,1\n" % (at, 4 - at, at) for at in range(5))
    return [*tables, index, b"a,b\n" + b"1,2\n" * 5]


def membership_seeds() -> list[bytes]:
    """MATLAB files with memberships, and with a vector of classes."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    out = []
    for group in (sp.csc_array(np.eye(5)), np.eye(5), np.array([[1], [2], [1], [2], [1]])):
        file: Any = io.BytesIO()
        scipy.io.savemat(file, {"group": group})
        out.append(file.getvalue())
    return out


def _target(
    name: str, seeds: Callable[[], list[bytes]], run: Callable[[bytes, Path], None], change: Mutation | None = None
) -> Target:
    return Target(name, "tables", seeds, run, change)


TARGETS = [
    _target("labels-csv", label_seeds, read_labels_of(".csv")),
    _target("labels-txt", label_seeds, read_labels_of(".txt")),
    _target(
        "labels-gz",
        lambda: [gzip.compress(text, mtime=0) for text in label_seeds()],
        read_labels_of(".tsv.gz"),
        below_gzip,
    ),
    _target("labels-json", json_seeds, read_labels_of(".json")),
    _target("labels-jsonl", lines_seeds, read_labels_of(".jsonl")),
    _target("labels-npy", npy_seeds, read_labels_of(".npy")),
    _target("labels-mat", membership_seeds, read_labels_of(".mat")),
    _target("labels-parquet", table_seeds("parquet"), read_labels_of(".parquet")),
    _target("labels-arrow", table_seeds("file"), read_labels_of(".arrow")),
    _target("features-tsv", feature_seeds, read_features_of(".tsv")),
    _target("features-csv", feature_tables, read_features_of(".csv")),
    _target("features-npy", npy_seeds, read_features_of(".npy")),
    _target("features-npz", sparse_seeds, read_features_of(".npz"), below_zip),
    _target("nodes", lambda: [b"ann\nbob\nfay\n", b"1\n2\n", "ü\r\né\r\n".encode()], read_node_list),
    _target("colors", label_seeds, read_small_table),
]
