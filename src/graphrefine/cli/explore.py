"""``graphrefine explore``: a page to look at an embedding, served on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import READING, Command, Option, reading_options

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.explore.shown import Shown


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
               help="Where to listen; beyond this machine a token is needed, and made if none is given."),
        Option(["--port"], type=int, default=0, metavar="N", help="Any that is free if not given."),
        Option(["--token"], metavar="TEXT", help="What whoever asks must have."),
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
    from graphrefine.explore.serving import can_open_browser, check_installed, serve

    check_installed()
    vectors = load(embedding, format=embedding_format)
    shown = _shown(vectors, index=index, name=Path(embedding).name, **sources)

    def tell(url: str, bound: int) -> None:
        import json

        from graphrefine.visuals.console import note

        if as_json:
            facts = {"url": url, "port": bound, "nodes": len(vectors), "dim": vectors.dim}
            print(json.dumps(facts), flush=True)
        else:
            note(f"{url}  (Ctrl-C ends it)")

    serve(shown, host=host, port=port, token=token, browser=not no_browser and can_open_browser(), tell=tell)


def _shown(
    vectors: Embedding, *, graph: str | None, labels: str | None, columns: str | None, index: bool | None, name: str,
    **options: Any,
) -> Shown:  # fmt: skip
    """What is shown, with notes about what does not fit together."""
    from graphrefine.explore.shown import Shown
    from graphrefine.explore.tables import read_columns
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import note

    found, table, listed = None, None, 0
    if graph is not None:
        reading = reading_options(options)
        reading["directed"] |= vectors.sides.kind == "columns"
        reading["bipartite"] |= vectors.sides.kind == "rows"
        found = read(graph, **reading)
    if columns is not None:
        table, listed = read_columns(columns, vectors.names)
    shown = Shown(vectors, graph=found, labels=labels, columns=table, index=index, name=name)
    if not shown.named:
        note(f"note: {name} has no names of nodes; they are called by their rows, 0 to {max(len(vectors) - 1, 0)}")
    if shown.linked is not None and found is not None:
        _tell_matches(shown.linked.matched, len(vectors), f"the graph, which has {found.nodes:,} nodes")
    if shown.labels is not None and shown.labels.missing:
        note(f"warning: {shown.labels.missing:,} of {shown.labels.given:,} labelled nodes are not in the embedding")
    if table is not None:
        _tell_matches(listed, len(vectors), f"the table {columns}")
    return shown


def _tell_matches(matched: int, nodes: int, where: str) -> None:
    from graphrefine.visuals.console import note

    kind = "" if matched == nodes else "warning: "
    note(f"{kind}{matched:,} of {nodes:,} nodes of the embedding are in {where}")
