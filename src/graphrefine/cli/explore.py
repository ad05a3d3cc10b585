"""``graphrefine explore``: a page to look at an embedding, served on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import READING, Command, Option, reading_options

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.explore.session import Session


@click.command(
    cls=Command,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH",
               help="The graph it was made from: for neighbourhoods, communities, and nodes that are not yet linked."),
        Option(["--labels"], metavar="LABELS", help="Labels of nodes, as for graphrefine evaluate labels."),
        Option(["--columns"], metavar="TABLE",
               help="Further columns to colour by: a csv, tsv or parquet file with a column of nodes."),
        Option(["--index/--exact"], default=None,
               help="Search neighbours by an index, kept beside EMBEDDING and made while it serves if there is none; "
                    "or all vectors.  [default: by an index beyond a million nodes]"),
        Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS",
               help="Address to listen on; beyond this machine a token is needed, and made if none is given."),
        Option(["--port"], type=int, default=0, metavar="N", help="Port to listen on.  [default: any that is free]"),
        Option(["--token"], metavar="TEXT", help="Token that every request must send."),
        Option(["--no-browser"], is_flag=True, help="Do not open the page in a browser."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        Option(["--json", "as_json"], is_flag=True, help="Print one line of JSON with the address, then serve."),
        *READING,
    ],
    short_help="A page to look at an embedding, and an API to ask it.",
)  # fmt: skip
def explore(
    embedding: str, embedding_format: str | None, index: bool | None, host: str, port: int, token: str | None,
    no_browser: bool, as_json: bool, **sources: Any,
) -> None:  # fmt: skip
    """Open a page that shows EMBEDDING as a map: find a node, see its neighbours, colour, select.

    The page and its API are served on this machine alone unless --host says otherwise, until Ctrl-C.
    """
    from pathlib import Path

    from graphrefine.embedding.embedding import load
    from graphrefine.explore import check_installed

    check_installed()
    from graphrefine.explore.server import can_open_browser, serve

    vectors = load(embedding, format=embedding_format)
    session = _make_session(vectors, index=index, name=Path(embedding).name, **sources)

    def print_address(url: str, bound: int) -> None:
        import json

        from graphrefine.visuals.console import note

        if as_json:
            facts = {"url": url, "port": bound, "nodes": len(vectors), "dim": vectors.dim}
            print(json.dumps(facts), flush=True)
        else:
            note(f"{url}  (Ctrl-C ends it)")

    browser = not no_browser and can_open_browser()
    serve(session, host=host, port=port, token=token, browser=browser, on_start=print_address)


def _make_session(
    vectors: Embedding, *, graph: str | None, labels: str | None, columns: str | None, index: bool | None, name: str,
    **options: Any,
) -> Session:  # fmt: skip
    """A session of files, with notes about names that do not fit together."""
    from graphrefine.explore.column_table import read_columns
    from graphrefine.explore.session import Session
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import note

    links, table, listed = None, None, 0
    if graph is not None:
        reading = reading_options(options)
        reading["directed"] |= vectors.sides.kind == "columns"
        reading["bipartite"] |= vectors.sides.kind == "rows"
        links = read(graph, **reading)
    if columns is not None:
        table, listed = read_columns(columns, vectors.names)
    session = Session(vectors, graph=links, labels=labels, columns=table, index=index, name=name)
    if not session.named:
        note(f"note: {name} has no names of nodes; they are called by their rows, 0 to {max(len(vectors) - 1, 0)}")
    if session.graph is not None:
        matched = session.graph
        _note_matches(matched.matches, len(vectors), f"the graph, which has {matched.graph.nodes:,} nodes")
    if session.labels is not None and session.labels.missing:
        labelled = session.labels
        note(f"warning: {labelled.missing:,} of {labelled.listed:,} labelled nodes are not in the embedding")
    if table is not None:
        _note_matches(listed, len(vectors), f"the table {columns}")
    return session


def _note_matches(matches: int, nodes: int, place: str) -> None:
    from graphrefine.visuals.console import note

    kind = "" if matches == nodes else "warning: "
    note(f"{kind}{matches:,} of {nodes:,} nodes of the embedding are in {place}")
