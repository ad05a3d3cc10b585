"""The computations of the block engine's tasks, in this process or on a worker of a cluster.

A task has three parts, which a pipeline can do side by side for three tasks: `BlockCompute.load` reads the rows of the
graph and the blocks of the task, `BlockCompute.compute` computes, `BlockCompute.store` writes. The matrix that products
gather from, one panel of one chunk, stays in memory from task to task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.layout import Layout
from graphrefine.engine.tasks import Product, Ref, Rotation, Small, Task, dtype_of
from graphrefine.errors import FormatError
from graphrefine.graph.adjacency import Rows
from graphrefine.kernels import native
from graphrefine.linalg.operators import Edge, edge_terms
from graphrefine.system.arrays import LINE, aligned, empty_bytes
from graphrefine.system.storage import Storage, as_bytes
from graphrefine.system.threads import thread_pool

Array = NDArray[Any]
READERS = 2  # files read at a time
SPARE = 6  # free buffers that are kept


class Buffers:
    """Memory for blocks, used again.

    Examples
    --------
    >>> buffers = Buffers()
    >>> block = buffers.take((2, 3), np.float32)
    >>> where = block.ctypes.data
    >>> buffers.give(block)
    >>> buffers.take((3, 2), np.float32).ctypes.data == where
    True
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []
        self._lock = Lock()

    def take(self, shape: tuple[int, int], dtype: Any) -> Array:
        """Return an array whose numbers are not set."""
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        # New memory from the system costs as much as the work on it, page by page. A buffer of twice the size fits; a
        # larger one would hold more than the budget counts for a block.
        with self._lock:
            fits = [at for at, free in enumerate(self._free) if size + LINE <= len(free) <= 2 * (size + LINE)]
            room = self._free.pop(fits[0]) if fits else np.empty(size + LINE, np.uint8)
        array: Array = aligned(room, size).view(dtype).reshape(shape)
        return array

    def give(self, array: Array) -> None:
        """Take back an array that is not used any more; one from elsewhere is left alone."""
        room = array.base
        if isinstance(room, np.ndarray) and room.dtype == np.uint8 and room.base is None:
            with self._lock:
                self._free = [*self._free[-SPARE + 1 :], room]


class Vector(Protocol):
    """A number for each node, of which slices are read: an array, or a file."""

    def __getitem__(self, which: slice) -> Array: ...


class Pattern(Protocol):
    """The rows of a graph, in memory or on a storage."""

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows from ``start`` to before ``stop``."""


class OperatorParts(NamedTuple):
    """An `graphrefine.linalg.operators.Operator` whose vectors are arrays, files or, to a worker, names of files."""

    pattern: str  # "rows", or "arrivals": the rows of the reversed arcs
    vectors: Mapping[str, Any]  # row_shift, column_shift, row_scale, column_scale
    edge: Edge
    base: float
    loop: float
    unit: float = 1.0


@dataclass
class TaskInput:
    """The blocks that a task works on."""

    rows: list[Rows] = field(default_factory=list)  # of the graph, block by block
    blocks: list[Array] = field(default_factory=list)  # of x (a rotation), or of the summand `plus` (a product)


Writes = list[tuple[str, Array, int | None]]  # name of a file, rows, their offset in the file (None: all of the file)


@dataclass
class Counts:
    """Blocks and bytes that were moved."""

    blocks: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


class BlockCompute:
    """Computes tasks. Operators and vectors are registered in it before the tasks that name them."""

    def __init__(
        self,
        storage: Storage,
        layout: Layout,
        patterns: Mapping[str, Pattern],
        *,
        threads: int = 1,
        identities: Vector | None = None,
    ) -> None:
        self.storage, self.layout, self.patterns = storage, layout, patterns
        self.threads, self.identities = threads, identities
        self.operators: dict[int, OperatorParts] = {}
        self.vectors: dict[str, Vector] = {}
        self.suspect: set[int] = set()  # tall matrices of an earlier run, whose checksums are compared
        self.counts = Counts()
        self._in_memory: tuple[Ref, int, int] | None = None  # of the matrix that was gathered from last: panel, chunk
        self._buffers = Buffers()
        self._room = np.empty(0, np.uint8)
        self._sums_room = np.empty(0, np.float32)

    def load(self, task: Task) -> TaskInput:
        """Read the input of a task, except the matrix that it gathers from."""
        inputs, span = TaskInput(), range(*task.blocks)
        if isinstance(task, Rotation):
            inputs.blocks = [self.whole_rows(task.x, block) for block in span]
            return inputs
        pattern = self.patterns[self.operators[task.operator].pattern]
        for block in span:
            rows = self.layout.rows(block)
            inputs.rows.append(pattern.rows(rows.start, rows.stop))
            self.counts.bytes_read += sum(part.nbytes for part in inputs.rows[-1] if part is not None)
            if task.plus is not None:
                inputs.blocks.append(self._block(task.plus[1], task.panel, block))
        return inputs

    def compute(self, task: Task, inputs: TaskInput) -> tuple[Small, Writes]:
        """Compute the sums of a task, and the blocks to write."""
        self.counts.blocks += task.blocks[1] - task.blocks[0]
        return self._rotate(task, inputs) if isinstance(task, Rotation) else self._multiply(task, inputs)

    def store(self, writes: Writes) -> None:
        """Write the results of a task."""
        for name, rows, offset in writes:
            if offset is None:
                write_block(self.storage, name, rows)
            else:
                self.storage.write_at(name, rows, offset)
            self.counts.bytes_written += rows.nbytes
            self._buffers.give(rows)

    def give(self, rows: Array) -> None:
        """Take back the memory of rows that are not used any more."""
        self._buffers.give(rows)

    def trim(self) -> None:
        """Give the memory back that is kept for tasks to come."""
        self._in_memory, self._buffers = None, Buffers()
        self._room, self._sums_room = np.empty(0, np.uint8), np.empty(0, np.float32)

    def _rotate(self, task: Rotation, inputs: TaskInput) -> tuple[Small, Writes]:
        small, writes = self._sums(task.gram, task.sums), Writes()
        for block, x in zip(range(*task.blocks), inputs.blocks, strict=True):
            rows = self.layout.rows(block)
            width = self.layout.padded if task.file is None else task.file[2]
            out = None
            if task.out is not None or task.file is not None:
                out = self._buffers.take((len(x), width), np.float32 if task.out is None else dtype_of(task.out.kind))
            native.rotate(
                x,
                task.rotation,
                triangular=task.triangular,
                out=out,
                shift=task.shift,
                unit=task.unit,
                gram=small.get("gram"),
                sums=small.get("sums"),
                weights=None if task.weights is None else self.vectors[task.weights][rows],
                threads=self.threads,
            )
            self._buffers.give(x)
            if out is not None and task.file is not None:
                writes.append((task.file[0], out, task.file[1] + rows.start * width * 4))
            elif out is not None and task.out is not None:
                writes += self._panels(task.out, block, out)
        return small, writes

    def _panels(self, ref: Ref, block: int, rows: Array) -> Writes:
        if self.layout.panels == 1:
            return [(ref.name(0, block), rows, None)]
        writes = Writes()
        for panel, at in enumerate(range(0, self.layout.padded, self.layout.panel)):
            part = self._buffers.take((len(rows), self.layout.width(panel)), rows.dtype)
            part[:] = rows[:, at : at + self.layout.panel]
            writes.append((ref.name(panel, block), part, None))
        self._buffers.give(rows)
        return writes

    def _multiply(self, task: Product, inputs: TaskInput) -> tuple[Small, Writes]:
        """Multiply by one chunk after the other, for all blocks of the task."""
        # Sums go on in float32 from chunk to chunk, entry after entry in the order of the columns: those of a product
        # in one piece, so the cuts change no bit. Scale, shift and unit rows come with the last chunk.
        small, span = self._sums(task.gram, sums=False), range(*task.blocks)
        chunks = len(self.layout.chunks) - 1
        width = self.layout.width(task.panel)
        kind = dtype_of(task.out.kind)
        cuts = [self._cuts(rows) for rows in inputs.rows] if chunks > 1 else []
        sums = self._sums_of_blocks(inputs.rows, width) if chunks > 1 else []
        outs: list[Array] = []
        for chunk in range(chunks):
            x, last = self._chunk(task.x, task.panel, chunk), chunk == chunks - 1
            for at, (block, rows) in enumerate(zip(span, inputs.rows, strict=True)):
                if last:
                    outs.append(self._buffers.take((len(rows.indptr) - 1, width), kind))
                self._product(task.operator, block, rows, chunk, cuts[at] if cuts else None).apply(
                    x,
                    out=outs[at] if last else sums[at],
                    scale=task.scale,
                    onto=sums[at] if chunk else None,
                    plus=inputs.blocks[at] if task.plus is not None and last else None,
                    plus_scale=task.plus[0] if task.plus is not None else 0.0,
                    shift=task.shift if last else None,
                    unit=task.unit and last,
                    gram=small.get("gram") if last else None,
                    threads=self.threads,
                )
        for summand in inputs.blocks:
            self._buffers.give(summand)
        return small, [(task.out.name(task.panel, b), out, None) for b, out in zip(span, outs, strict=True)]

    def _sums_of_blocks(self, blocks: list[Rows], width: int) -> list[Array]:
        """Return room for the sums of blocks, used again by the next task."""
        counts = [len(rows.indptr) - 1 for rows in blocks]
        if len(self._sums_room) < sum(counts) * width:
            self._sums_room = np.empty(0, np.float32)
            self._sums_room = empty_bytes(sum(counts) * width * 4).view(np.float32)
        ends = np.cumsum(counts) * width
        return [
            self._sums_room[end - count * width : end].reshape(count, width)
            for end, count in zip(ends.tolist(), counts, strict=True)
        ]

    def _product(self, number: int, block: int, rows: Rows, chunk: int, cuts: NDArray[np.int64] | None) -> Any:
        """Return the part of an operator that has the rows of a block and the columns of a chunk."""
        parts, span, columns = self.operators[number], self.layout.rows(block), self.layout.chunk_rows(chunk)
        # The diagonal is in one chunk only: with the loop in each of them it would be added several times.
        own = columns.start <= span.start < columns.stop
        arrays: dict[str, Any] = {} if cuts is None else {"starts": cuts[chunk], "stops": cuts[chunk + 1]}
        for name, vector in parts.vectors.items():
            arrays[name] = vector[span if name.startswith("row") else columns]
        return native.Product(
            rows.indptr,
            rows.indices,
            columns=columns.stop - columns.start,
            value=edge_terms(parts.edge, rows.weights, parts.unit),
            constant=parts.base,
            loop=parts.loop if own else 0.0,
            diagonal=span.start - columns.start if own else 0,
            first_column=columns.start,
            **arrays,
        )

    def _cuts(self, rows: Rows) -> NDArray[np.int64]:
        """Return the first entry of each row in each chunk.  # (chunks + 1, rows)."""
        firsts = self.layout.bounds[self.layout.chunks].astype(np.int32)
        cuts: NDArray[np.int64] = native.split_rows(rows.indptr, rows.indices, firsts)
        return cuts

    def _chunk(self, ref: Ref, panel: int, chunk: int) -> Array:
        """Return a panel of a chunk as one array, in memory until another is needed."""
        rows, width = self.layout.chunk_rows(chunk), self.layout.width(panel)
        words = width // 32 if ref.kind == "signs" else width
        count, dtype = rows.stop - rows.start, np.dtype(dtype_of(ref.kind))
        size = count * words * dtype.itemsize
        if len(self._room) < size:
            self._room = np.empty(0, np.uint8)  # before the larger one is taken
            self._room = empty_bytes(size)
        whole: Array = self._room[:size].view(dtype).reshape(count, words)
        if self._in_memory == (ref, panel, chunk):
            return whole
        self._in_memory = None

        def fill(block: int) -> None:
            part = self.layout.rows(block)
            self._block(ref, panel, block, out=whole[part.start - rows.start : part.stop - rows.start])

        with thread_pool(READERS) as pool:
            list(pool.map(fill, range(*self.layout.chunks[chunk : chunk + 2].tolist())))
        self._in_memory = (ref, panel, chunk)
        return whole

    def whole_rows(self, ref: Ref, block: int) -> Array:
        """Return a block with all of its columns."""
        if self.layout.panels == 1:
            return self._block(ref, 0, block)
        span = self.layout.rows(block)
        whole = self._buffers.take((span.stop - span.start, self.layout.padded), dtype_of(ref.kind))
        for panel in range(self.layout.panels):
            part = self._block(ref, panel, block)
            whole[:, panel * self.layout.panel : panel * self.layout.panel + part.shape[1]] = part
            self._buffers.give(part)
        return whole

    def _block(self, ref: Ref, panel: int, block: int, *, out: Array | None = None) -> Array:
        rows, width = self.layout.rows(block), self.layout.width(panel)
        if ref.kind == "signs":
            fresh = self._signs(ref.seed, panel, rows)
            if out is None:
                return fresh
            out[:] = fresh
            return out
        if out is None:
            out = self._buffers.take((rows.stop - rows.start, width), dtype_of(ref.kind))
        name = ref.name(panel, block)
        self.storage.read_into(name, out)
        self.counts.bytes_read += out.nbytes
        # Of an earlier run only: the machine may have stopped before its pages were on the disk, and a renamed file be
        # empty or half there. What this run has written is still in the cache of the system.
        if ref.number in self.suspect:
            self._check(name, out)
        return out

    def _signs(self, seed: int, panel: int, rows: slice) -> Array:
        first, words = panel * self.layout.panel // 32, self.layout.width(panel) // 32
        count = rows.stop - rows.start
        order = None if self.identities is None else self.identities[rows]
        start = rows.start if order is None else 0
        signs = native.signs(seed, start, rows=count, words=self.layout.padded // 32, order=order)
        return np.ascontiguousarray(signs[:, first : first + words])

    def _check(self, name: str, rows: Array) -> None:
        stored = np.empty(1, "<u4")
        self.storage.read_into(name, stored, offset=rows.nbytes)
        checksum = crc32(as_bytes(rows))
        if checksum != int(stored[0]):
            raise FormatError(
                f"{self.storage.root}/{name}",
                f"the block is damaged: its checksum is {checksum:08x}, and {int(stored[0]):08x} was written; "
                "delete the work folder and start again",
            )

    def _sums(self, gram: bool, sums: bool) -> Small:
        padded, small = self.layout.padded, Small()
        if gram:
            small["gram"] = np.zeros((2, padded, padded))
        if sums:
            small["sums"] = np.zeros((2, padded))
        return small


def write_block(storage: Storage, name: str, rows: Array) -> None:
    """Write a block with its checksum."""
    storage.write(name, rows, np.array([crc32(as_bytes(rows))], "<u4"))
