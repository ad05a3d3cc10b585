"""Making and checking folders of live vectors."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from graphrefine import __version__
from graphrefine.errors import InputError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import is_text
from graphrefine.kernels import kernels
from graphrefine.live.backup import refuse
from graphrefine.live.bulletin import Bulletin
from graphrefine.live.frozen import BLOCK, LiveSettings, freeze
from graphrefine.live.generation import NUMBERS, Generation, Snapshot, all_vectors, save_generation
from graphrefine.live.live import Live
from graphrefine.live.published import Published
from graphrefine.live.store import SUFFIX, Store
from graphrefine.progress import Stages, Watcher
from graphrefine.system.file_systems import check_file_system
from graphrefine.system.files import replacing_folder
from graphrefine.system.threads import usable_threads


def create_live(
    graph: Graph,
    path: str | os.PathLike[str],
    settings: LiveSettings,
    *,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> dict[str, float]:
    """Make a folder of live vectors from a graph; the seconds of each stage. A folder that is there is not replaced."""
    place, stages = Path(path), Stages(watcher)
    if place.suffix != SUFFIX:
        raise InputError(f"{place} must end in {SUFFIX}", argument="path")
    if place.exists():
        raise OutputError(f"{place} is there already, and live vectors are not replaced; remove it or choose another")
    check_file_system(place.parent)
    if graph.names.dtype == object and not is_text(graph.names):
        raise InputError("names of live graphs are integers or strings, all of one kind; give them as text")
    frozen, live = freeze(graph, settings, stages, threads=usable_threads(threads))
    with stages.stage("write"), replacing_folder(place, replaceable=refuse, durable=True) as folder:
        published = Published(graph.names, *all_vectors(live, frozen))
        save_generation(folder / "generation-000001", Snapshot(frozen, live, published), group=0)
        Store.create(folder, {"created": time.time(), "graphrefine": __version__, **kernels().names()})
        with closing(Bulletin(folder, write=True)) as bulletin:
            bulletin.rewrite(1, 0, published)
    return stages.seconds


def check_live(live: Live, *, deep: bool = True) -> dict[str, Any]:
    """Figures of a check: files as they were written, a sound database, and lags that are true.

    With ``deep`` every row of R is made anew, and every residual computed and held to the lag that is kept of it.
    """
    store = live._store
    problem = store._all("PRAGMA integrity_check")[0][0]
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
