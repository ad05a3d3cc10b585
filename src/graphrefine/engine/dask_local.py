"""A Dask cluster on this machine: on the loopback interface alone, with TLS of its own, and without a dashboard.

A scheduler of Dask's runs what a client sends it, and so does a worker: whoever reaches them is the user who started
them, and every user of a machine reaches its loopback interface. So a key and a certificate are made for the cluster,
kept in the memory of its processes, and both ends of every connection must show that they have them. What Dask serves
by HTTP beside, with or without a dashboard, is not served.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which
from typing import Any

import dask.config
from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security

from graphrefine.errors import MissingExtraError, OutputError
from graphrefine.system.temporary import temporary_folder

LOOPBACK = "127.0.0.1"
SUBJECT = "/CN=graphrefine-run"
DAYS = 365  # that the certificate counts for: no run takes longer
OPENSSL = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", str(DAYS), "-subj", SUBJECT)
SECONDS = 60  # for openssl


class BareScheduler(Scheduler):  # type: ignore[misc]  # Dask has no types
    """A scheduler that serves nothing by HTTP."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""


class BareWorker(Worker):  # type: ignore[misc]
    """A worker that serves nothing by HTTP."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""


@contextmanager
def start_cluster(workers: int, *, memory: int | None, quiet: int) -> Iterator[Any]:
    """Return a cluster of this many worker processes with one thread each; it ends with the block.

    Parameters
    ----------
    workers
        Number of processes.
    memory
        Bytes that each may hold before it is killed; no limit if None.
    quiet
        Level from which on Dask's log is shown.
    """
    security = make_security()
    environ = dask.config.get("distributed.nanny.pre-spawn-environ")
    settings = {
        "distributed.nanny.pre-spawn-environ": {**environ, "DASK_LOGGING__DISTRIBUTED": "critical"},
        # What a worker holds is its work, which waiting or spilling would not make less.
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
    }
    common = {"host": LOOPBACK, "protocol": "tls://", "security": security, "dashboard": False}
    with temporary_folder() as folder, dask.config.set(settings):
        worker = {
            "cls": Nanny,
            "options": {
                **common,
                "worker_class": BareWorker,
                "nthreads": 1,
                "memory_limit": memory or 0,
                "local_directory": str(folder),
                "silence_logs": quiet,
            },
        }
        with SpecCluster(
            workers=dict.fromkeys(range(workers), worker),
            scheduler={"cls": BareScheduler, "options": {**common, "port": 0}},
            security=security,
            silence_logs=quiet,
        ) as cluster:
            yield cluster


def make_security() -> Any:
    """Return a key and a certificate for one cluster: each end of a connection shows it, and holds the other to it.

    They are made by the package cryptography, or where that is missing by the program openssl, and are in memory alone,
    but for the moment in which Python's ssl reads them from a folder of this user's.
    """
    try:
        return Security.temporary()
    except ImportError:
        pem = _run_openssl()
    return Security(
        require_encryption=True,
        tls_ca_file=pem,
        **{f"tls_{role}_{part}": pem for role in ("client", "scheduler", "worker") for part in ("cert", "key")},
    )


def _run_openssl() -> str:
    """Return a key and its certificate, one after the other, as PEM."""
    program = which("openssl")
    if program is None:
        raise MissingExtraError("a certificate for the workers of this run", "cryptography", "scale")
    done = subprocess.run(
        [program, *OPENSSL, "-keyout", "-", "-out", "-"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode or "PRIVATE KEY-----" not in done.stdout or "CERTIFICATE-----" not in done.stdout:
        problem = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise OutputError(
            f"{program}: made no certificate for the workers of this run ({problem}); "
            'install the package cryptography instead: pip install "graphrefine[scale]"'
        )
    return done.stdout
