"""Nodes and edges with attributes, collected one by one by the loaders of GraphML, GEXF, GML, Pajek and JSON.

A file that has edges of both kinds is read as directed, and its undirected edges count in both directions. Attributes
of nodes stay with the graph; of those of edges, the weight is used and the others are reported.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from html.entities import name2codepoint
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.adjacency import check_weights, describe_outside
from graphrefine.graph.node_ids import (
    encode_all,
    from_strings,
    name_array,
    object_array,
    sort_rows,
    table_key,
    text_names,
)
from graphrefine.readers.formats import EdgeTable, make_report
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.decode import decode
from graphrefine.tables.source import Source, check_fields, check_unpacked

_LISTED = 8  # attributes and columns that a note or an error names
_ENTITY = re.compile("&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));")
_NAMED = {**name2codepoint, "apos": ord("'")}
_DIRECTIONS = {None: 0, True: 1, False: 2}


class AttributedGraph:
    """Nodes and edges of a file, in the order of their first mention.

    ``closed``: edges may only join nodes that are declared. ``label``: attribute that names the nodes if all of them
    have it and no two the same, unless the option ``names`` says otherwise. ``typed``: ids are integers or strings by
    themselves, as in JSON; else they are text, and integers if all are written as one.
    """

    def __init__(
        self,
        source: Source,
        options: ReadOptions,
        *,
        closed: bool = False,
        label: str | None = None,
        typed: bool = False,
    ) -> None:
        if isinstance(options.weights, int) and options.weights is not False and not typed:
            raise InputError(f"weights={options.weights!r}: attributes have names, not positions", argument="weights")
        self.source, self.options = source, options
        self.closed, self.label, self.typed = closed, label, typed
        self.weight_name = options.weights if isinstance(options.weights, str) else "weight"
        self.notes: list[str] = []
        self.report: dict[str, Any] = {}
        self.unused: dict[str, None] = {}  # attributes of edges
        self._ids: list[Any] = []
        self._positions: dict[Any, int] = {}  # by `table_key`
        self._declared = bytearray()
        self._mentions = array("q")  # line of the first mention of each node; 0: none
        self._columns: dict[str, dict[int, Any]] = {}
        self._defaults: dict[str, Any] = {}  # of attributes of nodes that are declared
        self._usual_weight: Any = None  # of edges that have none
        self._ends = array("q")
        self._weights = array("d")  # NaN: none
        self._directions = bytearray()

    def add_node(self, node: Any, attributes: Mapping[str, Any], *, line: int = 0) -> None:
        """Add a node that the file declares; values of None are no values."""
        position = self._position(node, line)
        if self._declared[position]:
            raise self.error(f"the node {node!r} is declared twice", line)
        self._declared[position] = 1
        for name, value in attributes.items():
            if value is not None or name in self._defaults:
                if name not in self._columns:
                    self._columns[name] = {}
                    check_fields(len(self._columns))
                self._columns[name][position] = value

    def set_default(self, name: str, value: Any, *, edges: bool) -> None:
        """Set the value of an attribute for all nodes that the file declares, or all edges, that have none."""
        if not edges:
            self._defaults[name] = value
        elif name != self.weight_name or self.options.weights is False:
            self.unused[name] = None
        else:
            self._usual_weight = value

    def add_edge(
        self, first: Any, second: Any, attributes: Mapping[str, Any], *, directed: bool | None, line: int = 0
    ) -> None:
        """Add an edge; ``directed`` is the direction that the file declares for it, if it does."""
        weight = math.nan
        if self._usual_weight is not None and self.weight_name not in attributes:
            weight = self._weight(self._usual_weight, line)
        for name, value in attributes.items():
            if name != self.weight_name or self.options.weights is False:
                if name not in self.unused:
                    self.unused[name] = None
                    check_fields(len(self.unused))
            elif value is not None:
                weight = self._weight(value, line)
        self._ends.append(self._position(first, line))
        self._ends.append(self._position(second, line))
        self._weights.append(weight)
        self._directions.append(_DIRECTIONS[directed])

    def error(self, problem: str | InputError, line: int = 0, argument: str | None = None) -> FormatError:
        """Return an error of the file, at a line if there is one."""
        return self.source.error(problem, line=line or None, argument=argument)

    def text(self) -> str:
        """Return all text of the file, its lines ended as those of Unix; the file's bytes are not needed again."""
        data, encoding = decode(self.source, self.options.encoding)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text, encoding = data.decode("latin-1"), "latin-1"
            self.notes.append("text that is not UTF-8, read as Latin-1")
        self.report["encoding"] = encoding or "utf-8"
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def lines(self, *, marks: str) -> Iterator[tuple[int, str]]:
        """Yield lines with their numbers from 1, without empty ones and comments, which begin with a mark."""
        comment = re.compile(f"\\s*(?:$|[{re.escape(marks)}])" if marks else "\\s*$")
        for number, line in enumerate(self.text().split("\n"), start=1):
            if not comment.match(line):
                yield number, line

    def table(self) -> EdgeTable:
        """Return the edges, numbered by the sorted names of the nodes."""
        if not self._ends:
            raise self.error("there is no edge in the file")
        self._check_declared()
        weights = self._check_weights(np.array(self._weights))
        ends, declared = np.array(self._ends, np.int64).reshape(-1, 2), self._direction()
        if declared if self.options.directed is None else self.options.directed:
            undirected = np.frombuffer(bytes(self._directions), np.uint8) == _DIRECTIONS[False]
            ends = np.concatenate([ends, ends[undirected][:, ::-1]])
            weights = None if weights is None else np.concatenate([weights, weights[undirected]])
        names, attributes = self._names(), self._attributes()
        order = sort_rows(names)
        rank = np.argsort(order).astype(np.int32)
        if attributes:
            self.notes.append(f"node attributes {list_names(attributes)}")
        column = None if weights is None else self.weight_name
        report = make_report(weight_column=column, **self.report, unused=self.unused, notes=self.notes)
        return EdgeTable(
            (rank[ends[:, 0]], rank[ends[:, 1]], names[order]),
            weights,
            report,
            directed=declared,
            attributes={name: column[order] for name, column in attributes.items()},
        )

    def _position(self, node: Any, line: int) -> int:
        key = node if isinstance(node, str) and node[:1] != "\0" else table_key(node)
        position = self._positions.setdefault(key, len(self._positions))
        if position == len(self._ids):
            self._ids.append(node)
            self._declared.append(0)
            self._mentions.append(line)
        return position

    def _weight(self, value: Any, line: int) -> float:
        try:
            return parse_weight(value)
        except InputError as error:
            raise self.error(error, line) from None

    def _check_declared(self) -> None:
        missing = self._declared.count(0)
        if not missing or (missing == len(self._declared) and not self.closed):
            return
        if self.closed:
            at = self._declared.index(0)
            raise self.error(f"an edge names the node {self._ids[at]!r}, and there is no such node", self._mentions[at])
        self.notes.append(f"nodes that edges name and the file does not declare: {missing:,}")

    def _check_weights(self, values: NDArray[np.float64]) -> NDArray[np.float32] | None:
        missing = np.isnan(values)
        if self.options.weights is False:
            return None
        if missing.all():
            if isinstance(self.options.weights, str):
                attributes = f"the attributes are {list_names(self.unused)}" if self.unused else "edges have none"
                raise self.error(f"no edge has the attribute {self.weight_name!r}; {attributes}", argument="weights")
            return None
        if missing.any():
            self.notes.append(f"edges without {self.weight_name!r}, which count 1: {missing.sum():,}")
        return check_weights(np.where(missing, 1.0, values), len(values))

    def _direction(self) -> bool | None:
        """Return the direction that the file declares, if it does."""
        one_way, both_ways = (self._directions.count(_DIRECTIONS[kind]) for kind in (True, False))
        if one_way and both_ways and self.options.directed is not False:
            self.notes.append(f"undirected edges among directed ones, which count in both directions: {both_ways:,}")
        return bool(one_way) if one_way or both_ways else None

    def _names(self) -> NDArray[Any]:
        attribute, wanted = self.options.names or self.label, self.options.names is not None
        if attribute is None or (wanted and attribute == "id" and "id" not in self._columns):
            return self._as_names(self._ids)
        if problem := self._name_problem(attribute):
            if wanted:
                raise InputError(f"names={attribute!r}: {problem}", argument="names")
            if attribute in self._columns:
                self.notes.append(f"nodes named by id, as {problem}")
            return self._as_names(self._ids)
        if not wanted:
            self.notes.append(f"nodes named by {attribute!r}")
        names = self._as_names(self._attribute(attribute))
        # The attribute that names the nodes makes room for their ids, unless there is an attribute "id" already.
        self._columns.pop(attribute, None)
        self._defaults.pop(attribute, None)
        self._columns.setdefault("id", dict(enumerate(self._as_names(self._ids).tolist())))
        return names

    def _name_problem(self, attribute: str) -> str:
        """Return the reason why an attribute cannot name the nodes; empty if it can."""
        if attribute not in (*self._columns, *self._defaults):
            names = list_names({"id": None, **self._columns, **self._defaults})
            return f"no node has this attribute; the attributes are {names}"
        owners: dict[str, Any] = {}
        for id, value in zip(self._ids, self._attribute(attribute), strict=True):
            if value is None:
                return f"the node {id!r} has no {attribute!r}"
            if not isinstance(value, str | int | float) or value == "" or "\n" in str(value):
                return f"{attribute!r} of the node {id!r} is {value!r}, which is no name"
            if str(value) in owners:
                return f"{attribute!r} of the nodes {owners[str(value)]!r} and {id!r} is {value!r}"
            owners[str(value)] = id
        return ""

    def _as_names(self, values: list[Any]) -> NDArray[Any]:
        if not self.typed and all(isinstance(value, str) for value in values):
            values = from_strings(values).tolist()
        whole = [int(each) if isinstance(each, float) and each.is_integer() else each for each in values]
        names = name_array(whole)
        if names.dtype == object:
            encode_all(text_names(names))  # both refuse what no file could hold
        return names

    def _attributes(self) -> dict[str, NDArray[Any]]:
        """Return the attributes of the nodes, if the memory allows a cell for each of them and each node."""
        names = list(dict.fromkeys([*self._columns, *self._defaults]))
        # Thousands of attributes that few nodes have are a small file, and a table that takes all memory.
        size = np.dtype(object).itemsize * len(names) * len(self._ids)
        check_unpacked(self.source.name, size, "the table of node attributes", hint="leave out those of few nodes")
        return {name: as_array(self._attribute(name)) for name in names}

    def _attribute(self, name: str) -> list[Any]:
        """Return the values of an attribute of the nodes, None where there is none."""
        column, default = self._columns.get(name, {}), self._defaults.get(name)
        if default is None:
            return list(map(column.get, range(len(self._ids))))
        return [column.get(position, default if declared else None) for position, declared in enumerate(self._declared)]


def parse_weight(value: Any) -> float:
    """Return the weight that a value is, or that a text says."""
    text = value if isinstance(value, str) else ""
    try:
        weight = math.nan if isinstance(value, bool) else float(value)
    except (ValueError, TypeError, OverflowError):
        weight = math.nan
    problem = describe_outside(weight, text=text)
    if math.isnan(weight):
        problem = "is not a number; weights=False reads the edges without weights"
    elif weight < 0 or text.startswith("-"):
        problem = (
            "is negative, and weights must be positive (0: no edge): pass weights=False to leave them out, "
            "or write absolute values"
        )
    elif math.isinf(weight):
        problem = problem or "is not a finite float32 number"
    if problem:
        raise InputError(f"weight {value!r} {problem}", argument="weights")
    return weight


def as_array(values: list[Any]) -> NDArray[Any]:
    """Return values as an array of numbers or truth values if all of them are such, else of objects.

    Examples
    --------
    >>> as_array([1, 2]).dtype.kind, as_array([1, 2.5]).dtype.kind, as_array([1, None]).dtype.kind
    ('i', 'f', 'O')
    """
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, dtype=np.bool_)
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float} and float in kinds:
        return np.array(values, dtype=np.float64)
    return object_array(values)


def unescape(text: str, *, named: bool = True) -> str:
    """Return a text with characters instead of their entities, those with names only if ``named``.

    Unlike `html.unescape`, as which NetworkX does not write: ``&#128;`` is the character 128, not that of Windows.

    Examples
    --------
    >>> unescape("M&uuml;ller &#38; S&#xf6;hne"), unescape("M&uuml;ller", named=False)
    ('Müller & Söhne', 'M&uuml;ller')
    """

    def character(match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        code = _NAMED.get(name, -1) if name else int(decimal or hexadecimal, 10 if decimal else 16)
        is_character = 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000
        return chr(code) if is_character and (named or not name) else match[0]

    return _ENTITY.sub(character, text) if "&" in text else text


def list_names(names: Iterable[str]) -> str:
    """Return names for a message, the first few of many."""
    every = [repr(name) for name in names]
    return ", ".join(every[:_LISTED]) + (f" and {len(every) - _LISTED} more" if len(every) > _LISTED else "")
