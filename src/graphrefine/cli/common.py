"""What several commands do: check their paths, read a graph or labels, show a table or notes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import LABEL_READING, reading_options
from graphrefine.display.console import note, show_json
from graphrefine.errors import FormatError, InputError, OutputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.display.table import Table
    from graphrefine.evaluate import Labels
    from graphrefine.graph.graph import Graph
    from graphrefine.search.vectors import VectorTable

JSON_ROWS = 1000  # of a table that is not written to a file: a million rows as JSON are of no use at a terminal
TOKEN_LENGTH = 4096  # characters that are read of a file
BLOCK = 8192  # rows that are read together: few MB even of long vectors, which may be mapped from a file
# Options of labels have other names than the arguments of the library where a command also reads a graph.
LABEL_ARGUMENTS = {"labels_header": "header", "labels_variable": "variable"}
LABEL_OPTIONS = (*(str(option.name) for option in LABEL_READING), "labels_variable")


def check_not_input(output: str | None, inputs: Iterable[Any]) -> None:
    """Raise OutputError where an output would replace an input: the same file, or one inside the other.

    Links are followed. An input that is no path or does not exist is left to its reader, which has a better error.
    """
    if output is None or not os.path.exists(output):  # noqa: PTH110  Path.exists raises for names that are too long
        return
    target = Path(output).resolve()
    for each in inputs:
        if not isinstance(each, str) or not os.path.exists(each):  # noqa: PTH110
            continue
        path = Path(each).resolve()
        if path.samefile(target):
            problem = "is an input"
        # A folder that is above the current one is no embedding: `check_output` refuses it with a better reason.
        elif path.is_relative_to(target) and not Path().resolve().is_relative_to(target):
            problem = f"contains {each}, an input"
        elif target.is_file() and target.is_relative_to(path):
            problem = f"is a part of {each}, an input"
        else:
            continue
        raise OutputError(f"{output}: {problem}, and would be replaced; choose another name")


def is_same(one: str, other: str) -> bool:
    """Return whether two paths are of one file or folder."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)  # noqa: PTH110, PTH121


def read_token(token: str | None, file: str | None) -> str | None:
    """Return the token of a server: from the option, the first line of a file, or GRAPHREFINE_TOKEN."""
    # Other users of the machine can see a command line, but neither a file nor the environment.
    if token is not None and file is not None:
        raise click.BadParameter("cannot be used with --token; leave one of them out", param_hint="--token-file")
    source = "--token"
    if file is not None:
        source = "standard input" if file == "-" else file
        try:
            # One line, and never more than a token can have: a wrong name may be that of a large file, or of a device.
            with contextlib.nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8") as lines:
                token = lines.readline(TOKEN_LENGTH)
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(source, f"no token can be read: {getattr(error, 'strerror', None) or error}") from None
    elif token is None:
        source, token = "GRAPHREFINE_TOKEN", os.environ.get("GRAPHREFINE_TOKEN")
    if token is not None and not token.strip():
        # As of a variable that was never set: a server with a token that protects nothing is never meant.
        raise FormatError(source, "the token is empty; leave it out, and one is made where it is needed")
    return None if token is None else token.strip()


def check_table_output(output: str | None, *inputs: str | None) -> None:
    """Raise OutputError before the work if a table cannot be written, or would replace one of the inputs."""
    from graphrefine.display.table import check_table_path

    if output is not None:
        check_not_input(output, inputs)
        check_table_path(output)


def read_graph(path: str, **reading: Any) -> Graph:
    """Read a graph, and print how."""
    from graphrefine.readers.read import read

    graph = read(path, **reading)
    note(f"read: {graph.reading}")
    return graph


def read_graph_of(
    table: VectorTable, graph: str | None, options: dict[str, Any], *, threads: int | None = None
) -> Graph | None:
    """Read the graph of an embedding, directed or bipartite as its recipe says; None without one.

    The options of reading are taken out of a command's.
    """
    reading = reading_options(options)
    if graph is None:
        return None
    # The recipe says how the graph was read. Read in another way, its nodes would have other neighbors, or other names.
    if reading["directed"] is None or table.sides.kind == "columns":
        reading["directed"] = table.sides.kind == "columns"
    reading["bipartite"] = reading["bipartite"] or table.sides.kind == "rows" or None
    return read_graph(graph, threads=threads, **reading)


def take_labels(
    labels: str | None, options: dict[str, Any], names: NDArray[Any], *, graph: Graph | None = None
) -> tuple[Labels | None, dict[str, str]]:
    """Read the labels of nodes called ``names``; print how, and return the same for JSON.

    The options of reading them are taken out of a command's.
    """
    from graphrefine.evaluate import as_labels, read_labels
    from graphrefine.readers.labels import is_attribute

    keywords = {LABEL_ARGUMENTS.get(name, name): options.pop(name) for name in LABEL_OPTIONS}
    if labels is None:
        refuse_options("is for --labels, and there are none", *LABEL_OPTIONS)
        return None, {}
    try:
        if graph is not None and is_attribute(labels, graph):
            refuse_options("is for a file, and --labels names an attribute of the graph's nodes", *LABEL_OPTIONS)
            found = as_labels((graph, labels), names=names)
        else:
            found = read_labels(labels, names=names, **keywords)
    except InputError as error:
        if error.argument in LABEL_ARGUMENTS.values():
            error.argument = f"labels_{error.argument}"
        raise
    reading = found.describe(names)
    note(f"labels: {reading}")
    return found, {"labels_reading": reading}


def refuse_options(reason: str, *names: str) -> None:
    """Raise UsageError where one of these options was typed, as it would have no effect."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name in names and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} {reason}")


def show_table_or_json(
    table: Table, *, output: str | None, as_json: bool, lines: Sequence[str] = (), **origin: Any
) -> None:
    """Write a table to its file, or print its first rows, and lines about it; or stats and rows as JSON."""
    from graphrefine.display.table import SHOWN

    if output is not None:
        table.save(output)
    if as_json:
        rows = {} if output is not None else {"rows": table[:JSON_ROWS].records()}
        return show_json({**origin, **table.stats, "output": output, "count": len(table), **rows})
    for line in lines:
        note(line)
    if output is not None:
        print(f"{output}: {len(table):,} rows")
    elif len(table):
        print(table)
        if len(table) > SHOWN:
            note(f"the first {SHOWN} of {len(table):,} rows; -o FILE writes all")
    return None


def show_notes(graph: Graph, *, zero_vectors: int = 0, features: dict[str, Any] | None = None) -> None:
    """Print what a user may not expect of the reading of a graph, and how many vectors are zero.

    ``features`` is the entry of that name in the recipe.
    """
    from graphrefine.graph.adjacency import list_notes
    from graphrefine.kernels.edge_lists import SYMMETRIC, inspect_rows

    counts = {"isolated": graph.isolated, "zero_vectors": max(zero_vectors - graph.isolated, 0)}
    if features:
        # With features, a node without edges may have a vector, and one without features an incomplete one.
        bare = graph.nodes - features["nodes"]
        counts = {"alone": graph.isolated, "bare": bare, "unknown": features["unknown"]}
    lines = list_notes(counts, edges=graph.edges)
    if graph.directed and inspect_rows(graph.indptr, graph.indices, graph.weights) & SYMMETRIC:
        lines.append("every edge is there in both directions, so that directed says nothing; leave it out")
    for line in lines:
        note(f"note: {line}")


def count_zero_rows(vectors: NDArray[np.float32]) -> int:
    """Count the rows that are zero."""
    # The first number of nearly all other rows is not zero: few rows are compared in full.
    candidates = (vectors[:, 0] == 0).nonzero()[0]
    blocks = (vectors[candidates[at : at + BLOCK]] for at in range(0, len(candidates), BLOCK))
    return sum(int((~block.any(axis=1)).sum()) for block in blocks)


def describe_dimension(auto_dim: dict[str, Any]) -> str:
    """Describe what numbers of axes lose, as `graphrefine.refine.dimension.Dimension` has it."""
    if not auto_dim["axes"]:
        return "no axis is above the noise: there are too few edges for that"
    losses = ", ".join(f"{axes} {lost:.1%}" for axes, lost in auto_dim["lost"].items())
    return f"{auto_dim['axes']} axes are above the noise; lost of their energy at {losses}"
