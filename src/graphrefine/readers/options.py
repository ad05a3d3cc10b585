"""Options of reading a graph: the one list that `read`, `ingest`, the command line and the documentation share.

Each option is a field of `ReadOptions`: its default, the kind of its value and a line of help. The options of the
commands are made from these fields; tests hold `ReadKeywords`, the docstrings and the table in docs/formats.md to them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar

from graphrefine.system.threads import usable_threads

Column = str | int
Nodes = int | str | PathLike[str] | Iterable[Any]
Kind = Literal["flag", "switch", "weights", "column", "nodes", "format", "delimiter", "characters", "name", "count"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _about(kind: Kind, help: str, *, otherwise: str = "", every_graph: bool = False) -> dict[str, Any]:
    """Metadata of an option: ``otherwise`` describes a default of None; ``every_graph``: it applies to any graph."""
    return {"kind": kind, "help": help, "otherwise": otherwise, "every_graph": every_graph}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Keyword arguments of `graphrefine.read`, whose docstring describes them at length.

    Examples
    --------
    >>> ReadOptions(weights="cost").changes(), ReadOptions().comments
    (['weights'], '#%')
    """

    directed: bool = field(
        default=False,
        metadata=_about("flag", "Edges with a direction, from the first end to the second.", every_graph=True),
    )
    bipartite: bool = field(
        default=False,
        metadata=_about(
            "flag",
            "Ends of edges as two sets of nodes, such as users and items, even where names coincide.",
            every_graph=True,
        ),
    )
    weights: Any = field(
        default=None,
        metadata=_about(
            "weights",
            "Column of the weights, by name or position from 0; none (in Python False): no weights.",
            otherwise="a column called weight, or the third of three",
        ),
    )
    source: Column | None = field(
        default=None,
        metadata=_about(
            "column",
            "Column of the first end of an edge, by name or position from 0.",
            otherwise="a usual name, or the first column",
        ),
    )
    target: Column | None = field(
        default=None,
        metadata=_about(
            "column",
            "Column of the second end, by name or position from 0.",
            otherwise="a usual name, or the second column",
        ),
    )
    nodes: Nodes | None = field(
        default=None,
        metadata=_about(
            "nodes",
            "Nodes beside those of the edges: a file with a name on each line, or a number N for nodes 0 to N-1.",
            otherwise="the nodes of the edges",
            every_graph=True,
        ),
    )
    format: str | None = field(
        default=None,
        metadata=_about(
            "format", "Format of the file.", otherwise="the suffix and the first bytes decide", every_graph=True
        ),
    )
    delimiter: str | None = field(
        default=None,
        metadata=_about(
            "delimiter",
            "Character between the columns of text: comma, semicolon, tab or space.",
            otherwise="detected",
        ),
    )
    header: bool | None = field(
        default=None, metadata=_about("switch", "Names of the columns in the first line of text.", otherwise="detected")
    )
    comments: str = field(
        default="#%", metadata=_about("characters", "Characters that begin a comment line of text; '' for none.")
    )
    encoding: str | None = field(
        default=None, metadata=_about("name", "Encoding of text.", otherwise="UTF-8, or Latin-1 if it is not UTF-8")
    )
    variable: str = field(default="network", metadata=_about("name", "Variable of a .mat file."))
    threads: int | None = field(
        default=None, metadata=_about("count", "Largest number of threads.", otherwise="all cores", every_graph=True)
    )

    @cached_property
    def thread_count(self) -> int:
        """The number of threads to use."""
        return self.threads if self.threads is not None and self.threads > 0 else usable_threads(self.threads)

    def changes(self) -> list[str]:
        """Names of the options that apply to some graphs only and differ from their defaults."""
        return [
            each.name
            for each in fields(self)
            if not each.metadata["every_graph"] and not _same(getattr(self, each.name), each.default)
        ]


class ReadKeywords(TypedDict, total=False):
    """The types of `ReadOptions` for ``**options``; None stands for the default."""

    directed: bool
    bipartite: bool
    weights: Any
    source: Column | None
    target: Column | None
    nodes: Nodes | None
    format: str | None
    delimiter: str | None
    header: bool | None
    comments: str | None
    encoding: str | None
    variable: str | None
    threads: int | None


def read_options(keywords: ReadKeywords) -> ReadOptions:
    """The options of a call; a keyword that is None has its default.

    Examples
    --------
    >>> read_options({"variable": None, "header": True}).variable
    'network'
    """
    values: dict[str, Any] = {name: value for name, value in keywords.items() if value is not None}
    return ReadOptions(**values)


def list_options(function: _Function) -> _Function:
    """Let the signature of a function list each option in place of ``**options``, for `help` and for editors."""
    signature = inspect.signature(function)
    parameters = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    for each in fields(ReadOptions):
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(each.name, keyword, default=each.default, annotation=each.type))
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)
