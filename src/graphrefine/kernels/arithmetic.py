"""Versions of the arithmetic: the name of the bits, and the versions that this installation computes.

An arithmetic decides the bits of vectors beside the graph, the settings and the seed: the order and the rounding of
every sum, the hashes behind random signs, the polynomials in place of logarithms. Compiled kernels have the same bits
on every processor; their SciPy twins come near. The recipe of an embedding says all of it:

====================== ==============================================================================================
arithmetic             the version
kernel                 "native", or "scipy": the twins, whose vectors agree within a tolerance only
processor_dependence   the part of the method whose last bits belong to one kind of processor; absent if there is none
made_on                the instruction set, and versions of Python, NumPy, SciPy and others that the method uses;
                       the bits depend on these only where the kernel is "scipy" or there is a processor dependence
====================== ==============================================================================================

A new version is an entry of `ARITHMETICS`. The entry of an older one that is still computed lists the kernels that it
has of its own; code above the kernels asks `arithmetic_in_use`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from graphrefine.errors import ArgumentWarning, InputError, OutputError

KEY = "arithmetic"  # in recipes, and in the marks of unfinished work
MADE_ON = "made_on"  # in recipes: processor and libraries
_DECIDES = (KEY, "kernel", "processor_dependence")


@dataclass(frozen=True, eq=False)  # compared by identity, as the key of a cache
class Arithmetic:
    """A version, and its kernels that are not the newest ones: by name, each made from the newest one."""

    version: int
    kernels: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


ARITHMETICS: dict[int, Arithmetic] = {1: Arithmetic(1)}

_in_use: ContextVar[int | None] = ContextVar("arithmetic", default=None)


def newest_arithmetic() -> int:
    """The version of a run that names none.

    Examples
    --------
    >>> newest_arithmetic()
    1
    """
    return max(ARITHMETICS)


def arithmetic_in_use() -> int:
    """The version that kernels compute with here."""
    return newest_arithmetic() if (version := _in_use.get()) is None else version


@contextmanager
def use_arithmetic(version: int | None) -> Iterator[int]:
    """A stretch of code that computes with a version; None is the newest. Threads of `map_tasks` follow.

    Examples
    --------
    >>> with use_arithmetic(1) as version:
    ...     print(version, arithmetic_in_use())
    1 1
    """
    token = _in_use.set(resolve_arithmetic(version))
    try:
        yield arithmetic_in_use()
    finally:
        _in_use.reset(token)


def resolve_arithmetic(version: int | None) -> int:
    """The version that was asked for, the newest one for None; InputError unless it can be computed here.

    Examples
    --------
    >>> resolve_arithmetic(None)
    1
    >>> resolve_arithmetic(7)
    Traceback (most recent call last):
    graphrefine.errors.InputError: arithmetic=7 is not one that this graphrefine computes, which is 1; leave it out \
for the newest, or install a graphrefine that has it
    """
    if version is None:
        return newest_arithmetic()
    if not is_version(version):
        problem = f"arithmetic={version!r} must be a whole number, the version; this graphrefine computes {_versions()}"
        raise InputError(problem, argument="arithmetic")
    if version not in ARITHMETICS:
        raise InputError(
            f"arithmetic={version} is not one that this graphrefine computes, which is {_versions()}; leave it out for "
            "the newest, or install a graphrefine that has it",
            argument="arithmetic",
        )
    return version


def is_version(value: Any) -> bool:
    """Whether a value can be the version of an arithmetic.

    Examples
    --------
    >>> [is_version(value) for value in (1, 7, 0, True, "1", None)]
    [True, True, False, False, False, False]
    """
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def check_arithmetic(record: Mapping[str, Any], *, source: str) -> None:
    """Raise OutputError unless unfinished work, whose mark this is, was made with the arithmetic in use.

    Examples
    --------
    >>> check_arithmetic({"arithmetic": 1}, source="friends.work")
    >>> check_arithmetic({"arithmetic": 7}, source="friends.work")
    Traceback (most recent call last):
    graphrefine.errors.OutputError: friends.work: holds unfinished work of arithmetic 7, and this run has arithmetic \
1: their bits cannot be joined; delete it to start anew
    """
    theirs, ours = record.get(KEY), arithmetic_in_use()
    if is_version(theirs) and theirs == ours:
        return
    known = is_version(theirs) and theirs in ARITHMETICS
    raise OutputError(
        f"{source}: holds unfinished work of {_name(record)}, and this run has arithmetic {ours}: their bits cannot be "
        f"joined; delete it to start anew{f', or say arithmetic={theirs} to go on with it' if known else ''}",
    )


def warn_of_arithmetic(recipe: Mapping[str, Any], *, source: str, stacklevel: int) -> None:
    """Warn that vectors were made with an arithmetic that is not computed here; as numbers they are used all the same.

    Vectors from elsewhere, and those of a time when the arithmetic had no version, are no cause.
    """
    record = origin_of(recipe)
    if KEY not in record or (is_version(record[KEY]) and record[KEY] in ARITHMETICS):
        return
    text = (
        f"{source}: the vectors are of {_name(record)}, and this graphrefine computes arithmetic {_versions()}: they "
        "are used as they are, and cannot be made again here to the bit; a graphrefine that has it can"
    )
    warnings.warn(ArgumentWarning(text), stacklevel=stacklevel + 1)


def describe_arithmetic(recipe: Mapping[str, Any]) -> str:
    """How far the bits of vectors are promised, by their recipe.

    Examples
    --------
    >>> describe_arithmetic({"arithmetic": 1, "kernel": "native"})
    'arithmetic 1: the same bits on every processor'
    >>> describe_arithmetic({"arithmetic": 1, "kernel": "scipy"})
    'arithmetic 1, approximate: without compiled kernels'
    >>> describe_arithmetic({"arithmetic": 1, "kernel": "native", "processor_dependence": "LAPACK"})
    'arithmetic 1: the same bits on one kind of processor (LAPACK)'
    >>> describe_arithmetic({"method": "refine"})
    'an arithmetic without a version'
    """
    record = origin_of(recipe)
    if not is_version(record.get(KEY)):
        return _name(record)
    if record.get("kernel") == "scipy":
        return f"{_name(record)}, approximate: without compiled kernels"
    part = record.get("processor_dependence")
    where = "every processor" if part is None else f"one kind of processor ({part})"
    return f"{_name(record)}: the same bits on {where}"


def bits_of(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """All of a recipe that decides bits beside graph and settings; processor and libraries only where they do.

    Examples
    --------
    >>> made_on = {"processor": "avx2", "numpy": "2.4.6"}
    >>> bits_of({"arithmetic": 1, "kernel": "native", "made_on": made_on})
    {'arithmetic': 1, 'kernel': 'native'}
    >>> bits_of({"arithmetic": 1, "kernel": "scipy", "made_on": made_on})["made_on"]
    {'processor': 'avx2', 'numpy': '2.4.6'}
    """
    record = origin_of(recipe)
    bits = {name: record[name] for name in _DECIDES if name in record}
    if (bits.get("kernel") == "scipy" or "processor_dependence" in bits) and MADE_ON in record:
        bits[MADE_ON] = record[MADE_ON]
    return bits


def compare_bits(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Why the same graph and settings would give two recipes other vectors, in words; None where they would not.

    Recipes without an arithmetic, of vectors from elsewhere or of old, say nothing.

    Examples
    --------
    >>> compare_bits({"arithmetic": 1, "kernel": "native"}, {"arithmetic": 1, "kernel": "scipy"})
    "kernel 'native' and 'scipy'"
    >>> compare_bits({"arithmetic": 1, "kernel": "native"}, {"seed": 1})
    """
    first, second = bits_of(one), bits_of(other)
    if KEY not in first or KEY not in second or first == second:
        return None
    names = [name for name in (KEY, "kernel") if first.get(name) != second.get(name)]
    reasons = [f"{name} {first.get(name)!r} and {second.get(name)!r}" for name in names]
    here, there = first.get(MADE_ON), second.get(MADE_ON)
    if not names and isinstance(here, dict) and isinstance(there, dict):
        differing = [name for name in here if here[name] != there.get(name)]
        reasons = [f"{name} {here[name]} and {there.get(name)}" for name in differing]
    return ", ".join(reasons) or None


def warn_of_differences(one: Mapping[str, Any], other: Mapping[str, Any], *, stacklevel: int) -> None:
    """Warn that two embeddings were made in ways whose vectors of a node can be far apart."""
    if (reason := compare_bits(one, other)) is not None:
        text = (
            f"the embeddings were made by different computations ({reason}): their vectors of one node can differ by "
            "far more than rounding, even from one graph with one seed; a model trained on the one is not for the other"
        )
        warnings.warn(ArgumentWarning(text), stacklevel=stacklevel + 1)


def origin_of(recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recipe of the vectors themselves, or of those that new nodes were folded into."""
    into = recipe.get("into")
    return into if isinstance(into, Mapping) else recipe


def _name(record: Mapping[str, Any]) -> str:
    if KEY not in record:
        return "an arithmetic without a version"
    version = record[KEY]
    return f"arithmetic {version}" if is_version(version) else f"arithmetic {version!r}, which is no version"


def _versions() -> str:
    *others, last = map(str, sorted(ARITHMETICS))
    return f"{', '.join(others)} or {last}" if others else last
