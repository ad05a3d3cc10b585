"""VectorMaker: vectors for an evaluation, by a method with its settings or by a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.progress import Watcher

MakeVectors = Callable[[Graph], "NDArray[Any] | Embedding"]


@dataclass(frozen=True)
class VectorMaker:
    """A function that makes vectors from a graph, with its name and its settings.

    Examples
    --------
    >>> VectorMaker.of("rbqr", Graph.from_edges([0, 1], [1, 2]), {"dim": None, "seed": 5}).settings["dim"]
    3
    """

    name: str
    settings: dict[str, Any]
    make: MakeVectors

    @classmethod
    def of(
        cls,
        method: str | MakeVectors,
        graph: Graph,
        options: dict[str, Any],
        *,
        threads: int | None = None,
        progress: Watcher | None = None,
    ) -> VectorMaker:
        """A method with its settings, for this graph or a part of it; or a function, which has none."""
        options = {name: value for name, value in options.items() if value is not None}
        if not isinstance(method, str):
            foreign = sorted(set(options) - {"seed"})
            if foreign:
                raise InputError(
                    f"{foreign[0]}={options[foreign[0]]!r} is a setting of a named method, and a function was given",
                    argument=foreign[0],
                )
            return cls(getattr(method, "__name__", "a function"), {}, method)
        preset = options.pop("preset", None)
        if "dim" not in options:
            default = make_settings(method, preset, **options)
            options["dim"] = min(default.dim, find_method(method).most_columns(graph, default))
        settings = make_settings(method, preset, **options)
        find_method(method).check(graph, settings)  # before any work
        settings = find_method(method).resolve(Shape.of(graph), settings)

        def make(part: Graph) -> Embedding:
            return embed_graph(part, settings, method=method, threads=threads, watcher=progress)[0]

        return cls(method, asdict(settings), make)

    def embedding(self, graph: Graph) -> Embedding:
        """The vectors as an embedding; checked to be a row of finite numbers for each node."""
        output = self.make(graph)
        vectors = output.vectors if isinstance(output, Embedding) else np.asarray(output, np.float32)
        if vectors.ndim != 2 or len(vectors) != graph.nodes or not np.isfinite(vectors).all():
            raise InputError(
                f"{self.name} made an array of shape {vectors.shape}; {graph.nodes} rows of finite numbers are expected"
            )
        return output if isinstance(output, Embedding) else Embedding(graph.names, vectors)
