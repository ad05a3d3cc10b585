"""The few things that goldens need beyond the public surface: the one file to edit when modules move."""

from __future__ import annotations

from typing import Any

import graphrefine


def instruction_set() -> str:
    """The instruction set that the compiled kernels use (avx512, avx2, baseline, neon); none without compiled ones."""
    from graphrefine.kernels import kernels

    return str(kernels("auto").simd)


def embed_and_learn(graph: Any, **settings: Any) -> Any:
    """An embedding that has also learned the map of `fold_in` and the weight of degrees in `score`."""
    return graphrefine.embed(graph, learn=True, **settings)
