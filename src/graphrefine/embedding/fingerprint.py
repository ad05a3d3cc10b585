"""The fingerprint of an embedding: digits for graph, settings, numerics and vectors, and one name for all of them.

Equal fingerprints are equal names and vectors, bit for bit, by the same settings and numerics from the same graph.
The definition, version 1 as in ``grf1:``, is in docs/explanation/reproducibility.md. The learned state (degrees, fold
map) has its digits in ``state``, which is no part of the name: its last bits depend on the processor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrefine.kernels.numerics import FORMER_KEY, KEY, MADE_ON, bits_of
from graphrefine.system.digest import DIGITS, digest_array, digest_json, digest_names

if TYPE_CHECKING:
    from graphrefine.embedding.state import EmbeddingData
    from graphrefine.graph.graph import Graph

NAME = "grf1:"
GRAPH = "graph"  # in recipes: the digits of the graph
# Keys of recipes that are no settings: fingerprints digest the graph and the numerics on their own, and the rest says
# with what the vectors were made, not which. A key that is missing here would be another name for the same vectors.
NO_SETTINGS = (GRAPH, "reading", "version", KEY, FORMER_KEY, "kernel", "processor_dependence", MADE_ON)


class Fingerprint(NamedTuple):
    """Digits of the parts of an embedding; ``graph`` is empty where the recipe does not name one.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> one, same, other = (Embedding(["ada"], [[x]], {"seed": 1}).fingerprint for x in (1, 1, 2))
    >>> str(one) == str(same), str(one) == str(other), one.settings == other.settings
    (True, False, True)
    """

    graph: str
    settings: str
    arithmetic: str
    names: str
    vectors: str
    state: str

    def __str__(self) -> str:
        """Return the name of all parts but the state."""
        lines = "".join(f"{name} {digits}\n" for name, digits in self._asdict().items() if name != "state")
        return NAME + hashlib.sha256(lines.encode()).hexdigest()[:DIGITS]

    def to_dict(self) -> dict[str, str]:
        """Return the name and the parts, as JSON and files hold them."""
        return {"name": str(self), **self._asdict()}

    @classmethod
    def parse(cls, stored: Any) -> Fingerprint | None:
        """Undo `to_dict`, given as JSON or as text of it; None where it is none or does not fit its name."""
        try:
            value = json.loads(stored) if isinstance(stored, str | bytes) else stored
            fingerprint = cls(*(value[name] for name in cls._fields))
            return fingerprint if value["name"] == str(fingerprint) and len(value) == len(cls._fields) + 1 else None
        except (ValueError, LookupError, TypeError, RecursionError):
            return None

    def differences(self, other: Fingerprint) -> list[str]:
        """Return the names of the parts that differ."""
        return [name for name in self._fields if getattr(self, name) != getattr(other, name)]


def fingerprint_of(parts: EmbeddingData) -> Fingerprint:
    """Return the fingerprint of names, vectors, recipe and state."""
    graph, pieces = parts.recipe.get(GRAPH), parts.state.arrays()
    state = {name: digest_array(piece, "<f4" if piece.ndim else "<f8") for name, piece in pieces.items()}
    return Fingerprint(
        graph=graph if isinstance(graph, str) else "",
        settings=digest_json(settings_of(parts.recipe)),
        arithmetic=digest_json(bits_of(parts.recipe)),
        names=digest_names(parts.names),
        vectors=digest_array(parts.vectors, "<f4"),
        state=digest_json(state),
    )


def settings_of(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return all of a recipe but its graph, its numerics and what changes no bit."""
    return {name: value for name, value in recipe.items() if name not in NO_SETTINGS}


def digest_graph(graph: Graph) -> str:
    """Return the digits of a graph: names in order, rows, weights, directions and sides, in memory or on disk."""
    facts = {
        "directed": graph.directed,
        "sources": graph.sources,
        "names": digest_names(graph.names),
        "indptr": digest_array(graph.indptr, "<i8"),
        "indices": digest_array(graph.indices, "<i4"),
        "weights": None if graph.weights is None else digest_array(graph.weights, "<f4"),
    }
    return digest_json(facts)
