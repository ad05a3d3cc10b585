"""A check of live vectors: files as they were written, a sound database, and lags that are true."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.live.frozen import BLOCK
from graphrefine.live.generation import NUMBERS, Generation
from graphrefine.live.live import Live


def check_live(live: Live, *, deep: bool = True) -> dict[str, Any]:
    """Figures of a check: files as they were written, a sound database, and lags that are true.

    With ``deep`` every row of R is made anew, and every residual computed and held to the lag that is kept of it.
    """
    store = live._store
    problem = store.find_damage()
    generation = Generation(store.folder(store.generation))
    generation.check_files()
    for _ in store.groups(after=generation.group):  # their checksums
        pass
    figures = {**live.figures(), "database": problem, "files": len(generation.manifest["files"])}
    if deep:
        figures |= _check_lags(live)
    return figures


def _check_lags(live: Live) -> dict[str, Any]:
    """How the true residuals compare with the lags."""
    frozen, kernel = live._frozen, live._live
    columns = frozen.basis.shape[1]
    kept = np.empty(kernel.nodes)
    kernel.lags(kept)
    fresh = frozen.live_graph(*kernel.rows())
    fresh.make_targets()
    own = np.empty((BLOCK, NUMBERS))
    R, G = np.empty((2, BLOCK, columns), np.float32)
    states = np.empty((kernel.nodes, columns), np.float32)
    for start in range(0, kernel.nodes, BLOCK):
        count = min(BLOCK, kernel.nodes - start)
        kernel.take_out(start, R[:count], G[:count], own[:count])
        states[start : start + count] = G[:count]
    fresh.put_states(states)
    fresh.measure()
    true = np.empty(kernel.nodes)
    fresh.lags(true)
    beyond = np.flatnonzero(true - 2 * frozen.rounding > kept * (1 + 1e-6))  # what is measured is rounded, too
    return {
        "largest_lag": float(kept.max(initial=0.0)),
        "largest_residual": float(true.max(initial=0.0)),
        "lag_tolerance": frozen.lag,
        "beyond_lag": len(beyond),
    }
