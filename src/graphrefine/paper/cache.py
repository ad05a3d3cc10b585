"""Cache of finished measurements: a small JSON file for each, written at once and in one step.

The name of a file is a hash of everything that its measurement depends on: the function and its arguments, the file of
the graph, the version of graphrefine and, for times, the machine. A file that is damaged, or that holds another
measurement than its name says, counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from graphrefine import __version__
from graphrefine.datasets import Dataset
from graphrefine.errors import GraphRefineError, MissingExtraError, OutputError
from graphrefine.paper.findings import Gap
from graphrefine.paper.graphs import Source
from graphrefine.paper.progress import RunProgress
from graphrefine.system.files import check_writable, replacing
from graphrefine.system.fingerprint import hash_json
from graphrefine.visuals.machine import identify_machine

Measurement = dict[str, Any]  # of JSON


class Cache:
    """Measurements by function and arguments, each made once.

    Parameters
    ----------
    folder
        Folder of the files; None for an empty cache.
    load
        Loader of graphs; None for a cache that only reads: a measurement that is not in the folder is then a gap.
    progress
        Display of the progress.

    Attributes
    ----------
    measurements
        All measurements of the run, by the name of their file.
    computed, reused, failed, planned
        Numbers of them: made now, read from the folder, failed, and absent from a cache that only reads.
    seconds
        Time that they took, in this run or in the run that made them.

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
    ) -> None:
        self._folder, self._load, self._progress = folder, load, progress
        self.measurements: dict[str, Measurement | Gap] = {}
        self.computed, self.reused, self.failed, self.planned = 0, 0, 0, 0
        self.seconds = 0.0

    def measure(
        self,
        function: Callable[..., Measurement],
        source: Source | None = None,
        *,
        threads: int | None = None,
        **arguments: Any,
    ) -> Measurement | Gap:
        """Call ``function(dataset, **arguments)``, unless its measurement is there.

        Parameters
        ----------
        function
            A function whose result is JSON.
        source
            Graph that is loaded for it, as its first argument.
        threads
            Passed on, but no part of the key: a figure that does not depend on the machine does not depend on them.
        **arguments
            Everything else that the figures depend on.
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
        key = {"function": function.__name__, "version": __version__, **graph, **keyed}
        name = f"{function.__name__}-{hash_json(key)}.json"
        if name in self.measurements:
            return self.measurements[name]
        path, load = Path(self._folder or "") / name, self._load
        entry = read_entry(path, key) if self._folder else None
        if entry is not None:
            self.reused += 1
            self.seconds += entry.seconds
            self.measurements[name] = entry.measurement
        elif self._folder is None or load is None:
            self.planned += 1
            self.measurements[name] = Gap("planned", "not measured yet")
        else:
            words = [function.__name__.replace("_", " "), arguments.get("method"), source.name if source else None]
            call = lambda: function(*([load(source)] if source else []), **arguments)
            self.measurements[name] = self._compute(call, " ".join(filter(None, words)), path, key)
        return self.measurements[name]

    def _compute(
        self, call: Callable[[], Measurement], label: str, path: Path, key: Mapping[str, Any]
    ) -> Measurement | Gap:
        if self._progress:
            self._progress.start_measurement(label, self.seconds)
        start = perf_counter()
        measurement = _attempt(call)
        seconds = perf_counter() - start
        if isinstance(measurement, Gap):
            self.failed += measurement.status == "failed"
            if self._progress:
                self._progress.report_gap(label, measurement)
            return measurement
        write_entry(path, key, Entry(measurement, seconds))
        self.computed += 1
        self.seconds += seconds
        return measurement


def _attempt(call: Callable[[], Measurement]) -> Measurement | Gap:
    """The measurement as JSON gives it back; or a gap, which the next run tries again."""
    try:
        measurement: Measurement = to_json(call())
        return measurement
    except Exception as error:
        text = str(error) if isinstance(error, GraphRefineError) else f"{type(error).__name__}: {error}"
        return Gap("missing" if isinstance(error, MissingExtraError) else "failed", text)


class Entry(NamedTuple):
    """Content of a file: a measurement, and the seconds that it took."""

    measurement: Measurement
    seconds: float


def read_entry(path: Path, key: Mapping[str, Any]) -> Entry | None:
    """Content of a file; None if it is absent, damaged or about something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        whole = content["key"] == to_json(key) and content["check"] == hash_json(content["measurement"])
        return Entry(content["measurement"], float(content["seconds"])) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_entry(path: Path, key: Mapping[str, Any], entry: Entry) -> None:
    """Write a file that survives whatever happens to this process afterwards."""
    content = {"key": key, **entry._asdict(), "check": hash_json(entry.measurement)}
    try:
        with replacing(path) as hidden:
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
