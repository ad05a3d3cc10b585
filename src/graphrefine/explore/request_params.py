"""Parameters of requests: one model for each endpoint, by which pydantic checks them and FastAPI describes them.

A handler names its model in the annotation of its argument `params`. Names are checked before values
(`Params.check_names`), so that an error can say which names there are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from graphrefine.explore.param_types import FACTS, FLAG, INT64, NAME, ROW, TEXT, VECTOR, choice, list_of, whole
from graphrefine.explore.responses import RequestLimits
from graphrefine.graph.lookup import SIDES
from graphrefine.search.scores import SCORES

LAYOUTS = ("pca", "clusters")  # the better ones last
K = 1000  # neighbors of a node
BATCH = 1000  # nodes, vectors or pairs of a request
ROWS = 10_000  # nodes of a list
BODY = 4 << 20  # bytes
EGO = 200  # neighbors drawn
LIMITS: RequestLimits = {"k": K, "batch": BATCH, "rows": ROWS, "body": BODY}
LONGEST_ECHO = 80  # characters of a refused value that an error repeats

Name = str | int
Vector = NDArray[np.float32]


def optional(description: str) -> Any:
    """A field that is None unless it is sent; null is no value of it."""
    return Field(default_factory=lambda: None, description=description)


class Params(BaseModel):
    """Parameters of one endpoint; those of a body are described with their rules."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    ONE_OF: ClassVar[tuple[str, ...]] = ()  # exactly one of these
    APART: ClassVar[tuple[tuple[str, str], ...]] = ()  # pairs that exclude each other

    @classmethod
    def check_names(cls, names: Collection[str]) -> None:
        """Raise HTTPException 400 unless these are names of parameters that go together."""
        fields = {name: field for name, field in cls.model_fields.items() if name != "side" or FACTS.get().two_sides}
        for name in names:
            if name not in fields:
                allowed = f"it can be {', '.join(fields)}" if fields else "there is none here"
                raise HTTPException(400, f"there is no parameter {cut(name)}; {allowed}")
        for name, field in fields.items():
            if field.is_required() and name not in names:
                raise HTTPException(400, f"{name} is missing: {field.description}")
        if cls.ONE_OF and sum(name in names for name in cls.ONE_OF) != 1:
            raise HTTPException(400, f"exactly one of {', '.join(cls.ONE_OF)} is expected")
        for one, other in cls.APART:
            if one in names and other in names:
                raise HTTPException(400, f"{one} and {other} do not go together; leave one out")
        named = "nodes" if "nodes" in fields else "node"
        if "side" in names and named not in names:
            raise HTTPException(400, f"side goes with {named} only")

    @classmethod
    def example(cls) -> str:
        """A body in outline."""
        name = (cls.ONE_OF or tuple(cls.model_fields))[0]
        return f'{{"{name}": [...]}}'

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = handler(core)
        if cls.ONE_OF:
            schema["oneOf"] = [{"required": [name]} for name in cls.ONE_OF]
        if cls.APART:
            schema["allOf"] = [{"not": {"required": list(pair)}} for pair in cls.APART]
        if "side" in cls.model_fields:
            schema["dependentRequired"] = {"side": ["nodes"]}
        return schema


def cut(value: Any) -> str:
    """A value as an error shows it: of limited length.

    Examples
    --------
    >>> cut("ada"), cut([1, 2]), len(cut("a" * 1000))
    ("'ada'", 'a list', 83)
    """
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO] + "..."


class Side(Params):
    """Side of the nodes that are named; a parameter of embeddings with two sides only."""

    side: Annotated[Literal["source", "target"] | None, choice(*SIDES)] = optional(
        "Side of a bipartite graph, where a name may stand on both; a parameter of such embeddings only."
    )


class NodeChoice(Side):
    """One node, by name or by row."""

    node: Annotated[Name | None, NAME] = optional("Name of the node.")
    row: Annotated[int | None, ROW] = optional("Row of the node in the embedding, from 0.")


class SingleNode(NodeChoice):
    """One node, which a request must name."""

    ONE_OF = ("node", "row")


class NodeBatch(Side):
    """Several nodes, by name or by row."""

    ONE_OF = ("nodes", "rows")

    nodes: Annotated[list[Name] | None, list_of(NAME, ROWS)] = optional("Names of nodes.")
    rows: Annotated[list[int] | None, list_of(ROW, ROWS)] = optional("Rows of nodes in the embedding.")


class Page(Params):
    """A page of the list of nodes."""

    prefix: Annotated[str | None, TEXT] = optional("Beginning or part of names, in upper or lower case.")
    limit: Annotated[int, whole(1, BATCH)] = Field(20, description="Largest number of nodes listed.")
    offset: Annotated[int, whole(0, INT64 - 1)] = Field(0, description="Number of nodes skipped.")


class NodeList(NodeChoice, Page):
    """A page of the list of nodes; or one node."""

    APART = (
        ("node", "row"),
        *((one, other) for one in ("node", "row") for other in ("prefix", "limit", "offset")),
    )


class Search(Params):
    """Options of a search for neighbors."""

    k: Annotated[int, whole(1, K)] = Field(10, description="Number of neighbors; fewer if there are no more.")
    score: Annotated[Literal["cosine", "dot", "link"], choice(*SCORES)] = Field(
        "cosine", description="Score by which nodes are near."
    )
    label: Annotated[str | None, TEXT] = optional("Label that neighbors must have.")
    unlinked: Annotated[bool, FLAG] = Field(False, description="Leave out nodes that are linked to it in the graph.")


class NeighborQuery(Search, SingleNode):
    """Neighbors of one node."""


class NeighborBatch(Search, Side):
    """Neighbors of several nodes or vectors."""

    ONE_OF = ("nodes", "rows", "vectors")
    APART = (("vectors", "unlinked"),)

    nodes: Annotated[list[Name] | None, list_of(NAME, BATCH)] = optional("Names of nodes.")
    rows: Annotated[list[int] | None, list_of(ROW, BATCH)] = optional("Rows of nodes in the embedding.")
    vectors: Annotated[list[Vector] | None, list_of(VECTOR, BATCH)] = optional("Vectors of the embedding's length.")


class EgoQuery(SingleNode):
    """Neighborhood of one node in the graph."""

    limit: Annotated[int, whole(1, EGO)] = Field(40, description="Largest number of neighbors.")


class PairQuery(Params):
    """One pair of nodes."""

    u: Annotated[Name, NAME] = Field(description="Name of the first node.")
    v: Annotated[Name, NAME] = Field(description="Name of the second node.")


class PairBatch(Params):
    """Several pairs of nodes."""

    pairs: Annotated[list[list[Name]], list_of(list_of(NAME, 2, 2), BATCH)] = Field(description="Pairs of names.")


class LayoutQuery(Params):
    """One layout of the map."""

    layout: Annotated[str | None, choice(*LAYOUTS)] = optional("Layout; the best one that is ready, if left out.")
