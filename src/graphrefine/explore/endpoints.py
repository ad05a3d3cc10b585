"""The API as a table: which addresses there are, and which parameters each takes.

The one place where that is said: `reading` reads requests by it, `openapi` writes the document by it, and `app` has an
answer for each. What is allowed depends on the embedding (rows, the kind of names), so the table is made for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from graphrefine.explore.kinds import Choice, Flag, Kind, ListOf, Text, Vector, Whole
from graphrefine.search import SCORES
from graphrefine.vectors.source_target import SIDES

K = 1000  # neighbours of a node
BATCH = 1000  # nodes, vectors or pairs of a request
ROWS = 10_000  # nodes of a list
BODY = 4 << 20  # bytes
EGO = 200  # neighbours drawn
_INT64 = 2**63


class Facts(NamedTuple):
    """What the parameters depend on."""

    nodes: int
    dim: int
    integers: bool  # whether names are integers, rather than text
    two_sides: bool  # whether a name may stand on two sides
    layouts: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A value in a query, or in the object of a body."""

    name: str
    kind: Kind
    about: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True)
class Endpoint:
    """What can be asked at an address by a method."""

    method: str
    path: str
    about: str
    answer: str  # the schema of what comes back, or a media type
    parameters: tuple[Parameter, ...] = ()
    one_of: tuple[str, ...] = ()  # exactly one of these
    apart: tuple[tuple[str, str], ...] = ()  # pairs that do not go together
    needs: tuple[tuple[str, str], ...] = ()  # the first only beside the second


def endpoints(facts: Facts) -> tuple[Endpoint, ...]:
    """The table for an embedding."""
    return (
        Endpoint("GET", "/healthz", "Whether the server is up; needs no token.", "Health"),
        Endpoint("GET", "/api/info", "What is shown: the embedding, how it was made, what can be asked for.", "Info"),
        Endpoint("GET", "/api/openapi.json", "This document.", "Document"),
        *_of_nodes(facts),
        *_of_neighbors(facts),
        *_of_pairs(facts),
        *_of_the_map(facts),
    )


def _name(facts: Facts) -> Kind:
    return Whole(-_INT64, _INT64 - 1) if facts.integers else Text()


def _one_node(facts: Facts) -> tuple[Parameter, ...]:
    return (
        Parameter("node", _name(facts), "Its name."),
        Parameter("row", Whole(0, facts.nodes - 1), "Its row in the embedding, from 0."),
        *_side(facts),
    )


def _side(facts: Facts) -> tuple[Parameter, ...]:
    return (Parameter("side", Choice(SIDES), "Which of two nodes of one name."),) if facts.two_sides else ()


def _beside(name: str, facts: Facts) -> tuple[tuple[str, str], ...]:
    return (("side", name),) if facts.two_sides else ()


def _of_nodes(facts: Facts) -> tuple[Endpoint, ...]:
    rows = Whole(0, facts.nodes - 1)
    return (
        Endpoint(
            "GET",
            "/api/nodes",
            "Nodes whose names begin with a text, and then those that contain it, whatever the case; all of them where "
            "none is given; or one node, with its values in every column.",
            "Nodes",
            (
                Parameter("prefix", Text(), "What names begin with, or contain."),
                Parameter("limit", Whole(1, BATCH), "At most so many.", 20),
                Parameter("offset", Whole(0, _INT64 - 1), "How many to pass over.", 0),
                *_one_node(facts),
            ),
            apart=tuple(
                (one, other)
                for one, others in {
                    "node": ("row", "prefix", "limit", "offset"),
                    "row": ("prefix", "limit", "offset"),
                }.items()
                for other in others
            ),
            needs=_beside("node", facts),
        ),
        Endpoint(
            "POST",
            "/api/nodes",
            "Several nodes at once.",
            "Nodes",
            (
                Parameter("nodes", ListOf(_name(facts), ROWS), "Names."),
                Parameter("rows", ListOf(rows, ROWS), "Rows in the embedding."),
                *_side(facts),
            ),
            one_of=("nodes", "rows"),
            needs=_beside("nodes", facts),
        ),
    )


def _of_neighbors(facts: Facts) -> tuple[Endpoint, ...]:
    how = (
        Parameter("k", Whole(1, K), "How many neighbours; fewer where there are no more.", 10),
        Parameter("score", Choice(SCORES), "What makes nodes near.", "cosine"),
        Parameter("label", Text(), "Only nodes that have this label."),
        Parameter("unlinked", Flag(), "Leave out nodes that are linked to it in the graph.", False),
    )
    return (
        Endpoint(
            "GET",
            "/api/neighbors",
            "The nodes nearest to one.",
            "Neighbors",
            (*_one_node(facts), *how),
            one_of=("node", "row"),
            needs=_beside("node", facts),
        ),
        Endpoint(
            "POST",
            "/api/neighbors",
            "The nodes nearest to each of several nodes or vectors.",
            "Neighbors",
            (
                Parameter("nodes", ListOf(_name(facts), BATCH), "Names."),
                Parameter("rows", ListOf(Whole(0, facts.nodes - 1), BATCH), "Rows in the embedding."),
                Parameter("vectors", ListOf(Vector(facts.dim), BATCH), "Vectors as long as the embedding's."),
                *_side(facts),
                *how,
            ),
            one_of=("nodes", "rows", "vectors"),
            apart=(("vectors", "unlinked"),),
            needs=_beside("nodes", facts),
        ),
        Endpoint(
            "GET",
            "/api/ego",
            "A node, its neighbours in the graph, and the edges among them.",
            "Ego",
            (*_one_node(facts), Parameter("limit", Whole(1, EGO), "At most so many neighbours.", 40)),
            one_of=("node", "row"),
            needs=_beside("node", facts),
        ),
    )


def _of_pairs(facts: Facts) -> tuple[Endpoint, ...]:
    name = _name(facts)
    return (
        Endpoint(
            "GET",
            "/api/score",
            "How likely an edge is; of directed and bipartite graphs, from u to v.",
            "Scores",
            (
                Parameter("u", name, "The name of one node.", required=True),
                Parameter("v", name, "The name of the other.", required=True),
            ),
        ),
        Endpoint(
            "POST",
            "/api/score",
            "How likely each of several edges is.",
            "Scores",
            (Parameter("pairs", ListOf(ListOf(name, 2, 2), BATCH), "Pairs of names.", required=True),),
        ),
    )


def _of_the_map(facts: Facts) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            "GET",
            "/api/coordinates",
            "Where nodes lie on the map: x and y of each row, little-endian float32 from -1 to 1.",
            "application/octet-stream",
            (Parameter("layout", Choice(facts.layouts), "Which map.  [default: the best that is ready]"),),
        ),
        Endpoint(
            "GET",
            "/api/columns/{name}",
            "What nodes can be coloured by, one value a row, little-endian: uint16 codes of categories (65535: none) "
            "or float32 (NaN: none); `/api/info` says which.",
            "application/octet-stream",
        ),
        Endpoint("GET", "/map.png", "The map as an image.", "image/png"),
    )
