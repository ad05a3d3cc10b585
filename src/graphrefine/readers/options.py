# ruff: noqa: RUF009 - `_option` makes fields of a dataclass
"""Options of reading a graph: the one list that `read`, `ingest`, the command line and the documentation share.

Each option is a field of `ReadOptions`: its default, the kind of its value and a line of help. The options of the
commands and the reference of formats are made from these fields; tests hold `ReadKeywords` and the docstrings to them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar

from graphrefine.errors import KeywordError, suggest
from graphrefine.system import as_plain
from graphrefine.system.threads import usable_threads
from graphrefine.tables.sample import Hints

Column = str | int
Nodes = int | str | PathLike[str] | Iterable[Any]
Moment = str | int | float | date
Kind = Literal[
    "direction", "switch", "weights", "column", "nodes", "format", "delimiter", "characters", "name", "moment",
    "count",
]  # fmt: skip
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _option(kind: Kind, help: str, *, default: Any = None, otherwise: str = "", every_graph: bool = False) -> Any:
    """Return a field of an option: ``otherwise`` describes a default of None; ``every_graph``: it is for any graph."""
    metadata = {"kind": kind, "help": help, "otherwise": otherwise, "every_graph": every_graph}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Keyword arguments of `graphrefine.read`, whose docstring describes them at length.

    Examples
    --------
    >>> ReadOptions(weights="cost").changes(), ReadOptions().quote
    (['weights'], '"')
    """

    directed: bool | None = _option(
        "direction",
        "Edges with a direction, from the first end to the second, or without one.",
        otherwise="as the graph says, else without",
        every_graph=True,
    )
    bipartite: bool | None = _option(
        "switch",
        "Ends of edges as two sets of nodes, such as users and items, even where names coincide.",
        otherwise="one set, unless the columns name different things",
        every_graph=True,
    )
    weights: Any = _option(
        "weights",
        "Column of the weights, by name or position from 0; none (in Python False): no weights.",
        otherwise="a column called weight, or the third of three",
    )
    source: Column | None = _option(
        "column",
        "Column of the first end of an edge, by name or position from 0.",
        otherwise="a usual name, or the first column",
    )
    target: Column | None = _option(
        "column",
        "Column of the second end, by name or position from 0.",
        otherwise="a usual name, or the second column",
    )
    nodes: Nodes | None = _option(
        "nodes",
        "Nodes beside those of the edges: a file of names, or a number N for nodes 0 to N-1.",
        otherwise="the nodes of the edges",
        every_graph=True,
    )
    format: str | None = _option(
        "format", "Format of the file.", otherwise="the suffix and the first bytes decide", every_graph=True
    )
    delimiter: str | None = _option(
        "delimiter",
        "Character between the columns of text: comma, semicolon, tab, bar, space or another.",
        otherwise="detected",
    )
    header: bool | None = _option("switch", "Names of the columns in the first line of text.", otherwise="detected")
    quote: str = _option(
        "characters", "Character around fields of text that hold delimiters; '' for none.", default='"'
    )
    comments: str | None = _option(
        "characters",
        "Characters that begin a comment line, anywhere in a text; '' for none.",
        otherwise="# and %, before the first record only",
    )
    encoding: str | None = _option("name", "Encoding of text.", otherwise="UTF-8, or Latin-1 if it is not UTF-8")
    time: Column | None = _option(
        "column", "Column of the times of the edges, by name or position from 0.", otherwise="times are not used"
    )
    since: Moment | None = _option("moment", "Earliest time of an edge.", otherwise="the first")
    until: Moment | None = _option("moment", "Time before which an edge must lie.", otherwise="after the last")
    half_life: str | float | None = _option(
        "moment",
        "Time in which the weight of an edge halves, such as 30d, 12h or 2w.",
        otherwise="weights do not depend on time",
    )
    names: str | None = _option(
        "name", "Attribute of the nodes that holds their names.", otherwise="the ids of the nodes"
    )
    query: str | None = _option(
        "name", "Query in SQL whose result holds the edges, or a table, of a database.", otherwise="the only table"
    )
    variable: str = _option("name", "Variable of a .mat file.", default="network")
    threads: int | None = _option("count", "Largest number of threads.", otherwise="all cores", every_graph=True)

    @cached_property
    def thread_count(self) -> int:
        """The number of threads to use."""
        return self.threads if type(self.threads) is int and self.threads > 0 else usable_threads(self.threads)

    @property
    def names_weights(self) -> bool:
        """Whether weights are named, also by position 0, which is no False."""
        return self.weights is not None and self.weights is not False

    @property
    def hints(self) -> Hints:
        """What the options say about a table."""
        columns = {name: getattr(self, name) for name in ("source", "target", "weights", "time")}
        texts = {name: getattr(self, name) for name in ("delimiter", "header", "quote", "comments", "encoding")}
        return Hints(**columns, **texts, directed=self.directed, bipartite=self.bipartite, threads=self.thread_count)

    def changes(self) -> list[str]:
        """Return names of the options that apply to some graphs only and differ from their defaults."""
        return [
            each.name
            for each in fields(self)
            if not each.metadata["every_graph"] and not _same(getattr(self, each.name), each.default)
        ]


class GraphKeywords(TypedDict, total=False):
    """The types of `ReadOptions`, less the threads, for ``**reading``; None is the default."""

    directed: bool | None
    bipartite: bool | None
    weights: Any
    source: Column | None
    target: Column | None
    nodes: Nodes | None
    format: str | None
    delimiter: str | None
    header: bool | None
    quote: str | None
    comments: str | None
    encoding: str | None
    time: Column | None
    since: Moment | None
    until: Moment | None
    half_life: str | float | None
    names: str | None
    query: str | None
    variable: str | None


class ReadKeywords(GraphKeywords, total=False):
    """The types of `ReadOptions` for ``**options``."""

    threads: int | None


OPTION_NAMES = tuple(each.name for each in fields(ReadOptions))


def read_options(keywords: ReadKeywords) -> ReadOptions:
    """Return the options of a call; a keyword that is None has its default.

    Examples
    --------
    >>> read_options({"variable": None, "header": True}).variable
    'network'
    """
    values: dict[str, Any] = {name: value for name, value in keywords.items() if value is not None}
    values |= {name: as_plain(value) for name, value in values.items() if hasattr(value, "dtype")}
    for unknown in sorted(keywords.keys() - OPTION_NAMES):
        raise KeywordError(
            f"{unknown!r} is no option of reading a graph{suggest(unknown, OPTION_NAMES)}; the options are "
            f"{', '.join(OPTION_NAMES)}"
        )
    return ReadOptions(**values)


def split_reading(keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of reading among keywords, and the others."""
    reading = {name: value for name, value in keywords.items() if name in OPTION_NAMES}
    return reading, {name: value for name, value in keywords.items() if name not in OPTION_NAMES}


def list_options(function: _Function) -> _Function:
    """Let the signature of a function list each option, for `help` and for editors.

    They replace ``**options`` or ``**reading``; keywords by another name may be more than these, and stay.
    """
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.name not in ("options", "reading")]
    rest = [each for each in own if each.kind is inspect.Parameter.VAR_KEYWORD]
    listed = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
        for each in fields(ReadOptions)
        if each.name not in signature.parameters
    ]
    parameters = [*(each for each in own if each not in rest), *listed, *rest]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)
