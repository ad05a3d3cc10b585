"""``graphrefine neighbors``: the nodes nearest to a node."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import JSON, THREADS, Command, Option

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.search import Neighbor, Search


@click.command(
    cls=Command,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["nodes"], metavar="NODE...", nargs=-1),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbours."),
        Option(["--score"], type=click.Choice(["cosine", "dot", "link"]), default="cosine", show_default=True,
               help="What is near: the angle, the inner product, or how likely an edge is."),
        Option(["--from", "listed"], metavar="FILE", help="Names of further nodes, one on each line; - for stdin."),
        Option(["--vectors"], metavar="FILE",
               help="Search for the vectors of this embedding instead of nodes, such as those of new nodes."),
        Option(["--labels"], metavar="LABELS", help="Which node has which label; for --label."),
        Option(["--label"], metavar="LABEL", help="Find only nodes that have this label."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Of a .mat file of labels."),
        Option(["--unlinked"], metavar="GRAPH",
               help="Leave out nodes that are neighbours in this graph: near, but not linked yet."),
        Option(["--side"], type=click.Choice(["source", "target"]),
               help="The side of the nodes, where a name stands on both of a bipartite graph."),
        Option(["--index/--exact"], default=None,
               help="Search by an index, made if there is none and kept beside EMBEDDING; or all vectors.  "
                    "[default: by an index beyond a million nodes]"),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON,
    ],
    short_help="The nodes nearest to a node.",
)  # fmt: skip
def neighbors(
    embedding: str,
    nodes: tuple[str, ...],
    listed: str | None,
    vectors: str | None,
    format: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """The nodes nearest to each NODE, the nearest first, itself left out.

    \b
    who is most like her, whom she may want to know, the nearest chess players:
    graphrefine neighbors friends ada -k 5
    graphrefine neighbors friends ada --score link --unlinked friends.csv
    graphrefine neighbors friends ada --labels labels.csv --label chess
    """  # noqa: D301  click wants the character itself, not its name
    from graphrefine.embedding.embedding import load
    from graphrefine.visuals.console import note, seconds, show_json, show_table

    names = [*nodes, *([] if listed is None else _listed(listed))]
    if bool(names) == (vectors is not None):
        raise click.UsageError("name nodes, or give --vectors, to find the neighbours of")
    known = load(embedding, format=format)
    queries = None if vectors is None else load(vectors)
    asking = [_as_name(name, known) for name in names] if queries is None else queries.names.tolist()
    search = _search(known, asked)
    start = perf_counter()
    every = _find(search, asking, None if queries is None else queries.vectors, asked)
    spent = perf_counter() - start
    if as_json:
        results = [
            {"node": node, "neighbors": [near._asdict() for near in found]}
            for node, found in zip(asking, every, strict=True)
        ]
        return show_json({"results": results, "score": asked["score"], **_about(search), "seconds": spent})
    lines = [
        (str(node) if place == 0 else "", str(near.node), f"{near.score:.4f}")
        for node, found in zip(asking, every, strict=True)
        for place, near in enumerate(found)
    ]
    show_table([("node", "neighbour", asked["score"]), *lines], left=(0, 1))
    for node, found in zip(asking, every, strict=True):
        if not found:
            note(f"note: nothing is near {node!r}: its vector is zero, or nothing may be found")
    if search.index is not None:
        where = search.index.path or f"is not kept ({search.index.problem})"
        note(f"index {where}: recall@10 {search.index.recall:.3f}; {len(asking)} searched in {seconds(spent)}")
    return None


def _search(known: Embedding, asked: dict[str, Any]) -> Search:
    from graphrefine.search import INDEX_BEYOND, Search
    from graphrefine.visuals.console import note, progress_bar

    if asked["index"] is None and len(known) > INDEX_BEYOND:
        note(f"{len(known):,} nodes are searched by an index, made now if there is none; --exact searches them all")
    with progress_bar() as bar:
        return Search(known, asked["score"], index=asked["index"], threads=asked["threads"], watcher=bar)


def _find(search: Search, asking: list[Any], vectors: Any, asked: dict[str, Any]) -> list[list[Neighbor]]:
    from graphrefine.evaluate import read_labels
    from graphrefine.search.neighbors import ask

    nodes = asking if vectors is None else None
    labels = None if asked["labels"] is None else read_labels(asked["labels"], variable=asked["variable"])
    wanted = {name: asked[name] for name in ("k", "label", "unlinked", "side")}
    return ask(search, nodes, vectors=vectors, labels=labels, **wanted)


def _about(search: Search) -> dict[str, Any]:
    if search.index is None:
        return {"search": "exact"}
    path = search.index.path
    about = {"path": None if path is None else str(path), "made": search.index.is_new, "recall": search.index.recall}
    return {"search": "index", "index": about}


def _listed(file: str) -> list[str]:
    """Names, one on each line; empty lines are passed over."""
    from graphrefine.errors import FormatError

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(file, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(file, f"is not UTF-8 text: {error.reason} at byte {error.start}") from None
    return [name for line in text.splitlines() if (name := line.strip())]


def _as_name(text: str, known: Embedding) -> int | str:
    """A name as the embedding has it: where its names are integers, so is this one, if it can be."""
    if known.names.dtype == object:
        return text
    try:
        return int(text)
    except ValueError:
        return text
