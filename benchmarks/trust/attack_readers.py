"""The readers that ``attacks.py`` attacks, each with a function that writes an honest file of about so many bytes."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Write = Callable[[Path, int], object]  # writes a file of a size, in bytes or in records

DEGREE = 4  # edges for each node
DIM = 32


@dataclass(frozen=True)
class Reader:
    """A reader: the door of ``attack_child.py`` that it stands behind, and the name of a file for it."""

    name: str
    door: str
    file: str
    honest: Write  # of about so many bytes
    packed: bool = True  # whether it reads .gz, .bz2, .xz and .zst


def edges(count: int) -> Iterator[tuple[int, int]]:
    """So many edges of an honest graph."""
    nodes = count // DEGREE + 2
    return ((at % nodes, (at * 7919 + at // nodes + 1) % nodes) for at in range(count))


def texts(first: str, record: str, last: str = "", *, between: str = "") -> Write:
    """A writer of text: what comes first, a record for each edge, and what comes last."""

    def write(path: Path, size: int) -> None:
        count = max(size // len(record.format(u=10**6, v=10**6)), 2)
        lines = between.join(record.format(u=10**6 + u, v=10**6 + v) for u, v in edges(count))
        path.write_text(first + lines + last, encoding="utf-8")

    return write


def nodes_and_edges(first: str, node: str, middle: str, edge: str, last: str, *, between: str = "") -> Write:
    """A writer of text in which nodes are declared before the edges."""

    def write(path: Path, size: int) -> None:
        length = len(edge.format(u=10**6, v=10**6)) + len(node.format(u=10**6)) / DEGREE
        count = max(int(size / length), 8)
        nodes = between.join(node.format(u=at) for at in range(count // DEGREE + 2))
        lines = between.join(edge.format(u=u, v=v) for u, v in edges(count))
        path.write_text(first.format(nodes=count // DEGREE + 2) + nodes + middle + lines + last, encoding="utf-8")

    return write


def arrays(count: int) -> tuple[Any, Any]:
    """So many edges as two arrays."""
    both = np.array(list(edges(max(count, 8))), np.int64)
    return both[:, 0], both[:, 1]


def write_mtx(path: Path, size: int) -> None:
    """A Matrix Market file."""
    source, target = arrays(size // 16)
    nodes = int(max(source.max(), target.max())) + 1
    body = "".join(f"{u + 1} {v + 1} 1\n" for u, v in zip(source.tolist(), target.tolist(), strict=True))
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{nodes} {nodes} {len(source)}\n{body}")


def write_metis(path: Path, size: int) -> None:
    """A METIS graph: a ring."""
    nodes = max(size // 14, 3)
    lines = [f"{(at - 1) % nodes + 1} {(at + 1) % nodes + 1}" for at in range(nodes)]
    path.write_text("\n".join([f"{nodes} {nodes}", *lines, ""]))


def write_pajek(path: Path, size: int) -> None:
    """A Pajek network: lists of neighbors."""
    nodes = max(size // 88, 16)
    lines = [" ".join(str((at * step) % nodes + 1) for step in range(1, 13)) for at in range(nodes)]
    path.write_text("\n".join([f"*Vertices {nodes}", "*Arcslist", *lines, ""]))


def sparse(size: int, each: int = 12) -> Any:
    """A sparse matrix whose file has about so many bytes."""
    from scipy.sparse import csc_array

    source, target = arrays(size // each)
    nodes = int(max(source.max(), target.max())) + 1
    return csc_array((np.ones(len(source)), (source, target)), shape=(nodes, nodes))


def write_mat(path: Path, size: int) -> None:
    """A MATLAB file of version 5."""
    from scipy.io import savemat

    savemat(path, {"network": sparse(size), "group": np.ones((3, 1))})


def write_hdf5(path: Path, size: int) -> None:
    """A MATLAB file of version 7.3, whose chunks are packed."""
    import h5py

    matrix = sparse(size, 20)
    with h5py.File(path, "w") as file:
        group = file.create_group("network")
        group.attrs["MATLAB_sparse"] = matrix.shape[0]
        for name, values in (("jc", matrix.indptr), ("ir", matrix.indices), ("data", matrix.data)):
            group.create_dataset(name, data=values.astype(np.float64 if name == "data" else np.uint64))


def write_sparse_npz(path: Path, size: int) -> None:
    """A matrix of SciPy."""
    from scipy.sparse import save_npz

    save_npz(path, sparse(size), compressed=False)


def edge_table(size: int) -> Any:
    """A table of names in two columns, and a third that says nothing, about so many bytes in memory."""
    import pyarrow as pa

    pairs = list(edges(max(size // 25, 8)))
    names = [[f"n{pair[end]:07d}" for pair in pairs] for end in (0, 1)]
    return pa.table({"source": names[0], "target": names[1], "kind": np.zeros(len(pairs), np.int8)})


def write_parquet(path: Path, size: int) -> None:
    """A parquet file of edges."""
    import pyarrow.parquet as pq

    pq.write_table(edge_table(size), path, compression="none", use_dictionary=False)


def write_arrow(path: Path, size: int) -> None:
    """An Arrow file of edges."""
    import pyarrow as pa

    table = edge_table(size)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def write_sqlite(path: Path, size: int) -> None:
    """A database of SQLite."""
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table edges (source, target)")
        rows = ((f"n{u:07d}", f"n{v:07d}") for u, v in edges(max(size // 22, 8)))
        base.executemany("insert into edges values (?, ?)", rows)
        base.commit()


def write_duckdb(path: Path, size: int) -> None:
    """A database of DuckDB."""
    import duckdb

    table = edge_table(size)
    with duckdb.connect(str(path)) as base:
        base.register("given", table)
        base.execute("create table edges as select * from given")


def write_ogb(path: Path, size: int) -> None:
    """A folder of the Open Graph Benchmark."""
    (path / "raw").mkdir(parents=True)
    pairs = list(edges(max(size // 14, 8)))
    (path / "raw" / "edge.csv").write_text("".join(f"{u},{v}\n" for u, v in pairs))
    (path / "raw" / "num-node-list.csv").write_text(f"{1 + max(max(pair) for pair in pairs)}\n")


def write_grf(path: Path, size: int) -> None:
    """A graph on disk."""
    import graphrefine

    source, target = arrays(size // 16)
    graphrefine.read(np.stack([source, target], axis=1)).save(path)


def vectors_of(size: int, each: int) -> Any:
    """Random vectors, about so many bytes in a file where a number takes ``each``."""
    rows = max(size // (DIM * each), 4)
    return np.random.default_rng(0).standard_normal((rows, DIM), np.float32)


def saved(each: int) -> Write:
    """A writer of embeddings."""

    def write(path: Path, size: int) -> None:
        from graphrefine.embedding.embedding import Embedding

        vectors = vectors_of(size, each)
        names = None if path.suffix == ".npy" else [f"n{at:07d}" for at in range(len(vectors))]
        Embedding(names, vectors).save(path)

    return write


def write_npy(path: Path, size: int) -> None:
    """An array of classes."""
    np.save(path, np.arange(max(size // 8, 4)) % 7)


def write_feature_npy(path: Path, size: int) -> None:
    """Features of three nodes."""
    np.save(path, np.random.default_rng(0).standard_normal((3, max(size // 24, 1))))


def write_feature_npz(path: Path, size: int) -> None:
    """Sparse features of three nodes."""
    from scipy.sparse import csr_array, save_npz

    save_npz(path, csr_array(np.ones((3, max(size // 36, 1)))), compressed=False)


def write_config(path: Path, size: int) -> None:
    """Settings, with blanks behind them."""
    path.write_text(json.dumps({"dim": 64}) + " " * min(size, 900_000))


def write_feature_tsv(path: Path, size: int) -> None:
    """Features of three nodes, in text."""
    columns = max(size // 16, 1)
    header = "\t".join(["node", *(f"c{at}" for at in range(columns))])
    rows = ["\t".join([str(node), *("0.5" for _ in range(columns))]) for node in range(3)]
    path.write_text("\n".join([header, *rows, ""]))


def npy_bytes(array: Any) -> bytes:
    """An array as the bytes of an npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


_GRAPHML = '<graphml><key id="d0" for="node" attr.name="a" attr.type="string"/><graph edgedefault="undirected">\n'
_GEXF = '<gexf><graph><attributes class="node"><attribute id="0" title="a" type="string"/></attributes><nodes>\n'
_JSON_NODE, _JSON_EDGE = '{{"id": "n{u}", "a": 1}}', '{{"source": "n{u}", "target": "n{v}"}}'

READERS = (
    Reader("text", "read", "graph.txt", texts("", "n{u} n{v}\n")),
    Reader("csv", "read", "graph.csv", texts("source,target\n", "n{u},n{v}\n")),
    Reader("tsv", "read", "graph.tsv", texts("source\ttarget\n", "n{u}\tn{v}\n")),
    Reader("mtx", "read", "graph.mtx", write_mtx),
    Reader("metis", "read", "graph.metis", write_metis),
    Reader("graphml", "read", "graph.graphml", nodes_and_edges(
        _GRAPHML, '<node id="n{u}"><data key="d0">x</data></node>\n', "", '<edge source="n{u}" target="n{v}"/>\n',
        "</graph></graphml>")),
    Reader("gexf", "read", "graph.gexf", nodes_and_edges(
        _GEXF, '<node id="n{u}"><attvalues><attvalue for="0" value="x"/></attvalues></node>\n', "</nodes><edges>",
        '<edge source="n{u}" target="n{v}"/>\n', "</edges></graph></gexf>")),
    Reader("gml", "read", "graph.gml", nodes_and_edges(
        "graph [\n", 'node [ id {u} a "x" ]\n', "", "edge [ source {u} target {v} ]\n", "]\n")),
    Reader("json", "read", "graph.json", texts("[", _JSON_EDGE, "]", between=",\n")),
    Reader("json-nodes", "read", "graph.json", nodes_and_edges(
        '{{"nodes": [', _JSON_NODE, '], "links": [', _JSON_EDGE, "]}", between=",\n")),
    Reader("jsonl", "read", "graph.jsonl", texts("", f"{_JSON_EDGE}\n")),
    Reader("networkx", "read", "graph.edgelist", texts("", "n{u} n{v} {{'a': 1}}\n")),
    Reader("adjlist", "read", "graph.adjlist", lambda path, size: path.write_text(
        "".join(f"n{at} n{at + 1} n{at + 2}\n" for at in range(max(size // 24, 3))))),
    Reader("pajek", "read", "graph.net", write_pajek),
    Reader("parquet", "read", "graph.parquet", write_parquet),
    Reader("arrow", "read", "graph.arrow", write_arrow),
    Reader("mat", "read", "graph.mat", write_mat),
    Reader("mat-7.3", "read", "graph.mat", write_hdf5),
    Reader("npz", "read", "graph.npz", write_sparse_npz),
    Reader("sqlite", "read", "graph.db", write_sqlite),
    Reader("duckdb", "read", "graph.duckdb", write_duckdb, packed=False),
    Reader("ogb", "read", "graph", write_ogb, packed=False),
    Reader("grf", "read", "graph.grf", write_grf, packed=False),
    Reader("ingest-csv", "ingest", "graph.csv", texts("source,target\n", "n{u},n{v}\n")),
    Reader("ingest-parquet", "ingest", "graph.parquet", write_parquet),
    Reader("ingest-arrow", "ingest", "graph.arrow", write_arrow),
    Reader("ingest-json", "ingest", "graph.json", texts("[", _JSON_EDGE, "]", between=",\n")),
    Reader("labels-csv", "labels", "labels.csv", texts("node,label\n", "n{u},red\n")),
    Reader("labels-json", "labels", "labels.json", texts("[", '{{"node": "n{u}", "label": 1}}', "]", between=",\n")),
    Reader("labels-jsonl", "labels", "labels.jsonl", texts("", '{{"node": "n{u}", "label": 1}}\n')),
    Reader("labels-npy", "labels", "labels.npy", write_npy),
    Reader("labels-mat", "labels", "labels.mat", write_mat),
    Reader("labels-parquet", "labels", "labels.parquet", write_parquet),
    Reader("labels-arrow", "labels", "labels.arrow", write_arrow),
    Reader("features-tsv", "features", "features.tsv", write_feature_tsv),
    Reader("features-npy", "features", "features.npy", write_feature_npy),
    Reader("features-npz", "features", "features.npz", write_feature_npz),
    Reader("nodes", "nodes", "nodes.txt", texts("", "n{u}\n")),
    Reader("columns", "columns", "columns.csv", texts("node,team\n", "n{u},red\n")),
    Reader("config", "config", "settings.json", write_config, packed=False),
    Reader("load-npz", "load", "vectors.npz", saved(4), packed=False),
    Reader("load-npy", "load", "vectors.npy", saved(4), packed=False),
    Reader("load-safetensors", "load", "vectors.safetensors", saved(4), packed=False),
    Reader("load-arrow", "load", "vectors.arrow", saved(4), packed=False),
    Reader("load-parquet", "load", "vectors.parquet", saved(4), packed=False),
    Reader("load-csv", "load", "vectors.csv", saved(12), packed=False),
    Reader("load-word2vec", "load", "vectors.vec", saved(12), packed=False),
    Reader("load-word2vec-binary", "load", "vectors.bin", saved(4), packed=False),
    Reader("load-folder", "load", "vectors", saved(4), packed=False),
)  # fmt: skip
BY_NAME = {reader.name: reader for reader in READERS}
