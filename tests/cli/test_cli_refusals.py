"""Mistakes on the command line: exit code 2, one message with the facts, no traceback, nothing written or changed.

Files that hold no graph are tested with their readers; here, that the message reaches the user, with the option.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from cli_runs import check_refused, refuses, ring_of_cliques, run, write_csv
from graphrefine.embedding.embedding import Embedding

TEXTS = {  # files of the folder in which the commands run
    "few.csv": "a,b,1\nc,d,many\n",
    "remarks.csv": "# nothing\n% at all\n",
    "odd.xyz": "1 2\n",
    "damaged.npz": "PK\x03\x04 and no more",
    "damaged.mat": "no\n" * 200,
    "header.csv": "ann,bob\ncleo,dan\n",
    "times.txt": "1 2 1082040961\n2 3 1082155839\n",
    "twice.csv": "source,target,weight,weight\na,b,1,2\nb,c,3,4\n",
    "names.csv": "#a,#b\nc,d\n#b,c\nd,#b\n",
    "people.csv": "city,person,friend\nx,a,b\ny,b,c\nz,c,a\n",
    "square.csv": "w,x,y,z\n0,1,1,0\n1,0,0,2\n1,0,0,0\n0,2,0,0\n",
    "towns.csv": "New York,Boston\nBoston,Rome\n",
    "empty.csv": "",
    "one.csv": "1,a\n2\n",
    "taken": "mine",
}
EMBED = [  # options of `embed edges.csv -o out`, and facts of the message
    ("--filter wavelet", "--filter 'wavelet'", "'reach', 'taylor', 'heat', 'markov', 'pagerank', 'none'"),
    ("--filter heat --scale -1", "--scale -1.0", "at least 0"),
    ("--preset mine", "--preset 'mine'", "'paper'"),
    ("--dim 0", "--dim 0", "at least 1"),
    ("--dim 21", "--dim 21 is larger than the graph", "edges.csv: 20 nodes", "20 or less"),
    ("--dim many", "--dim", "'many'", "graphrefine embed --help"),
    ("--negative 0", "--negative 0.0", "greater than 0"),
    ("--seed -1", "--seed -1", "at least 0"),
    ("--weights cost", "edges.csv, line 1: ", "'cost'", "0 to 1", "--weights"),
    ("--delimiter '|'", "edges.csv, line 1: an edge needs two columns", "--delimiter"),
    ("--delimiter and", "edges.csv: ", "'and'", "one character", "--delimiter"),
    ("--encoding morse", "'morse'", "utf-8, latin-1"),
    ("--variable net", "--variable", "csv"),
    ("--format dot", "--format 'dot'", "graphml"),
    ("--nodes 5", "nodes 0 to 4", "mention 5", "--nodes"),
    ("--color red", "No such option", "--color", "graphrefine embed --help"),
    ("--weigths x", "--weights", "graphrefine embed --help"),
    ("more.csv", "unexpected extra argument", "more.csv"),
    ("-o no/such/out", "the folder", "no/such does not exist; create it first"),
    ("-o edges.csv/out", "is not a folder"),
    ("-o out.doc", "out.doc: the suffix '.doc'", ".parquet", "none for a folder"),
    ("-o full", "full: is a folder but no embedding, and would be lost"),
    ("-o full.npy", "full.npy: is a folder, but the output is a file"),
    ("-o taken", "taken: is a file, but the output is a folder"),
    ("-o link.csv", "link.csv: is an input, and would be replaced"),
    ("-o ''", "'-o' / '--output': the name is empty"),
    ("-o /", "/: not the name of an output"),
    ("-o .", "no embedding, and would be lost"),
    ("-o -", "'-o' / '--output': standard output takes no vectors"),
]
LABELS = [  # what follows `evaluate labels vectors`
    ("nothing.csv", "nothing.csv: "),
    ("empty.csv", "empty.csv: the file is empty"),
    ("one.csv", "one.csv, line 2: "),
    ("damaged.mat", "damaged.mat"),
    ("labels.mat --variable classes", "labels.mat: ", "'classes'", "'group', 'other'"),
    ("labels.csv --ratios 0.5,many", "--ratios", "'0.5,many'", "evaluate labels --help"),
    ("labels.csv --ratios 1.5", "--ratios 1.5", "above 0 and below 1"),
    ("labels.csv --C big", "--C", "'big'"),
    ("labels.csv --unlabeled perhaps", "'perhaps' is not one of 'drop', 'keep'"),
]
READINGS = [  # files that can be read in two ways, with both and an option that decides
    ("header.csv", "line 1", "'ann' - 'bob'", "--header", "--no-header"),
    ("times.txt", "line 1", "times", "time=2", "weights=2", "--weights"),
    ("twice.csv", "line 1", "'weight'"),
    ("names.csv", "line 1", "--comments '#'", "--comments ''"),
    ("people.csv", "--source 'city' and --target 'person'", "--source 'person' and --target 'friend'"),
    ("square.csv", "4 x 4", "matrix", "--source"),
]
OTHERS = [
    ("embed few.csv -o out", "few.csv, line 2", "'many'", "--weights"),
    ("embed remarks.csv -o out", "remarks.csv: there is no edge", "comments"),
    ("embed graph.mat -o out", "graph.mat: ", "'network'", "'adjacency', 'people'", "--variable"),
    ("embed graph.mtx -o out --weights w", "graph.mtx: ", "a matrix holds its own weights", "--weights"),
    ("embed odd.xyz -o out", "odd.xyz: ", "'.xyz'", ".csv", ".parquet"),
    ("embed towns.csv -o out.txt", "out.txt: the name 'New York'", "white space", ".parquet"),
    ("embed '' -o out", "'GRAPH': the name is empty"),
    ("embed", "Missing argument 'GRAPH'", "graphrefine embed --help"),
    ("embed edges.csv", "Missing option '-o'", "graphrefine embed --help"),
    ("info good", "good: ", "vectors, not a graph"),
    ("ingest edges.csv -o ''", "the name is empty"),
    ("convert nothing.npz x.csv", "nothing.npz", "No such file"),
    ("convert damaged.npz x.csv", "damaged.npz: "),
    ("convert good x.vec", "x.vec: the name 'a b'", "white space", ".csv"),
    ("convert full x.csv", "full", "meta.json is missing"),
    ("convert edges.csv -", "'TO': standard output takes no vectors"),
    ("convert edges.csv ''", "'TO': the name is empty"),
    ("demo -o ''", "the name is empty"),
    ("evaluate", "Missing command", "graphrefine evaluate --help"),
    ("evaluate labels", "EMBEDDING", "graphrefine evaluate labels --help"),
    ("evaluate lable", "(did you mean 'labels'?)", "graphrefine evaluate --help"),
    ("evaluate labels nothing labels.csv", "nothing: no such file or folder"),
    ("emebd", "'emebd' (did you mean 'embed'?); the commands are embed, info", "--help"),
    ("xyz", "No such command 'xyz'; the commands are embed, info", "graphrefine --help"),
    ("neighbors good", "--all or --vectors"),
    ("neighbors good cd", "similar names: c"),
    ("neighbors good c -k 0", "-k 0"),
    ("neighbors good c --label red", "label"),
    ("neighbors nothing c", "nothing"),
    ("neighbors good --from nothing.txt", "nothing.txt"),
    ("neighbors good --from cut.txt", "cut.txt"),
    ("neighbors good --all", "--all is for a table"),
    ("neighbors good c --all -o n.csv", "name nodes, or give --all or --vectors"),
    ("neighbors good --all -o n.xls", "no table has the suffix"),
    ("neighbors good --all -o n.csv --side source", "--side is for bipartite graphs"),
    ("neighbors good --all -o n.csv -k 0", "-k 0"),
    ("map good -o map.html --seed -1", "--seed -1 must be at least 0"),
]
CASES = [
    *((f"embed edges.csv -o out {options}", *facts) for options, *facts in EMBED),
    *((f"evaluate labels vectors {words}", *facts) for words, *facts in LABELS),
    *((f"info {name}", *facts) for name, *facts in READINGS),
    *((f"embed {name} -o out", *facts) for name, *facts in READINGS),
    *((f"ingest {name} -o g.grf", *facts) for name, *facts in READINGS),
    *OTHERS,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("refusals")
    for name, text in TEXTS.items():
        (place / name).write_text(text)
    for name in ("full", "full.npy"):
        (place / name).mkdir()
        (place / name / "precious.txt").write_text("mine")
    (place / "cut.txt").write_bytes(b"\xff\xfe\0")  # half a character of UTF-16
    write_csv(place / "edges.csv", ring_of_cliques())
    (place / "link.csv").symlink_to(place / "edges.csv")
    scipy.io.savemat(place / "graph.mat", {"adjacency": sp.eye(3), "people": np.ones(3)})
    scipy.io.mmwrite(place / "graph.mtx", sp.csr_matrix(np.eye(3, k=1)))
    Embedding(["a b", "c"], [[1, 0], [0, 1]]).save(place / "good")
    Embedding(range(80), np.random.default_rng(0).standard_normal((80, 8))).save(place / "vectors")
    (place / "labels.csv").write_text("node,label\n" + "".join(f"{i},c{i // 10}\n" for i in range(80)))
    group = sp.csr_array(np.eye(8)[np.arange(80) // 10])
    scipy.io.savemat(place / "labels.mat", {"group": group, "other": np.ones(3)})
    return place


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_mistake_is_refused(folder: Path, case: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    refuses(*shlex.split(case[0]), folder=folder, expected=case[1:])


def test_the_input_is_named_as_it_was_typed(folder: Path, tmp_path: Path) -> None:
    for content, fact in ((b"1 2\n3\n", "standard input, line 2: "), (b"", "standard input: the file is empty")):
        refuses("embed", "-", "-o", folder / "out", folder=folder, expected=(fact,), stdin=content)
    path = tmp_path / "source=x" / "weights=y.csv"
    path.parent.mkdir()
    path.write_text("a\n")
    refuses("embed", path, "-o", tmp_path / "out", folder=tmp_path, expected=("source=x/weights=y.csv, line 1",))


def test_outputs_and_the_disk_are_checked_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ("embed", folder / "edges.csv", "-o")
    with monkeypatch.context() as patch:
        patch.setattr("graphrefine.pipeline.embed_run.read", None)  # reading would be work already
        for output in ("no/such/out", "out.doc", "full", "taken"):
            refuses(*typed, folder / output, folder=folder, expected=(output.split("/")[0],))
        check_refused(run(*typed, "/proc/out"), "/proc/out: cannot write in /proc")
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", None)
    refuses(*typed, folder / "out", folder=folder, expected=("out: needs about", "free some"))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_write_protected_folder(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    refuses("embed", folder / "edges.csv", "-o", tmp_path / "out", folder=tmp_path, expected=("cannot write in",))


def test_not_enough_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", fail)
    arguments = ("embed", folder / "edges.csv", "-o", folder / "out", "--dim", "8")
    refuses(*arguments, folder=folder, expected=("not enough memory", "--dim"))
