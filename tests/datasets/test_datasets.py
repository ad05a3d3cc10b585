"""The paper's graphs by name: where they are looked for, and every way in which a download can go wrong."""

from __future__ import annotations

import errno
import hashlib
import io
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine import datasets
from graphrefine.datasets import download
from graphrefine.datasets.catalog import Entry
from graphrefine.datasets.loading import load
from graphrefine.errors import DownloadError, FormatError, InputError, OutputError
from graphs import data_folder, random_graph
from loopback import Site, serving


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
SUM = hashlib.sha256(MAT).hexdigest()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and no folder of the user's; no waiting between attempts."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAPHREFINE_CACHE", str(folder))
    monkeypatch.delenv("GRAPHREFINE_DATA", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "PAUSE", 0.0)
    return folder


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
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


class Told:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.steps = 0

    def start(self, stage: str, steps: int) -> None:
        self.stages.append((stage, steps))

    def advance(self) -> None:
        self.steps += 1


def test_a_download_is_checked_read_and_used_again(cache: Path, site: Site) -> None:
    told = Told()
    dataset = load(entry_for(site), progress=told)
    assert (dataset.graph.nodes, dataset.classes, dataset.path) == (300, 3, cache / "tiny.mat")
    assert not dataset.generated and dataset.labels is not None
    assert (cache / "tiny.mat").read_bytes() == MAT
    assert left_in(cache) == ["tiny.mat", "tiny.mat.sha256"]
    assert told.stages == [("download", 1)]
    again = load(entry_for(site), download=False)
    assert site.requests == 1 and np.array_equal(again.graph.indices, dataset.graph.indices)


def test_a_cut_connection_is_tried_again(cache: Path, site: Site) -> None:
    site.cuts = [50_000, 0, 30_000]
    load(entry_for(site))
    assert (cache / "tiny.mat").read_bytes() == MAT and site.requests == 4
    assert left_in(cache) == ["tiny.mat", "tiny.mat.sha256"]


def test_a_connection_that_is_cut_again_and_again(cache: Path, site: Site) -> None:
    site.cuts = [60_000] * download.ATTEMPTS
    with pytest.raises(DownloadError, match=r"cannot be downloaded \(retrieval incomplete: got only 60000") as error:
        load(entry_for(site))
    assert site.url in str(error.value) and str(cache / "tiny.mat") in str(error.value)
    assert left_in(cache) == [] and site.requests == download.ATTEMPTS


def test_what_a_killed_process_left_is_removed(cache: Path, site: Site) -> None:
    cache.mkdir()
    for name in (".tiny.123.part.mat", ".tiny.123.part.mat.part_x", ".tiny.part.mat", ".tiny.part.tag"):
        (cache / name).write_bytes(bytes(10))
    load(entry_for(site))
    assert left_in(cache) == ["tiny.mat", "tiny.mat.sha256"]


def test_a_size_that_is_not_said_is_no_obstacle(cache: Path, site: Site) -> None:
    site.length = False
    load(entry_for(site))
    assert (cache / "tiny.mat").read_bytes() == MAT


def test_a_wrong_checksum_keeps_nothing(cache: Path, site: Site) -> None:
    site.content = MAT[:-1] + b"x"
    with pytest.raises(DownloadError, match=r"is not kept: .* checksum of .* differs from expected") as error:
        load(entry_for(site))
    assert SUM in str(error.value) and "save it as" in str(error.value)
    assert hashlib.sha256(site.content).hexdigest() in str(error.value)
    assert left_in(cache) == [] and site.requests == 1


def test_without_a_checksum_the_sizes_must_fit(cache: Path, site: Site) -> None:
    with pytest.raises(DownloadError, match=r"this is not Tiny: it has 300 nodes.* and 301 nodes"):
        load(entry_for(site, sha256=None, nodes=301), unverified=True)
    assert left_in(cache) == []
    with pytest.raises(DownloadError, match="not a readable"):
        site.content = b"<html>moved</html>"
        load(entry_for(site, sha256=None), unverified=True)
    assert left_in(cache) == []


def test_what_nobody_can_verify_is_asked_for_by_name_only(cache: Path, site: Site) -> None:
    with pytest.raises(DownloadError, match=r"has neither TLS nor a published checksum.* is Tiny;.*unverified=True"):
        load(entry_for(site, sha256=None))
    assert not site.requests and left_in(cache) == []
    for entry in datasets.DATASETS.values():
        assert entry.sha256 is not None or entry.name in ("flickr", "youtube")


def test_without_a_checksum_that_of_the_first_download_holds(cache: Path, site: Site) -> None:
    unknown = entry_for(site, sha256=None)
    load(unknown, unverified=True)
    assert (cache / "tiny.mat.sha256").read_text() == f"{SUM}  tiny.mat\n"
    (cache / "tiny.mat").write_bytes(MAT[:-1] + b"x")
    with pytest.raises(FormatError, match=r"tiny.mat: its sha256 is .* delete it to download it again"):
        load(unknown)
    (cache / "tiny.mat").unlink()
    load(unknown, unverified=True)
    assert (cache / "tiny.mat").read_bytes() == MAT


def test_a_file_put_into_the_cache_by_hand_is_taken_and_recorded(cache: Path, site: Site) -> None:
    cache.mkdir()
    (cache / "tiny.mat").write_bytes(MAT)
    load(entry_for(site, sha256=None))
    assert not site.requests and SUM in (cache / "tiny.mat.sha256").read_text()


@pytest.mark.parametrize("end", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_download_that_ends_midway_leaves_nothing(
    end: BaseException, cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retrieve_some(url: str, path: Path) -> None:
        path.write_bytes(MAT[:70_000])
        raise end

    kind = OutputError if isinstance(end, OSError) else KeyboardInterrupt
    expected = r"the disk is full; free some space .* GRAPHREFINE_CACHE" if kind is OutputError else None
    with monkeypatch.context() as ending:
        ending.setattr("sklearn.datasets._base.urlretrieve", retrieve_some)
        with pytest.raises(kind, match=expected):
            load(entry_for(site))
    assert left_in(cache) == [] and socket.getdefaulttimeout() is None
    load(entry_for(site))
    assert (cache / "tiny.mat").read_bytes() == MAT


def test_a_missing_page_is_not_asked_for_again(cache: Path, site: Site) -> None:
    site.statuses = [404]
    with pytest.raises(DownloadError, match=r"the server says 404 .*; download http.* yourself and save it as"):
        load(entry_for(site))
    assert site.requests == 1 and left_in(cache) == []


def test_a_server_that_is_busy_is_asked_again(cache: Path, site: Site) -> None:
    site.statuses = [503, 200, 500]
    load(entry_for(site))
    assert site.requests == 2
    (cache / "tiny.mat").unlink()
    site.statuses = [503] * download.ATTEMPTS
    with pytest.raises(DownloadError, match="the server says 503"):
        load(entry_for(site))


def test_a_silent_server_is_not_waited_for_forever(cache: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.delay = 0.3
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    with pytest.raises(DownloadError, match=r"cannot be downloaded \((nothing came|timed out)"):
        load(entry_for(site))


def test_without_a_network_the_message_says_what_to_do(cache: Path, site: Site) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # a port that nobody listens on
        url = f"http://127.0.0.1:{free.getsockname()[1]}/x.mat"
        with pytest.raises(DownloadError, match="cannot be downloaded") as error:
            load(entry_for(site, url=url))
    assert f"download {url} yourself and save it as {cache / 'tiny.mat'}" in str(error.value)
    assert "GRAPHREFINE_DATA" in str(error.value)


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, cache: Path, site: Site) -> None:
    cache.write_text("a file in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        load(entry_for(site))


def test_many_at_once_download_it_once(cache: Path, site: Site) -> None:
    site.delay = 0.1
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: load(entry_for(site)), range(4)))
    assert site.requests == 1 and all(one.graph.nodes == 300 for one in loaded)
    assert left_in(cache) == ["tiny.mat", "tiny.mat.sha256"]


def test_many_processes_download_it_once(cache: Path, site: Site) -> None:
    site.delay = 0.3
    code = (
        "import sys; from pathlib import Path; from graphrefine.datasets.download import fetch\n"
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
    monkeypatch.setattr(sys, "platform", "linux")
    assert datasets.cache_folder() == tmp_path / "xdg" / "graphrefine"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert datasets.cache_folder() == Path.home() / "Library" / "Caches" / "graphrefine"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert datasets.cache_folder() == tmp_path / "local" / "graphrefine"


def test_the_catalog_is_table_3() -> None:
    sizes = {name: (e.nodes, e.table_edges, e.classes) for name, e in datasets.DATASETS.items()}
    assert sizes == {
        "blogcatalog": (10312, 333983, 39),
        "wikipedia": (4777, 184812, 40),
        "ppi": (3890, 76584, 50),
        "flickr": (80513, 5899882, 195),
        "youtube": (1138499, 2990443, 47),
    }
    assert all(e.url.startswith("http") and e.license and e.reference for e in datasets.DATASETS.values())


@pytest.mark.parametrize("name", ["blogcatalog", "ppi", "wikipedia"])
def test_the_real_files_are_what_the_catalog_says(name: str) -> None:
    path = data_folder() / datasets.find(name).file
    dataset = datasets.load(name, download=False)
    assert dataset.path == path and not dataset.generated
    assert hashlib.sha256(path.read_bytes()).hexdigest() == datasets.find(name).sha256
