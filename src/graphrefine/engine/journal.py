"""What a run has done so far, on its storage, so that the same run started again does not do it twice.

A run is a sequence of steps, the verbs that an algorithm asks of its engine, the same each time. Of each step that is
finished the small result is kept; of the one that is not, the small result of each of its tasks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.tasks import Small
from graphrefine.errors import OutputError
from graphrefine.system.storage import Storage, read_arrays, write_arrays


class Journal:
    """Steps, in order.

    Examples
    --------
    >>> import tempfile
    >>> from graphrefine.system.storage import open_storage
    >>> storage = open_storage(tempfile.mkdtemp())
    >>> journal = Journal(storage)
    >>> journal.finished(0, "gram of 3") is None
    True
    >>> journal.finish(0, "gram of 3", {"gram": np.eye(2)})
    >>> Journal(storage).finished(0, "gram of 3")["gram"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._known = storage.names("steps")

    @property
    def resumed(self) -> bool:
        """Whether an earlier run has left something."""
        return bool(self._known)

    def finished(self, step: int, what: str) -> Small | None:
        """The small result of a step, if it was finished."""
        name = f"{step:04d}.npz"
        if name not in self._known:
            return None
        found = read_arrays(self.storage, f"steps/{name}")
        assert found is not None
        if str(found.pop("what")) != what:
            raise OutputError(
                f"{self.storage.root}: is the work of another run (its step {step} was not {what!r}); "
                "delete it to start anew"
            )
        return found

    def done(self, step: int) -> dict[str, Small]:
        """The small results of those tasks of a step that were done."""
        found = {}
        for name in self.storage.names(_folder(step)) if f"{step:04d}" in self._started else ():
            small = read_arrays(self.storage, f"{_folder(step)}/{name}")
            if small is not None:
                found[name.removesuffix(".npz")] = small
        return found

    @property
    def _started(self) -> set[str]:
        return self.storage.names("tasks")

    def note(self, step: int, task: str, small: Small) -> None:
        """A task of a step is done, and what it wrote is on the storage."""
        write_arrays(self.storage, f"{_folder(step)}/{task}.npz", small)

    def finish(self, step: int, what: str, small: Small) -> None:
        """A step is finished."""
        arrays: dict[str, NDArray[Any]] = {"what": np.array(what), **small}
        write_arrays(self.storage, f"steps/{step:04d}.npz", arrays)
        self.storage.remove(_folder(step))


def _folder(step: int) -> str:
    return f"tasks/{step:04d}"
