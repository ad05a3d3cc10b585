"""Files that somebody chose so that reading them takes forever, or all memory: refused, or read in linear time."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from graphrefine.errors import FormatError
from graphrefine.readers.read import read
from graphrefine.tables import source as limits

COUNT = 6_000
MODULUS = 2**61 - 1  # Python's hash of an integer is its remainder
SLOWDOWN = 6.0  # quadratic work takes a hundred times as long, and more


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def own_fields(suffix: str, count: int) -> str:
    """A file in which each record has a field of its own."""
    numbers = range(count)
    match suffix:
        case ".json":
            return json.dumps([{"source": at, "target": at + 1, f"f{at}": 1} for at in numbers])
        case ".jsonl":
            return "".join(json.dumps({"source": at, "target": at + 1, f"f{at}": 1}) + "\n" for at in numbers)
        case ".gml":
            return f"graph [ {' '.join(f'node [ id {at} f{at} 1 ]' for at in numbers)} edge [ source 0 target 1 ] ]"
        case ".graphml":
            keys = "".join(f'<key id="d{at}" for="node" attr.name="f{at}"/>' for at in numbers)
            nodes = "".join(f'<node id="{at}"><data key="d{at}">1</data></node>' for at in numbers)
            return f'<graphml>{keys}<graph>{nodes}<edge source="0" target="1"/></graph></graphml>'
        case ".gexf":
            fields = "".join(f'<attribute id="{at}" title="f{at}"/>' for at in numbers)
            nodes = "".join(f'<node id="{at}"><attvalue for="{at}" value="1"/></node>' for at in numbers)
            fields, edge = f'<attributes class="node">{fields}</attributes>', '<edge source="0" target="1"/>'
            return f"<gexf><graph>{fields}<nodes>{nodes}</nodes><edges>{edge}</edges></graph></gexf>"
        case _:
            return "".join(f"{at} {at + 1} {{'f{at}': 1}}\n" for at in numbers)


SUFFIXES = (".json", ".jsonl", ".gml", ".graphml", ".gexf", ".edgelist")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_more_fields_than_any_table_has_are_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIELDS", 50)
    with pytest.raises(FormatError, match=rf"a{suffix}.*: there are more than 50 (attributes|fields)"):
        read(write(tmp_path, f"a{suffix}", own_fields(suffix, 60)))
    assert read(write(tmp_path, f"a{suffix}", own_fields(suffix, 40))).edges >= 1


def test_attributes_that_few_nodes_have_must_fit_into_memory(tmp_path: Path) -> None:
    """A table of 9,000 attributes of 9,000 nodes has 81 million cells, and 9,000 of them say something."""
    with limits.reading_within(1 << 28), pytest.raises(FormatError, match="the table of node attributes") as caught:
        read(write(tmp_path, "a.gml", own_fields(".gml", 9000)))
    assert caught.value.argument == "memory"
    few = read(write(tmp_path, "a.gml", own_fields(".gml", 300)))
    assert len(few.attributes) == 300 and few.attributes["f7"].tolist().count(None) == 299


def seconds(run: Callable[[], object]) -> float:
    """The best time of two."""
    times = []
    for _ in range(2):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


RECORDS: dict[str, Callable[[list[int]], Any]] = {
    "list": lambda ids: [{"source": u, "target": v} for u, v in pairwise(ids)],
    "tuples": lambda ids: {
        "nodes": [{"id": [at]} for at in ids],
        "links": [{"source": [u], "target": [v]} for u, v in pairwise(ids)],
    },
    "node-link": lambda ids: {
        "nodes": [{"id": at} for at in ids],
        "links": [{"source": u, "target": v} for u, v in pairwise(ids)],
    },
}


@pytest.mark.parametrize("form", list(RECORDS))
def test_integers_with_one_hash_take_no_longer(tmp_path: Path, form: str) -> None:
    """Each was compared with all before it: 100,000 such ids took minutes."""
    assert len({hash(at * MODULUS) for at in range(9)}) == 1
    ordinary = write(tmp_path, "a.json", json.dumps(RECORDS[form]([at * 2**64 + at * at for at in range(8, COUNT)])))
    colliding = write(tmp_path, "b.json", json.dumps(RECORDS[form]([at * MODULUS for at in range(8, COUNT)])))
    assert read(ordinary).nodes == read(colliding).nodes == COUNT - 8
    assert seconds(lambda: read(colliding)) < SLOWDOWN * seconds(lambda: read(ordinary))


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.txt", " "), ("a.tsv", "\t")])
def test_a_line_of_a_million_fields_is_refused(tmp_path: Path, name: str, mark: str, quote: str) -> None:
    """It became as many columns, of which the first two were the edges."""
    line = mark.join(f"{quote}n{at}{quote}" for at in range(limits.COLUMNS + 2))
    with pytest.raises(FormatError, match=rf"{name}.*65,536 fields"):
        read(write(tmp_path, name, f"{line}\n1{mark}2\n"))
    with pytest.raises(FormatError, match=rf"line 3: there are ({limits.COLUMNS + 1}|{limits.COLUMNS + 2}) columns"):
        read(write(tmp_path, name, f"source{mark}target\na{mark}b\n{line}\n"))
