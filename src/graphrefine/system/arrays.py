"""Arrays in files, mapped and written in NumPy's format; and buffers in huge pages of memory."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 21  # written at a time
LINE = 64  # bytes of a line of the cache
PAGE = 1 << 21  # bytes of a huge page
ADVICE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)


class OwnFile(np.memmap[Any, Any]):
    """An array that is all of a temporary ``.npy`` file, which `save_npy` gives a second name instead of a copy."""


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the first bytes of an ``.npy`` file, before its numbers."""
    file = BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


def map_array(file: IO[bytes], offset: int, *, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Map an array of an open file, read-only; ValueError if the file is too short."""
    # Not NumPy's memmap, which remembers a file *name* that joblib's workers open again: after a replacement they
    # would silently work on other vectors.
    count = int(np.prod(shape, dtype=object))
    size = os.fstat(file.fileno()).st_size
    if offset + count * dtype.itemsize > size:
        raise ValueError(f"cut short: {offset + count * dtype.itemsize:,} bytes expected, {size:,} found")
    if count == 0:
        return np.zeros(shape, dtype=dtype)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype=dtype, count=count, offset=offset).reshape(shape)


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order (True: Fortran's) and type of an open ``.npy`` file; ValueError if it is none of numbers."""
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = readers[version](file)
    except OSError:
        raise
    except Exception as error:  # the header is parsed as Python: there is no end to what damage can raise
        raise ValueError(f"not an npy file of numbers, or damaged ({error})") from error
    if dtype.hasobject:
        raise ValueError("holds Python objects, which are never loaded")
    if any(length < 0 for length in shape):
        raise ValueError(f"the shape {shape} is not possible: damaged")
    return shape, fortran, dtype


def map_npy(file: IO[bytes]) -> NDArray[Any]:
    """Map the array of an open ``.npy`` file; ValueError if it is damaged, cut short or holds objects."""
    shape, fortran, dtype = read_npy_header(file)
    array = map_array(file, file.tell(), dtype=dtype, shape=shape[::-1] if fortran else shape)
    return array.T if fortran else array


def save_npy(path: Path, array: NDArray[Any]) -> None:
    """Write an ``.npy`` file; an `OwnFile` gets a second name where the disk allows it."""
    mapped = array if isinstance(array, OwnFile) else array.base
    if isinstance(mapped, OwnFile) and mapped.filename is not None and mapped.shape == array.shape:
        mapped.flush()
        with contextlib.suppress(OSError):  # another disk, or one without links
            os.link(mapped.filename, path)
            return
    # Not by NumPy's own writer, which raises nothing where a full disk takes the last bytes of a file no more.
    with path.open("wb") as file:
        write_array(file, array)


def write_array(file: Any, array: NDArray[Any]) -> None:
    """Write an array in NumPy's format to anything that can be written to, some rows at a time."""
    write_npy_blocks(file, array.dtype, array.shape, row_blocks(array))


def write_npy_blocks(file: Any, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[NDArray[Any]]) -> None:
    """Write an array that comes in blocks of rows."""
    file.write(npy_header(dtype, shape))
    for block in blocks:
        file.write(np.ascontiguousarray(block).data if block.ndim else block.tobytes())


def row_blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield an array in blocks of some rows; one that has none, whole."""
    if array.ndim == 0 or array.size == 0:
        yield array
        return
    step = max(BLOCK_BYTES * len(array) // array.nbytes, 1)
    for start in range(0, len(array), step):
        yield array[start : start + step]


def empty_bytes(size: int) -> NDArray[np.uint8]:
    """Return memory whose bytes are not set, from the beginning of a huge page if it has the size of one.

    Less memory begins at a line of the cache.
    """
    # A processor keeps few addresses of pages at hand: rows gathered at random from pages of 4 KB are looked up one by
    # one, and each new page is an interrupt. Linux gives pages of 2 MB where they are asked for (its usual setting is
    # `madvise`); where a system has none, or refuses, the memory is the same in small pages.
    if size < PAGE or ADVICE is None:
        return aligned(np.empty(size + LINE, np.uint8), size)
    # Private memory of this process, which goes with the last array in it.
    memory = mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system may refuse
        memory.madvise(ADVICE)
    return aligned(np.frombuffer(memory, np.uint8), size, to=PAGE)


def aligned(room: NDArray[np.uint8], size: int, *, to: int = LINE) -> NDArray[np.uint8]:
    """Return the first bytes of a larger buffer that begin at a multiple of ``to``."""
    start = -room.ctypes.data % to
    return room[start : start + size]
