"""``graphrefine explore``: a page to look at an embedding, served on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, command, load_with_graph, print_address, read_token, take_labels
from graphrefine.display.console import note

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.explore.session import Session
    from graphrefine.graph.graph import Graph


@command(
    "explore",
    first=("graph", "labels", "columns", "port"),
    short_help="A page to look at an embedding, and an API to ask it.",
    params=[
        opt.EMBEDDING,
        Option(["--graph"], metavar="GRAPH",
               help="The graph it was made from: for neighborhoods, communities, and nodes that are not yet linked."),
        Option(["--labels"], metavar="LABELS", help="Labels of nodes, as for graphrefine evaluate labels."),
        Option(["--columns"], metavar="TABLE",
               help="Further columns to color by: a csv, tsv or parquet file with a column of nodes."),
        *opt.SERVER,
        opt.INDEX, opt.EMBEDDING_FORMAT, *opt.LABEL_READING, opt.LABELS_VARIABLE, *opt.READING,
    ],
)  # fmt: skip
def explore(
    embedding: str, graph: str | None, embedding_format: str | None, host: str, port: int, token: str | None,
    token_file: str | None, no_browser: bool, as_json: bool, **sources: Any,
) -> None:  # fmt: skip
    """Open a page that shows EMBEDDING as a map: find a node, see its neighbors, color, select.

    The page and its API are served on this machine alone unless --host says otherwise, until Ctrl-C.
    """
    from graphrefine.explore.server import can_open_browser, serve

    token = read_token(token, token_file)
    vectors, links, _ = load_with_graph(embedding, graph, sources, format=embedding_format)
    session, readings = _make_session(vectors, links, name=Path(embedding).name, **sources)
    stats: dict[str, Any] = {"nodes": len(vectors), "dim": vectors.dim, **readings}
    on_start = partial(print_address, as_json, **stats)
    browser = not no_browser and can_open_browser()
    serve(session, host=host, port=port, token=token, browser=browser, on_start=on_start)


def _make_session(
    vectors: Embedding, links: Graph | None, *, labels: str | None, columns: str | None, index: bool | None, name: str,
    **options: Any,
) -> tuple[Session, dict[str, str]]:  # fmt: skip
    """Return a session of files and how its labels were read; print notes about names that do not fit together."""
    from graphrefine.explore.columns import read_columns
    from graphrefine.explore.session import Session

    table, matches = (None, 0) if columns is None else read_columns(columns, vectors.names)
    node_labels, readings = take_labels(labels, options, vectors.names, graph=links)
    session = Session(vectors, graph=links, labels=node_labels, columns=table, index=index, name=name)
    if not session.named:
        note(f"note: {name} has no names of nodes; they are called by their rows, 0 to {max(len(vectors) - 1, 0)}")
    found = {} if table is None else {f"the table {columns}": matches}
    if session.graph is not None:
        found[f"the graph, which has {session.graph.graph.nodes:,} nodes"] = session.graph.matches
    for source, count in found.items():
        warning = "" if count == len(vectors) else "warning: "
        note(f"{warning}{count:,} of {len(vectors):,} nodes of the embedding are in {source}")
    return session, readings
