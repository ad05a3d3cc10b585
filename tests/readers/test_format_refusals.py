"""Files of every text format of graphs that cannot be read: an error that names the file, the line and one fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrefine.errors import FormatError
from graphrefine.readers.read import read

BOMB = '<!DOCTYPE gexf [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<gexf><graph/></gexf>'
ENDS = '"links": [{"source": 1, "target": '
WEIGHT_KEY = '<graphml><key id="w" for="edge" attr.name="weight"/><graph>\n<edge source="a" target="b"><data key="w">'
GML_EDGE = "graph [ node [ id 1 ] edge [ source 1 target 1 weight"

# name, text, line (0: none), fact
CASES: list[tuple[str, str | bytes, int, str]] = [
    ("a.gml", "nothing here", 1, "after 'nothing'"),
    ("a.gml", "graph [\n node [ id 1 ]", 2, "the file ends"),
    ("a.gml", "graph [ ]\ngraph [ ]", 2, "a second graph"),
    ("a.gml", "graph [ ] ]", 1, "']' closes no record"),
    ("a.gml", "graph [\n node [ label 1 ] ]", 2, "no id"),
    ("a.gml", "graph [ node [ id 1 ]\n edge [ source 1 ] ]", 2, "no target"),
    ("a.gml", "graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]", 2, "'2'"),
    ("a.gml", "graph [ node [ id 1 ]\n node [ id 1 ] ]", 2, "declared twice"),
    ("a.gml", "graph [ node [ id 1 id 2 ] ]", 1, "(1, 2)"),
    ("a.gml", "graph [ node [ id 1 ] ]", 0, "no edge"),
    ("a.gml", "Creator 1", 0, "no graph"),
    ("a.gml", "graph [ directed 7 ]", 1, "directed is 7"),
    ("a.gml", f"{GML_EDGE} -2 ] ]", 1, "weight -2"),
    ("a.gml", f'{GML_EDGE} "x" ] ]', 1, "weight 'x'"),
    ("a.gml", f"{GML_EDGE} NAN ] ]", 1, "weight nan"),
    ("a.gml", "graph [ node [ id 12x ] ]", 1, "'12x'"),
    ("a.gml", 'graph [ label "open', 1, '"open'),
    ("a.gml", "a [ " * 100, 1, "the file ends"),
    ("a.gml", "graph [ node [ id " + "9" * 5000 + " ] ]", 1, "the id of the node"),
    ("a.gml", "\0\0\0", 0, "binary"),
    ("a.net", "1 2\n", 1, "*Vertices"),
    ("a.net", "*Network x\n", 0, "*Vertices"),
    ("a.net", "*Vertices\n", 1, "number of vertices"),
    ("a.net", "*Vertices 10000000000\n*Edges\n1 2\n", 0, "10,000,000,000 vertices"),
    ("a.net", "*Vertices 2\n*Vertices 3\n", 2, "a second network"),
    ("a.net", "*Vertices 2\n3 x\n", 2, "'3'"),
    ("a.net", "*Vertices 2\n1 x\n1 y\n", 3, "declared twice"),
    ("a.net", "*Edges\n1 2\n", 1, "before *Vertices"),
    ("a.net", "*Vertices 2\n*Edges\n1\n", 3, "two vertices"),
    ("a.net", "*Vertices 2\n*Edges\n1 x\n", 3, "'x'"),
    ("a.net", "*Vertices 2\n*Edges\n1 2 x\n", 3, "weight 'x'"),
    ("a.net", "*Vertices 2\n*Edges\n1 2 -1\n", 3, "weight '-1'"),
    ("a.net", "*Vertices 2\n*Matrix\n0 1\n", 2, "'*matrix'"),
    ("a.net", "*Vertices 2\n*Edges\n", 0, "no edge"),
    ("a.txt", "0 1 {}\n1 2 {oops}\n" + "3 4 {}\n", 2, "{oops}"),
    ("a.txt", "0 1 {}\n1 2 {__import__('os')}\n", 2, "not a dictionary"),
    ("a.txt", "0 1 {}\n" * 30 + "1\n", 31, "two nodes"),
    ("a.txt", "0 1 {}\n" * 30 + "a" + " " * 200_000 + "\n", 31, "two nodes"),
    ("a.txt", "0 1 {}\n0 1 {'weight': " + "[" * 5000 + "]" * 5000 + "}\n", 2, "not a dictionary"),
    ("a.txt", "0 1 {'weight': 'much'}\n", 1, "weight 'much'"),
    ("a.txt", "0 1 {'weight': -2}\n", 1, "weight -2"),
    ("a.adjlist", "a b\na c\n", 2, "'a'"),
    ("a.adjlist", "a 2\nb {}\n", 1, "2 neighbors"),
    ("a.adjlist", "a 1\nb {}\nc\n", 3, "number of its neighbors"),
    ("a.adjlist", "a 99999999\nb {}\n", 1, "99999999 neighbors"),
    ("a.adjlist", "a\nb\n", 0, "no edge"),
    ("a.gexf", "<svg>\n</svg>", 1, "'svg'"),
    ("a.gexf", BOMB, 1, "entities"),
    ("a.graphml", BOMB, 1, "entities"),
    ("a.gexf", "<gexf><graph>\n<edge source='a'/></graph></gexf>", 2, "no target"),
    ("a.gexf", "<gexf><graph/>\n<graph/></gexf>", 2, "a second graph"),
    ("a.gexf", "<gexf><graph defaultedgetype='odd'/></gexf>", 1, "'odd'"),
    ("a.gexf", "<gexf><graph><nodes><node id='a'/>\n<node id='a'/></nodes></graph></gexf>", 2, "declared twice"),
    ("a.gexf", "<gexf><graph><edges><edge source='a'\ntarget='b' weight='x'/>", 1, "weight 'x'"),
    ("a.gexf", "<gexf><graph><nodes><node id='a'><attvalue for='7' value='1'/></node>", 1, "'7'"),
    ("a.gexf", "<gexf><graph><nodes><node id='a'/>", 1, "well-formed"),
    ("a.graphml", "<graphml>\n<graph>", 2, "well-formed"),
    ("a.graphml", "<graphml><graph><node id='a'/></graph></graphml>", 0, "no edge"),
    ("a.graphml", "<graphml><graph>\n<edge source='a'/></graph></graphml>", 2, "no target"),
    ("a.graphml", "<graphml><graph>\n<node/></graph></graphml>", 2, "no id"),
    ("a.graphml", "<graphml><graph>\n<hyperedge/></graph></graphml>", 2, "hyperedges"),
    ("a.graphml", "<graphml><graph/>\n<graph/></graphml>", 2, "a second graph"),
    ("a.graphml", "<graphml><graph edgedefault='odd'/></graphml>", 1, "'odd'"),
    ("a.graphml", "<graphml><graph><node id='a'><data key='x'>1</data></node>", 1, "'x'"),
    (
        "a.graphml",
        "<graphml><key id='k' attr.name='n' attr.type='int'/><graph><node id='a'><data key='k'>x</data></node>",
        1,
        "'x' is no int",
    ),
    *[("a.graphml", f"{WEIGHT_KEY}{weight}</data></edge></graph></graphml>", 2, f"weight '{weight}'")
      for weight in ("x", "-1", "nan", "inf")],
    *[("a.graphml", f"<?xml version='1.0' encoding='{encoding}'?><graphml/>", -1, "graphml")
      for encoding in ("bogus-7", "hex", "utf-7", "idna", "cp037")],
    ("a.json", '{"nodes": [],\n oops}', 2, "not JSON"),
    ("a.json", '{"nodes": [], "nodes": []}', 0, "'nodes'"),
    ("a.json", "[" * 100_000, 0, "recursion"),
    ("a.json", '{"nodes":[{"id":' * 50_000, 0, "recursion"),
    ("a.json", '{"a": ' + "9" * 5000 + "}", 0, "4300 digits"),
    ("a.json", "7", 0, '{"nodes"'),
    ("a.json", '{"ann": ["bob"]}', 0, "'ann'"),
    ("a.json", "[]", 0, "no edge"),
    ("a.json", '{"nodes": [{"id": 1}], "links": []}', 0, "no edge"),
    ("a.json", '{"nodes": [7.5], "links": [7]}', 0, "a node is '7.5'"),
    ("a.json", '{"nodes": [7], "links": [[1, 2]]}', 0, "edge is"),
    ("a.json", f'{{"nodes": [{{"id": {{}}}}], {ENDS}2}}]}}', 0, "{}"),
    ("a.json", f'{{"nodes": [{{"id": 1}}], {ENDS}null}}]}}', 0, "None"),
    ("a.json", f'{{"nodes": [{{"id": 1}}], {ENDS}9}}]}}', 0, "the node 9"),
    ("a.json", f'{{"nodes": [{{"id": 1}}, {{"id": 1}}], {ENDS}1}}]}}', 0, "declared twice"),
    ("a.json", f'{{"nodes": [1, 2], {ENDS}2, "weight": NaN}}]}}', 0, "weight nan"),
    ("a.json", f'{{"nodes": [1, 2], {ENDS}2, "weight": [3]}}]}}', 0, "[3]"),
    ("a.json", '{"directed": "no", "nodes": [1], "links": []}', 0, "'no'"),
    ("a.json", '{"elements": 7}', 0, "'7'"),
    ("a.json", '{"elements": [{"id": 7}]}', 0, '"data"'),
    ("a.json", '{"nodes": [{"id": 1}], "adjacency": [[7]]}', 0, "neighbor"),
    ("a.json", '{"nodes": [{"id": 1}], "adjacency": []}', 0, "one length"),
    ("a.json", b'[["\xff", "b"]]', 0, "utf-8"),
    ("a.json", r'[["a\nb", "c"]]', 0, "line end"),
    ("a.jsonl", '{"u": 1, "v": 2}\n{"u": 1', 2, "not JSON"),
    ("a.jsonl", '{"u": 1, "v": 2}\n[1, 2]', 2, "'[1, 2]'"),
    ("a.jsonl", "[1, 2]\n[1, 2, 3]", 2, "2 values"),
    ("a.jsonl", '{"u": 1, "v": 2, "u": 3}', 1, "'u'"),
    ("a.jsonl", '{"u": 1, "v": true}', 0, "True"),
    ("a.jsonl", '{"u": 1, "v": 2, "weight": null}', 0, "record 1"),
    ("a.jsonl", '{"u": 1, "v": 2.5}', 0, "2.5"),
    ("a.jsonl", '{"u": 1}', 0, "there is 1"),
    *[("a.jsonl", f"[{number}, 2]\n[1.0, 3]\n", 0, "2^53") for number in (2**53 + 1, -(2**60), 10**400)],
    ("a.graph", "x y\n", 1, "METIS"),
    ("a.graph", "2 1 7\n2\n1\n", 1, "METIS"),
    ("a.graph", "3 1\n2\n1\n", 0, "3 nodes"),
    ("a.graph", "2 2\n2\n1\n", 0, "4 neighbors"),
    ("a.graph", "2 1\n3\n1\n", 2, "'3'"),
    ("a.graph", "2 1\n2\nx\n", 3, "'x'"),
    ("a.graph", "2 1 1\n2\n1 1\n", 2, "weight"),
    ("a.graph", "2 1 1\n2 x\n1 1\n", 2, "weight 'x'"),
    ("a.graph", "2 1 1\n2 1\n1 -1\n", 3, "weight '-1'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "fact"), CASES, ids=range(len(CASES)))
def test_refusal(tmp_path: Path, name: str, text: str | bytes, line: int, fact: str) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        read(path)
    where = f"{path}, line {line}: " if line > 0 else f"{path}: " if line == 0 else str(path)
    assert str(caught.value).startswith(where)
    assert fact in str(caught.value)
