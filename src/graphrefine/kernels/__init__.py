"""The only door to compiled code.

Each kernel exists twice, under one name and with one signature: in C++ (``native/*.cpp``, module ``_native``) and as a
NumPy/SciPy twin that gives the same answer more slowly (``twin*.py``). `choose_kernel` takes a twin and returns
whichever of the two this machine has, with the twin's types; `kernels` holds those that engines work with.

The environment variable ``GRAPHREFINE_KERNEL`` forces one of them: ``native`` or ``scipy``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeVar

from graphrefine.errors import InputError
from graphrefine.kernels import twin
from graphrefine.kernels.twin import Product

__all__ = ["PAD", "Kernels", "Product", "choose_kernel", "kernels"]

PAD = 32  # the columns of tall matrices are padded to a multiple of this
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class Kernels:
    """The kernels of tall matrices and of their graph, all compiled or all twins.

    Attributes
    ----------
    name : str
        "native" or "scipy".
    simd : str
        Instruction set of the compiled kernels; "none" for the twins.
    product, rotate, breadth_first, permute, row_sums, split_rows, signs : callable
        See the functions of `graphrefine.kernels.twin`; `product` makes a `Product`.
    """

    def __init__(self, native: ModuleType | None) -> None:
        self._native = native
        self.name = "scipy" if native is None else "native"
        self.simd: str = "none" if native is None else native.simd()
        self.product = self.choose(Product)
        self.rotate = self.choose(twin.rotate)
        self.breadth_first = self.choose(twin.breadth_first)
        self.permute = self.choose(twin.permute)
        self.row_sums = self.choose(twin.row_sums)
        self.split_rows = self.choose(twin.split_rows)
        self.signs = self.choose(twin.signs)

    def choose(self, twin: Kernel) -> Kernel:
        """The compiled kernel with the name and the signature of a twin; the twin itself without compiled kernels."""
        if self._native is None:
            return twin
        kernel: Kernel = getattr(self._native, twin.__name__)
        return kernel


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
    return _kernels_of(native)


def choose_kernel(twin: Kernel) -> Kernel:
    """The compiled kernel with the name and the signature of a twin, or the twin itself, as `kernels` decides.

    Examples
    --------
    >>> choose_kernel(twin.signs)(0, 0, rows=2, words=1).shape
    (2, 1)
    """
    return kernels().choose(twin)


@cache
def _kernels_of(native: ModuleType | None) -> Kernels:
    return Kernels(native)


@cache
def _compiled_module() -> ModuleType | None:
    try:
        from graphrefine.kernels import _native
    except ImportError:
        return None
    return _native
