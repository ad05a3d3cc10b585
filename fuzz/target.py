"""What is fuzzed: a function of bytes, inputs that it takes, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, get_args

from graphrefine.errors import GraphRefineError

Group = Literal["readers", "vectors", "kernels", "tables", "endpoints"]
GROUPS: tuple[Group, ...] = get_args(Group)
CORPUS = Path(__file__).parent / "corpus"  # inputs that once failed, by target


@dataclass(frozen=True)
class Target:
    """A door for bytes.

    ``run`` gets an input and an empty folder, which is emptied after it; it raises an error of ``errors`` or returns.
    ``seeds`` makes valid inputs, the same in every run; it is called once, in a child, so it may be slow and start
    threads. ``mutate`` takes the place of ``mutations.mutate``. None is called in the parent; what starts
    threads is imported inside them. ``prepare`` is called once in a worker, before its inputs and their limit of time,
    with a folder that stays.

    Examples
    --------
    >>> target = Target("digits", "tables", seeds=lambda: [b"1"], run=lambda data, folder: None)
    >>> target.errors
    (<class 'graphrefine.errors.GraphRefineError'>,)
    """

    name: str
    group: Group
    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes, Path], None]
    mutate: Callable[[Random, bytes], bytes] | None = None
    errors: tuple[type[BaseException], ...] = (GraphRefineError,)
    prepare: Callable[[Path], None] | None = None
    life: int = 50_000  # inputs of a worker: then another goes on, so that what leaks or grows is not blamed on one

    def list_corpus(self) -> list[bytes]:
        """The inputs that once failed; they are tried first, unchanged."""
        folder = CORPUS / self.name
        return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []
