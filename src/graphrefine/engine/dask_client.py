"""A client of a Dask cluster: one that runs, or one that is started on this machine for as long as it is needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from graphrefine.errors import InputError, MissingExtraError

TIMEOUT = 10  # seconds, to reach a scheduler
QUIET = logging.CRITICAL + 1


@contextmanager
def connect(scheduler: str | None = None, *, workers: int | None = None, memory: int | None = None) -> Iterator[Any]:
    """A client of Dask's.

    Parameters
    ----------
    scheduler
        The address of one that runs, ``tcp://...``; if None, workers are started on this machine.
    workers
        Number of processes to start, with one thread each.
    memory
        Bytes that each of these may hold before it is killed; no limit if None.
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("a cluster", "distributed", "scale") from None
    if (scheduler is None) == (workers is None):
        raise InputError("give either the address of a Dask scheduler or a number of workers to start")
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is None:
            address: Any = stack.enter_context(_start_cluster(distributed, workers, memory))
        else:
            address = scheduler
        try:
            client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"the Dask scheduler {scheduler} cannot be reached within {TIMEOUT} s ({_reason(error)}); "
                "is the address right, and does it run? Start one with: dask scheduler"
            ) from None
        yield stack.enter_context(client)


@contextmanager
def _start_cluster(distributed: Any, workers: int | None, memory: int | None) -> Iterator[Any]:
    """A cluster on this machine."""
    import dask.config

    environ = dask.config.get("distributed.nanny.pre-spawn-environ")
    settings = {
        "distributed.nanny.pre-spawn-environ": {**environ, "DASK_LOGGING__DISTRIBUTED": "critical"},
        # What a worker holds is its work, which waiting or spilling would not make less.
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
    }
    with TemporaryDirectory(prefix="graphrefine-dask-") as folder, dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any port that is free, for what is served whether there is a dashboard or not
            scheduler_kwargs={"dashboard": False},
            memory_limit=memory or 0,
            local_directory=folder,
            silence_logs=QUIET,
        )
        with cluster:
            yield cluster


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
