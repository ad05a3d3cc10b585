"""Edge lists with attributes and adjacency lists, as NetworkX writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_writers import edges_of
from graphrefine.readers.networkx_text import is_attribute_edge_list
from graphrefine.readers.read import read


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"0 1 {}\n1 2 {'weight': 3}\n", True),
        (b"# comment\n\n0,1,{}\n", True),
        (b"0\t1\t{'a': {'b': 1}}\r\n", True),
        (b"0 1 {}", True),
        (b"0 1 {}\n1 2\n", False),
        (b"0 1\n", False),
        (b"0 {} 1\n", False),
        (b"{} {} {}\n", False),
        (b'{"u": 1, "v": {}}\n', False),
        (b"# only {}\n", False),
    ],
)
def test_the_first_lines_tell(head: bytes, expected: bool) -> None:
    assert is_attribute_edge_list(head) is expected


def test_weights_by_another_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b {'cost': 2.5}\nb c {}\n")
    assert read(path).weights is None
    assert edges_of(read(path, weights="cost"))["a", "b"] == 2.5
    assert read(path, format="text", header=False, weights=False, source=0, target=1).edges == 2
