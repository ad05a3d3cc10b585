"""Attacks in text: lines of a million fields, fields of each record's own, nesting, counts, names that collide."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from attack_kinds import Attack
from attack_readers import Write
from colliding_names import colliding_ids, colliding_names, edge_list, edge_list_of_ids

WIDE, OWN, DEEP = (500_000, 1_000_000), (50_000, 100_000), (500_000, 1_000_000)
NAMES = (30_000, 60_000)
HUGE = 1 << 40
MODULUS = 2**61 - 1  # Python's hash of an integer is its remainder


def text(make: Callable[[int], str]) -> Write:
    """A writer of the text of a size."""
    return lambda path, size: path.write_text(make(size), encoding="utf-8")


def line(first: str, field: str, last: str, *, between: str = "") -> Write:
    """A writer of a text with so many fields; ``{}`` in a field is its number."""
    return text(lambda size: first + between.join(field.format(at) for at in range(size)) + last)


def fixed(content: str) -> Write:
    """A writer of one text."""
    return text(lambda _: content)


_XML = '<graphml>{keys}<graph edgedefault="directed"><node id="a">{data}</node><node id="b"/>{rest}'
_XML += '<edge source="a" target="b">{edge}</edge></graph></graphml>'
_KEY = '<key id="d{0}" for="all" attr.name="f{0}" attr.type="string"/>'
_DEFAULT = '<key id="d{0}" for="all" attr.name="f{0}" attr.type="string"><default>1</default></key>'
_DATA = '<data key="d{0}">1</data>'
_FIELD = '<attribute id="{0}" title="f{0}" type="string"/>'
_DEFAULT_FIELD = '<attribute id="{0}" title="f{0}" type="string"><default>1</default></attribute>'
_VALUE = '<attvalues><attvalue for="{0}" value="1"/></attvalues>'


def many(field: str, size: int) -> str:
    """So many fields, one behind the other."""
    return "".join(field.format(at) for at in range(size))


def graphml(size: int, *, keys: str = "", data: str = "", rest: str = "", edge: str = "") -> str:
    """A GraphML file; each part is written so many times."""
    parts = {"keys": keys, "data": data, "rest": rest, "edge": edge}
    return _XML.format(**{name: many(part, size) for name, part in parts.items()})


def gexf(size: int, *, fields: str = "", nodes: str = "", value: str = "", scope: str = "node") -> str:
    """A GEXF file; each part is written so many times."""
    declared = f'<attributes class="{scope}">{many(fields, size)}</attributes>'
    inner = f'<node id="a">{many(value, size)}</node><node id="b"/>{many(nodes, size)}'
    return f'<gexf><graph>{declared}<nodes>{inner}</nodes><edges><edge source="a" target="b"/></edges></graph></gexf>'


def gml(size: int, *, data: str = "", rest: str = "", edge: str = "") -> str:
    """A GML file; each part is written so many times."""
    first = f"graph [ node [ id -1 {many(data, size)} ] node [ id -2 ] {many(rest, size)}"
    return f"{first} edge [ source -1 target -2 {many(edge, size)} ] ]\n"


def node_link(nodes: str, edges: str) -> Callable[[int], str]:
    """A node-link file whose nodes and edges are written so many times."""

    def make(size: int) -> str:
        lists = [", ".join(each.format(at, at + 1) for at in range(size)) for each in (nodes, edges)]
        return f'{{"nodes": [{lists[0]}], "links": [{lists[1]}]}}'

    return make


def own_fields(reader: str, write: Callable[[int], str], kind: str = "own fields") -> Attack:
    return Attack(reader, kind, text(write), OWN)


EDGE = '{{"source": {0}, "target": {1}, "f{0}": 1}}'
OWN_FIELDS = [
    own_fields("json", lambda n: "[" + ",\n".join(EDGE.format(at, at + 1) for at in range(n)) + "]"),
    own_fields("jsonl", lambda n: "".join(EDGE.format(at, at + 1) + "\n" for at in range(n))),
    own_fields("json-nodes", node_link('{{"id": {0}, "f{0}": 1}}', '{{"source": {0}, "target": {0}}}')),
    own_fields("json-nodes", node_link('{{"id": {0}}}', '{{"source": {0}, "target": {0}, "f{0}": 1}}'), "own of edges"),
    own_fields("graphml", lambda n: graphml(n, keys=_KEY, rest='<node id="n{0}"><data key="d{0}">1</data></node>')),
    own_fields("graphml", lambda n: graphml(n, keys=_DEFAULT, rest='<node id="n{0}"/>'), "defaults"),
    own_fields("gexf", lambda n: gexf(n, fields=_FIELD, nodes='<node id="n{0}">' + _VALUE + "</node>")),
    own_fields("gexf", lambda n: gexf(n, fields=_DEFAULT_FIELD, nodes='<node id="n{0}"/>'), "defaults"),
    own_fields("gml", lambda n: gml(n, rest="node [ id {0} f{0} 1 ]\n")),
    own_fields("networkx", lambda n: "".join(f"{at} {at + 1} {{'f{at}': 1}}\n" for at in range(n))),
    own_fields("labels-json", lambda n: "[" + ", ".join(f'{{"node": {at}, "f{at}": 1}}' for at in range(n)) + "]"),
    Attack(
        "ingest-json",
        "own fields",
        text(lambda n: "[" + ",\n".join(EDGE.format(at, at + 1) for at in range(n)) + "]"),
        (10_000, 20_000),
    ),
    own_fields("columns", lambda n: "node," + ",".join(f"f{at}" for at in range(n)) + "\n" + "a\n" * n),
]

WIDES = [
    Attack("text", "wide", line("", "n{}", "\n1 2\n", between=" "), WIDE),
    Attack("csv", "wide", line("", "n{}", "\n1,2\n", between=","), WIDE),
    Attack("csv", "wide quoted", line("", '"n{}"', "\n1,2\n", between=","), WIDE),
    Attack("csv", "wide matrix", line(",", "n{}", "\nn0,1\n", between=","), WIDE),
    Attack("tsv", "wide", line("source\ttarget\n", "n{}", "\n", between="\t"), WIDE),
    Attack("mtx", "wide", line("%%MatrixMarket matrix coordinate real general\n2 2 1\n", "1", "\n", between=" "), WIDE),
    Attack("metis", "wide", line("2 1\n", "1", "\n1\n", between=" "), WIDE),
    Attack("graphml", "wide", text(lambda n: graphml(n, keys=_KEY, data=_DATA)), OWN),
    Attack("graphml", "wide edge", text(lambda n: graphml(n, keys=_KEY, edge=_DATA)), OWN),
    Attack("graphml", "wide element", line('<graphml><graph><node id="a" ', 'a{}="1" ', "/></graph></graphml>"), WIDE),
    Attack("gexf", "wide", text(lambda n: gexf(n, fields=_FIELD, value=_VALUE)), OWN),
    Attack("gml", "wide", text(lambda n: gml(n, data="f{0} 1 ")), WIDE),
    Attack("gml", "wide edge", text(lambda n: gml(n, edge="f{0} 1 ")), WIDE),
    Attack("gml", "same key", text(lambda n: gml(n, data="f 1 ")), WIDE),
    Attack("json", "wide", line('[{"source": 1, "target": 2, ', '"f{}": 1', "}]", between=", "), WIDE),
    Attack("json", "wide array", line("[[", "{}", "]]", between=", "), WIDE),
    Attack("json", "key twice", line('[{"source": 1, ', '"f{}": 1', ', "a": 2, "a": 3}]', between=", "), WIDE),
    Attack("json-nodes", "wide", line('{"nodes": [{"id": 1, ', '"f{}": 1', '}], "links": []}', between=", "), WIDE),
    Attack("jsonl", "wide", line('{"source": 1, "target": 2, ', '"f{}": 1', "}\n", between=", "), WIDE),
    Attack("networkx", "wide", line("1 2 {'a': 1}\n1 2 {", "'f{}': 1", "}\n", between=", "), OWN),
    Attack("adjlist", "wide", line("", "n{}", "\n", between=" "), WIDE),
    Attack("pajek", "wide", line("*Vertices 1000\n*Arcslist\n1 ", "999", "\n", between=" "), WIDE),
    Attack("pajek", "wide vertex", line('*Vertices 2\n1 "a" ', "1.5", "\n*Edges\n1 2\n", between=" "), WIDE),
    Attack("ingest-csv", "wide", line("source,target\n1,2\n", "n{}", "\n", between=","), WIDE),
    Attack("labels-csv", "wide", line("", "n{}", "\n1,2\n", between=","), WIDE),
    Attack("labels-json", "wide", line('[{"node": 1, ', '"f{}": 1', "}]", between=", "), WIDE),
    Attack("labels-json", "key twice", line('[{"node": 1, ', '"f{}": 1', ', "a": 2, "a": 3}]', between=", "), WIDE),
    Attack("features-tsv", "wide", line("node\t", "f{}", "\n1\t2\n", between="\t"), WIDE),
    Attack("nodes", "wide", line("", "n{}", "\n", between=","), WIDE),
    Attack("columns", "wide", line("node,", "f{}", "\n", between=","), WIDE),
    Attack("load-csv", "wide", line("node,", "f{}", "\n1,2\n", between=","), WIDE),
    Attack("load-csv", "open quote", line('node,v0\n"', "n{},1\n", ""), WIDE),
    Attack("csv", "open quote", line('source,target\n"', "n{},1\n", ""), WIDE),
    Attack("ingest-csv", "open quote", line('source,target\n"', "n{},1\n", ""), WIDE),
    Attack("labels-csv", "open quote", line('node,label\n"', "n{},1\n", ""), WIDE),
    Attack("load-word2vec", "wide", line("1 2\na ", "1", "\n", between=" "), WIDE),
    Attack("config", "wide", line("{", '"f{}": 1', "}", between=", "), (20_000, 40_000)),
]  # fmt: skip


def nested(reader: str, first: str, opening: str, closing: str, last: str) -> Attack:
    """Records within each other."""
    return Attack(reader, "deep", text(lambda n: first + opening * n + closing * n + last), DEEP)


NESTED = [
    nested("json", "", "[", "]", ""),
    nested("json-nodes", '{"nodes": [], "links": ', '{"a": ', "", "1"),
    nested("jsonl", "[1, 2]\n", "[", "]", "\n"),
    nested("graphml", "<graphml>", "<a>", "</a>", "</graphml>"),
    nested("gexf", "<gexf>", "<a>", "</a>", "</gexf>"),
    nested("gml", "graph [ ", "a [ ", "] ", "]"),
    nested("networkx", "1 2 {'a': 1}\n1 2 {'a': ", "[", "]", "}\n"),
    nested("networkx", "1 2 {'a': 1}\n1 2 {'a': ", "-", "", "1}\n"),
    nested("labels-json", "", "[", "]", ""),
    Attack("config", "deep", text(lambda n: "[" * n), (200_000, 400_000)),
]


def claim(reader: str, content: str, kind: str = "claim") -> Attack:
    """A text whose counts are not so."""
    return Attack(reader, kind, fixed(content), (1,), refused=True)


_MTX = "%%MatrixMarket matrix {} real {}\n{}\n1 1 1\n"
CLAIMS = [
    claim("mtx", _MTX.format("coordinate", "general", f"{HUGE} {HUGE} 1")),
    claim("mtx", _MTX.format("coordinate", "general", f"2 2 {HUGE}"), "claim entries"),
    claim("mtx", _MTX.format("array", "symmetric", "1000000 1000000"), "claim array"),
    claim("metis", f"{HUGE} 1\n2\n1\n"),
    claim("metis", f"2 1 010 {HUGE}\n2\n1\n", "claim weights"),
    claim("pajek", f"*Vertices {HUGE}\n*Edges\n1 2\n"),
    claim("adjlist", "a 999999999\nb {'a': 1}\n"),
    claim("text", f"% sym unweighted\n% {HUGE} {HUGE} {HUGE}\n", "claim konect"),
    claim("load-word2vec", f"{HUGE} {HUGE}\na 1\n"),
    claim("load-word2vec-binary", f"{HUGE} 4\na 1\n"),
]


@cache
def _names() -> list[bytes]:
    return colliding_names(NAMES[1])


def _big(template: str, between: str, first: str = "", last: str = "") -> Write:
    """Ids beyond 64 bits that have one hash in Python."""

    def make(size: int) -> str:
        return first + between.join(template.format(at * MODULUS, (at + 1) * MODULUS) for at in range(1, size)) + last

    return text(make)


def _write_names(path: Path, size: int) -> None:
    path.write_bytes(edge_list(_names()[:size]))


def _write_ids(path: Path, size: int) -> None:
    path.write_bytes(edge_list_of_ids(colliding_ids(size)))


PAIR = '{{"source": {0}, "target": {1}}}'
COLLISIONS = [
    *(Attack(reader, "colliding names", _write_names, NAMES) for reader in ("csv", "ingest-csv")),
    *(Attack(reader, "colliding ids", _write_ids, NAMES) for reader in ("csv", "ingest-csv")),
    Attack("jsonl", "colliding ids", _big(PAIR, "\n"), NAMES),
    Attack("json", "colliding ids", _big(PAIR, ",\n", "[", "]"), NAMES),
    Attack("json", "colliding tuples", _big('{{"source": [{0}], "target": [{1}]}}', ",\n", "[", "]"), NAMES),
    Attack("json-nodes", "colliding ids", text(lambda n: json.dumps(
        {"nodes": [{"id": at * MODULUS} for at in range(n)],
         "links": [{"source": at * MODULUS, "target": (at + 1) * MODULUS} for at in range(n - 1)]})), NAMES),
    Attack("networkx", "colliding keys", _big("{0}: 1", ", ", "1 2 {'a': 1}\n1 2 {", "}\n"), NAMES),
    Attack("labels-json", "colliding ids", _big('{{"node": {0}, "label": 1}}', ",\n", "[", "]"), NAMES),
    Attack("labels-json", "colliding labels", _big('{{"node": "n{0}", "label": {0}}}', ",\n", "[", "]"), NAMES),
]  # fmt: skip
TEXTS = [*OWN_FIELDS, *WIDES, *NESTED, *CLAIMS, *COLLISIONS]
