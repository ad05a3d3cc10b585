"""Files of every format that cannot be read: an error that names the file, the line, the argument and one fact."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError
from graphrefine.readers.read import read


class Bad(NamedTuple):
    """A file that is refused; without content there is none, and a content may write itself."""

    name: str
    content: str | bytes | Callable[[Path], object] | None
    line: int | None  # 0: the error names no line; None: one or none
    fact: str
    argument: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


def table(**columns: list[Any]) -> Callable[[Path], object]:
    """A parquet file with these columns."""
    return lambda path: pq.write_table(pa.table(columns), path)


def variables(packed: bool, **values: Any) -> Callable[[Path], object]:
    """A .mat file with these variables."""
    return lambda path: scipy.io.savemat(path, values, do_compression=packed)


def matrix(values: Any) -> Callable[[Path], object]:
    """A matrix in the format of the suffix."""

    def write(path: Path) -> None:
        sparse = sp.csc_array(values)
        if path.suffix == ".mat":
            variables(True, network=sparse)(path)
        elif path.suffix == ".mtx":
            scipy.io.mmwrite(path, sparse)
        else:
            sp.save_npz(path, sparse)

    return write


BOMB = '<!DOCTYPE gexf [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<gexf><graph/></gexf>'
ENDS = '"links": [{"source": 1, "target": '
WEIGHT_KEY = '<graphml><key id="w" for="edge" attr.name="weight"/><graph>\n<edge source="a" target="b"><data key="w">'
GML_EDGE = "graph [ node [ id 1 ] edge [ source 1 target 1 weight"

LONG = "".join(f"{i} {i + 1} 2\n" for i in range(30_000))
THREE = "a,b\n1,2\n2,3\n"
COMMAS = "source;target;weight\na;b;1,5\n"

TEXT = [
    Bad("e.txt", "", 0, "the file is empty"),
    Bad("e.txt", "\n\n  \n", 0, "blank", "comments"),
    Bad("e.csv", "# nothing\n% at all\n", 0, "comments", "comments"),
    Bad("e.csv", "source,target\n", 0, "no edge", "header"),
    Bad("e.csv", "a,a\nb,b\n", 0, "2 self-loops"),
    Bad("e.txt", "1\t2\n3\n", 2, "'3'"),
    Bad("e.txt", "lonely\n", 1, "two columns"),
    Bad("e.csv", "# x\na,b\nc,d\n\ne\n", 5, "1 column"),
    Bad("e.csv", "1,2\n# 3,4\n", 2, "comments='#'", "comments"),
    Bad("e.txt", "1 2\nNew York Boston\n", 2, "3 columns"),
    Bad("e.csv", "a,b,c,d\na,b,c,d\n", 1, "4 columns", "source"),
    Bad("e.csv", "1,2,many\n2,3,1\n3,4,2\n", 1, "'many'", "weights"),
    Bad("e.csv", "a,b,NaN\nc,d,1\n", 1, "'NaN'", "weights"),
    Bad("e.txt", LONG + "1 2 zero\n", 30_001, "'zero'", "weights", {"threads": 2}),
    Bad("e.csv", THREE, 1, "'cost'", "weights", {"weights": "cost"}),
    Bad("e.csv", THREE, 1, "0 to 1", "source", {"source": 9}),
    Bad("e.csv", THREE, 1, "-1", "source", {"source": -1}),
    Bad("e.csv", THREE, 1, "column", "target", {"target": 2**70}),
    Bad("e.csv", THREE, 1, "same column", "target", {"source": 1, "target": 1}),
    Bad("e.csv", THREE, 1, "'a'", "weights", {"weights": "a"}),
    Bad("e.csv", THREE, 0, "'x'", "delimiter", {"delimiter": "x"}),
    Bad("e.csv", THREE, 0, "'ab'", "quote", {"quote": "ab"}),
    Bad("e.csv", THREE, 0, "quote", "quote", {"quote": "\u201c"}),
    Bad("e.csv", "sep=;\nann;bob\nbob;cy\n", None, "quote", "quote", {"quote": ";"}),
    Bad("e.csv", THREE, 0, "'klingon'", "encoding", {"encoding": "klingon"}),
    Bad("e.csv", b"1,2\n\xff,3\n", 2, "utf-8", "encoding", {"encoding": "utf-8"}),
    Bad("e.csv", ",a,b,c\na,0,1,2\nb,1,0,0\nc,2,0,0\n", 1, "'cost'", "weights", {"weights": "cost"}),
    Bad("e.txt", bytes(range(256)), 0, "binary", "format"),
    Bad("e.doc", "1 2\n", 0, "'.doc'", "format"),
    Bad("none.txt", None, 0, "no such file", None, {"nodes": 3}),
    Bad("none.mat", None, 0, "no such file"),
    *[Bad("e.csv", f"source,target,weight\n{name},2,1\n# note\n2,3,{weight}\n", 4, f"'{weight}'", "weights",
          {"comments": "#"})
      for name in ("1", "one") for weight in ("x", "", "-1", "-inf", "nan", "inf", "1e39", "1e999")],
    Bad("e.csv", "source,target,weight\n1,2,1\n2,3,1,5\n", 3, "4 columns"),
    # As other programs write them: decimal commas, titles, MovieLens, KONECT, pages and pointers instead of data.
    Bad("e.csv", "1;2;1,5\n2;3;2,25\n", 0, "delimiter=';'", "delimiter"),
    *[Bad("e.csv", f"{COMMAS}b;c;{weight}\n", None, "weight", "weights")
      for weight in ("1.234", "1.234,5", "2.5", "kg", "", "1,2,3")],
    Bad("e.csv", COMMAS + "a;b;1,5\n" * 6000 + "b;c;2.5\n", 0, "weight", "weights"),
    Bad("e.csv", "Friends in 2024,,\nsource,target,weight\na,b,1\nb,c,2\n", 1, "Friends in 2024", "header"),
    Bad("e.txt", "5 6\n0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n", 0, "numbers of nodes and of edges", "header"),
    Bad("e.dat", "1::1193::5::978300760\n1::661::3::978302109\n", 1, "4 columns", "source"),
    Bad("e.txt", "a::b\nb::c\n::b\n", 1, "two columns"),  # they may be names, as fe80::1 is
    Bad("e.dat", "a::b::1\nb:x::c::2\n", 0, "a single colon", "delimiter"),
    Bad("e.dat", 'a::b::1\n"b:x"::c::2\n', 0, "a single colon", "delimiter"),
    Bad("e.dat", "1::2::3\n1::2::3::4\n", 2, "4 columns"),
    Bad("e.txt", "% bip unweighted\n1 1\n1 2\n2 1\n", 0, "bipartite=True", "bipartite"),
    *[Bad(name, "<!DOCTYPE html>\n<html><body>404</body></html>\n", 0, "web page") for name in ("e.csv", "e.txt")],
    *[Bad(name, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7\nsize 12345\n", 0, "Git LFS")
      for name in ("e.csv", "e.txt")],
    Bad("e.graph", "0 1\n1 2\n2 0\n", 0, 'format="text"', "format"),
]  # fmt: skip

BINARY = [
    *[Bad(f"e.{suffix}", "this is something else\n" * 20, None, "")
      for suffix in ("mat", "mtx", "npz", "parquet", "arrow", "graphml", "metis")],
    Bad("e.arrow", b"ARROW1 but broken", 0, "arrow file"),
    Bad("e.parquet", table(u=[1, 2, 3], v=[2, 3, 4], weight=[1.0, -2.0, 1.0]), 0, "record 2", "weights"),
    Bad("e.parquet", table(u=[1, 2], v=[2, 3]), 0, "'u', 'v'", "source", {"source": "x"}),
    Bad("e.parquet", table(u=[1, 2]), 0, "there is 1"),
    Bad("e.parquet", table(u=[True], v=[False]), 0, "bool", "source"),
    *[Bad(f"e{suffix}", matrix(values), None, fact, argument, options) for suffix in (".mat", ".mtx", ".npz")
      for values, fact, argument, options in (
          (np.ones((2, 3)), "2 x 3", None, {}),
          (np.array([[0, 1j], [1, 0]]), "complex", None, {}),
          (np.array([[0, -1.0], [1, 0]]), "-1.0", "weights", {}),
          (np.array([[0, np.inf], [1, 0]]), "inf", "weights", {}),
          (np.diag([1, np.nan], k=1), "nan", "weights", {}),
          (np.eye(3), "3 self-loops", None, {}),
          (np.zeros((3, 3)), "no edge", None, {}),
          (np.eye(3, k=1), "weights=False", "weights", {"weights": "w"}))],
    *[Bad("e.mat", variables(packed, group=np.eye(2), A=np.eye(2)), 0, "'group', 'A'", "variable", options)
      for packed in (True, False) for options in ({}, {"variable": "B"})],
    Bad("e.mat", variables(False, network="text"), 0, "'network'", "variable"),
]  # fmt: skip

GRAPHS = [
    Bad("a.gml", "nothing here", 1, "after 'nothing'"),
    Bad("a.gml", "graph [\n node [ id 1 ]", 2, "the file ends"),
    Bad("a.gml", "graph [ ]\ngraph [ ]", 2, "a second graph"),
    Bad("a.gml", "graph [ ] ]", 1, "']' closes no record"),
    Bad("a.gml", "graph [\n node [ label 1 ] ]", 2, "no id"),
    Bad("a.gml", "graph [ node [ id 1 ]\n edge [ source 1 ] ]", 2, "no target"),
    Bad("a.gml", "graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]", 2, "'2'"),
    Bad("a.gml", "graph [ node [ id 1 ]\n node [ id 1 ] ]", 2, "declared twice"),
    Bad("a.gml", "graph [ node [ id 1 id 2 ] ]", 1, "(1, 2)"),
    Bad("a.gml", "Creator 1", 0, "no graph"),
    Bad("a.gml", "graph [ directed 7 ]", 1, "directed is 7"),
    Bad("a.gml", f'{GML_EDGE} "x" ] ]', 1, "weight 'x'", "weights"),
    Bad("a.gml", "graph [ node [ id 12x ] ]", 1, "'12x'"),
    Bad("a.gml", 'graph [ label "open', 1, '"open'),
    Bad("a.gml", "a [ " * 100, 1, "the file ends"),
    Bad("a.gml", "graph [ node [ id " + "9" * 5000 + " ] ]", 1, "the id of the node"),
    Bad("a.gml", "\0\0\0", 0, "binary", "format"),
    Bad("a.net", "1 2\n", 1, "*Vertices"),
    Bad("a.net", "*Network x\n", 0, "*Vertices"),
    Bad("a.net", "*Vertices\n", 1, "number of vertices"),
    Bad("a.net", "*Vertices 10000000000\n*Edges\n1 2\n", 0, "10,000,000,000 vertices"),
    Bad("a.net", "*Vertices 2\n*Vertices 3\n", 2, "a second network"),
    Bad("a.net", "*Vertices 2\n3 x\n", 2, "'3'"),
    Bad("a.net", "*Vertices 2\n1 x\n1 y\n", 3, "declared twice"),
    Bad("a.net", "*Edges\n1 2\n", 1, "before *Vertices"),
    Bad("a.net", "*Vertices 2\n*Edges\n1\n", 3, "two vertices"),
    Bad("a.net", "*Vertices 2\n*Edges\n1 x\n", 3, "'x'"),
    Bad("a.net", "*Vertices 2\n*Edges\n1 2 x\n", 3, "weight 'x'", "weights"),
    Bad("a.net", "*Vertices 2\n*Matrix\n0 1\n", 2, "'*matrix'"),
    Bad("a.txt", "0 1 {}\n1 2 {oops}\n" + "3 4 {}\n", 2, "{oops}"),
    Bad("a.txt", "0 1 {}\n1 2 {__import__('os')}\n", 2, "not a dictionary"),
    Bad("a.txt", "0 1 {}\n" * 30 + "1\n", 31, "two nodes"),
    Bad("a.txt", "0 1 {}\n" * 30 + "a" + " " * 200_000 + "\n", 31, "two nodes"),
    Bad("a.txt", "0 1 {}\n0 1 {'weight': " + "[" * 5000 + "]" * 5000 + "}\n", 2, "not a dictionary"),
    Bad("a.txt", "0 1 {'weight': 'much'}\n", 1, "weight 'much'", "weights"),
    Bad("a.adjlist", "a b\na c\n", 2, "'a'"),
    Bad("a.adjlist", "a 2\nb {}\n", 2, "multiline"),
    Bad("a.gexf", "<svg>\n</svg>", 1, "'svg'"),
    Bad("a.gexf", BOMB, 1, "entities"),
    Bad("a.graphml", BOMB, 1, "entities"),
    Bad("a.gexf", "<gexf><graph>\n<edge source='a'/></graph></gexf>", 2, "no target"),
    Bad("a.gexf", "<gexf><graph/>\n<graph/></gexf>", 2, "a second graph"),
    Bad("a.gexf", "<gexf><graph defaultedgetype='odd'/></gexf>", 1, "'odd'"),
    Bad("a.gexf", "<gexf><graph><nodes><node id='a'/>\n<node id='a'/></nodes></graph></gexf>", 2, "declared twice"),
    Bad("a.gexf", "<gexf><graph><edges><edge source='a'\ntarget='b' weight='x'/>", 1, "weight 'x'", "weights"),
    Bad("a.gexf", "<gexf><graph><nodes><node id='a'><attvalue for='7' value='1'/></node>", 1, "'7'"),
    Bad("a.gexf", "<gexf><graph><nodes><node id='a'/>", 1, "well-formed"),
    Bad("a.graphml", "<graphml>\n<graph>", 2, "well-formed"),
    Bad("a.graphml", "<graphml><graph>\n<edge source='a'/></graph></graphml>", 2, "no target"),
    Bad("a.graphml", "<graphml><graph>\n<node/></graph></graphml>", 2, "no id"),
    Bad("a.graphml", "<graphml><graph>\n<hyperedge/></graph></graphml>", 2, "hyperedges"),
    Bad("a.graphml", "<graphml><graph/>\n<graph/></graphml>", 2, "a second graph"),
    Bad("a.graphml", "<graphml><graph edgedefault='odd'/></graphml>", 1, "'odd'"),
    Bad("a.graphml", "<graphml><graph><node id='a'><data key='x'>1</data></node>", 1, "'x'"),
    Bad("a.graphml", "<graphml><key id='k' attr.type='int'/><graph><node id='a'><data key='k'>p</data></node>", 1,
        "'p' is no int"),
    *[Bad("a.graphml", f"{WEIGHT_KEY}{weight}</data></edge></graph></graphml>", 2, f"weight '{weight}'", "weights")
      for weight in ("x", "-1", "nan", "inf")],
    *[Bad("a.graphml", f"<?xml version='1.0' encoding='{encoding}'?><graphml/>", None, "")
      for encoding in ("bogus-7", "hex", "utf-7", "idna", "cp037")],
    Bad("a.json", '{"nodes": [],\n oops}', 2, "not JSON"),
    Bad("a.json", '{"nodes": [], "nodes": []}', 0, "'nodes'"),
    Bad("a.json", "[" * 100_000, 0, "recursion"),
    Bad("a.json", '{"nodes":[{"id":' * 50_000, 0, "recursion"),
    Bad("a.json", '{"a": ' + "9" * 5000 + "}", 0, "4300 digits"),
    Bad("a.json", "7", 0, '{"nodes"', "format"),
    Bad("a.json", '{"ann": ["bob"]}', 0, "'ann'", "format"),
    Bad("a.json", "[]", 0, "no edge"),
    Bad("a.json", '{"nodes": [7.5], "links": [7]}', 0, "a node is '7.5'"),
    Bad("a.json", '{"nodes": [7], "links": [[1, 2]]}', 0, "edge is"),
    Bad("a.json", f'{{"nodes": [{{"id": {{}}}}], {ENDS}2}}]}}', 0, "{}"),
    Bad("a.json", f'{{"nodes": [{{"id": 1}}], {ENDS}null}}]}}', 0, "None"),
    Bad("a.json", f'{{"nodes": [{{"id": 1}}], {ENDS}9}}]}}', 0, "the node 9"),
    Bad("a.json", f'{{"nodes": [{{"id": 1}}, {{"id": 1}}], {ENDS}1}}]}}', 0, "declared twice"),
    Bad("a.json", f'{{"nodes": [1, 2], {ENDS}2, "weight": NaN}}]}}', 0, "weight nan", "weights"),
    Bad("a.json", f'{{"nodes": [1, 2], {ENDS}2, "weight": [3]}}]}}', 0, "[3]", "weights"),
    Bad("a.json", '{"directed": "no", "nodes": [1], "links": []}', 0, "'no'"),
    Bad("a.json", '{"elements": 7}', 0, "'7'"),
    Bad("a.json", '{"elements": [{"id": 7}]}', 0, '"data"'),
    Bad("a.json", '{"nodes": [{"id": 1}], "adjacency": [[7]]}', 0, "there are no edges", "format"),
    Bad("a.json", b'[["\xff", "b"]]', 0, "utf-8"),
    Bad("a.json", r'[["a\nb", "c"]]', 0, "line end"),
    Bad("a.jsonl", '{"u": 1, "v": 2}\n{"u": 1', 2, "not JSON"),
    Bad("a.jsonl", '{"u": 1, "v": 2}\n[1, 2]', 2, "'[1, 2]'"),
    Bad("a.jsonl", "[1, 2]\n[1, 2, 3]", 2, "2 values"),
    Bad("a.jsonl", '{"u": 1, "v": 2, "u": 3}', 1, "'u'"),
    Bad("a.jsonl", '{"u": 1, "v": true}', 0, "True", "source"),
    Bad("a.jsonl", '{"u": 1, "v": 2, "weight": null}', 0, "record 1", "weights"),
    Bad("a.jsonl", '{"u": 1, "v": 2.5}', 0, "2.5"),
    Bad("a.jsonl", '{"u": 1}', 0, "there is 1"),
    *[Bad("a.jsonl", f"[{number}, 2]\n[1.0, 3]\n", 0, "2^53") for number in (2**53 + 1, -(2**60), 10**400)],
    Bad("a.graph", "x y\n", 1, "METIS"),
    Bad("a.graph", "2 1 7\n2\n1\n", 1, "METIS"),
    Bad("a.graph", "3 1\n2\n1\n", 0, "3 nodes", "format"),
    Bad("a.graph", "2 2\n2\n1\n", 0, "4 neighbors"),
    Bad("a.graph", "2 1\n3\n1\n", 2, "'3'"),
    Bad("a.graph", "2 1\n2\nx\n", 3, "'x'"),
    Bad("a.graph", "2 1 1\n2\n1 1\n", 2, "weight"),
    Bad("a.graph", "2 1 1\n2 x\n1 1\n", 2, "weight 'x'", "weights"),
]  # fmt: skip


ALL = [*TEXT, *BINARY, *GRAPHS]


@pytest.mark.parametrize("bad", ALL, ids=[f"{at}-{bad.name}" for at, bad in enumerate(ALL)])
def test_refused(tmp_path: Path, bad: Bad) -> None:
    path = tmp_path / bad.name
    if callable(bad.content):
        bad.content(path)
    elif bad.content is not None:
        path.write_bytes(bad.content if isinstance(bad.content, bytes) else bad.content.encode())
    with pytest.raises(FormatError) as caught:
        read(path, **bad.options)
    message = str(caught.value)
    where = f", line {bad.line}: " if bad.line else "" if bad.line is None else ": "
    assert message.startswith(f"{path}{where}")
    assert bad.fact in message.removeprefix(str(path))
    assert caught.value.argument == bad.argument
    assert caught.value.__cause__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_and_mislabeled_compression(tmp_path: Path, suffix: str) -> None:
    data = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(5000)).encode()
    packers: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    packed = packers.get(suffix, lambda text: pa.compress(text, codec="zstd", asbytes=True))(data)
    path = tmp_path / f"edges.txt{suffix}"
    damaged = (packed[: len(packed) // 2], packed[:-3])
    for content, fact in (*((each, "cut short") for each in damaged), (data, f"says {suffix}"), (b"", "empty")):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=fact) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
