"""The journal of a run on its storage: steps and tasks that are done, so that the same run started again skips them.

A run is a sequence of steps, the verbs that an algorithm asks of its engine, the same each time. The journal has the
small result of each step that is finished; of the one that is not, the small result of each task that is done. Each
states its numerics version: bits of two versions are not joined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.tasks import Small
from graphrefine.errors import OutputError
from graphrefine.kernels.numerics import KEY, check_numerics, numerics_entry
from graphrefine.system.storage import Storage, read_arrays, write_arrays


class Journal:
    """Steps, in order.

    Examples
    --------
    >>> import tempfile
    >>> storage = Storage(tempfile.mkdtemp())
    >>> journal = Journal(storage)
    >>> journal.step_result(0, "gram of 3") is None
    True
    >>> journal.finish(0, "gram of 3", {"gram": np.eye(2)})
    >>> Journal(storage).step_result(0, "gram of 3")["gram"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._names = storage.names("steps")

    @property
    def resumed(self) -> bool:
        """Whether an earlier run has left steps."""
        return bool(self._names)

    def step_result(self, step: int, description: str) -> Small | None:
        """Return the small result of a step, if it was finished."""
        name = f"{step:04d}.npz"
        if name not in self._names:
            return None
        small = read_arrays(self.storage, f"steps/{name}")
        assert small is not None
        self._check(small)
        if str(small.pop("what")) != description:
            raise OutputError(
                f"{self.storage.root}: is the work of another run (its step {step} was not {description!r}); "
                "delete it to start again"
            )
        return small

    def task_results(self, step: int) -> dict[str, Small]:
        """Return the small results of those tasks of a step that were done."""
        results = {}
        for name in self.storage.names(_folder(step)) if f"{step:04d}" in self.storage.names("tasks") else ():
            small = read_arrays(self.storage, f"{_folder(step)}/{name}")
            if small is not None:
                self._check(small)
                results[name.removesuffix(".npz")] = small
        return results

    def note(self, step: int, task: str, small: Small) -> None:
        """Note that a task of a step is done, and its blocks are on the storage."""
        write_arrays(self.storage, f"{_folder(step)}/{task}.npz", {**_version(), **small})

    def finish(self, step: int, description: str, small: Small) -> None:
        """Note that a step is finished."""
        arrays: dict[str, NDArray[Any]] = {"what": np.array(description), **_version(), **small}
        # The step first, then its tasks go: a run killed in between finds the step and does not look at tasks. The
        # other way round it would do all of them again.
        write_arrays(self.storage, f"steps/{step:04d}.npz", arrays)
        self.storage.remove(_folder(step))

    def _check(self, small: Small) -> None:
        """Take the numerics version out of a stored result, and check it."""
        stated = small.pop(KEY, None)
        check_numerics({} if stated is None else {KEY: stated.item()}, source=self.storage.root)


def _version() -> Small:
    return {key: np.array(value) for key, value in numerics_entry().items()}


def _folder(step: int) -> str:
    return f"tasks/{step:04d}"
