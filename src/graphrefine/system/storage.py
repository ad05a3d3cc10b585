"""Storage of blocks: files by name, written whole or not at all, in a folder that machines may share."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.system.arrays import npy_header, read_npy_header


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8).data


class Storage:
    """Whole files by name: a path below the root, with slashes."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = str(Path(root).absolute())

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if there is none."""
        try:
            return Path(self.root, name).read_bytes()
        except FileNotFoundError:
            return None

    def read_into(self, name: str, out: NDArray[Any], *, offset: int = 0) -> None:
        """Fill a contiguous array with the bytes from ``offset`` on; FormatError if the file is too short."""
        path, view = f"{self.root}/{name}", as_bytes(out)
        try:
            with Path(path).open("rb") as file:
                file.seek(offset)
                done = file.readinto(view)
        except FileNotFoundError:
            raise FormatError(path, "this file is missing") from None
        if done < len(view):
            raise _short(path, offset + len(view), offset + done)

    def write(self, name: str, *arrays: NDArray[Any]) -> None:
        """Make or replace a file: the bytes of contiguous arrays, one after another."""
        path = Path(self.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Each writer has another name: two workers may do the same task, and write the same file at once.
        hidden = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
        try:
            with hidden.open("wb") as file:
                for array in arrays:
                    file.write(as_bytes(np.ascontiguousarray(array)))
            hidden.replace(path)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise

    def write_at(self, name: str, array: NDArray[Any], offset: int) -> None:
        """Write into a file from ``offset`` on; the file is created if it is missing."""
        path = Path(self.root, name)
        path.touch()
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(as_bytes(np.ascontiguousarray(array)))

    def names(self, folder: str) -> set[str]:
        """Return the files in a folder, by their last names; none if there is no such folder."""
        try:
            return {path.name for path in Path(self.root, folder).iterdir() if not path.name.startswith(".")}
        except FileNotFoundError:
            return set()

    def remove(self, folder: str) -> None:
        """Remove a folder and all in it, if it is there."""
        shutil.rmtree(Path(self.root, folder), ignore_errors=True)


class StoredArray:
    """A .npy file of one dimension on a storage: slices of it are read, the rest is not."""

    def __init__(self, storage: Storage, name: str) -> None:
        path = Path(storage.root, name)
        try:
            with path.open("rb") as file:
                shape, _, self.dtype = read_npy_header(file)
                self._offset, size = file.tell(), os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            raise FormatError(path, "this file is missing") from None
        except ValueError as error:
            raise FormatError(path, str(error)) from None
        self._storage, self._name, self._length = storage, name, int(shape[0])
        expected = self._offset + self._length * self.dtype.itemsize
        if size != expected:
            raise _short(path, expected, size)

    def __getitem__(self, span: slice) -> NDArray[Any]:
        start, stop, _ = span.indices(self._length)
        out = np.empty(max(stop - start, 0), self.dtype)
        if len(out):
            self._storage.read_into(self._name, out, offset=self._offset + start * self.dtype.itemsize)
        return out


def write_array(storage: Storage, name: str, array: NDArray[Any]) -> None:
    """Write an array as .npy."""
    storage.write(name, np.frombuffer(npy_header(array.dtype, array.shape), np.uint8), array)


def write_arrays(storage: Storage, name: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write small arrays of numbers or texts as one .npz."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]  # its stubs take a name for `allow_pickle`
    storage.write(name, np.frombuffer(file.getvalue(), np.uint8))


def read_arrays(storage: Storage, name: str) -> dict[str, NDArray[Any]] | None:
    """Read arrays that `write_arrays` wrote; None if the file is missing."""
    content = storage.read(name)
    if content is None:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)


def _short(path: str | Path, expected: int, size: int) -> FormatError:
    return FormatError(path, f"the file was cut short: {size:,} bytes where {expected:,} were expected")
