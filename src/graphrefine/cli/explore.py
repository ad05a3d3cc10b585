"""``graphrefine explore``: a page to look at an embedding, served on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.cli.options import reading_options
from graphrefine.cli.token import take_token
from graphrefine.display.console import note
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.explore.columns import read_columns
from graphrefine.explore.server import can_open_browser, serve
from graphrefine.explore.session import Session
from graphrefine.readers.read import read


def explore(
    embedding: str, embedding_format: str | None, index: bool | None, host: str, port: int, token: str | None,
    token_file: str | None, no_browser: bool, as_json: bool, **sources: Any,
) -> None:  # fmt: skip
    """Serve the page of an embedding, and open it."""
    token = take_token(token, token_file)
    vectors = load(embedding, format=embedding_format)
    session, readings = _make_session(vectors, index=index, name=Path(embedding).name, **sources)

    def print_address(url: str, bound: int) -> None:
        if as_json:
            facts = {"url": url, "port": bound, "nodes": len(vectors), "dim": vectors.dim, **readings}
            print(json.dumps(facts), flush=True)
        else:
            note(f"{url}  (Ctrl-C ends it)")

    browser = not no_browser and can_open_browser()
    serve(session, host=host, port=port, token=token, browser=browser, on_start=print_address)


def _make_session(
    vectors: Embedding, *, graph: str | None, labels: str | None, columns: str | None, index: bool | None, name: str,
    **options: Any,
) -> tuple[Session, dict[str, str]]:  # fmt: skip
    """A session of files and how its labels were read, with notes about names that do not fit together."""
    links, table, matches = None, None, 0
    if graph is not None:
        reading = reading_options(options)
        if reading["directed"] is None or vectors.sides.kind == "columns":
            reading["directed"] = vectors.sides.kind == "columns"
        reading["bipartite"] |= vectors.sides.kind == "rows"
        links = read(graph, **reading)
        note(f"read: {links.reading}")
    if columns is not None:
        table, matches = read_columns(columns, vectors.names)
    node_labels = take_labels(labels, options, vectors.names, graph=links)
    session = Session(vectors, graph=links, labels=node_labels, columns=table, index=index, name=name)
    if not session.named:
        note(f"note: {name} has no names of nodes; they are called by their rows, 0 to {max(len(vectors) - 1, 0)}")
    if session.graph is not None:
        matched = session.graph
        _note_matches(matched.matches, len(vectors), f"the graph, which has {matched.graph.nodes:,} nodes")
    if session.labels is not None and session.labels.missing:
        labeled = session.labels
        note(f"warning: {labeled.missing:,} of {labeled.listed:,} labeled nodes are not in the embedding")
    if table is not None:
        _note_matches(matches, len(vectors), f"the table {columns}")
    return session, tell_labels(node_labels, vectors.names)


def _note_matches(matches: int, nodes: int, place: str) -> None:
    kind = "" if matches == nodes else "warning: "
    note(f"{kind}{matches:,} of {nodes:,} nodes of the embedding are in {place}")
