"""``graphrefine explore``: a page to look at an embedding, served on this machine."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli_options import READING, Command, Option, reading_options


@click.command(
    cls=Command,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH",
               help="The graph it was made from: for neighbourhoods, communities, and nodes that are not yet linked."),
        Option(["--labels"], metavar="LABELS", help="Labels of nodes, as for graphrefine evaluate labels."),
        Option(["--columns"], metavar="TABLE",
               help="Further columns to colour by: a csv, tsv or parquet file with a column of nodes."),
        Option(["--index"], is_flag=True, help="Search neighbours by an index, kept beside the embedding."),
        Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS",
               help="Where to listen; beyond this machine a token is needed, and made if none is given."),
        Option(["--port"], type=int, default=0, metavar="N", help="0 for any that is free.  [default: 0]"),
        Option(["--token"], metavar="TEXT", help="What whoever asks must have."),
        Option(["--no-browser"], is_flag=True, help="Do not open the page in a browser."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        Option(["--json", "as_json"], is_flag=True, help="Print one line of JSON with the address, then serve."),
        *READING,
    ],
    short_help="A page to look at an embedding, and an API to ask it.",
)  # fmt: skip
def explore(
    embedding: str, graph: str | None, labels: str | None, columns: str | None, index: bool, host: str, port: int,
    token: str | None, no_browser: bool, embedding_format: str | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Open a page that shows EMBEDDING as a map: find a node, see its neighbours, colour, select.

    The page and its API are served on this machine alone unless --host says otherwise, until Ctrl-C.
    """
    from pathlib import Path

    from graphrefine.console import note
    from graphrefine.embedding import load
    from graphrefine.explore.serving import can_open_browser, check_installed, serve

    check_installed()
    from graphrefine.explore.shown import Shown

    shown_embedding = load(embedding, format=embedding_format)
    found = None
    if graph is not None:
        from graphrefine.reader import read

        reading = reading_options(options)
        reading["directed"] |= shown_embedding.sides.kind == "columns"
        reading["bipartite"] |= shown_embedding.sides.kind == "rows"
        found = read(graph, **reading)
    shown = Shown(shown_embedding, graph=found, labels=labels, index=index, name=Path(embedding).name)

    def tell(url: str, bound: int) -> None:
        if as_json:
            import json

            print(json.dumps({"url": url, "port": bound, "nodes": len(shown_embedding)}), flush=True)
        else:
            note(f"{url}\n(Ctrl-C ends it)")

    serve(shown, host=host, port=port, token=token, browser=not no_browser and can_open_browser(), tell=tell)
