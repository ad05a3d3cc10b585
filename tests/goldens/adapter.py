"""The few things that goldens need beyond the public surface: the one file to edit when modules move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import graphrefine

BLOCK_BYTES = 1 << 16  # of a block of rows on disk and on Dask, so that small graphs have several


def instruction_set() -> str:
    """The instruction set that the compiled kernels use (avx512, avx2, baseline, neon)."""
    from graphrefine.kernels import native

    return str(native.simd())


def numerics_version() -> int:
    """Return the version of the numerics."""
    from graphrefine.kernels.numerics import NUMERICS_VERSION

    return NUMERICS_VERSION


def is_covered(method: str) -> bool:
    """Whether the vectors of a method have the same bits on every processor.

    >>> is_covered("refine"), is_covered("netmf")
    (True, False)
    """
    from graphrefine.methods.registry import find_method

    return find_method(method).processor_dependence is None


def embed_and_learn(graph: Any, **settings: Any) -> Any:
    """An embedding that has also learned the map of `fold_in` and the weight of degrees in `score`."""
    return graphrefine.embed(graph, learn=True, **settings)


def embed_on_disk(graph: Any, **settings: Any) -> Any:
    """An embedding whose tall matrices are files: in panels of few columns, and in several blocks of rows.

    A budget alone cannot ask for it, as a small graph fits into any.
    """
    from graphrefine.kernels import PAD
    from graphrefine.pipeline.embed_run import EmbedRun

    make_plan = EmbedRun.make_plan

    def plan_files(run: Any, **options: Any) -> Any:
        run.plan = replace(make_plan(run, **options), mode="columns", panel=PAD)
        return run.plan

    with small_blocks(), patch.object(EmbedRun, "make_plan", plan_files):
        return graphrefine.embed(graph, **settings)


@contextmanager
def small_blocks() -> Iterator[None]:
    """Small blocks of rows of tall matrices, for the time of a block of code."""
    from graphrefine.engine import layout

    with patch.object(layout, "LEAST_BYTES", BLOCK_BYTES):
        yield
