"""An attack, and the one that all readers of compressed files meet: data that unpacks to far more than there is."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attack_readers import READERS, Reader, Write

UNIT = 1 << 20  # bytes that are compressed once, and then repeated
ALLOWED = 60_000_000  # bytes of an honest file that the budget lets unpack


@dataclass(frozen=True)
class Attack:
    """An attack on a reader: the function that writes its file in a size, and the sizes."""

    reader: str
    kind: str
    make: Write
    sizes: tuple[int, ...]  # the second is twice the first; one, where time does not depend on it
    file: str = ""  # name of the file, if it is not the reader's own
    bytes: int | None = None  # of the honest file, if these are not those of the attack
    like: str = ""  # reader of the honest file, if it is another
    refused: bool = False  # whether it must be refused, as what it says is not so


def _zstd(data: bytes) -> bytes:
    import pyarrow as pa

    packed: Any = pa.compress(data, "zstd", asbytes=True)
    return bytes(packed)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": _zstd,
}


def bomb(reader: Reader, suffix: str) -> Attack:
    """The first bytes of an honest file, again and again, compressed: each part of the file unpacks by itself."""

    def make(path: Path, size: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            honest = Path(folder, reader.file)
            reader.honest(honest, 2000)
            sample = honest.read_bytes()
        unit = PACKERS[suffix]((sample * (UNIT // len(sample) + 1))[:UNIT])
        path.write_bytes(unit * (size // UNIT))

    return Attack(reader.name, f"bomb {suffix[1:]}", make, (1 << 29,), reader.file + suffix, bytes=ALLOWED, like="csv")


BOMBS = [bomb(reader, suffix) for reader in READERS if reader.packed for suffix in PACKERS]
BOMBS += [bomb(reader, ".gz") for reader in READERS if reader.name == "load-csv"]
