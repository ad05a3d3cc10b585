"""Cache of finished measurements: a small JSON file for each, written at once and in one step.

The name of a file is a hash of everything that its measurement depends on: the function and its arguments, the file of
the graph, the versions of graphrefine and of its arithmetic and, for times, the machine. A file that is damaged, or
that holds another measurement than its name says, counts as absent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine import __version__
from graphrefine.datasets import Dataset
from graphrefine.display.machine import identify_machine
from graphrefine.errors import GraphRefineError, MissingExtraError, OutputError
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.system.files import check_writable, replacing
from reproduction.findings import Gap
from reproduction.progress import RunProgress
from reproduction.setup import Source

Measurement = dict[str, Any]  # of JSON


def hash_json(value: Any) -> str:
    """Return the digits of a value of JSON, in any order of its keys; the names of stored files have them."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()[:24]


class Unfinished(Exception):  # noqa: N818  not an error: an experiment that the report leaves out
    """A measurement is not in the folder."""


class Cache:
    """Measurements by function and arguments, each made once.

    Without a ``folder`` it is empty; without ``load``, the loader of graphs, it only reads: a measurement that is not
    in the folder is then a gap, or raises `Unfinished` if there may be none.

    Examples
    --------
    >>> import tempfile
    >>> def measure_sum(*, terms):
    ...     return {"sum": sum(terms)}
    >>> folder = Path(tempfile.mkdtemp())
    >>> Cache(folder).measure(measure_sum, terms=[1, 2])
    Gap(status='planned', reason='not measured yet')
    >>> cache = Cache(folder, Source.load)
    >>> cache.measure(measure_sum, terms=[1, 2]), cache.computed
    ({'sum': 3}, 1)
    >>> Cache(folder).measure(measure_sum, terms=[1, 2])
    {'sum': 3}
    """

    def __init__(
        self,
        folder: Path | None,
        load: Callable[[Source], Dataset] | None = None,
        progress: RunProgress | None = None,
        *,
        gaps: bool = True,
    ) -> None:
        self._folder, self._load, self._progress, self._gaps = folder, load, progress, gaps
        self.measurements: dict[str, Measurement | Gap] = {}  # of the run, by the name of their file
        self.computed, self.reused, self.failed, self.planned = 0, 0, 0, 0
        self.seconds = 0.0  # that they took, in this run or in the run that made them

    def measure(
        self,
        function: Callable[..., Measurement],
        source: Source | None = None,
        *,
        threads: int | None = None,
        **arguments: Any,
    ) -> Measurement | Gap:
        """Call ``function(dataset, **arguments)``, unless its measurement is there.

        ``threads`` are passed on, but no part of the key: a figure that does not depend on the machine does not depend
        on them.
        """
        unkeyed = {} if threads is None else {"threads": threads}
        return self._look_up(function, source, arguments, arguments | unkeyed)

    def time(
        self, function: Callable[..., Measurement], source: Source | None = None, **arguments: Any
    ) -> Measurement | Gap:
        """Like `measure`, for times: they are not reused on another machine."""
        return self._look_up(function, source, {**arguments, "machine": identify_machine()}, arguments)

    def _look_up(
        self,
        function: Callable[..., Measurement],
        source: Source | None,
        keyed: Mapping[str, Any],
        arguments: Mapping[str, Any],
    ) -> Measurement | Gap:
        graph = {} if source is None else {"graph": source.fingerprint}
        key = {"function": function.__name__, "version": __version__, **numerics_entry(), **graph, **keyed}
        name = f"{function.__name__}-{hash_json(key)}.json"
        if name in self.measurements:
            return self.measurements[name]
        path, load = Path(self._folder or "") / name, self._load
        entry = read_entry(path, key) if self._folder else None
        measurement: Measurement | Gap
        if entry is not None:
            measurement, seconds = entry
            self.reused += 1
            self.seconds += seconds
        elif not self._gaps:
            raise Unfinished(name)
        elif self._folder is None or load is None:
            measurement = Gap("planned", "not measured yet")
            self.planned += 1
        else:
            words = [function.__name__.replace("_", " "), arguments.get("method"), source.name if source else None]
            call = lambda: function(*([load(source)] if source else []), **arguments)
            measurement = self._compute(call, " ".join(filter(None, words)), path, key)
        self.measurements[name] = measurement
        return measurement

    def _compute(
        self, call: Callable[[], Measurement], label: str, path: Path, key: Mapping[str, Any]
    ) -> Measurement | Gap:
        """The measurement as JSON gives it back; or a gap, which the next run tries again."""
        if self._progress:
            self._progress.start_measurement(label, self.seconds)
        start = perf_counter()
        try:
            measurement: Measurement = to_json(call())
        except Exception as error:
            text = str(error) if isinstance(error, GraphRefineError) else f"{type(error).__name__}: {error}"
            gap = Gap("missing" if isinstance(error, MissingExtraError) else "failed", text)
            self.failed += gap.status == "failed"
            if self._progress:
                self._progress.report_gap(label, gap)
            return gap
        seconds = perf_counter() - start
        write_entry(path, key, measurement, seconds)
        self.computed += 1
        self.seconds += seconds
        return measurement


def read_entry(path: Path, key: Mapping[str, Any]) -> tuple[Measurement, float] | None:
    """The measurement in a file, and its seconds; None if the file is absent, damaged or about something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        whole = content["key"] == to_json(key) and content["check"] == hash_json(content["measurement"])
        return (content["measurement"], float(content["seconds"])) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_entry(path: Path, key: Mapping[str, Any], measurement: Measurement, seconds: float) -> None:
    """Write a file that survives whatever happens to this process afterwards."""
    content = {"key": key, "measurement": measurement, "seconds": seconds, "check": hash_json(measurement)}
    try:
        with replacing(path, durable=False) as hidden:
            hidden.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"{path.parent}: a finished measurement cannot be written ({error.strerror}); earlier ones are kept, and "
            "the same command goes on from there"
        ) from error


def prepare_folder(folder: Path) -> None:
    """Make the folder of a cache, or refuse it before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made a folder ({error.strerror}); choose another") from None
    check_writable(folder / "probe.json")


def to_json(value: Any) -> Any:
    """The value as JSON gives it back: tuples are lists, NumPy's numbers Python's."""
    return json.loads(json.dumps(value, allow_nan=False, default=lambda number: number.item()))
