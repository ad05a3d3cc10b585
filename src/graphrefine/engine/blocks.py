"""The engine whose tall matrices are blocks in files: for graphs larger than memory, and for clusters.

A verb becomes tasks (`engine.tasks`) that an executor runs, in this process or on workers, each by a
`engine.block_compute.BlockCompute`; small results are added up in the order of the blocks. Every verb is a step of a
`engine.journal.Journal`: an interrupted run that is started again skips steps that are done, and gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import BlockCompute, OperatorParts, write_block
from graphrefine.engine.engine import BLOCK_ROWS, Axes, RowSource, RowWork, pad_rotation, pad_row, project_rows
from graphrefine.engine.journal import Journal
from graphrefine.engine.layout import Layout
from graphrefine.engine.tasks import Product, Ref, Rotation, Small, Task, add_pairs
from graphrefine.kernels import to_bfloat16
from graphrefine.linalg.operators import Operator
from graphrefine.system.arrays import OwnFile, npy_header
from graphrefine.system.storage import Storage

VECTORS = ("row_shift", "column_shift", "row_scale", "column_scale")
RESULT = "vectors.npy"


class Executor(Protocol):
    """Runs tasks."""

    group: int  # blocks of a product's task
    suspect: set[int]  # tall matrices that an earlier run has left, whose checksums are compared

    def register_operator(self, number: int, parts: OperatorParts) -> None:
        """Make an operator known by the number that tasks use."""

    def register_vector(self, name: str, vector: NDArray[np.float32]) -> None:
        """Make a vector known by the name that tasks use."""

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Small]]:
        """Run tasks in any order; each is yielded once its blocks are on the storage."""

    def trim(self) -> None:
        """Give the memory back that this process keeps for tasks to come."""


class BlockTall:
    """A tall matrix of a `BlockEngine`; its files are removed once it is let go."""

    def __init__(self, ref: Ref, engine: BlockEngine) -> None:
        self.ref, self._engine = ref, engine
        self.gram: NDArray[np.float64] | None = None
        self._released = False

    def release(self) -> None:
        """Let its files go; they are not needed any more."""
        if not self._released:
            self._released = True
            self._engine.forget(self.ref)

    __del__ = release


class BlockEngine:
    """See `graphrefine.engine.engine.Engine`."""

    order = None  # rows stay in the graph's order

    def __init__(
        self,
        storage: Storage,
        layout: Layout,
        executor: Executor,
        *,
        bfloat16: bool = True,
        threads: int = 1,
    ) -> None:
        self.storage, self.layout, self.executor, self.threads = storage, layout, executor, threads
        self._reader = BlockCompute(storage, layout, {})
        self.nodes = int(layout.bounds[-1])
        self.columns, self.half = layout.columns, bfloat16
        self.journal = Journal(storage)
        self._step = 0
        self._operators: dict[Operator, int] = {}
        self._garbage: list[Ref] = []

    def random(self, *, seed: int) -> BlockTall:
        """See `graphrefine.engine.engine.Engine.random`; signs are never stored."""
        return BlockTall(Ref(self._next_step(), "signs", seed), self)

    def fill(self, rows: RowSource, *, precise: bool = False) -> BlockTall:
        """See `graphrefine.engine.engine.Engine.fill`; done by this process."""
        out, nodes = self._new_tall(precise), self.nodes
        description = f"fill {out.ref}"
        if self.journal.step_result(out.ref.number, description) is None:
            for block in range(self.layout.blocks):
                span = self.layout.rows(block)
                fresh = np.zeros((span.stop - span.start, self.layout.padded), np.float32)
                for start in range(span.start // BLOCK_ROWS * BLOCK_ROWS, span.stop, BLOCK_ROWS):
                    part = rows(start, min(start + BLOCK_ROWS, nodes))
                    low, high = max(start, span.start), min(start + len(part), span.stop)
                    fresh[low - span.start : high - span.start, : self.columns] = part[low - start : high - start]
                stored = to_bfloat16(fresh) if out.ref.kind == "half" else fresh
                for panel, at in enumerate(range(0, self.layout.padded, self.layout.panel)):
                    columns = np.ascontiguousarray(stored[:, at : at + self.layout.panel])
                    write_block(self.storage, out.ref.name(panel, block), columns)
            self.journal.finish(out.ref.number, description, {})
        return out

    def one_hot(self, rows: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32]) -> BlockTall:
        """See `graphrefine.engine.engine.Engine.one_hot`."""

        def block(start: int, stop: int) -> NDArray[np.float32]:
            first, last = np.searchsorted(rows, (start, stop))
            fresh = np.zeros((stop - start, self.columns), np.float32)
            fresh[rows[first:last] - start, columns[first:last]] = values[first:last]
            return fresh

        return self.fill(block)

    def array(self, columns: int, dtype: Any) -> NDArray[Any]:
        """See `graphrefine.engine.engine.Engine.array`: a file, mapped."""
        return self._file(self._next_step(), columns, np.dtype(dtype))[0]

    def visit(self, x: BlockTall, work: RowWork, total: NDArray[Any]) -> None:
        """See `graphrefine.engine.engine.Engine.visit`."""
        step, description = self._next_step(), f"visit {x.ref}"
        small = self.journal.step_result(step, description)
        if small is None:
            for block in range(self.layout.blocks):
                rows = self._reader.whole_rows(x.ref, block)
                work(self.layout.rows(block), rows)
                self._reader.give(rows)
            self.journal.finish(step, description, {"total": total})
            return
        total[:] = small["total"]

    def apply(
        self,
        operator: Operator,
        x: BlockTall,
        *,
        scale: float = 1.0,
        plus: tuple[float, BlockTall] | None = None,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
        gram: bool = False,
        precise: bool = False,
    ) -> BlockTall:
        """See `graphrefine.engine.engine.Engine.apply`."""
        # Lengths and rows of zeros need all panels of a row: they follow in a second step, as Gram matrices do.
        whole = self.layout.panels == 1
        later = not whole and (unit or shift is not None)
        out = self._new_tall(precise or later)
        number, row = self._operator_number(operator), pad_row(shift, self.layout.padded)
        summand = None if plus is None else (plus[0], plus[1].ref)
        group = self.executor.group
        tasks = [
            Product(
                out.ref,
                x.ref,
                number,
                panel,
                (block, min(block + group, self.layout.blocks)),
                scale,
                summand,
                row if whole else None,
                unit and whole,
                gram and whole,
            )
            for panel in range(self.layout.panels)
            for block in range(0, self.layout.blocks, group)
        ]
        small = self._run_step(out.ref.number, f"apply {number} to {x.ref} giving {out.ref}", tasks)
        out.gram = small.get("gram")
        if later:
            return self._rotate(out, None, shift=row, unit=unit, gram=gram, precise=precise)
        return out

    def project(
        self, operator: Operator, x: BlockTall, *, rows: NDArray[np.int64], axes: Axes, **options: Any
    ) -> NDArray[np.float32]:
        """See `graphrefine.engine.engine.Engine.project`."""
        return project_rows(self, operator, x, rows=rows, axes=axes, **options)

    def gram(self, x: BlockTall) -> NDArray[np.float64]:
        """See `graphrefine.engine.engine.Engine.gram`."""
        if x.gram is None:
            x.gram = self._sum_up(x, gram=True)["gram"]
        return x.gram[: self.columns, : self.columns]

    def sums(self, x: BlockTall, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """See `graphrefine.engine.engine.Engine.sums`."""
        name = None
        if weights is not None:
            name = f"weights-{self._step}"
            self.executor.register_vector(name, weights)
        return self._sum_up(x, sums=True, weights=name)["sums"][: self.columns]

    def rotate(
        self,
        x: BlockTall,
        rotation: NDArray[Any],
        *,
        triangular: bool = False,
        unit: bool = False,
        precise: bool = False,
    ) -> BlockTall:
        """See `graphrefine.engine.engine.Engine.rotate`."""
        small = pad_rotation(rotation, self.layout.padded)
        return self._rotate(x, small, triangular=triangular, unit=unit, precise=precise)

    def release(self, x: BlockTall) -> None:
        """See `graphrefine.engine.engine.Engine.release`."""
        x.release()

    def collect(
        self,
        x: BlockTall,
        rotation: NDArray[Any] | None = None,
        *,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
    ) -> NDArray[np.float32]:
        """See `graphrefine.engine.engine.Engine.collect`: the array is a file, mapped."""
        step, width = self._next_step(), self.columns if rotation is None else rotation.shape[1]
        array, name, offset = self._file(step, width, np.dtype(np.float32))
        small = None if rotation is None else pad_rotation(rotation, self.layout.padded)
        file, row = (name, offset, width), pad_row(shift, self.layout.padded)
        tasks = [Rotation(None, x.ref, blocks, small, shift=row, unit=unit, file=file) for blocks in self._blocks()]
        self._run_step(step, f"collect {x.ref}", tasks)
        return array

    def trim(self) -> None:
        """See `graphrefine.engine.engine.Engine.trim`."""
        self.executor.trim()
        self._reader.trim()

    def forget(self, ref: Ref) -> None:
        """Remove the files of a tall matrix with the next step."""
        # Not at once: the step that read them may be unfinished. A run that is killed now and taken up again would have
        # to read them once more.
        if ref.kind != "signs":
            self._garbage.append(ref)

    def _rotate(
        self, x: BlockTall, rotation: NDArray[np.float32] | None, *, precise: bool, **options: Any
    ) -> BlockTall:
        out = self._new_tall(precise)
        tasks = [Rotation(out.ref, x.ref, blocks, rotation, **options) for blocks in self._blocks()]
        out.gram = self._run_step(out.ref.number, f"turn {x.ref} giving {out.ref}", tasks).get("gram")
        return out

    def _sum_up(self, x: BlockTall, **sums: Any) -> Small:
        step = self._next_step()
        tasks = [Rotation(None, x.ref, blocks, **sums) for blocks in self._blocks()]
        return self._run_step(step, f"look at {x.ref} for {', '.join(sums)}", tasks)

    def _file(self, step: int, columns: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], str, int]:
        """Return the array that is the file of a step, the name of the file, and the offset of the first row."""
        name, shape = f"{step:04d}-{RESULT}", (self.nodes, columns)
        path, header = Path(self.storage.root, name), npy_header(dtype, shape)
        if not path.exists():
            self.storage.write(name, np.frombuffer(header, np.uint8))
        return OwnFile(path, dtype, "r+", offset=len(header), shape=shape), name, len(header)

    def _blocks(self) -> Iterable[tuple[int, int]]:
        return ((block, block + 1) for block in range(self.layout.blocks))

    def _run_step(self, step: int, description: str, tasks: Sequence[Task]) -> Small:
        """Run the tasks of a step, except those that an earlier run has done, and add up their small results."""
        total = self.journal.step_result(step, description)
        if total is not None:
            return total
        done = self.journal.task_results(step)
        for task, small in self.executor.run([task for task in tasks if task.name() not in done]):
            self.journal.note(step, task.name(), small)
            done[task.name()] = small
        # In the order of the blocks, whoever finished first, and as pairs of a sum and what its rounding has lost: the
        # cuts and the number of workers change no bit.
        total = {}
        for task in tasks:
            for name, part in done[task.name()].items():
                total[name] = add_pairs(total[name], part) if name in total else part
        total = {name: pair[0] + pair[1] for name, pair in total.items()}
        self.journal.finish(step, description, total)
        return total

    def _next_step(self) -> int:
        for ref in self._garbage:
            self.storage.remove(ref.folder())
        self._garbage = []
        self._step += 1
        return self._step

    def _new_tall(self, precise: bool) -> BlockTall:
        ref = Ref(self._next_step(), "single" if precise or not self.half else "half")
        if self.journal.resumed:
            self.executor.suspect.add(ref.number)
            self._reader.suspect.add(ref.number)
        return BlockTall(ref, self)

    def _operator_number(self, operator: Operator) -> int:
        if operator not in self._operators:
            number = self._operators[operator] = len(self._operators)
            vectors = {name: getattr(operator, name) for name in VECTORS if getattr(operator, name) is not None}
            reverse = operator.transposed and operator.graph.directed
            parts = OperatorParts(
                "arrivals" if reverse else "rows", vectors, operator.edge, operator.base, operator.loop, operator.unit
            )
            self.executor.register_operator(number, parts)
        return self._operators[operator]
