"""A record of what the kernels are asked to do: every product and every dense pass, its work and its seconds.

`recording` puts itself between the engines and the kernels for a time: callables of `graphrefine.kernels.native` are
replaced by ones that note what passes, and put back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import native

KINDS = {"uint16": "bfloat16", "uint32": "signs"}  # tall matrices; other types are what they are called


@dataclass(frozen=True)
class Call:
    """The work of a kernel, once or some times, and the seconds of all of them."""

    name: str
    rows: int = 0
    entries: int = 0  # rows gathered
    row_bytes: int = 0  # of a row that is gathered
    matrix_bytes: int = 0  # that is gathered from
    streamed: int = 0  # bytes read and written in order: tall matrices, numbers of columns, values
    flops: int = 0  # of dense algebra; a multiplication and an addition are two
    times: int = 1
    seconds: float = 0.0

    @property
    def gathered(self) -> int:
        """Bytes gathered each time."""
        return self.entries * self.row_bytes


def describe_kind(x: Any) -> str:
    """The numbers of a tall matrix.

    Examples
    --------
    >>> describe_kind(np.zeros((1, 32), np.uint16)), describe_kind(np.zeros((1, 32), np.int8)), describe_kind(None)
    ('bfloat16', 'int8', 'nothing')
    """
    return "nothing" if x is None else KINDS.get(str(x.dtype), str(x.dtype))


def dense_flops(rows: int, columns: int, *, rotated: bool = False, triangular: bool = False, gram: bool = False) -> int:
    """Operations of a rotation (about half, if it is triangular) and of a Gram matrix (on and above its diagonal).

    Examples
    --------
    >>> dense_flops(10, 4, rotated=True)
    320
    >>> dense_flops(10, 4, rotated=True, triangular=True, gram=True)
    400
    """
    half = rows * columns * (columns + 1)
    rotation = half if triangular else 2 * rows * columns**2
    return rotation * rotated + half * gram


def _extras(options: dict[str, Any], *names: str) -> str:
    """Those of the options that are in use, as an addition to a name."""
    return "".join(f" + {name}" for name in names if options.get(name) is not None and options[name] is not False)


def _size(*arrays: Any) -> int:
    return sum(x.nbytes for x in arrays if isinstance(x, np.ndarray))


def describe_rotation(x: Any, rotation: Any = None, **options: Any) -> Call:
    """The work of ``rotate``.

    Examples
    --------
    >>> tall, gram = np.zeros((10, 32), np.float32), np.zeros((32, 32))
    >>> call = describe_rotation(tall, None, out=None, gram=gram)
    >>> call.name, call.streamed, call.flops
    ('pass + gram, float32 to nothing', 1280, 10560)
    """
    out, turned, triangular = options.get("out"), rotation is not None, bool(options.get("triangular"))
    name = "pass" if not turned else "triangular rotation" if triangular else "rotation"
    return Call(
        f"{name}{_extras(options, 'gram', 'sums', 'unit')}, {describe_kind(x)} to {describe_kind(out)}",
        rows=len(x),
        streamed=_size(x, out),
        flops=dense_flops(
            len(x), x.shape[1], rotated=turned, triangular=triangular, gram=options.get("gram") is not None
        ),
    )


def describe_product(entries: int, values: Any, loop: bool, x: Any, **options: Any) -> Call:
    """The work of a product with ``entries`` of the graph and, with a loop, the diagonal.

    Examples
    --------
    >>> halves = np.zeros((10, 128), np.uint16)
    >>> call = describe_product(50, None, False, halves, out=halves, unit=True)
    >>> call.name, call.row_bytes, call.gathered, call.streamed
    ('product + unit, bfloat16 to bfloat16', 256, 12800, 2760)
    """
    out, gram, turned = options.get("out"), options.get("gram") is not None, options.get("rotation") is not None
    rows = 0 if out is None else len(out)
    some = "" if options.get("rows") is None else " of some rows"
    extras = _extras(options, "plus", "onto", "gram", "unit", "rotation")
    return Call(
        f"product{some}{extras}, {describe_kind(x)} to {describe_kind(out)}",
        rows=rows,
        entries=entries + rows * loop,
        row_bytes=x.nbytes // max(len(x), 1),
        matrix_bytes=x.nbytes,
        streamed=4 * entries + _size(out, options.get("plus"), options.get("onto"), values),
        flops=dense_flops(rows, x.shape[1] * (32 if x.dtype == np.uint32 else 1), rotated=turned, gram=gram),
    )


class Record(list[Call]):
    """Calls in their order, and the rows that products gather, by the number of them."""

    def __init__(self) -> None:
        super().__init__()
        self.patterns: dict[int, NDArray[np.int32]] = {}


class RecordedProduct:
    """A product whose uses are noted."""

    def __init__(self, record: Record, product: Any, indptr: Any, indices: Any, options: Any) -> None:
        self._record, self._product, self._counts = record, product, np.diff(indptr)
        starts, stops = options.get("starts"), options.get("stops")
        self._entries = len(indices) if starts is None else int((stops - starts).sum())
        if starts is None:
            record.patterns[self._entries] = indices
        self._values, self._loop = options.get("value"), bool(options.get("loop"))

    def apply(self, x: Any, **options: Any) -> Any:
        """Apply the product."""
        start = perf_counter()
        result = self._product.apply(x, **options)
        seconds = perf_counter() - start
        rows = options.get("rows")
        entries = self._entries if rows is None else int(self._counts[rows].sum())
        self._record.append(replace(describe_product(entries, self._values, self._loop, x, **options), seconds=seconds))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._product, name)


KERNELS = ("Product", "rotate", "reorder", "permute", "row_sums", "split_rows", "signs")  # those that engines call


@contextmanager
def recording() -> Iterator[Record]:
    """The calls of a stretch of work, in order, as a list that grows with them."""
    record = Record()
    plain = {name: getattr(native, name) for name in KERNELS}

    def timed(name: str, *arguments: Any, **options: Any) -> Any:
        start = perf_counter()
        result = plain[name](*arguments, **options)
        seconds = perf_counter() - start
        work = describe_rotation(*arguments, **options) if name == "rotate" else Call(name.replace("_", " "))
        record.append(replace(work, seconds=seconds))
        return result

    def product(*arguments: Any, **options: Any) -> Any:
        arrays = dict(zip(("indptr", "indices"), arguments, strict=False)) | options
        indptr, indices = arrays["indptr"], arrays["indices"]
        return RecordedProduct(record, plain["Product"](*arguments, **options), indptr, indices, options)

    try:
        for name in plain:
            setattr(native, name, product if name == "Product" else partial(timed, name))
        yield record
    finally:
        for name, member in plain.items():
            setattr(native, name, member)


def best_of(rounds: Sequence[Sequence[Call]]) -> list[Call]:
    """The fastest round of each call, where all rounds made the same calls in the same order.

    Examples
    --------
    >>> best_of([[Call("a", seconds=2.0)], [Call("a", seconds=1.0)]])[0].seconds
    1.0
    """
    return [replace(same[0], seconds=min(call.seconds for call in same)) for same in zip(*rounds, strict=True)]


def group_calls(calls: Sequence[Call]) -> list[Call]:
    """Calls of the same work together, in the order of the first of each.

    Examples
    --------
    >>> [(call.name, call.times, call.seconds) for call in group_calls([Call("a", seconds=1), Call("a", seconds=2)])]
    [('a', 2, 3)]
    """
    groups: dict[Call, list[float]] = {}
    for call in calls:
        groups.setdefault(replace(call, seconds=0.0), []).append(call.seconds)
    return [replace(work, times=len(seconds), seconds=sum(seconds)) for work, seconds in groups.items()]
