"""Graph files of every format, whole and in compressed ones; a graph that comes of them must be sound."""

from __future__ import annotations

import io
import json
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzz.codecs import (
    below,
    below_bundle,
    below_bz2,
    below_gzip,
    below_xz,
    below_zip,
    mutate_bundle,
    pack_files,
    pack_folder,
    unpack_files,
    write_folder,
)
from fuzz.mutations import Mutation
from fuzz.target import Target
from fuzz.targets.vectors import change_json

PAIRS = [("ann", "bob", 2.0), ("bob", "cy", 0.5), ("cy", "ann", 1.0), ("dee", "ann", 3.0), ("dee", "eve", 1.5)]
NUMBERS = [(1, 2, 2.0), (2, 3, 0.5), (3, 1, 1.0), (4, 1, 3.0), (4, 5, 1.5)]
SIDES = frozenset({"text", "csv", "tsv", "parquet", "arrow", "mat", "mtx", "npz", "jsonl", "sqlite", "duckdb"})


def reader(suffix: str, format: str) -> Callable[[bytes, Path], None]:
    """A function that reads bytes as a file with this suffix; its options depend on the bytes."""

    def run(data: bytes, folder: Path) -> None:
        path = folder / f"graph{suffix}"
        path.write_bytes(data)
        read_soundly(path, draw_sides(data, format))

    return run


def draw_sides(data: bytes, format: str) -> dict[str, Any]:
    """Options that every graph has, by the bytes."""
    choices: list[dict[str, Any]] = [{}, {"directed": True}, {"weights": False}, {"directed": False}]
    choices += [{"bipartite": True}] if format in SIDES else []
    return choices[zlib.crc32(data) % len(choices)]


def read_soundly(path: Path, options: dict[str, Any]) -> None:
    """Read a graph, and check that what comes is one."""
    import numpy as np

    from graphrefine.readers.read import read

    graph = read(path, threads=1, **options)
    indptr, indices = np.asarray(graph.indptr), np.asarray(graph.indices)
    assert graph.edges > 0 and len(graph.names) == graph.nodes == len(indptr) - 1
    assert indptr[0] == 0 and (np.diff(indptr) >= 0).all() and indptr[-1] == len(indices)
    assert indices.min() >= 0 and indices.max() < graph.nodes
    weights = graph.weights
    assert weights is None or (len(weights) == len(indices) and np.isfinite(weights).all() and (weights >= 0).all())
    assert isinstance(graph.reading, str)


def read_folder(data: bytes, folder: Path) -> None:
    """Read a folder of the Open Graph Benchmark."""
    write_folder(data, folder / "dataset")
    read_soundly(folder / "dataset", draw_sides(data, "ogb"))


def text_seeds() -> list[bytes]:
    """Edge lists without and with headers, quotes, comments, times, and those of other programs."""
    return [
        "".join(f"{u} {v} {w}\n" for u, v, w in NUMBERS).encode(),
        "".join(f"{u}\t{v}\n" for u, v, _ in PAIRS).encode(),
        b"# a comment\n% another\n1 2\n2 3\n3 1\n",
        b"% asym positive\n% 3 3 3\n1 2 3 978300760\n2 3 1 978300761\n3 1 1 978300762\n",
        b"1::2::5\n2::3::4\n3::1::1\n",
        b"a|b|1\nb|c|2\nc|a|3\n",
        b"user item date\n1 2 2024-01-31\n2 3 2024-02-01\n",
        "\ufeffé ü\nü ß\n".encode(),
        "a b\nb c\n".encode("utf-16"),
        b"a {'weight': 1.0}\n",
        b"0 1 {'weight': 1.5}\n1 2 {'weight': 2.5}\n",
    ]


def csv_seeds() -> list[bytes]:
    """Tables with headers, quotes, decimal commas, labeled matrices, and dialects."""
    return [
        b"source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in PAIRS).encode(),
        b'from,to,weight,time\n"ann, a",bob,2,2020-01-01\n"b ""b""",cy,1,2020-01-02\ncy,"ann, a",1,2021-01-01\n',
        b":START_ID(A),:END_ID(B),:TYPE,weight:float\n1,2,KNOWS,0.5\n2,3,LIKES,1.5\n",
        b"_id,_labels,_start,_end,_type\n1,:P,,,\n2,:P,,,\n,,1,2,KNOWS\n",
        b"id,start,end,type\n0,10,11,KNOWS\n1,11,12,KNOWS\n",
        b"Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.0\n2,3,Undirected,1,,2.0\n",
        b"sep=;\r\na;b;0,5\r\nb;c;1,5\r\n",
        b",a,b,c\na,0,1,2\nb,1,0,0\nc,2,0,0\n",
        b'SUID,interaction,name,"shared name"\n100,pp,A (pp) B,A (pp) B\n101,pp,B (pp) C,B (pp) C\n',
    ]


def xml_seeds() -> list[bytes]:
    """GraphML and GEXF as NetworkX writes them, and in another encoding."""
    import networkx as nx

    graph = _club()
    out = []
    for write in (nx.write_graphml, nx.write_gexf):
        file = io.BytesIO()
        write(graph, file)
        out.append(file.getvalue())
    plain = b'<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph>'
    return [*out, plain + b"</graphml>", b"<?xml version='1.0' encoding='latin-1'?>" + plain + b"</graphml>"]


def lines_seeds(*writers: str) -> Callable[[], list[bytes]]:
    """Files of writers of NetworkX."""

    def make() -> list[bytes]:
        import networkx as nx

        out = []
        for writer in writers:
            file = io.BytesIO()
            getattr(nx, writer)(nx.Graph(_club().edges) if "pajek" in writer else _club(), file)
            out.append(file.getvalue())
        return out

    return make


def pajek_seeds() -> list[bytes]:
    """Pajek with labels, coordinates, lists and relations."""
    return [
        *lines_seeds("write_pajek")(),
        b'*Vertices 3\n1 "a" 0.1 0.2 0.5\n2 "b"\n3 "c &#228;"\n*Arcs :1 "likes"\n1 2 3\n2 3 1\n*Edges\n1 3 2\n',
        b"*Network n\n*Vertices 4 2\n*Arcslist\n1 2 3\n*Edgeslist\n4 1\n",
    ]


def metis_seeds() -> list[bytes]:
    """METIS without and with weights of nodes and edges."""
    return [b"4 3\n2 3\n1\n1 4\n3\n", b"% c\n3 2 1\n2 5\n1 5 3 7\n2 7\n", b"3 2 11 2\n1 1 2 5\n1 1 1 5 3 7\n4 4 2 7\n"]


def json_seeds() -> list[bytes]:
    """Node-link, Cytoscape, trees, lists and mappings."""
    import networkx as nx

    graph = _club()
    makers: list[Any] = [
        nx.node_link_data(graph, edges="links"), nx.node_link_data(graph, edges="edges"),
        nx.cytoscape_data(graph), [[1, 2], [2, 3, 0.5]], {"a": ["b", "c"], "b": ["c"]},
        [{"source": "a", "target": "b", "weight": 2}, {"source": "b", "target": "c", "weight": 1}],
        {"nodes": [{"id": 1, "name": "x"}, {"id": 2}], "edges": [{"from": 1, "to": 2}]},
    ]  # fmt: skip
    return [json.dumps(each).encode() for each in makers]


def jsonl_seeds() -> list[bytes]:
    """One object, or one list, on each line."""
    return ["".join(json.dumps({"u": u, "v": v, "weight": w}) + "\n" for u, v, w in PAIRS).encode(), b"[1,2]\n[2,3]\n"]


def mtx_seeds() -> list[bytes]:
    """Every layout and symmetry."""
    import scipy.io
    import scipy.sparse as sp

    matrix = _matrix()
    out = []
    forms: tuple[tuple[Any, dict[str, Any]], ...] = (
        (sp.coo_array(matrix), {"symmetry": "general"}),
        (sp.coo_array(matrix + matrix.T), {"symmetry": "symmetric"}),
        (sp.coo_array(matrix != 0), {"field": "pattern"}),
        (matrix, {}),
        (matrix + matrix.T, {"symmetry": "symmetric"}),
    )
    for value, options in forms:
        file = io.BytesIO()
        scipy.io.mmwrite(file, value, comment="a comment", **options)
        out.append(file.getvalue())
    return out


def npz_seeds() -> list[bytes]:
    """Every sparse format, packed or not."""
    import scipy.sparse as sp

    out = []
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        file = io.BytesIO()
        sp.save_npz(file, sp.csr_array(_matrix()).asformat(kind), compressed=kind == "csc")
        out.append(file.getvalue())
    return out


def mat_seeds() -> list[bytes]:
    """MATLAB files of version 5 with one variable, sparse or dense, and others before it."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    out = []
    for network in (sp.csc_array(_matrix()), _matrix(), sp.csc_array(_matrix().astype(bool)), _matrix().astype("u1")):
        file: Any = io.BytesIO()
        scipy.io.savemat(file, {"group": np.eye(5), "names": "text", "network": network})
        out.append(file.getvalue())
    return out


def table_seeds(kind: str) -> Callable[[], list[bytes]]:
    """Tables of strings, numbers, dictionaries, times and nothing, as parquet or Arrow."""

    def make() -> list[bytes]:
        import pyarrow as pa
        import pyarrow.ipc as ipc
        import pyarrow.parquet as pq

        strings = {"source": [u for u, _, _ in PAIRS], "target": [v for _, v, _ in PAIRS]}
        tables = [
            pa.table({**strings, "weight": [w for *_, w in PAIRS]}),
            pa.table({"u": [u for u, _, _ in NUMBERS], "v": [v for _, v, _ in NUMBERS]}),
            pa.table({name: pa.array(values).dictionary_encode() for name, values in strings.items()}),
            pa.table({**strings, "list": [[1], [], [2, 3], [4], [5]], "t": pa.array(range(5), pa.timestamp("s"))}),
        ]
        out = []
        for at, table in enumerate(tables):
            file = io.BytesIO()
            if kind == "parquet":
                pq.write_table(table, file, compression="snappy" if at == 0 else "none")
            else:
                with (ipc.new_file if kind == "file" else ipc.new_stream)(file, table.schema) as writer:
                    writer.write_table(table)
            out.append(file.getvalue())
        return out

    return make


def sqlite_seeds() -> list[bytes]:
    """A database with one table."""
    import sqlite3

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        connection = sqlite3.connect(path)
        connection.execute("pragma page_size=512")
        connection.execute("create table ties (source, target, weight)")
        connection.executemany("insert into ties values (?, ?, ?)", PAIRS)
        connection.commit()
        connection.close()
        return [path.read_bytes()]


def ogb_seeds() -> list[bytes]:
    """A folder of the Open Graph Benchmark."""
    files = {"edge.csv.gz": b"0,1\n1,2\n2,3\n", "num-node-list.csv.gz": b"4\n", "num-edge-list.csv.gz": b"3\n"}
    import gzip

    packed = {f"raw/{name}": gzip.compress(text, mtime=0) for name, text in files.items()}
    plain = {f"raw/{name.removesuffix('.gz')}": text for name, text in files.items()}
    return [pack_files(packed), pack_files(plain)]


def read_stored(data: bytes, folder: Path) -> None:
    """Read a graph on disk, and use every entry of it."""
    write_folder(data, folder / "graph.grf")
    read_soundly(folder / "graph.grf", draw_sides(data, "grf"))


def stored_seeds() -> list[bytes]:
    """Graphs on disk: plain, weighted with names, directed, of two sides."""
    import graphrefine

    plain, named = [(u, v) for u, v, _ in NUMBERS], [("é" + u, v, w) for u, v, w in PAIRS]
    graphs = [graphrefine.read(plain), graphrefine.read(named), graphrefine.read(named, directed=True)]
    graphs.append(graphrefine.read(named, bipartite=True))
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for at, graph in enumerate(graphs):
            path = Path(folder, f"{at}.grf")
            graph.save(path)
            out.append(pack_folder(path))
    return out


def change_stored(rng: Random, data: bytes) -> bytes:
    """A graph on disk after a change; half of the time with sizes and checksums that fit, as a stranger can write."""
    files = unpack_files(data)
    if rng.random() < 0.3 and "manifest.json" in files:
        files["manifest.json"] = change_json(rng, files["manifest.json"])
        data = pack_files(files)
    if "manifest.json" not in files or rng.random() < 0.8:
        data = mutate_bundle(rng, data)
    return _mend_checksums(data) if rng.random() < 0.7 else data


def _mend_checksums(data: bytes) -> bytes:
    from graphrefine.graph.stored_writer import HEADER, OWN_CHECKSUM, sum_manifest

    files = unpack_files(data)
    try:
        manifest = json.loads(files["manifest.json"])
        manifest["files"] = {name: len(content) for name, content in files.items() if name != "manifest.json"}
        manifest["checksums"] = {name: zlib.crc32(files[name]) for name in manifest["checksums"] if name in files}
        for side in ("", "reverse_"):
            for block in manifest.get(f"{side}blocks", ()):
                first, last = block["entries"]
                for name in block["crc32"]:
                    content = files[f"{side}{name}.npy"]
                    block["crc32"][name] = zlib.crc32(content[HEADER + 4 * first : HEADER + 4 * last])
        manifest[OWN_CHECKSUM] = sum_manifest(manifest)
        files["manifest.json"] = json.dumps(manifest).encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return data
    return pack_files(files)


def duckdb_seeds() -> list[bytes]:
    """A database with one table."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.duckdb")
        connection = duckdb.connect(str(path))
        connection.execute("create table ties (source varchar, target varchar, weight double)")
        connection.executemany("insert into ties values (?, ?, ?)", PAIRS)
        connection.close()
        return [path.read_bytes()]


def packed_seeds(pack: Callable[[bytes], bytes]) -> Callable[[], list[bytes]]:
    """Edge lists, compressed."""
    return lambda: [pack(text) for text in csv_seeds()]


def _club() -> Any:
    import networkx as nx

    graph = nx.karate_club_graph().subgraph(range(6)).copy()
    graph.nodes[0]["size"] = 1.5
    return graph


def _matrix() -> Any:
    import numpy as np

    matrix = np.zeros((5, 5))
    for u, v, weight in NUMBERS:
        matrix[u - 1, v - 1] = weight
    return matrix


def _zstd(data: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(data, "zstd", asbytes=True))


def _unzstd(data: bytes) -> bytes:
    import pyarrow as pa

    try:
        return bytes(pa.CompressedInputStream(io.BytesIO(data), "zstd").read())
    except OSError as error:
        raise ValueError(error) from None


def _target(
    name: str, suffix: str, seeds: Callable[[], list[bytes]], format: str = "", change: Mutation | None = None
) -> Target:
    return Target(f"read-{name}", "readers", seeds, reader(suffix, format or name), change)


TARGETS = [
    _target("text", ".txt", text_seeds),
    _target("csv", ".csv", csv_seeds),
    _target("tsv", ".tsv", lambda: [text.replace(b",", b"\t") for text in csv_seeds()]),
    _target("gz", ".csv.gz", packed_seeds(lambda text: __import__("gzip").compress(text, mtime=0)), "csv", below_gzip),
    _target("bz2", ".csv.bz2", packed_seeds(lambda text: bytes(__import__("bz2").compress(text))), "csv", below_bz2),
    _target("xz", ".csv.xz", packed_seeds(lambda text: bytes(__import__("lzma").compress(text))), "csv", below_xz),
    _target("zst", ".csv.zst", packed_seeds(_zstd), "csv", below(_zstd, _unzstd)),
    _target("parquet", ".parquet", table_seeds("parquet")),
    _target("arrow", ".arrow", table_seeds("file")),
    _target("arrow-stream", ".arrows", table_seeds("stream"), "arrow"),
    # Neither packed variables, cells and texts nor versions 4 and 7.3: crafted ones crash SciPy and HDF5 themselves.
    _target("mat", ".mat", mat_seeds),
    _target("mtx", ".mtx", mtx_seeds),
    _target("npz", ".npz", npz_seeds, change=below_zip),
    _target("metis", ".metis", metis_seeds),
    _target("xml", ".xml", xml_seeds),
    _target("gml", ".gml", lines_seeds("write_gml")),
    _target("pajek", ".net", pajek_seeds),
    _target("json", ".json", json_seeds),
    _target("jsonl", ".jsonl", jsonl_seeds),
    _target("sqlite", ".db", sqlite_seeds),
    _target("duckdb", ".duckdb", duckdb_seeds),
    Target("read-grf", "readers", stored_seeds, read_stored, change_stored),
    _target("networkx", ".edgelist", lines_seeds("write_edgelist")),
    _target("adjlist", ".adjlist", lines_seeds("write_adjlist")),
    Target("read-ogb", "readers", ogb_seeds, read_folder, below_bundle),
]
