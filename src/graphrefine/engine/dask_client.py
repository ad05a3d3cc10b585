"""A client of a Dask cluster: one that runs, or one that is started on this machine for as long as it is needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from distributed import Client

from graphrefine.engine.dask_local import start_cluster
from graphrefine.engine.dask_tls import TlsFiles, explain_failure, make_client_security
from graphrefine.errors import InputError

__all__ = ["TlsFiles", "connect"]

TIMEOUT = 10  # seconds, to reach a scheduler
QUIET = logging.CRITICAL + 1


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
            yield stack.enter_context(_start_client(stack, workers, memory))
            return
        security = make_client_security(scheduler, files)
        try:
            client = Client(scheduler, timeout=TIMEOUT, set_as_default=False, security=security)
        except (OSError, ValueError, TimeoutError, RuntimeError) as error:
            reason = explain_failure(scheduler, files) or _reason(error)
            raise InputError(
                f"the Dask scheduler {scheduler} cannot be reached within {TIMEOUT} s ({reason}); "
                "is the address right, and does it run? Start one with: dask scheduler"
            ) from None
        yield stack.enter_context(client)


def _start_client(stack: ExitStack, workers: int, memory: int | None) -> Any:
    """Return a client of a cluster on this machine, which ends with the stack."""
    cluster = stack.enter_context(start_cluster(workers, memory=memory, quiet=QUIET))
    return Client(cluster, timeout=TIMEOUT, set_as_default=False)


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
    return str(error).splitlines()[0] if str(error) else type(error).__name__
