"""The executor in this process: while a task is computed, the next one's blocks are read and the last one's written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import BlockCompute, OperatorParts
from graphrefine.engine.tasks import Small, Task
from graphrefine.system.threads import thread_pool


class Pipeline:
    """See `graphrefine.engine.blocks.Executor`."""

    def __init__(self, compute: BlockCompute) -> None:
        self.compute, self.suspect = compute, compute.suspect
        self.group = 1  # the matrix that products gather from stays in memory between tasks

    def register_operator(self, number: int, parts: OperatorParts) -> None:
        """See `graphrefine.engine.blocks.Executor.register_operator`."""
        self.compute.operators[number] = parts

    def register_vector(self, name: str, vector: NDArray[np.float32]) -> None:
        """See `graphrefine.engine.blocks.Executor.register_vector`."""
        self.compute.vectors = {name: vector}  # one at a time is in use

    def trim(self) -> None:
        """See `graphrefine.engine.blocks.Executor.trim`."""
        self.compute.trim()

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Small]]:
        """See `graphrefine.engine.blocks.Executor.run`."""
        compute = self.compute
        written: tuple[Task, Small, Future[None]] | None = None
        with thread_pool(1) as reader, thread_pool(1) as writer:
            ahead = reader.submit(compute.load, tasks[0]) if tasks else None
            for at, task in enumerate(tasks):
                assert ahead is not None
                inputs = ahead.result()
                ahead = reader.submit(compute.load, tasks[at + 1]) if at + 1 < len(tasks) else None
                small, writes = compute.compute(task, inputs)
                del inputs
                # A task is yielded, and noted in the journal, only once its blocks are on the storage.
                if written is not None:
                    written[2].result()
                    yield written[:2]
                written = (task, small, writer.submit(compute.store, writes))
            if written is not None:
                written[2].result()
                yield written[:2]
