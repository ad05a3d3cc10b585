"""The only door to compiled code.

Each kernel exists twice, under one name and with one signature: in C++ (``native/*.cpp``, module ``_native``) and as a
NumPy/SciPy twin that gives the same answer more slowly (``twin*.py``). `choose_kernel` returns the one of a name that
this machine has, and `kernels` those that engines work with; twins are loaded where there is nothing compiled.

Their results have the bits of the arithmetic in use (`arithmetic`).

The environment variable ``GRAPHREFINE_KERNEL`` forces one of them: ``native`` or ``scipy``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.kernels.arithmetic import ARITHMETICS, KEY, MADE_ON, Arithmetic, arithmetic_in_use

__all__ = ["PAD", "Kernels", "choose_kernel", "kernels", "to_bfloat16", "to_float32"]

PAD = 32  # the columns of tall matrices are padded to a multiple of this
PARTS = ("", "_edges", "_exact", "_layout", "_least_squares", "_live", "_nearest", "_skipgram", "_text", "_walks")
TWINS = tuple(f"twin{part}" for part in PARTS)  # modules


class Kernels:
    """The kernels of tall matrices and of their graph, all compiled or all twins.

    Attributes
    ----------
    name : str
        "native" or "scipy".
    simd : str
        Instruction set of the compiled kernels; "none" for the twins.
    arithmetic : int
        Version of the arithmetic, see `graphrefine.kernels.arithmetic`.
    product, rotate, reorder, permute, row_sums, split_rows, signs : callable
        See the functions of `graphrefine.kernels.twin`; `product` makes a `Product`.
    """

    def __init__(self, native: Any, arithmetic: Arithmetic) -> None:
        self._native, self._own = native, arithmetic.kernels
        self.arithmetic = arithmetic.version
        self.name = "scipy" if native is None else "native"
        self.simd: str = "none" if native is None else native.simd()
        self.product: Callable[..., Any] = self.choose("Product")
        self.rotate: Callable[..., None] = self.choose("rotate")
        self.reorder: Callable[..., Any] = self.choose("reorder")
        self.permute: Callable[..., Any] = self.choose("permute")
        self.row_sums: Callable[..., NDArray[np.float64]] = self.choose("row_sums")
        self.split_rows: Callable[..., NDArray[np.int64]] = self.choose("split_rows")
        self.signs: Callable[..., NDArray[np.uint32]] = self.choose("signs")

    def names(self) -> dict[str, Any]:
        """What recipes and marks of unfinished work say of them: see `graphrefine.kernels.arithmetic`."""
        return {KEY: self.arithmetic, "kernel": self.name}

    def origin(self, libraries: tuple[str, ...] = ()) -> dict[str, Any]:
        """What recipes say of the machine: instruction set and libraries, those of the method among them."""
        return {MADE_ON: {"processor": self.simd, **_library_versions(libraries)}}

    def choose(self, name: str) -> Any:
        """The kernel of this name."""
        kernel = self._newest(name)
        return self._own[name](kernel) if name in self._own else kernel

    def _newest(self, name: str) -> Any:
        if self._native is not None:
            return getattr(self._native, name)
        modules = (import_module(f"graphrefine.kernels.{module}") for module in TWINS)
        return next(vars(module)[name] for module in modules if name in vars(module))


def kernels(which: Literal["auto", "native", "scipy"] | None = None) -> Kernels:
    """The kernels in use: compiled where they were built, else their SciPy twins.

    Examples
    --------
    >>> kernels("scipy").name
    'scipy'
    """
    name = which or os.environ.get("GRAPHREFINE_KERNEL", "auto")
    if name not in ("auto", "native", "scipy"):
        raise InputError(f"GRAPHREFINE_KERNEL is {name!r}; it can be 'auto', 'native' or 'scipy'")
    native = None if name == "scipy" else _compiled_module()
    if native is None and name == "native":
        raise InputError(
            "the compiled kernels were asked for and are not in this installation; "
            "reinstall graphrefine where a C++17 compiler (GCC or Clang) works"
        )
    return _kernels_of(native, ARITHMETICS[arithmetic_in_use()])


def choose_kernel(name: str) -> Any:
    """The compiled kernel of this name, or its twin, as `kernels` decides.

    Examples
    --------
    >>> choose_kernel("signs")(0, 0, rows=2, words=1).shape
    (2, 1)
    """
    return kernels().choose(name)


@cache
def _library_versions(more: tuple[str, ...]) -> dict[str, str]:
    from importlib.metadata import version  # scipy itself is not loaded where compiled kernels do the work
    from platform import python_version

    return {"python": python_version(), "numpy": np.__version__, **{name: version(name) for name in ("scipy", *more)}}


@cache
def _kernels_of(native: Any, arithmetic: Arithmetic) -> Kernels:
    return Kernels(native, arithmetic)


@cache
def _compiled_module() -> Any:
    try:
        from graphrefine.kernels import _native
    except ModuleNotFoundError:
        return None
    except ImportError as error:  # compiled for another system, or without a library that it needs
        text = f"the compiled kernels cannot be loaded ({error}): slower ones, with other vectors, take their place"
        warnings.warn(ArgumentWarning(f"{text}; reinstall graphrefine"), stacklevel=3)
        return None
    return _native


def to_float32(x: NDArray[Any]) -> NDArray[np.float32]:
    """A stored tall matrix as float32: bfloat16 widened, signs spelled out."""
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    if x.dtype == np.uint32:
        # Bit b of a word is column 2 b of 32, or 2 b - 31 for the upper half of the bits.
        bits = (x[:, :, None] >> np.arange(32, dtype=np.uint32).reshape(2, 16).T.ravel()) & np.uint32(1)
        return (1 - 2 * bits.astype(np.float32)).reshape(len(x), -1)
    return x


def to_bfloat16(x: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Rounded to the nearest bfloat16, ties to even.

    Examples
    --------
    >>> to_float32(to_bfloat16(np.array([[1.0, 1.00390625, 3.14159]], np.float32))).tolist()
    [[1.0, 1.0, 3.140625]]
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16).astype(np.uint16)
