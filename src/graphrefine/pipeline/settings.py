"""Settings of a run: where and with what an embedding is made. They change its cost, not the bits of REFINE's vectors.

The keyword arguments of `graphrefine.embed` and the options of ``graphrefine embed`` are held to `RunSettings` by
tests. `read_config` and `write_config` keep the settings of a method in a file, a JSON object with the name of the
method and any of its settings: ``{"method": "refine", "dim": 64, "negative": 5}``.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from graphrefine.errors import FormatError, InputError, OutputError, require
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.system import as_plain, distinct_keys
from graphrefine.system.checks import check_choice, check_integer
from graphrefine.system.files import replacing
from graphrefine.system.threads import usable_threads

EXECUTORS = ("local", "dask")
ENCRYPTED = ("tls://", "wss://")
TLS = ("tls_ca_file", "tls_cert", "tls_key")
MOST_BYTES = 1 << 20  # of a file of settings: a larger one is another file, and would be parsed in vain


@dataclass(frozen=True)
class RunSettings:
    """Threads, memory, machines, learning from the graph; each field has its help text."""

    threads: int | None = setting(None, "Number of threads.", default="all cores", metavar="N")
    memory: int | str | None = setting(
        None,
        "Memory budget, such as 8GB: where it is too little, vectors, and the graph if need be, stay on disk and are "
        "worked in blocks.",
        default="the free memory",
        metavar="SIZE",
    )
    work: str | os.PathLike[str] | None = setting(  # noqa: RUF009  a field
        None,
        "Folder for unfinished work of such a run; an interrupted run goes on from there.",
        default="OUT.work, next to the output",
        metavar="DIR",
    )
    executor: str = setting(
        "local", "Who works: this process (local), or the workers of a Dask cluster (dask), which share the graph and "
        "--work.", metavar="NAME",
    )  # fmt: skip
    scheduler: str | None = setting(
        None, "Address of a running Dask cluster with TLS, such as tls://host:8786.", metavar="ADDRESS"
    )
    workers: int | None = setting(
        None,
        "Number of Dask workers to start on this machine, where no scheduler is given.",
        default="one for each thread",
        metavar="N",
    )
    tls_ca_file: str | None = setting(
        None, "Certificate of the authority of that cluster, in PEM.", default="as Dask is set up", metavar="FILE"
    )
    tls_cert: str | None = setting(
        None, "Certificate of yours for that cluster, in PEM.", default="as Dask is set up", metavar="FILE"
    )
    tls_key: str | None = setting(
        None, "Key of that certificate, in PEM, if it is not in the same file.", default="as Dask is set up",
        metavar="FILE",
    )  # fmt: skip
    trusted_network: bool = setting(
        False,
        "Allow a cluster without TLS, tcp://host:8786: all who reach it can run code as its users, and as you.",
        flag="no-trusted-network",
    )
    learn: bool | None = setting(
        None,
        "Learn from the graph how to fold in new nodes and weigh degrees in scores, and store it with the vectors.",
        default="yes, where the output can hold it",
        flag="no-learn",
    )

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if hasattr(value, "dtype"):
                object.__setattr__(self, name, as_plain(value))
        check_choice("executor", self.executor, EXECUTORS)
        for name in ("trusted_network", "learn"):
            if not isinstance(getattr(self, name), bool | None):
                raise InputError(f"{name}={getattr(self, name)!r} must be True or False", argument=name)
        if self.workers is not None:
            check_integer("workers", self.workers, least=1)
        # A setting that would be ignored is a mistake: a user who names a certificate relies on it.
        dask, runs = self.executor == "dask", self.scheduler is not None
        encrypted = str(self.scheduler).startswith(ENCRYPTED)
        needs = [
            ("work", dask or self.memory is not None, "memory=: it is for vectors that have no room there"),
            ("scheduler", dask, "executor='dask'"),
            ("workers", dask and not runs, "executor='dask', and no scheduler=, which has its workers already"),
            *((name, encrypted, "a cluster that runs with TLS, scheduler='tls://host:8786'") for name in TLS),
            ("trusted_network", runs, "a cluster that runs, scheduler="),
        ]
        for name, fits, need in needs:
            if getattr(self, name) not in (None, False) and not fits:
                raise InputError(f"{name}={getattr(self, name)!r} needs {need}", argument=name)
        if runs and not encrypted and not self.trusted_network:
            raise InputError(
                f"scheduler={self.scheduler!r} has no TLS: all who reach that port can run code as the users of the "
                "cluster, and as you; start it with TLS and pass its tls:// address, or trusted_network=True if all in "
                "the network are trusted",
                argument="scheduler",
            )

    @property
    def new_workers(self) -> int | None:
        """Number of Dask workers to start on this machine; None for a cluster that runs already."""
        return None if self.scheduler is not None else self.workers or usable_threads(self.threads)

    def connect(self) -> Any:
        """Return a context manager of a client of the cluster; the workers that it started end with it."""
        require("distributed", "a cluster", "scale")
        from graphrefine.engine.dask_client import TlsFiles, connect

        paths = (getattr(self, name) for name in TLS)
        files = TlsFiles(*(None if path is None else os.fspath(path) for path in paths))
        return connect(self.scheduler, workers=self.new_workers, files=files)


def work_folder(output: str | PathLike[str]) -> Path:
    """Return the default folder for the unfinished work of an output, next to it: ``vectors.npy.work``."""
    path = Path(output)
    if not path.name:
        raise OutputError(f"{os.fspath(output) or '(empty)'}: not the name of an output; give a name below a folder")
    return path.with_name(f"{path.name}.work")


def write_config(path: str | PathLike[str], method: str, settings: MethodSettings) -> None:
    """Write all settings of a method to a file."""
    # Those that have their default too: so the file means the same when a later version changes a default.
    text = json.dumps({"method": method, **asdict(settings)}, indent=2, allow_nan=False)
    with replacing(path) as hidden:
        hidden.write_text(text + "\n", encoding="utf-8")


def read_config(path: str | PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the method and the settings in a file; FormatError unless the method takes each of them."""
    from graphrefine.methods.registry import make_settings

    expected = 'a JSON object of settings is expected, like {"method": "refine", "dim": 64}'
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError("larger than any file of settings")
        listed = json.loads(text.decode("utf-8-sig"), object_pairs_hook=distinct_keys)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON ({error}); {expected}") from None
    if not isinstance(listed, dict):
        raise FormatError(path, expected)
    method = str(listed.pop("method", "refine"))
    settings: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in listed.items()}
    try:
        # Made here for its checks alone: the options of a command may yet replace some of the settings.
        make_settings(method, **settings)
    except (InputError, TypeError, ValueError) as error:
        raise FormatError(path, str(error)) from None
    return method, settings
