"""Who may reach a Dask cluster: the one that a run starts, and one with TLS or without that somebody else started."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import graphrefine
from cli_runs import spawn
from graphrefine.engine.dask_client import TlsFiles, connect, make_security
from graphrefine.errors import InputError, MissingExtraError
from processes import start_process

if shutil.which("openssl") is None:
    pytest.skip("needs the program openssl", allow_module_level=True)

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def _run(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


def make_authority(folder: Path, name: str) -> Path:
    """The certificate of a new authority, with its key beside it."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    _run("req", "-x509", *_KEY, "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", f"/CN={name}")
    return certificate


def sign(authority: Path, name: str) -> tuple[Path, Path]:
    """A certificate of this name that an authority signed, and its key."""
    folder = authority.parent
    certificate, key, request = (folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
    _run("req", *_KEY, "-keyout", str(key), "-out", str(request), "-subj", f"/CN={name}")
    signing = ["-CA", str(authority), "-CAkey", str(authority.with_suffix(".key")), "-CAcreateserial"]
    _run("x509", "-req", "-in", str(request), *signing, "-out", str(certificate), "-days", "2")
    return certificate, key


def lock(key: Path) -> Path:
    """The same key with a password."""
    locked = key.with_suffix(".locked")
    _run("pkey", "-in", str(key), "-aes128", "-passout", "pass:secret", "-out", str(locked))
    return locked


@pytest.fixture(autouse=True)
def no_open_sockets() -> Iterator[None]:
    """Dask leaves sockets of connections that were refused to the garbage collector: none is left for another test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def listening() -> list[Any]:
    """Addresses on which this process and those below it listen."""
    own = psutil.Process()
    name = "net_connections" if hasattr(own, "net_connections") else "connections"  # before psutil 6
    sockets = [each for process in (own, *own.children(recursive=True)) for each in getattr(process, name)("inet")]
    return [each.laddr for each in sockets if each.status == psutil.CONN_LISTEN]


def test_a_cluster_of_the_run_lets_nobody_in() -> None:
    from distributed import Client
    from distributed.security import Security

    before = set(listening())
    with connect(workers=1) as client:
        own = client.scheduler.address
        places = set(listening()) - before
        assert len(places) >= 3 and {place.ip for place in places} == {"127.0.0.1"}
        assert own.startswith("tls://127.0.0.1:") and client.submit(sum, [1, 2]).result() == 3
        for place in places:  # no dashboard, and nobody who speaks without a certificate
            with socket.create_connection(place, timeout=5) as stranger:
                stranger.settimeout(5)
                stranger.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                assert not is_answer(stranger)
        plain, other = Security(require_encryption=False), make_security()
        for address, security in ((own.replace("tls", "tcp"), plain), (own, other)):
            with pytest.raises(OSError):
                Client(address, timeout=1, set_as_default=False, security=security)
        environments = [psutil.Process(pid).environ() for pid in client.run(os.getpid).values()]
    assert not any("PRIVATE KEY" in value for each in environments for value in each.values())


def is_answer(stranger: socket.socket) -> bool:
    """Whether somebody answered in words, not by an alert of TLS or the end of the connection."""
    try:
        return stranger.recv(100).startswith(b"HTTP")
    except ConnectionError:
        return False


def test_the_certificate_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = make_security(), make_security()
    assert one.require_encryption and one.tls_worker_key != two.tls_worker_key
    for role in ("client", "scheduler", "worker"):
        assert one.get_listen_args(role)["ssl_context"].verify_mode.name == "CERT_REQUIRED"
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtraError, match=r"'cryptography'.*graphrefine\[scale\]"):
        make_security()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An authority, a certificate and its key; those of another authority; and files that are none."""
    folder = tmp_path_factory.mktemp("certificates")
    ca, other = make_authority(folder, "ca"), make_authority(folder, "other")
    cert, key = sign(ca, "mine")
    strange, strange_key = sign(other, "strange")
    (folder / "none.pem").write_text("nothing\n", encoding="utf-8")
    found = {"ca": ca, "other": other, "cert": cert, "key": key, "strange": strange, "strange_key": strange_key}
    return {**found, "locked": lock(key), "none": folder / "none.pem", "missing": folder / "missing.pem"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def named(files: dict[str, Path], names: tuple[str, ...]) -> TlsFiles:
    return TlsFiles(*(str(files[name]) for name in names))


@pytest.fixture(scope="module")
def schedulers(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Schedulers as a user starts them: with TLS and a worker, and without TLS; by the name of the protocol."""
    folder, ports = tmp_path_factory.mktemp("cluster"), {"tls": free_port(), "tcp": free_port()}
    tls = ["--tls-ca-file", str(files["ca"]), "--tls-cert", str(files["cert"]), "--tls-key", str(files["key"])]
    quiet = {"stdout": -3, "stderr": -3, "cwd": folder}
    with ExitStack() as stack:
        for name, port in ports.items():
            words = ["scheduler", "--host", f"{name}://127.0.0.1", "--port", str(port), "--no-dashboard"]
            words += ["--dashboard-address", "127.0.0.1:0", *(tls if name == "tls" else [])]
            stack.enter_context(start_process([sys.executable, "-m", "dask", *words], **quiet))
        words = ["worker", f"tls://127.0.0.1:{ports['tls']}", *tls, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        stack.enter_context(start_process([sys.executable, "-m", "dask", *words], **quiet))
        addresses = {name: f"{name}://127.0.0.1:{port}" for name, port in ports.items()}
        with connect(addresses["tls"], files=named(files, ("ca", "cert", "key"))) as client:
            client.wait_for_workers(1, timeout=60)
        with connect(addresses["tcp"]):
            yield addresses


def test_a_cluster_with_tls_gives_the_same_vectors(
    schedulers: dict[str, str], files: dict[str, Path], tmp_path: Path
) -> None:
    edges = [(i, (i * 7 + 1) % 300) for i in range(300)]
    (tmp_path / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in edges), encoding="utf-8")
    words = ["--executor", "dask", "--scheduler", schedulers["tls"], "--tls-ca-file", str(files["ca"])]
    words += ["--tls-cert", str(files["cert"]), "--tls-key", str(files["key"]), "--dim", "16"]
    done = spawn("embed", tmp_path / "edges.txt", "-o", tmp_path / "out", *words)
    assert done.code == 0, done.err
    ours = graphrefine.load(tmp_path / "out").vectors
    assert np.array_equal(ours, graphrefine.embed(tmp_path / "edges.txt", dim=16).vectors)


def test_the_settings_of_dask_name_the_files(schedulers: dict[str, str], files: dict[str, Path]) -> None:
    import dask.config

    given = {"ca-file": files["ca"], "client.cert": files["cert"], "client.key": files["key"]}
    settings = {f"distributed.comm.tls.{name}": str(path) for name, path in given.items()}
    with dask.config.set(settings), connect(schedulers["tls"]) as found:
        assert found.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize(
    ("scheme", "port", "names"),
    [
        ("tls", "tls", ("other", "cert", "key")),
        ("tls", "tls", ("ca", "strange", "strange_key")),
        ("tls", "tcp", ("ca", "cert", "key")),
        ("tcp", "tls", ()),
    ],
)
def test_a_scheduler_that_does_not_let_us_in(
    schedulers: dict[str, str],
    files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    port: str,
    names: tuple[str, ...],
) -> None:
    monkeypatch.setattr("graphrefine.engine.dask_client.TIMEOUT", 0.5)
    address = f"{scheme}://127.0.0.1:{schedulers[port].rpartition(':')[2]}"
    with pytest.raises(InputError, match=address):
        connect(address, files=named(files, names)).__enter__()


@pytest.mark.parametrize(
    ("names", "fact"),
    [
        (("missing", "cert", "key"), r"missing\.pem"),
        (("none", "cert", "key"), r"none\.pem"),
        (("ca", "cert", "missing"), r"missing\.pem"),
        (("ca", "cert", "strange_key"), r"strange\.key"),
        (("ca", "cert", "locked"), r"mine\.locked"),
        (("ca",), "tls_cert"),
        ((), "DASK_DISTRIBUTED__COMM__TLS__CA_FILE"),
    ],
)
def test_files_that_tls_cannot_use_are_named(files: dict[str, Path], names: tuple[str, ...], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        connect("tls://127.0.0.1:9", files=named(files, names)).__enter__()
