"""The only door to compiled code.

Each kernel exists twice under one name: in C++ (``native/*.cpp``, reached through ``compiled.py``) and as a NumPy/SciPy
twin that gives the same answer more slowly (``twin.py``). `kernels` returns whichever this machine has.

The environment variable ``GRAPHREFINE_KERNEL`` forces one of them: ``native`` or ``scipy``.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from graphrefine.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Tall = NDArray[Any]  # (n, padded k): float32, uint16 (bfloat16) or, 32 columns a word, uint32 (signs)
    Gram = NDArray[np.float64]

PAD = 32  # the columns of tall matrices are padded to a multiple of this


class Product(Protocol):
    """A sparse operator, ready to be applied; its entries are those of `graphrefine.linalg.operators.Operator`."""

    def apply(
        self,
        x: Tall,
        *,
        out: Tall,
        scale: float = 1.0,
        plus: Tall | None = None,
        plus_scale: float = 0.0,
        onto: Floats | None = None,
        shift: Floats | None = None,
        unit: bool = False,
        gram: Gram | None = None,
        threads: int = 1,
    ) -> None:
        """``out = scale * operator @ x + plus_scale * plus - shift``, rows made unit if asked; ``gram += out^T out``.

        The sums of the product go on from those in ``onto``, as if the entries that gave those were here too. The row
        ``shift`` is not taken away from rows of zeros.
        """


class Kernels(Protocol):
    """What compiled code does for the rest of the library."""

    name: str
    simd: str

    def product(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        *,
        columns: int,
        value: Floats | None = None,
        row_shift: Floats | None = None,
        column_shift: Floats | None = None,
        row_scale: Floats | None = None,
        column_scale: Floats | None = None,
        constant: float = 0.0,
        loop: float = 0.0,
        diagonal: int = 0,
        first_column: int = 0,
        starts: NDArray[np.int64] | None = None,
        stops: NDArray[np.int64] | None = None,
    ) -> Product:
        """The operator with these entries; row i has its loop in column ``i + diagonal``.

        A part of a larger matrix has ``columns`` columns from ``first_column`` on, and of row i the entries from
        ``starts[i]`` to before ``stops[i]``, which must lie in those columns. What has one number for each column, and
        the diagonal, count from the first of them.
        """

    def rotate(
        self,
        x: Tall,
        rotation: Floats | None,
        *,
        triangular: bool = False,
        out: Tall | None,
        places: NDArray[np.int32] | None = None,
        shift: Floats | None = None,
        unit: bool = False,
        gram: Gram | None = None,
        sums: NDArray[np.float64] | None = None,
        weights: Floats | None = None,
        threads: int = 1,
    ) -> None:
        """``out[places] = x @ rotation - shift`` (``x`` itself where None), rows made unit if asked.

        Rows of zeros stay. ``gram += out^T out``, and ``sums += weights @ out`` (ones where None).
        """

    def breadth_first(self, indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
        """Nodes in the order in which breadth-first search meets them."""

    def permute(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: Floats | None,
        order: NDArray[np.int32],
        *,
        threads: int = 1,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats | None]:
        """The graph with node ``order[i]`` in place i."""

    def row_sums(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: Floats | None,
        scale: NDArray[np.float64],
        *,
        threads: int = 1,
    ) -> NDArray[np.float64]:
        """The matrix with these entries (ones where None) times the vector ``scale``."""

    def split_rows(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], firsts: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Where the columns from ``firsts[c]`` on begin in each row; firsts ascend.  # (len(firsts), rows)."""

    def signs(
        self, seed: int, start: int, *, rows: int, words: int, order: NDArray[np.int32] | None = None
    ) -> NDArray[np.uint32]:
        """Rows ``start + order[i]`` (``start + i``) of the sketch that belongs to a seed, one bit an entry."""


@cache
def _compiled() -> Kernels | None:
    try:
        from graphrefine.kernels import compiled
    except ImportError:
        return None
    return cast(Kernels, compiled)


@cache
def _twin() -> Kernels:
    from graphrefine.kernels import twin

    return cast(Kernels, twin)


def kernels(which: Literal["auto", "native", "scipy"] | None = None) -> Kernels:
    """The kernels in use: compiled where they were built, else their SciPy twins.

    Examples
    --------
    >>> kernels("scipy").name
    'scipy'
    """
    wanted = which or os.environ.get("GRAPHREFINE_KERNEL", "auto")
    if wanted not in ("auto", "native", "scipy"):
        raise InputError(f"GRAPHREFINE_KERNEL is {wanted!r}; it can be 'auto', 'native' or 'scipy'")
    if wanted == "scipy":
        return _twin()
    native = _compiled()
    if native is None and wanted == "native":
        raise InputError(
            "the compiled kernels were asked for and are not in this installation; "
            "reinstall graphrefine where a C++17 compiler (GCC or Clang) works"
        )
    return native or _twin()
