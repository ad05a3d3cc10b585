"""Inputs with an inside: compressed files, archives, folders that are one input; changed below their shell.

A change of compressed bytes ends at a checksum; these take the shell off, change what is inside and put it on again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from fuzz.mutations import Mutation, count_changes, mutate

SHELL = 0.15  # of the changes are of the shell itself
HEAD = struct.Struct("<HI")  # of a file in a bundle: the length of its name, and of its content


def below(pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes], inner: Mutation = mutate) -> Mutation:
    """A mutation of what ``unpack`` finds; of the bytes themselves where it finds nothing, and now and then.

    Examples
    --------
    >>> change = below(lambda text: b"<" + text + b">", lambda data: data[1:-1])
    >>> sum(change(Random(seed), b"<12>")[:1] == b"<" for seed in range(100)) > 80
    True
    """

    def change(rng: Random, data: bytes) -> bytes:
        if rng.random() < SHELL:
            return mutate(rng, data)
        try:
            inside = unpack(data)
        except (OSError, EOFError, ValueError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
            return mutate(rng, data)
        return pack(inner(rng, inside))

    return change


def below_zip(rng: Random, data: bytes) -> bytes:
    """A zip archive (``.npz``) after a change in one of its members, or of its name, with checksums that hold."""
    return below(_zip, _unzip, mutate_bundle)(rng, data)


def below_bundle(rng: Random, data: bytes) -> bytes:
    """A bundle after a change of one of its files, or of which files it has."""
    return mutate_bundle(rng, data)


def mutate_bundle(rng: Random, data: bytes) -> bytes:
    """One file of a bundle changed; at times one is missing, twice there, or has another name.

    Examples
    --------
    >>> whole = pack_files({"a": b"1 2", "b/c": b"3 4"})
    >>> changed = [unpack_files(mutate_bundle(Random(seed), whole)) for seed in range(20)]
    >>> sum(files != unpack_files(whole) for files in changed) > 10
    True
    """
    files = unpack_files(data)
    for _ in range(count_changes(rng) if files else 0):
        name = rng.choice(sorted(files))
        chance = rng.random()
        if chance < 0.03 and len(files) > 1:
            del files[name]
        elif chance < 0.06:
            other = mutate(rng, name.encode("utf-8", "replace"))[:100].decode("utf-8", "replace")
            if is_plain(other):
                files[other] = files.pop(name)
        elif chance < 0.1:
            files[name] = files[rng.choice(sorted(files))]
        else:
            files[name] = mutate(rng, files[name])
    return pack_files(files)


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Files, by their names, as one input.

    Examples
    --------
    >>> unpack_files(pack_files({"x/y": b"12", "z": b""}))
    {'x/y': b'12', 'z': b''}
    """
    parts = []
    for name, content in files.items():
        encoded = name.encode("utf-8", "replace")
        parts += [HEAD.pack(len(encoded), len(content)), encoded, content]
    return b"".join(parts)


def unpack_files(data: bytes) -> dict[str, bytes]:
    """The files of a bundle; those that are whole, if it is cut."""
    files = {}
    at = 0
    while at + HEAD.size <= len(data):
        width, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        name = data[at : at + width].decode("utf-8", "replace")
        files[name] = data[at + width : at + width + size]
        at += width + size
    return files


def pack_folder(folder: Path) -> bytes:
    """All files of a folder and of those in it, as one input."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return pack_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def write_folder(data: bytes, folder: Path) -> None:
    """The files of a bundle, below a folder; names that would lie elsewhere are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in unpack_files(data).items():
        if is_plain(name):
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue  # a file and a folder of one name


def is_plain(name: str) -> bool:
    """Whether a name is a path below a folder that every file system takes."""
    parts = name.split("/")
    return "\0" not in name and len(name) < 100 and all(part not in {"", ".", ".."} for part in parts)


def _zip(bundle: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in unpack_files(bundle).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _unzip(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return pack_files({name: archive.read(name) for name in archive.namelist()})


below_gzip = below(lambda data: gzip.compress(data, 1, mtime=0), gzip.decompress)
below_bz2 = below(lambda data: bz2.compress(data, 1), bz2.decompress)
below_xz = below(lambda data: lzma.compress(data, preset=0), lzma.decompress)
below_zlib = below(lambda data: zlib.compress(data, 1), zlib.decompress)
