"""Making a folder of live vectors from a graph."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

from graphrefine import __version__
from graphrefine.errors import InputError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import is_text
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.live.backup import refuse
from graphrefine.live.bulletin import Bulletin
from graphrefine.live.frozen import LiveSettings, freeze
from graphrefine.live.generation import Snapshot, all_vectors, save_generation
from graphrefine.live.published import Published
from graphrefine.live.sides import SideNames
from graphrefine.live.store import SUFFIX, Store, naming_problems
from graphrefine.progress import Stages, Watcher
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
    if graph.names.dtype == object and not is_text(graph.names):
        raise InputError("names of live graphs are integers or strings, all of one kind; give them as text")
    sides = None if graph.sources is None else "strings" if graph.names.dtype == object else "integers"
    if graph.sources is not None:  # both sides as one set of nodes, by names that differ
        keys = SideNames(integers=sides == "integers").keys(graph.names, graph.sources)
        graph = Graph(graph.indptr, graph.indices, graph.weights, keys, source=graph.source)
    frozen, live = freeze(graph, settings, stages, threads=usable_threads(threads))
    replacing = replacing_folder(place, replaceable=refuse, durable=True)
    with stages.stage("write"), naming_problems(place), replacing as folder:
        published = Published(graph.names, *all_vectors(live, frozen))
        save_generation(folder / "generation-000001", Snapshot(frozen, live, published), group=0)
        facts = {"created": time.time(), "graphrefine": __version__, "sides": sides, **numerics_entry()}
        Store.create(folder, facts)
        with closing(Bulletin(folder, write=True)) as bulletin:
            bulletin.rewrite(1, 0, published)
    return stages.seconds
