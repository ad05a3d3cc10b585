"""Compiled kernels with arrays that do not fit: indices out of range, wrong types and lengths, nothing, NaN, infinity.

An input is a number, from which a valid call and what is spoiled in it are drawn. Run it with sanitizers
(``make sanitize``): a kernel that reads beyond its arrays need not die of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from fuzz.target import Target

if TYPE_CHECKING:
    from numpy.random import Generator

FAMILIES = ("text", "edges", "order", "walks", "plane", "search", "exact", "tall", "live")
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, MemoryError)
WHOLE = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 7, 33, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, 2**63)
REAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1e-30, 1e30, 1e-320, 1e308)
TYPES = ("int8", "int32", "int64", "uint64", "float32", "float64", "bool", "complex64", "object")
WORK = {"nodes", "length", "threads", "negatives", "window", "steps"}  # large ones take long, or all memory, by right
WORK_PLACES = {("build_rows", 0), ("walk_pairs", 4)}  # arguments without a keyword that are the same: nodes, and walks
TRAINING = {"first", "rate", "last_rate", "threads"}
BUILDING = {"columns", "value", "row_scale", "column_shift", "loop", "diagonal", "first_column", "constant"}
BUILDING |= {"starts", "stops"}


def run(family: str, data: bytes, folder: Path) -> None:
    """Make a call of a family, spoil it in most cases, and call."""
    import numpy as np

    from fuzz.kernel_calls import CALLS

    rng = np.random.default_rng(int(data))
    name, arguments, keywords = CALLS[family](rng)
    for _ in range(int(rng.choice([0, 1, 1, 1, 2, 3]))):
        at = int(rng.integers(0, len(arguments) + len(keywords)))
        if at < len(arguments):
            if (name, at) == ("LiveGraph", 3):
                continue  # so many nodes, of which a kernel has as many as there is memory for
            arguments[at] = spoil(rng, arguments[at], small=(name, at) in WORK_PLACES)
        else:
            key = list(keywords)[at - len(arguments)]
            keywords[key] = spoil(rng, keywords[key], small=key in WORK)
    call(name, arguments, keywords)


def call(name: str, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Call a kernel; of a class, make one and use it."""
    from graphrefine.kernels import _native

    native: Any = _native
    if name == "SkipGram":
        noise, *rest = arguments
        later = {key: keywords.pop(key) for key in TRAINING}
        native.SkipGram(noise, **keywords).train(*rest, **later)
    elif name == "Product":
        indptr, indices, x = arguments
        own = {key: keywords.pop(key) for key in BUILDING & set(keywords)}
        native.Product(indptr, indices, **own).apply(x, **keywords)
    elif name == "LiveGraph":
        graph = native.LiveGraph(*arguments[:3], **keywords)
        graph.add_nodes(arguments[3])
        graph.change(*arguments[4:8], skip=True)
        graph.settle()
        graph.commit()
        graph.vectors(*arguments[8:])
    else:
        getattr(native, name)(*arguments, **keywords)


def spoil(rng: Generator, value: Any, *, small: bool) -> Any:
    """Something else in the place of an argument."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return spoil_array(rng, value, small=small)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return draw_whole(rng, small=small)
    if isinstance(value, float):
        return REAL[int(rng.integers(0, len(REAL)))]
    if isinstance(value, tuple) and rng.random() < 0.5:
        return tuple(spoil(rng, each, small=True) if rng.random() < 0.4 else each for each in value)
    if isinstance(value, tuple):
        return value[: int(rng.integers(0, len(value) + 1))]
    return ["", "\n", "\0", "é", ",", '"', " "][int(rng.integers(0, 7))]


def draw_whole(rng: Generator, *, small: bool) -> int:
    """A whole number at the edge of a type; of small ones, one that a kernel is quick with, or refuses."""
    choices = [number for number in WHOLE if not small or number < 100 or number > 2**40]
    return choices[int(rng.integers(0, len(choices)))]


def spoil_array(rng: Generator, array: Any, *, small: bool) -> Any:
    """An array with other numbers, or of another shape, type or order."""
    import numpy as np

    kind, flat = int(rng.integers(0, 10)), array.copy()
    if kind < 5 and array.size:
        place = tuple(int(rng.integers(0, size)) for size in array.shape)
        if array.dtype.kind == "f":
            flat[place] = np.array(REAL[int(rng.integers(0, len(REAL)))]).astype(array.dtype)
        else:
            whole = np.array([min(draw_whole(rng, small=small), 2**63 - 1)], np.int64)
            flat[place] = rng.choice([whole.astype(array.dtype)[0], array.dtype.type(array.size), array.dtype.type(40)])
        return flat
    if kind == 5:
        return array[:-1]
    if kind == 6:
        return np.concatenate([array, array[-1:]])
    if kind == 7:
        return array.astype(TYPES[int(rng.integers(0, len(TYPES)))])
    if kind == 8:
        return array.T.copy() if array.ndim > 1 else array[None]
    return array[:0] if rng.random() < 0.5 else array[::-1]


def change(rng: Random, data: bytes) -> bytes:
    """Another number."""
    return b"%d" % rng.getrandbits(62)


def make_targets(call_of: Callable[[str, bytes, Path], None]) -> list[Target]:
    """A target for each family."""
    return [
        Target(f"kernels-{family}", "kernels", lambda: [b"0"], partial(call_of, family), change, REFUSALS)
        for family in FAMILIES
    ]


TARGETS = make_targets(run)
