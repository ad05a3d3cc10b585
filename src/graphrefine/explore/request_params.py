"""Parameters of requests: one pydantic model for each endpoint, by which FastAPI checks and describes them.

A query is text, so its models convert ("7" is 7); those of a JSON body are strict ("7" is no number there). Both refuse
names that they do not know. What depends on the embedding (its rows, the length of its vectors) is checked by the
handlers, so that the document of the API is the same for every embedding.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from graphrefine.explore.responses import RequestLimits

LAYOUTS = ("pca", "clusters")  # the better ones last
K = 1000  # neighbors of a node
BATCH = 1000  # nodes, vectors or pairs of a request
ROWS = 10_000  # nodes of a list
BODY = 4 << 20  # bytes
EGO = 200  # neighbors drawn
MAX_TEXT = 4000  # characters of a text
MAX_NUMBER = 1e18  # of a number in a vector: products of two, which are at most 1e36, still fit float32
INT64 = 2**63
LIMITS: RequestLimits = {"k": K, "batch": BATCH, "rows": ROWS, "body": BODY}


def _check_flag_text(value: Any) -> Any:
    """Refuse the other words that pydantic reads as true or false: the document of the API allows these two alone."""
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("true or false is expected")
    return value


Text = Annotated[str, Field(max_length=MAX_TEXT)]
# No length here: pydantic would refuse a name with a byte that is not UTF-8, which a JSON body can send as "\\udce9".
Name = str | Annotated[int, Field(ge=-INT64, lt=INT64)]
Row = Annotated[int, Field(ge=0, lt=INT64)]
Flag = Annotated[bool, BeforeValidator(_check_flag_text)]
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
NeighborCount = Annotated[int, Field(ge=1, le=K, description="Number of neighbors; fewer if there are no more.")]


class Params(BaseModel):
    """Parameters of one endpoint."""

    model_config = ConfigDict(extra="forbid")

    one_of: ClassVar[tuple[str, ...]] = ()  # exactly one of these
    exclusive: ClassVar[tuple[tuple[str, str], ...]] = ()  # pairs that exclude each other

    @model_validator(mode="after")
    def check_combination(self) -> Self:
        """Raise ValueError where parameters do not go together."""
        sent = {name for name in self.model_fields_set if getattr(self, name) is not None}
        if self.one_of and len(sent.intersection(self.one_of)) != 1:
            raise ValueError(f"exactly one of {', '.join(self.one_of)} is expected")
        for one, other in self.exclusive:
            if one in sent and other in sent:
                raise ValueError(f"{one} and {other} do not go together; leave one out")
        if "side" in sent and not sent & {"node", "nodes"}:
            raise ValueError("side goes with names of nodes only")
        return self


class NoParams(Params):
    """No parameters."""


class Side(Params):
    """Side of the nodes that are named; a parameter of embeddings with two sides only."""

    side: Literal["source", "target"] | None = Field(
        None, description="Side of a bipartite graph, where a name may be on both; a parameter of such embeddings only."
    )


class NodeChoice(Side):
    """One node, by name or by row."""

    node: Name | None = Field(None, description="Name of the node.")
    row: Row | None = Field(None, description="Row of the node in the embedding, from 0.")


class SingleNode(NodeChoice):
    """One node, which a request must name."""

    one_of = ("node", "row")


class NodeBatch(Side, strict=True):
    """Several nodes, by name or by row."""

    one_of = ("nodes", "rows")

    nodes: list[Name] | None = Field(None, min_length=1, max_length=ROWS, description="Names of nodes.")
    rows: list[Row] | None = Field(None, min_length=1, max_length=ROWS, description="Rows of nodes in the embedding.")


class NodeList(NodeChoice):
    """A page of the list of nodes; or one node."""

    exclusive = (("node", "row"), *((one, other) for one in ("node", "row") for other in ("prefix", "limit", "offset")))

    prefix: Text | None = Field(None, description="Beginning or part of names, in upper or lower case.")
    limit: int = Field(20, ge=1, le=BATCH, description="Largest number of nodes listed.")
    offset: int = Field(0, ge=0, lt=INT64, description="Number of nodes skipped.")


class Search(Params):
    """Options of a search for neighbors."""

    k: NeighborCount = 10
    score: Literal["cosine", "dot", "link"] = Field("cosine", description="Score by which nodes are near.")
    label: Text | None = Field(None, description="Label that neighbors must have.")
    exclude_linked: Flag = Field(False, description="Leave out nodes that are linked to it in the graph.")


class NeighborQuery(Search, SingleNode):
    """Neighbors of one node."""


class NeighborBatch(Search, Side, strict=True):
    """Neighbors of several nodes or vectors."""

    one_of = ("nodes", "rows", "vectors")
    exclusive = (("vectors", "exclude_linked"),)

    nodes: list[Name] | None = Field(None, min_length=1, max_length=BATCH, description="Names of nodes.")
    rows: list[Row] | None = Field(None, min_length=1, max_length=BATCH, description="Rows of nodes in the embedding.")
    vectors: list[list[Number]] | None = Field(
        None, min_length=1, max_length=BATCH, description="Vectors of the embedding's length."
    )


class EgoQuery(SingleNode):
    """Neighborhood of one node in the graph."""

    limit: int = Field(40, ge=1, le=EGO, description="Largest number of neighbors.")


class PairQuery(Params):
    """One pair of nodes."""

    u: Name = Field(description="Name of the first node.")
    v: Name = Field(description="Name of the second node.")


class PairBatch(Params, strict=True):
    """Several pairs of nodes."""

    pairs: list[Annotated[list[Name], Field(min_length=2, max_length=2)]] = Field(
        min_length=1, max_length=BATCH, description="Pairs of names."
    )


class LayoutQuery(Params):
    """One layout of the map."""

    layout: Literal["pca", "clusters"] | None = Field(
        None, description="Layout; the best one that is ready, if left out."
    )
