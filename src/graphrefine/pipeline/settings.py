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
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from graphrefine.errors import FormatError, InputError, MissingExtraError, OutputError, suggest
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.system import as_plain, distinct_keys
from graphrefine.system.checks import check_choice, check_integer
from graphrefine.system.files import replacing
from graphrefine.system.threads import usable_threads

EXECUTORS = ("local", "dask")
ENCRYPTED = ("tls://", "wss://")
TLS = ("tls_ca_file", "tls_cert", "tls_key")
MOST_BYTES = 1 << 20  # of a file of settings; one that is larger is something else


@dataclass(frozen=True)
class RunSettings:
    """Threads, memory, machines, learning from the graph; each field has its help text beside it."""

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
        default="OUT.work, beside the output",
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
        if not isinstance(self.trusted_network, bool):
            raise InputError(
                f"trusted_network={self.trusted_network!r} must be True or False", argument="trusted_network"
            )
        if self.learn is not None and not isinstance(self.learn, bool):
            raise InputError(f"learn={self.learn!r} must be True or False", argument="learn")
        if self.workers is not None:
            check_integer("workers", self.workers, least=-(2**62))
        if self.executor == "local" and (self.scheduler is not None or self.workers is not None):
            raise InputError(
                "scheduler= and workers= are for a Dask cluster; say executor='dask', or leave them out",
                argument="scheduler",
            )
        surplus = [name for name in (*TLS, "trusted_network") if getattr(self, name)]
        if surplus and self.scheduler is None:
            raise InputError(
                f"{surplus[0]}= is for a Dask cluster that runs; say scheduler='tls://host:8786', or leave it out",
                argument=surplus[0],
            )
        if self.workers is not None and (self.scheduler is not None or self.workers < 1):
            raise InputError(
                f"workers={self.workers}: how many to start, at least 1, where no scheduler is given; leave one of "
                "them out",
                argument="workers",
            )
        if self.scheduler is not None and not str(self.scheduler).startswith(ENCRYPTED):
            self._check_trust()

    @property
    def thread_count(self) -> int:
        """Number of threads in use."""
        return usable_threads(self.threads)

    def _check_trust(self) -> None:
        """Refuse a scheduler without TLS, unless the network is trusted."""
        given = [name for name in TLS if getattr(self, name) is not None]
        if given:
            place = str(self.scheduler).rpartition("://")[2]
            raise InputError(
                f"scheduler={self.scheduler!r} has no TLS, so {given[0]}= is of no use; is it tls://{place}?",
                argument="scheduler",
            )
        if not self.trusted_network:
            raise InputError(
                f"scheduler={self.scheduler!r} has no TLS: whoever reaches that port can run code as the users of the "
                "cluster, and as you; start it with TLS and say tls://, or, where everybody in the network can be "
                "trusted, add trusted_network=True",
                argument="scheduler",
            )

    def cluster(self) -> Cluster | None:
        """Return the Dask cluster of the run; None where this process works alone."""
        if self.executor == "local":
            return None
        if self.scheduler is None:
            return Cluster(workers=self.workers or self.thread_count)
        return Cluster(self.scheduler, files=tuple(getattr(self, name) for name in TLS))


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster: one that runs, or one to start on this machine."""

    scheduler: str | None = None
    workers: int | None = None  # to start
    files: tuple[str | None, ...] = ()  # see `graphrefine.engine.dask_client.TlsFiles`

    def connect(self) -> Any:
        """Return a context manager of a client; the workers that it started end with it."""
        try:
            import distributed  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtraError("a cluster", "distributed", "scale") from None
        from graphrefine.engine.dask_client import TlsFiles, connect

        files = TlsFiles(*(None if path is None else os.fspath(path) for path in self.files))
        return connect(self.scheduler, workers=self.workers, files=files)


def check_work(work: Any, *, memory: Any, executor: str | None) -> None:
    """Refuse a work folder that a run would have no use for."""
    if work is not None and memory is None and executor != "dask":
        problem = "work= is where vectors are kept that memory= has no room for; say how much there is"
        raise InputError(problem, argument="work")


def work_folder(output: str | PathLike[str]) -> Path:
    """Default folder for the unfinished work of an output: beside it.

    Examples
    --------
    >>> work_folder("out/vectors.npy").name
    'vectors.npy.work'
    """
    path = Path(output)
    if not path.name:
        raise OutputError(f"{os.fspath(output) or '(empty)'}: not the name of an output; give a name below a folder")
    return path.with_name(f"{path.name}.work")


_KINDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


class Config(NamedTuple):
    """A method, and some of its settings."""

    method: str
    settings: dict[str, Any]


def write_config(path: str | PathLike[str], method: str, settings: MethodSettings) -> None:
    """Write all settings, those that are the default's too: the file means the same if defaults change."""
    text = json.dumps({"method": method, **asdict(settings)}, indent=2, allow_nan=False)
    with replacing(path) as hidden:
        hidden.write_text(text + "\n", encoding="utf-8")


def read_config(path: str | PathLike[str]) -> Config:
    """Return the settings in a file; each is known to the method, and of its kind.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "wide.json"
    >>> _ = path.write_text('{"dim": 256}')
    >>> read_config(path)
    Config(method='refine', settings={'dim': 256})
    """
    from graphrefine.methods.registry import METHODS, find_method

    settings = _object(path)
    method = settings.pop("method", "refine")
    if not isinstance(method, str) or method not in METHODS:
        near = suggest(method, METHODS)
        raise FormatError(path, f"the method {method!r} is not known{near}; the methods are {', '.join(METHODS)}")
    kind = find_method(method).settings
    for name, value in settings.items():
        problem = _problem(kind, name, value)
        if problem:
            raise FormatError(path, f"{problem} of method {method!r}")
    return Config(method, {name: tuple(v) if isinstance(v, list) else v for name, v in settings.items()})


def _problem(kind: type, name: str, value: Any) -> str:
    """Return what is wrong with a value for a setting, or nothing."""
    hints = get_type_hints(kind)
    if name not in hints:
        return f"{name!r} is not one of the settings {', '.join(hints)}{suggest(name, hints)}"
    kinds = get_args(hints[name]) or (hints[name],)
    several = get_origin(hints[name]) is tuple or any(get_origin(one) is tuple for one in kinds)
    if isinstance(value, list):
        fits = several and all(isinstance(part, int | float) and not isinstance(part, bool) for part in value)
    else:
        fits = type(value) in {type(None), *kinds, *((int,) if float in kinds else ())}
    words = [_KINDS[kind] for kind in kinds if kind in _KINDS] + ["a list of numbers"] * several
    return "" if fits else f"{value!r} is not of the kind of the setting {name!r} ({' or '.join(words)})"


def _object(path: str | PathLike[str]) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from None
    expected = 'a JSON object of settings is expected, like {"method": "refine", "dim": 64}'
    if len(text) > MOST_BYTES:
        raise FormatError(path, f"is larger than any file of settings; {expected}")
    try:
        settings = json.loads(text.decode("utf-8-sig"), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON ({error}); {expected}") from None
    if not isinstance(settings, dict):
        raise FormatError(path, expected)
    return settings
