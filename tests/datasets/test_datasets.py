"""The paper's graphs by name: where they are looked for, and every way in which a download can go wrong."""

from __future__ import annotations

import errno
import gc
import hashlib
import io
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from loopback import Site, serving

from graphrefine import datasets
from graphrefine.datasets import loading
from graphrefine.datasets.catalog import Entry
from graphrefine.datasets.loading import load
from graphrefine.errors import DownloadError, FormatError, InputError, OutputError
from graphs import data_folder, random_graph


def mat_file(nodes: int = 300) -> bytes:
    """A graph and its labels as the paper's files hold them; larger than what is read from a connection at once."""
    rng = np.random.default_rng(0)
    file = io.BytesIO()
    group = sp.csc_matrix(np.eye(3)[rng.integers(0, 3, nodes)])
    network = sp.csc_matrix(random_graph(nodes, degree=20).to_scipy(), dtype=np.float64)
    variables = {"network": network, "group": group, "padding": rng.random(20_000)}
    scipy.io.savemat(file, variables, do_compression=True)  # type: ignore[arg-type]  # a file will do
    return file.getvalue()


MAT = mat_file()
pytestmark = [
    pytest.mark.filterwarnings("ignore:Retry downloading"),
    # scikit-learn drops the errors of attempts before the last one without closing their sockets.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SUM = hashlib.sha256(MAT).hexdigest()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, and no folder of the user's; no waiting between attempts."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAPHREFINE_CACHE", str(folder))
    monkeypatch.delenv("GRAPHREFINE_DATA", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(loading, "PAUSE", 0.0)
    yield folder
    gc.collect()  # so that those sockets are not found in another test


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site(MAT)) as served:
        yield served


def entry_for(site: Site, **changes: Any) -> Entry:
    plain = Entry(
        name="tiny",
        title="Tiny",
        file="tiny.mat",
        url=site.url,
        nodes=300,
        edges=random_graph(300, degree=20).edges,
        classes=3,
        table_edges=0,
        sha256=SUM,
        reference="nobody",
    )
    return replace(plain, **changes)


def left_in(folder: Path) -> list[str]:
    """Names of files, without the lock."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock") if folder.exists() else []


def test_a_download_is_checked_read_and_used_again(cache: Path, site: Site) -> None:
    told: list[str] = []
    watcher: Any = SimpleNamespace(start=lambda stage, steps: told.append(stage), advance=lambda: None)
    dataset = load(entry_for(site), watcher=watcher)
    assert (dataset.graph.nodes, dataset.classes, dataset.path) == (300, 3, cache / "tiny.mat")
    assert not dataset.generated and dataset.labels is not None
    assert (cache / "tiny.mat").read_bytes() == MAT
    assert left_in(cache) == ["tiny.mat"] and told == ["download"]
    again = load(entry_for(site), download=False)
    assert site.requests == 1 and np.array_equal(again.graph.indices, dataset.graph.indices)


@pytest.mark.parametrize(
    "trouble",
    [{"cuts": [50_000, 0, 30_000]}, {"statuses": [503, 429, 500]}, {"length": False}],
    ids=["cut", "busy", "no length"],
)
def test_trouble_on_the_way_is_overcome(cache: Path, site: Site, trouble: dict[str, Any]) -> None:
    cache.mkdir()
    for name in (".tiny.part.mat", ".tiny.part.mat.part_x"):  # of a killed process
        (cache / name).write_bytes(bytes(10))
    for name, value in trouble.items():
        setattr(site, name, value)
    load(entry_for(site))
    assert (cache / "tiny.mat").read_bytes() == MAT and left_in(cache) == ["tiny.mat"]


FAILURES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "cut again and again": ({"cuts": [60_000] * 4}, {}, "cannot be downloaded"),
    "missing page": ({"statuses": [404] * 4}, {}, "404"),
    "silent server": ({"delay": 0.3}, {}, "timed out"),
    "other checksum": ({"content": MAT[:-1] + b"x"}, {}, SUM),
    "other sizes": ({}, {"sha256": None, "nodes": 301}, "300 nodes.* 301 nodes"),
    "no graph": ({"content": b"<html>moved</html>"}, {"sha256": None}, "not a readable"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_download_that_fails_leaves_nothing(
    cache: Path, site: Site, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble, changes, fact = FAILURES[kind]
    for name, value in trouble.items():
        setattr(site, name, value)
    monkeypatch.setattr(loading, "TIMEOUT", 0.05 if site.delay else loading.TIMEOUT)
    with pytest.raises(DownloadError, match=fact) as caught:
        load(entry_for(site, **changes), unverified=True)
    assert site.url in str(caught.value) and str(cache / "tiny.mat") in str(caught.value)
    assert left_in(cache) == []


def test_what_nobody_can_verify_is_asked_for_by_name_only(cache: Path, site: Site) -> None:
    with pytest.raises(DownloadError, match="unverified=True"):
        load(entry_for(site, sha256=None))
    assert not site.requests and left_in(cache) == []
    load(entry_for(site, sha256=None), unverified=True)
    assert (cache / "tiny.mat").read_bytes() == MAT


@pytest.mark.parametrize("end", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_download_that_ends_midway_leaves_nothing(
    end: BaseException, cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retrieve_some(url: str, path: Path) -> None:
        path.write_bytes(MAT[:70_000])
        raise end

    with monkeypatch.context() as ending:
        ending.setattr("sklearn.datasets._base.urlretrieve", retrieve_some)
        with pytest.raises(OutputError if isinstance(end, OSError) else KeyboardInterrupt):
            load(entry_for(site))
    assert left_in(cache) == [] and socket.getdefaulttimeout() is None
    load(entry_for(site))
    assert (cache / "tiny.mat").read_bytes() == MAT


def test_a_cache_that_cannot_be_written_is_an_error_of_output(cache: Path, site: Site) -> None:
    cache.write_text("a file in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        load(entry_for(site))


def test_many_processes_download_it_once(cache: Path, site: Site) -> None:
    site.delay = 0.3
    code = (
        "import sys; from pathlib import Path; from graphrefine.datasets.loading import fetch\n"
        "fetch(sys.argv[1], Path(sys.argv[2]), sha256=sys.argv[3], accept=lambda part: None, advice='')"
    )
    typed = [sys.executable, "-c", code, site.url, str(cache / "tiny.mat"), SUM]
    running = [subprocess.Popen(typed) for _ in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert site.requests == 1 and left_in(cache) == ["tiny.mat"]


def test_the_users_own_folder_comes_first(
    cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("GRAPHREFINE_DATA", str(own))
    load(entry_for(site))  # it is not there: from the internet, into the cache
    assert left_in(own) == []
    (own / "tiny.mat").write_bytes(MAT)
    assert load(entry_for(site)).path == own / "tiny.mat"
    assert left_in(own) == ["tiny.mat"], "nothing is written there"
    with pytest.raises(FormatError, match=r"own/tiny.mat: this is not Tiny"):
        load(entry_for(site, edges=5))


def test_what_is_not_here_and_must_not_be_downloaded(cache: Path) -> None:
    with pytest.raises(InputError, match=r"Flickr is not here; download http://leitang.*flickr.mat"):
        datasets.load("flickr", download=False)
    with pytest.raises(InputError, match=r"no dataset 'Flikr' \(did you mean 'flickr'\?\); there are blogcatalog"):
        datasets.load("Flikr")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHREFINE_CACHE", str(tmp_path / "mine"))
    assert datasets.cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("GRAPHREFINE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    for platform, folder in {
        "linux": tmp_path / "xdg",
        "darwin": Path.home() / "Library" / "Caches",
        "win32": tmp_path / "local",
    }.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert datasets.cache_folder() == folder / "graphrefine"


def test_the_catalog_is_table_3() -> None:
    assert {name: (e.nodes, e.table_edges, e.classes) for name, e in datasets.DATASETS.items()} == {
        "blogcatalog": (10312, 333983, 39),
        "wikipedia": (4777, 184812, 40),
        "ppi": (3890, 76584, 50),
        "flickr": (80513, 5899882, 195),
        "youtube": (1138499, 2990443, 47),
    }


@pytest.mark.parametrize("name", ["blogcatalog", "ppi", "wikipedia"])
def test_the_real_files_are_what_the_catalog_says(name: str) -> None:
    path = data_folder() / datasets.find(name).file
    dataset = datasets.load(name, download=False)
    assert dataset.path == path and not dataset.generated
    assert hashlib.sha256(path.read_bytes()).hexdigest() == datasets.find(name).sha256
