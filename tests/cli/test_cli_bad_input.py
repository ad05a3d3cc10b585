"""Bad input fails well: exit code 2, one message that names the file (and line) and the way out, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from cli_runs import check_refused, contents, refuses, ring_of_cliques, run, spawn, works, write_csv


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "edges.csv", ring_of_cliques())


# Files that hold no graph are tested in test_read_errors.py; here, that the message reaches the user, and names options
# as they are typed.


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# nothing\n% at all\n", ("graph.csv: there is no edge in the file", "comments")),
        ("a,b,1\nc,d,many\n", ("graph.csv, line 2", "'many'", "--weights")),
        ("a,b,c,d\na,b,c,d\n", ("graph.csv, line 1: there are 4 columns", "--source")),
    ],
)
def test_bad_text(tmp_path: Path, content: str, expected: tuple[str, ...]) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(content)
    refuses("embed", path, "-o", tmp_path / "out", folder=tmp_path, expected=expected)


def test_standard_input_is_named_too(tmp_path: Path) -> None:
    expected = ("standard input, line 2: there is 1 column",)
    refuses("embed", "-", "-o", tmp_path / "out", folder=tmp_path, expected=expected, stdin=b"1 2\n3\n")
    expected = ("standard input: the file is empty",)
    refuses("embed", "-", "-o", tmp_path / "out", folder=tmp_path, expected=expected)


def test_mat_without_network_lists_its_variables(tmp_path: Path) -> None:
    path = tmp_path / "graph.mat"
    scipy.io.savemat(path, {"adjacency": sp.eye(3), "people": np.ones(3)})
    expected = ("graph.mat: there is no variable 'network'", "'adjacency', 'people'", "--variable")
    refuses("embed", path, "-o", tmp_path / "out", folder=tmp_path, expected=expected)


def test_bad_matrices(tmp_path: Path) -> None:
    path = tmp_path / "graph.mtx"
    scipy.io.mmwrite(path, sp.csr_matrix(np.eye(3, k=1)))
    expected = ("graph.mtx: ", "a matrix holds its own weights", "--weights")
    refuses("embed", path, "-o", tmp_path / "out", "--weights", "w", folder=tmp_path, expected=expected)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "graph.parquet"
    path.write_bytes(b"this is something else\n" * 20)
    refuses("embed", path, "-o", tmp_path / "out", folder=tmp_path, expected=("graph.parquet",))


def test_missing_files_folders_and_unknown_suffixes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "graph.xyz").write_text("1 2\n")
    refuses("embed", tmp_path / "no.csv", "-o", out, folder=tmp_path, expected=("no.csv: there is no such file",))
    refuses("embed", tmp_path, "-o", out, folder=tmp_path, expected=(f"{tmp_path}: this is a folder",))
    expected = ("graph.xyz: the suffix '.xyz' is not known", ".csv", ".parquet")
    refuses("embed", tmp_path / "graph.xyz", "-o", out, folder=tmp_path, expected=expected)


def test_dim_larger_than_the_graph(tmp_path: Path, edges: Path) -> None:
    expected = ("--dim 21 is larger than the graph", "edges.csv: 20 nodes", "20 or less")
    refuses("embed", edges, "-o", tmp_path / "out", "--dim", "21", folder=tmp_path, expected=expected)
    refuses("info", edges, "--dim", "21", folder=tmp_path, expected=expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--filter", "wavelet"], ("--filter 'wavelet'", "'reach', 'taylor', 'heat', 'markov', 'pagerank', 'none'")),
        (["--filter", "1,x"], ("--filter", "'1,x'", "numbers with commas")),
        (["--filter", "0,0"], ("--filter", "not all zero")),
        (["--filter", "heat", "--order", "0"], ("--order 0", "between 1 and 100")),
        (["--filter", "heat", "--scale", "-1"], ("--scale -1.0", "between 0 and 100")),
        (["--filter", "none", "--order", "2"], ("--order", "filter='none'")),
        (["--preset", "mine"], ("--preset 'mine'", "'paper'")),
        (["--dim", "0"], ("--dim 0", "at least 1")),
        (["--dim", "many"], ("--dim", "'many'", "graphrefine embed --help")),
        (["--block", "0"], ("--block 0", "at least 1")),
        (["--power", "-1"], ("--power -1", "at least 1")),
        (["--negative", "0"], ("--negative 0.0", "greater than 0")),
        (["--negative", "nan"], ("--negative nan", "finite")),
        (["--exponent", "inf"], ("--exponent inf", "finite")),
        (["--seed", "-1"], ("--seed -1", "at least 0")),
        (["--threads", "0"], ("threads must be at least 1, not 0",)),
        (["--weights", "cost"], ("edges.csv, line 1: there is no column 'cost'", "position from 0 to 1")),
        (["--source", "5"], ("edges.csv, line 1: there is no column '5'", "positions go from 0 to 1")),
        (["--delimiter", "|"], ("edges.csv, line 1: an edge needs two columns", "--delimiter")),
        (["--delimiter", "and"], ("'and' must be one character", "--delimiter", "(tab)", "(comma)")),
        (["--delimiter", "1"], ("'1' must be one character", "--delimiter", "no letter and no digit")),
        (["--encoding", "morse"], ("there is no encoding 'morse'", "utf-8, latin-1")),
        (["--variable", "net"], ("--variable does not apply to a csv file",)),
        (["--format", "dot"], ("--format 'dot' is not known", "graphml")),
        (["--nodes", "5"], ("nodes 0 to 4", "mention 5", "--nodes")),
        (["--nodes", "nobody.txt"], ("nobody.txt: there is no such file",)),
        (["--color", "red"], ("No such option", "--color", "graphrefine embed --help")),
        (["more.csv"], ("unexpected extra argument", "more.csv")),
    ],
)
def test_bad_options(tmp_path: Path, edges: Path, options: list[str], expected: tuple[str, ...]) -> None:
    refuses("embed", edges, "-o", tmp_path / "out", *options, folder=tmp_path, expected=expected)


def test_what_the_user_typed_is_never_reworded(tmp_path: Path) -> None:
    folder = tmp_path / "source=x"
    folder.mkdir()
    (folder / "weights=y.csv").write_text("a\n")
    expected = ("source=x/weights=y.csv, line 1",)
    refuses("embed", folder / "weights=y.csv", "-o", tmp_path / "out", folder=tmp_path, expected=expected)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("no/such/out", ("the folder", "no/such does not exist; create it first")),
        ("edges.csv/out", ("is not a folder",)),
        ("out.doc", ("out.doc: the suffix '.doc'", ".parquet", "none for a folder")),
        ("full", ("full: is a folder but no embedding, and would be lost; choose another name",)),
        ("full.npy", ("full.npy: is a folder, but the output is a file",)),
        ("taken", ("taken: is a file, but the output is a folder",)),
        ("edges.csv", ("edges.csv: is an input, and would be replaced; choose another name",)),
        ("link.csv", ("link.csv: is an input, and would be replaced",)),
    ],
)
def test_unwritable_outputs_are_found_before_the_work(
    tmp_path: Path, edges: Path, output: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("full", "full.npy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious.txt").write_text("mine")
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link.csv").symlink_to(edges)
    monkeypatch.setattr("graphrefine.pipeline.embed_run.read", None)  # reading would be work already
    refuses("embed", edges, "-o", tmp_path / output, folder=tmp_path, expected=expected)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_write_protected_folder(tmp_path: Path, edges: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    refuses("embed", edges, "-o", closed / "out", folder=tmp_path, expected=("cannot write in",))


def test_a_folder_that_takes_no_files(edges: Path) -> None:
    check_refused(run("embed", edges, "-o", "/proc/out"), "/proc/out: cannot write in /proc", "choose another")


def test_the_list_of_nodes_is_not_replaced(tmp_path: Path, edges: Path) -> None:
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("\n".join(map(str, range(30))))
    arguments = ("embed", edges, "--nodes", nodes, "-o", nodes)
    refuses(*arguments, folder=tmp_path, expected=("nodes.txt: is an input",))


@pytest.mark.parametrize("suffix", ["txt", "vec", "bin"])
def test_names_that_the_format_cannot_hold_are_found_before_the_work(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("New York,Boston\nBoston,Rome\n")
    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", None)
    expected = (f"out.{suffix}: the name 'New York'", "white space", ".parquet")
    refuses("embed", path, "-o", tmp_path / f"out.{suffix}", folder=tmp_path, expected=expected)


def test_a_disk_without_room_is_found_before_the_work(
    tmp_path: Path, edges: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", None)
    refuses("embed", edges, "-o", tmp_path / "out", folder=tmp_path, expected=("out: needs about", "free some"))


def test_an_old_output_survives_a_failing_run(tmp_path: Path, edges: Path) -> None:
    assert run("embed", edges, "-o", tmp_path / "out").code == 0
    edges.write_text("a,b,1\nc,d,many\n")
    refuses("embed", edges, "-o", tmp_path / "out", folder=tmp_path, expected=("edges.csv, line 2",))


def test_the_real_program_ends_the_same_way(tmp_path: Path, edges: Path) -> None:
    before = contents(tmp_path)
    done = spawn("embed", edges, "-o", tmp_path / "out", "--filter", "wavelet", "--json")
    check_refused(done, "--filter 'wavelet'")
    check_refused(spawn("embed", tmp_path / "no.mat", "-o", tmp_path / "out"), "no.mat: there is no such file")
    assert contents(tmp_path) == before


def test_not_enough_memory(tmp_path: Path, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", full)
    arguments = ("embed", edges, "-o", tmp_path / "out", "--dim", "8")
    refuses(*arguments, folder=tmp_path, expected=("not enough memory", "--dim"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("g.csv", "ann,bob\ncleo,dan\n", ("line 1", "a header, or the edge 'ann' - 'bob'", "(--header/--no-header)")),
        ("g.csv", "a, b;c, d\nc, d;e, f\n", ("by comma", "by semicolon", "--delimiter")),
        ("g.txt", "1 2 1082040961\n2 3 1082155839\n", ("line 1", "times", "time=2", "weights=2", "--weights")),
        ("g.csv", "source,target,weight,weight\na,b,1,2\nb,c,3,4\n", ("line 1", "2 columns are called 'weight'")),
        ("g.csv", 'source,target\na,"b\nb,c\n', ("line 2", "never closed", "--quote")),
        ("g.txt", "1 2\n# x\n2 3\n", ("line 2", "comments='#'", "--comments")),
        ("g.csv", "#a,#b\nc,d\n#b,c\nd,#b\n", ("line 1", "a comment, or an edge", "comments=''", "--comments")),
        (
            "g.csv",
            "city,person,friend\nx,a,b\ny,b,c\nz,c,a\n",
            ("'city' and 'person'", "'person' and 'friend'", "--source"),
        ),
        ("g.csv", "w,x,y,z\n0,1,1,0\n1,0,0,2\n1,0,0,0\n0,2,0,0\n", ("4 x 4", "matrix", "--source")),
    ],
)
def test_what_has_two_readings_is_refused_with_an_option_for_each(
    tmp_path: Path, name: str, text: str, expected: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    refuses("info", tmp_path / name, folder=tmp_path, expected=expected)
    refuses("embed", tmp_path / name, "-o", tmp_path / "vectors", folder=tmp_path, expected=expected)
    refuses("ingest", tmp_path / name, "-o", tmp_path / "g.grf", folder=tmp_path, expected=expected)


def test_a_folder_that_is_no_graph_is_told_from_others(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    works("embed", tmp_path / "edges.csv", "-o", tmp_path / "out", "--dim", "2")
    works("live", "create", tmp_path / "edges.csv", "-o", tmp_path / "x.live", "--dim", "2")
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("out", "holds vectors, not a graph"),
        ("x.live", "live vectors"),
        ("empty", "name a file in it"),
    ):
        assert words in run("info", tmp_path / name).err
