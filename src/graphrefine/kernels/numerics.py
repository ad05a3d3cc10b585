"""The version of the numerics, which names the bits of vectors.

The numerics are all that decides bits besides the graph, the settings and the seed: the order and the rounding of each
sum, the hashes behind random signs, the polynomials of logarithms. A change of any bit is a new version. Recipes state:

====================== ==============================================================================================
numerics_version       the version; former files name it ``arithmetic``
processor_dependence   the part of the method whose last bits belong to one kind of processor; absent if there is none
made_on                the instruction set, and versions of Python, NumPy, SciPy and others that the method uses;
                       the bits depend on these only where there is a processor dependence
====================== ==============================================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from graphrefine.errors import ArgumentWarning, OutputError

NUMERICS_VERSION = 1
KEY = "numerics_version"  # in recipes, and in the metadata of unfinished work
FORMER_KEY = "arithmetic"  # in files of before
MADE_ON = "made_on"


def numerics_entry() -> dict[str, Any]:
    """Return what recipes and the metadata of unfinished work record: the version.

    Examples
    --------
    >>> numerics_entry()
    {'numerics_version': 1}
    """
    return {KEY: NUMERICS_VERSION}


def made_on(libraries: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what recipes record of the machine: instruction set and libraries, those of the method included."""
    from graphrefine.kernels import native

    return {MADE_ON: {"processor": native.simd(), **_library_versions(libraries)}}


def version_of(record: Mapping[str, Any]) -> Any:
    """Return the version that a recipe or other metadata states, under either key; None if it states none.

    Examples
    --------
    >>> version_of({"numerics_version": 1}), version_of({"arithmetic": 1}), version_of({})
    (1, 1, None)
    """
    return record.get(KEY, record.get(FORMER_KEY))


def check_numerics(record: Mapping[str, Any], *, source: str) -> None:
    """Raise OutputError unless unfinished work with this metadata was made with the numerics of this installation.

    Examples
    --------
    >>> check_numerics({"numerics_version": 1}, source="friends.work")
    >>> check_numerics({"numerics_version": 7}, source="friends.work")
    Traceback (most recent call last):
    graphrefine.errors.OutputError: friends.work: unfinished work of numerics version 7, and this graphrefine has \
version 1; delete it to start again
    """
    if (theirs := version_of(record)) != NUMERICS_VERSION:
        raise OutputError(
            f"{source}: unfinished work of numerics version {theirs!r}, and this graphrefine has version "
            f"{NUMERICS_VERSION}; delete it to start again"
        )


def warn_of_numerics(recipe: Mapping[str, Any], *, source: str, stacklevel: int) -> None:
    """Warn that vectors were made with other numerics than those of this installation.

    Vectors without a version, from elsewhere, cause no warning.
    """
    record = origin_of(recipe)
    if (KEY not in record and FORMER_KEY not in record) or version_of(record) == NUMERICS_VERSION:
        return
    text = (
        f"{source}: the vectors are of numerics version {version_of(record)!r}, and this graphrefine has version "
        f"{NUMERICS_VERSION}: they can be used, but not be made again here to the bit"
    )
    warnings.warn(ArgumentWarning(text), stacklevel=stacklevel + 1)


def describe_numerics(recipe: Mapping[str, Any]) -> str:
    """Describe how far the bits of vectors are promised, by their recipe.

    Examples
    --------
    >>> describe_numerics({"numerics_version": 1})
    'numerics version 1: the same bits on every processor'
    >>> describe_numerics({"numerics_version": 1, "processor_dependence": "LAPACK"})
    'numerics version 1: the same bits on one kind of processor (LAPACK)'
    >>> describe_numerics({"method": "refine"})
    'no numerics version'
    """
    record = origin_of(recipe)
    if (version := version_of(record)) is None:
        return "no numerics version"
    part = record.get("processor_dependence")
    where = "every processor" if part is None else f"one kind of processor ({part})"
    return f"numerics version {version!r}: the same bits on {where}"


def bits_of(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return all of a recipe that decides bits besides graph and settings, in the form that fingerprints digest.

    Names of keys are those of the definition of fingerprints, ``grf1``: vectors of former files keep theirs.

    Examples
    --------
    >>> bits_of({"numerics_version": 1, "made_on": {"processor": "avx2"}})
    {'arithmetic': 1, 'kernel': 'native'}
    >>> bits_of({"numerics_version": 1, "processor_dependence": "LAPACK", "made_on": {"processor": "avx2"}})["made_on"]
    {'processor': 'avx2'}
    """
    record = origin_of(recipe)
    bits: dict[str, Any] = {}
    if KEY in record or FORMER_KEY in record:
        bits = {"arithmetic": version_of(record), "kernel": record.get("kernel", "native")}
    for name in ("kernel", "processor_dependence"):
        if name in record:
            bits[name] = record[name]
    if (bits.get("kernel") == "scipy" or "processor_dependence" in bits) and MADE_ON in record:
        bits[MADE_ON] = record[MADE_ON]
    return bits


def compare_bits(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Explain why the same graph and settings would give two recipes other vectors; None where they would not.

    Recipes without a version, of vectors from elsewhere, cannot be compared.

    Examples
    --------
    >>> compare_bits({"numerics_version": 1}, {"arithmetic": 2})
    'numerics version 1 and 2'
    >>> compare_bits({"numerics_version": 1}, {"seed": 1})
    """
    first, second = bits_of(one), bits_of(other)
    if "arithmetic" not in first or "arithmetic" not in second or first == second:
        return None
    names = {"arithmetic": "numerics version", "kernel": "kernel"}
    reasons = [f"{names[key]} {first[key]!r} and {second[key]!r}" for key in names if first[key] != second[key]]
    here, there = first.get(MADE_ON), second.get(MADE_ON)
    if not reasons and isinstance(here, dict) and isinstance(there, dict):
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
    """Return the recipe of the vectors themselves, or of those that new nodes were folded into."""
    into = recipe.get("into")
    return into if isinstance(into, Mapping) else recipe


@cache
def _library_versions(more: tuple[str, ...]) -> dict[str, str]:
    from importlib.metadata import version  # reads metadata: SciPy itself is not imported
    from platform import python_version

    return {"python": python_version(), "numpy": np.__version__, **{name: version(name) for name in ("scipy", *more)}}
