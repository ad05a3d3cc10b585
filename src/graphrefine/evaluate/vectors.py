"""Vectors made for an evaluation: by a method that is named, or by a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.progress import Watcher
from graphrefine.run.embed import embed_graph

Making = Callable[[Graph], "NDArray[Any] | Embedding"]


@dataclass(frozen=True)
class Maker:
    """What makes vectors from a graph, and what to call it.

    Examples
    --------
    >>> Maker.of("rbqr", Graph.from_edges([0, 1], [1, 2]), {"dim": None, "seed": 5}).settings["dim"]
    3
    """

    name: str
    settings: dict[str, Any]
    make: Making

    @classmethod
    def of(
        cls,
        method: str | Making,
        graph: Graph,
        options: dict[str, Any],
        *,
        threads: int | None = None,
        progress: Watcher | None = None,
    ) -> Maker:
        """A method with its settings, for this graph or a part of it; or a function, which has none."""
        given = {name: value for name, value in options.items() if value is not None}
        if not isinstance(method, str):
            named = sorted(set(given) - {"seed"})
            if named:
                raise InputError(
                    f"{named[0]}={given[named[0]]!r} is a setting of a named method, and a function was given"
                )
            return cls(getattr(method, "__name__", "a function"), {}, method)
        preset = given.pop("preset", None)
        if "dim" not in given:
            usual = make_settings(method, preset, **given)
            given["dim"] = min(usual.dim, find_method(method).most_columns(graph, usual))
        chosen = make_settings(method, preset, **given)
        find_method(method).check(graph, chosen)  # before any work
        make = partial(_embedded, chosen=chosen, method=method, threads=threads, watcher=progress)
        return cls(method, asdict(chosen), make)

    def vectors(self, graph: Graph) -> NDArray[np.float32]:
        """The vectors, float32 and finite, a row for each node."""
        return self.embedding(graph).vectors

    def embedding(self, graph: Graph) -> Embedding:
        """The vectors with what is known of them; checked to be a row of finite numbers for each node."""
        found = self.make(graph)
        made = found.vectors if isinstance(found, Embedding) else np.asarray(found, np.float32)
        if made.ndim != 2 or len(made) != graph.nodes or not np.isfinite(made).all():
            raise InputError(
                f"{self.name} made an array of shape {made.shape}; {graph.nodes} rows of finite numbers are expected"
            )
        return found if isinstance(found, Embedding) else Embedding(graph.names, made)


def _embedded(graph: Graph, **options: Any) -> Embedding:
    return embed_graph(graph, **options)[0]
