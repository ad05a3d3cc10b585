"""Header, comments and columns of a text: what is clear is understood, what has two readings is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError, InputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.readers.read import read
from graphrefine.tables import header as header_module
from strategies import PATIENT


def written(folder: Path, text: str, name: str = "edges.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


CHAIN = "ann,bob\nbob,cleo\ncleo,dan\n"
ADDRESSES = "".join(f"10.0.0.{i},10.0.1.{i}\n" for i in range(9))
ACCOUNTS = "".join(f"u{i},m{i}\n" for i in range(9))
HEADS = ("package,depends_on", ":START_ID,:END_ID", "author,coauthor", "quelle,ziel", "a b,c d", "x,y")


@pytest.mark.parametrize(
    ("names", "below"),
    [
        *((names, CHAIN) for names in HEADS),
        # Pairs that are all apart: only the digits tell.
        *((names, below) for names in ("src_ip,dst_ip", "von,nach") for below in (ADDRESSES, ACCOUNTS)),
    ],
)
def test_names_that_are_nowhere_below_are_a_header(tmp_path: Path, names: str, below: str) -> None:
    graph = read(written(tmp_path, f"{names}\n{below}"))
    assert graph.names.tolist() == sorted(set(below.replace("\n", ",").split(",")) - {""})
    assert graph.report["columns"] == names.split(",")


@pytest.mark.parametrize(
    "text",
    [
        CHAIN,
        "root,n1\nn1,n2\nn2,n3\nn3,n4\nn4,n5\nn5,n6\n",
        "1,x\nx,y\n",
        "a,a\nb,c\nc,b\n",
        ",0,1\n9,5,6\n1,6,7\n2,7,5\n",  # not the index of pandas
        ",0,2\n0,5,6\n1,6,7\n",
        ",1,2\n0,5,6\n1,6,7\n",
    ],
)
def test_a_name_that_is_below_is_no_header(tmp_path: Path, text: str) -> None:
    graph = read(written(tmp_path, text))
    assert graph.report["header"] is False
    ends = {field for line in text.split() for field in line.split(",")[:2]} - {""}
    assert set(map(str, graph.names)) == ends


def test_a_header_whose_name_is_a_node_far_below_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_module, "HEAD", 1 << 10)
    lines = [f"n{i % 7}x,n{(i * 3) % 11}x\n" for i in range(5000)]
    path = written(tmp_path, "rolf,ute\n" + "".join(lines) + "ute,n1x\n")
    for reader in (read, lambda path: ingest(path, tmp_path / "g.grf")):
        with pytest.raises(
            InputError, match=r"its name 'ute' is the name of a node too: pass header=True .* header=False"
        ):
            reader(path)
    assert read(path, header=False).nodes == read(path, header=True).nodes + 1


NAMES = st.text(st.sampled_from("abcdeäß猫 _"), min_size=1, max_size=4).map(str.strip).filter(bool)


@PATIENT
@given(st.lists(NAMES, min_size=3, max_size=12, unique=True), st.tuples(NAMES, NAMES), st.booleans())
def test_no_edge_is_lost_and_none_is_made(
    tmp_path: Path, nodes: list[str], names: tuple[str, str], headed: bool
) -> None:
    """A ring has every name twice: a first line with other names is a header, any other is an edge."""
    ring = list(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
    headed = headed and not set(names) & set(nodes) and names[0] != names[1]
    rows = [names, *ring] if headed else ring
    graph = read(written(tmp_path, "".join(f"{u},{v}\n" for u, v in rows)))
    assert graph.report["header"] is headed
    assert graph.names.tolist() == sorted(nodes, key=str.encode)


def test_an_adjacency_matrix_of_pandas_is_a_matrix(tmp_path: Path) -> None:
    frame = pandas.DataFrame([[0, 2, 0, 1], [2, 0, 0.5, 0], [0, 0.5, 0, 0], [1, 0, 0, 0]], list("dbca"), list("dbca"))
    for text in (frame.to_csv(), frame.to_csv(sep="\t"), frame.to_csv(index_label="node")):
        graph = read(written(tmp_path, text, "m.tsv" if "\t" in text else "m.csv"))
        assert (graph.names.tolist(), graph.edges) == (list("dbca"), 3)
        assert graph.to_scipy().toarray().tolist() == frame.to_numpy().tolist()
        assert "a matrix with names in its header and first column" in graph.reading
    arcs = frame.copy()
    arcs.loc["a", "d"] = 7
    assert (
        read(written(tmp_path, arcs.to_csv()), directed=True).to_scipy().toarray().tolist() == arcs.to_numpy().tolist()
    )


def test_a_matrix_that_lacks_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has 3 names where the header has 4"):
        read(written(tmp_path, "n,a,b,c,d\na,0,1,0,0\nb,1,0,0,0\nc,0,0,0,1\n"))


@pytest.mark.parametrize("count", [2, 3, 40])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_the_index_of_pandas_beside_columns_without_names(count: int, separator: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame([[5 + at, 6 + at] for at in range(count)])
    (tmp_path / "g.csv").write_text(frame.to_csv(sep=separator))
    graph = read(tmp_path / "g.csv")
    assert graph.names.tolist() == list(range(5, 6 + count)) and graph.edges == count
    assert "edges '0' - '1'" in graph.reading and "not used: '' (row numbers)" in graph.reading


def test_weights_next_to_the_index_of_pandas(tmp_path: Path) -> None:
    frame = pandas.DataFrame([["a", "b", 1.5], ["b", "c", 2.0], ["c", "d", 3.0], ["d", "e", 1.0]])
    (tmp_path / "g.csv").write_text(frame.to_csv())
    graph = read(tmp_path / "g.csv")
    assert graph.names.tolist() == list("abcde") and "weights '2' (1 to 3)" in graph.reading
    np.testing.assert_array_equal(read(frame).weights, graph.weights)
