"""Storage of blocks: files by name, written whole or not at all, in a folder or in what fsspec reaches by a URL."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, require
from graphrefine.system.arrays import npy_header, read_npy_header


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8).data


class Storage(Protocol):
    """Whole files by name: a path below the root, with slashes."""

    root: str

    def size(self, name: str) -> int | None:
        """Return the bytes of a file; None if there is none."""

    def read_into(self, name: str, out: NDArray[Any], *, offset: int = 0) -> None:
        """Fill a contiguous array with the bytes from ``offset`` on; FormatError if the file is too short."""

    def write(self, name: str, *arrays: NDArray[Any]) -> None:
        """Make or replace a file: the bytes of contiguous arrays, one after another."""

    def names(self, folder: str) -> set[str]:
        """Return the files in a folder, by their last names; none if there is no such folder."""

    def remove(self, folder: str) -> None:
        """Remove a folder and all in it, if it is there."""


def open_storage(root: str | os.PathLike[str]) -> Storage:
    """Return the storage at a path or URL."""
    address = os.fspath(root)
    if "://" in address and not address.startswith("file://"):
        return RemoteStorage(address)
    return FolderStorage(address.removeprefix("file://"))


class FolderStorage:
    """A folder of this machine, or one that is shared between machines. See `Storage`."""

    def __init__(self, root: str) -> None:
        self.root = str(Path(root).absolute())

    def size(self, name: str) -> int | None:
        """See `Storage.size`."""
        try:
            return Path(self.root, name).stat().st_size
        except FileNotFoundError:
            return None

    def read_into(self, name: str, out: NDArray[Any], *, offset: int = 0) -> None:
        """See `Storage.read_into`."""
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
        """See `Storage.write`."""
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
        """See `Storage.names`."""
        try:
            return {path.name for path in Path(self.root, folder).iterdir() if not path.name.startswith(".")}
        except FileNotFoundError:
            return set()

    def remove(self, folder: str) -> None:
        """See `Storage.remove`."""
        shutil.rmtree(Path(self.root, folder), ignore_errors=True)


class RemoteStorage:
    """A storage that fsspec reaches: object stores, other file systems. See `Storage`."""

    def __init__(self, root: str) -> None:
        require("fsspec", f"reading {root}", "scale")
        import fsspec

        self.root = root.rstrip("/")
        try:
            self._files, self._base = fsspec.core.url_to_fs(self.root)
        except (ImportError, ValueError) as error:
            raise InputError(f"{root} cannot be reached: {error}") from None

    def size(self, name: str) -> int | None:
        """See `Storage.size`."""
        try:
            return int(self._files.size(f"{self._base}/{name}"))
        except FileNotFoundError:
            return None

    def read_into(self, name: str, out: NDArray[Any], *, offset: int = 0) -> None:
        """See `Storage.read_into`."""
        view = as_bytes(out)
        try:
            content = self._files.cat_file(f"{self._base}/{name}", start=offset, end=offset + len(view))
        except FileNotFoundError:
            raise FormatError(f"{self.root}/{name}", "this file is missing") from None
        if len(content) != len(view):
            raise _short(f"{self.root}/{name}", offset + len(view), offset + len(content))
        view[:] = content

    def write(self, name: str, *arrays: NDArray[Any]) -> None:
        """See `Storage.write`: such stores show an object when all of it is there."""
        path = f"{self._base}/{name}"
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        self._files.pipe_file(path, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))

    def names(self, folder: str) -> set[str]:
        """See `Storage.names`."""
        try:
            paths = self._files.ls(f"{self._base}/{folder}", detail=False, refresh=True)
        except FileNotFoundError:
            return set()
        return {path.rsplit("/", 1)[1] for path in paths}

    def remove(self, folder: str) -> None:
        """See `Storage.remove`."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm(f"{self._base}/{folder}", recursive=True)


class StoredArray:
    """A .npy file of one dimension on a storage: slices of it are read, the rest is not."""

    def __init__(self, storage: Storage, name: str) -> None:
        path, size = f"{storage.root}/{name}", storage.size(name)
        if size is None:
            raise FormatError(path, "this file is missing")
        head = np.empty(min(size, 1024), np.uint8)
        storage.read_into(name, head)
        file = io.BytesIO(head.tobytes())
        try:
            shape, _, self.dtype = read_npy_header(file)
        except ValueError as error:
            raise FormatError(path, str(error)) from None
        self._storage, self._name, self._offset, self._length = storage, name, file.tell(), int(shape[0])
        expected = self._offset + self._length * self.dtype.itemsize
        if size != expected:
            raise _short(path, expected, size)

    def __len__(self) -> int:
        return self._length

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
    size = storage.size(name)
    if size is None:
        return None
    data = np.empty(size, np.uint8)
    storage.read_into(name, data)
    with np.load(io.BytesIO(data.tobytes()), allow_pickle=False) as arrays:
        return dict(arrays)


def _short(path: str, expected: int, size: int) -> FormatError:
    return FormatError(path, f"the file was cut short: {size:,} bytes where {expected:,} were expected")
