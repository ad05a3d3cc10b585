"""Targets with a bug each, which the harness must find; and one without."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

from fuzz.target import Target
from graphrefine.errors import InputError

SEEDS = [b"ordinary", b"BUG"]


def crash(data: bytes, folder: Path) -> None:
    """Die by a signal, as compiled code does that reads beyond its array."""
    if data == b"BUG":
        os.kill(os.getpid(), signal.SIGSEGV)


def leave(data: bytes, folder: Path) -> None:
    """End the process."""
    if data == b"BUG":
        os._exit(3)


def hang(data: bytes, folder: Path) -> None:
    """Take longer than any input may."""
    if data == b"BUG":
        time.sleep(60)


def hoard(data: bytes, folder: Path) -> None:
    """Take more memory than any input may."""
    if data == b"BUG":
        bytearray(1 << 32)


def fail(data: bytes, folder: Path) -> None:
    """Raise what is not of the error tree, also from inputs that only a mutation makes."""
    if data == b"BUG" or (data[:1] != b"o" and data[1:] == b"rdinary"):
        raise KeyError(data)


def refuse(data: bytes, folder: Path) -> None:
    """Leave a file and refuse the input, as is right."""
    assert not list(folder.iterdir())
    (folder / "stray").write_bytes(data)
    raise InputError("no input is good enough")


def keep_ordinary(rng: Random, data: bytes) -> bytes:
    """Inputs without the bug: only the seed has it."""
    return rng.randbytes(4)


TARGETS = [
    *(Target(run.__name__, "tables", lambda: SEEDS, run, mutate=keep_ordinary) for run in (crash, leave, hang, hoard)),
    *(Target(run.__name__, "tables", lambda: SEEDS, run) for run in (fail, refuse)),
]
