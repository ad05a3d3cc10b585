"""A client of a Dask cluster: one that runs, or one that is started on this machine for as long as it is needed.

Both ends of a connection show a certificate. The key and the certificate of a cluster of this machine are made for it
and kept in the memory of its processes, and nothing is served by HTTP.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import dask.config
from distributed import Client, Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.system.files import temporary_folder

TIMEOUT = 10  # seconds, to reach a scheduler
QUIET = logging.CRITICAL + 1
# A scheduler runs code for all who reach it, and a client takes code from its scheduler. Even the loopback interface is
# open to every user of the machine: hence TLS, with a key that no file holds.
LOOPBACK = "127.0.0.1"
ENCRYPTED = ("tls", "wss")


class TlsFiles(NamedTuple):
    """Files of a client of TLS, in PEM: the authority that signed the cluster's certificates, its own one, its key."""

    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


@contextmanager
def connect(
    scheduler: str | None = None,
    *,
    workers: int | None = None,
    memory: int | None = None,
    files: TlsFiles = TlsFiles(),  # noqa: B008  # a tuple
) -> Iterator[Any]:
    """Return a client of Dask's.

    Parameters
    ----------
    scheduler
        The address of one that runs, ``tls://...``; if None, workers are started on this machine.
    workers
        Number of processes to start, with one thread each.
    memory
        Bytes that each of these may hold before it is killed; no limit if None.
    files
        Certificates and key for a scheduler with TLS. One without, ``tcp://...``, is for trusted networks.
    """
    if (scheduler is None) == (workers is None):
        raise InputError("give either the address of a Dask scheduler or a number of workers to start")
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is None:
            assert workers is not None
            cluster = stack.enter_context(_start_cluster(workers, memory=memory))
            yield stack.enter_context(Client(cluster, timeout=TIMEOUT, set_as_default=False))
            return
        security = _make_client_security(scheduler, files)
        try:
            client = Client(scheduler, timeout=TIMEOUT, set_as_default=False, security=security)
        except (OSError, ValueError, TimeoutError, RuntimeError) as error:
            raise InputError(
                f"the Dask scheduler {scheduler} cannot be reached within {TIMEOUT} s ({_reason(error)}); is the "
                "address right (tls:// or tcp://), and does it run? Start one with: dask scheduler"
            ) from None
        yield stack.enter_context(client)


class BareScheduler(Scheduler):  # type: ignore[misc]  # Dask has no types
    """A scheduler that serves nothing by HTTP."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""


class BareWorker(Worker):  # type: ignore[misc]
    """A worker that serves nothing by HTTP."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""


@contextmanager
def _start_cluster(workers: int, *, memory: int | None) -> Iterator[Any]:
    """Return a cluster of this many worker processes with one thread each; it ends with the block."""
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
                "silence_logs": QUIET,
            },
        }
        with SpecCluster(
            workers=dict.fromkeys(range(workers), worker),
            scheduler={"cls": BareScheduler, "options": {**common, "port": 0}},
            security=security,
            silence_logs=QUIET,
        ) as cluster:
            yield cluster


def make_security() -> Any:
    """Return a key and a certificate for one cluster: each end of a connection shows it, and holds the other to it."""
    try:
        return Security.temporary()
    except ImportError:
        raise MissingExtraError("a certificate for the workers of this run", "cryptography", "scale") from None


def _make_client_security(address: str, files: TlsFiles) -> Any:
    """Return what Dask's client needs to be let in, by default from Dask's own settings; None without TLS."""
    if address.partition("://")[0] not in ENCRYPTED:
        return None
    given = {"tls_ca_file": files.tls_ca_file, "tls_client_cert": files.tls_cert, "tls_client_key": files.tls_key}
    security = Security(require_encryption=True, **{name: path for name, path in given.items() if path is not None})
    if security.tls_ca_file is None or security.tls_client_cert is None:
        raise InputError(
            f"scheduler={address!r}: TLS needs the certificate of the cluster's authority, your own and its key; "
            "give tls_ca_file=, tls_cert= and tls_key=, the files that dask worker takes, or set "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ...__TLS__CLIENT__CERT and ...__TLS__CLIENT__KEY",
            argument="scheduler",
        )
    _check_files(security.tls_ca_file, security.tls_client_cert, security.tls_client_key)
    return security


def _check_files(authority: str, certificate: str, key: str | None) -> None:
    """Load the files as a connection will: there OpenSSL would ask for the password of a key on the terminal."""
    context, argument = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "tls_ca_file"
    try:
        context.load_verify_locations(authority)
        argument = "tls_cert"
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:
        names = authority if argument == "tls_ca_file" else f"{certificate} and its key {key}"
        raise InputError(
            f"{names} cannot be used for TLS ({error.strerror or error}): certificates in PEM are needed, and a key "
            "without a password",
            argument=argument,
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs from the terminal: what matters is raised."""
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(QUIET)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


def _reason(error: BaseException) -> str:
    """Return the first cause of an error: Dask's own says only that time is over."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).splitlines()[0] if str(error) else type(error).__name__
