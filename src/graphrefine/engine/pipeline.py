"""The executor in this process: while a task is computed, the next one's blocks are read and the last one's written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import OperatorParts, Workshop
from graphrefine.engine.tasks import Small, Task


class Pipeline:
    """See `graphrefine.engine.blocks.Executor`."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop

    def know_operator(self, number: int, parts: OperatorParts) -> None:
        """See `graphrefine.engine.blocks.Executor.know_operator`."""
        self.workshop.operators[number] = parts

    def know_vector(self, name: str, vector: NDArray[np.float32]) -> None:
        """See `graphrefine.engine.blocks.Executor.know_vector`."""
        self.workshop.vectors = {name: vector}  # one at a time is in use

    def distrust(self, number: int) -> None:
        """See `graphrefine.engine.blocks.Executor.distrust`."""
        self.workshop.suspect.add(number)

    def group(self) -> int:
        """One block at a time: what is gathered from stays in memory between tasks."""
        return 1

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Small]]:
        """See `graphrefine.engine.blocks.Executor.run`."""
        shop = self.workshop
        written: tuple[Task, Small, Future[None]] | None = None
        with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as writer:
            ahead = reader.submit(shop.load, tasks[0]) if tasks else None
            for at, task in enumerate(tasks):
                assert ahead is not None
                loaded = ahead.result()
                ahead = reader.submit(shop.load, tasks[at + 1]) if at + 1 < len(tasks) else None
                small, stores = shop.work(task, loaded)
                del loaded
                if written is not None:
                    written[2].result()
                    yield written[:2]
                written = (task, small, writer.submit(shop.store, stores))
            if written is not None:
                written[2].result()
                yield written[:2]
