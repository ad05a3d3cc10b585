"""`dim="auto"`: a run with 256 columns for the spectrum of a graph, and the dimension that follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphrefine.engine.engine import Small
from graphrefine.errors import InputError
from graphrefine.methods.contract import Method, Resources
from graphrefine.methods.refine import fit
from graphrefine.methods.refine_variants import fit_joint_views
from graphrefine.progress import Stages
from graphrefine.refine.dimension import PROBE, Dimension, choose_dimension, column_energies
from graphrefine.refine.settings import RefineSettings
from graphrefine.system.memory import gigabytes, release_free_memory
from graphrefine.system.threads import one_blas_thread

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.run.memory_plan import MemoryPlan

AUTO = "auto"


def is_automatic(dim: Any, method: Method[Any]) -> bool:
    """Whether the dimension is to be chosen from the spectrum; InputError for a method that has none of its own.

    Examples
    --------
    >>> from graphrefine.methods.registry import find_method
    >>> is_automatic("auto", find_method("refine")), is_automatic(64, find_method("line"))
    (True, False)
    """
    if not isinstance(dim, str) or dim != AUTO:
        return False
    if method.name != "refine":
        problem = "dim='auto' is for method 'refine', whose axes are in the order of what they hold; say how long the "
        raise InputError(f"{problem}vectors of {method.name!r} are, as in dim=128", argument="dim")
    return True


def probe_settings(graph: Graph, method: Method[Any], settings: RefineSettings) -> RefineSettings:
    """Settings of the run whose spectrum is looked at; InputError where axes are not in the order of what they hold."""
    if graph.directed or graph.sources is not None:
        kind = "directed" if graph.directed else "bipartite"
        problem = f"dim='auto' is for undirected graphs of one set of nodes, and {graph.source} was read as {kind}"
        raise InputError(f"{problem}; say how long the vectors are, as in dim=128", argument="dim")
    if settings.filter == "none":
        problem = "dim='auto' cannot stand beside filter='none': without a filter axes are not in the order of what "
        raise InputError(f"{problem}they hold; say dim=128, or leave filter out", argument="dim", mentions=["filter"])
    columns = min(PROBE, method.most_columns(graph, settings))
    return replace(settings, dim=columns, quality="fast" if settings.quality == "fast" else "default")


def check_probe(plan: MemoryPlan) -> None:
    """Raise InputError unless the run whose spectrum is looked at fits into memory."""
    if plan.mode != "memory":
        raise InputError(
            f"dim='auto' looks at a run with {PROBE} columns in memory, and {gigabytes(plan.budget)} have no room for "
            "it; say how long the vectors are, as in dim=128, or give more memory",
            argument="dim",
            mentions=["memory"],
        )


def measure_dimension(graph: Graph, settings: RefineSettings, *, threads: int) -> Dimension:
    """The dimension of a graph from a run by `probe_settings`, of which only the spectrum is kept.

    Examples
    --------
    >>> from graphrefine import read
    >>> from graphrefine.methods.registry import find_method
    >>> ring, refine = read([(i, (i + 1) % 40) for i in range(40)]), find_method("refine")
    >>> measure_dimension(ring, probe_settings(ring, refine, RefineSettings()), threads=1).dim
    16
    """
    spectra, resources = list[Small](), Resources(threads, Stages())
    with one_blas_thread():
        if settings.quality == "fast":
            vectors = fit(graph, settings, resources)
        else:
            vectors = fit_joint_views(graph, settings, resources, observe=spectra.append)
    release_free_memory()
    return choose_dimension(spectra[0] if spectra else column_energies(vectors), settings.dim)
