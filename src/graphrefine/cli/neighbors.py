"""``graphrefine neighbors``: the nodes nearest to a node."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.common import check_table_output, show_labels, take_labels
from graphrefine.cli.options import JSON, LABEL_READING, SKIP, TABLE, THREADS, VARIABLE, Option, command
from graphrefine.display.console import note, progress_bar, seconds, show_json, show_table
from graphrefine.errors import FormatError, InputError

if TYPE_CHECKING:
    from graphrefine.display.table import Table
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.search.searcher import Search

KINDS = {None: "an undirected", "columns": "a directed", "rows": "a bipartite"}  # of graphs, by their sides
MOST_NAMES = 5  # of those that were left out, in JSON


@command(
    "neighbors",
    first=("k", "score", "unlinked", "output"),
    short_help="The nodes nearest to a node.",
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["nodes"], metavar="NODE...", nargs=-1),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbors."),
        Option(["--score"], type=click.Choice(["cosine", "dot", "link"]), default="cosine", show_default=True,
               help="What is near: nodes that are alike (cosine), the inner product, for vectors whose length counts "
                    "(dot), or nodes that are likely to be linked, hubs first (link)."),
        Option(["--from", "listed"], metavar="FILE", help="Names of further nodes, one on each line; - for stdin."),
        Option(["--all", "every"], is_flag=True, help="The neighbors of every node, written to -o block by block."),
        TABLE,
        Option(["--vectors"], metavar="FILE",
               help="Search for the vectors of this embedding instead of nodes, such as those of new nodes."),
        Option(["--labels"], metavar="LABELS", help="Which node has which label; for --label."),
        Option(["--label"], metavar="LABEL", help="Find only nodes that have this label."),
        VARIABLE,
        Option(["--unlinked"], metavar="GRAPH",
               help="Leave out nodes that are neighbors in this graph: near, but not linked yet."),
        Option(["--side"], type=click.Choice(["source", "target"]),
               help="The side of the nodes, where a name stands on both of a bipartite graph."),
        Option(["--index/--exact"], default=None,
               help="Search by an index, made if there is none and kept beside EMBEDDING; or all vectors.  "
                    "[default: by an index beyond a million nodes]"),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        SKIP, THREADS, JSON, *LABEL_READING,
    ],
)  # fmt: skip
def neighbors(
    embedding: str,
    nodes: tuple[str, ...],
    listed: str | None,
    every: bool,
    vectors: str | None,
    output: str | None,
    format: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the nodes nearest to each NODE, the nearest first, itself left out.

    \b
    who is most like her, whom she may want to know, the nearest chess players:
    graphrefine neighbors friends ada -k 5
    graphrefine neighbors friends ada --score link --unlinked friends.csv
    graphrefine neighbors friends ada --labels labels.csv --label chess
    every node's, and what to recommend to every user:
    graphrefine neighbors friends --all -o near.parquet
    graphrefine neighbors shop --all --score link --side source -o offers.csv
    """  # noqa: D301
    from graphrefine.embedding.embedding import load
    from graphrefine.search.neighbors import ask

    names = [*nodes, *([] if listed is None else _read_names(listed))]
    if [bool(names), vectors is not None, every].count(True) != 1:
        raise click.UsageError("name nodes, or give --all or --vectors, to find the neighbors of")
    check_table_output(output, embedding, listed, vectors, options["labels"], options["unlinked"])
    table = load(embedding, format=format)
    if every:
        return _write_all(table, output, as_json, options)
    queries = None if vectors is None else load(vectors)
    if queries is not None:
        _check_same_kind(table, queries)
    query_names = [table.lookup.as_name(name) for name in names] if queries is None else queries.names.tolist()
    skipped = _find_unknown(table, query_names, options) if queries is None else []
    query_names = [name for name in query_names if name not in skipped]
    labels = take_labels(options["labels"], options, table.names)
    search = _make_search(table, options)
    start = perf_counter()
    neighbor_lists = ask(
        search,
        query_names if queries is None else None,
        vectors=None if queries is None else queries.vectors,
        labels=labels,
        **{name: options[name] for name in ("k", "label", "unlinked", "side")},
    )
    spent = perf_counter() - start
    readings = show_labels(labels, table.names)
    if output is not None:
        neighbor_lists.table().save(output)
    if as_json:
        results = [
            {"node": node, "neighbors": [near._asdict() for near in nearest]}
            for node, nearest in zip(query_names, neighbor_lists, strict=True)
        ]
        stats = {
            "results": results,
            "score": options["score"],
            **_index_stats(search),
            **readings,
            "seconds": spent,
        }
        if options["unknown"] == "skip":
            stats["skipped"] = {"count": len(skipped), "names": skipped[:MOST_NAMES]}
        return show_json(stats)
    lines = [
        (str(node) if place == 0 else "", str(near.node), f"{near.score:.4f}")
        for node, nearest in zip(query_names, neighbor_lists, strict=True)
        for place, near in enumerate(nearest)
    ]
    show_table([("node", "neighbor", options["score"]), *lines], left=(0, 1))
    for node, nearest in zip(query_names, neighbor_lists, strict=True):
        if not nearest:
            note(f"note: nothing is near {node!r}: its vector is zero, or nothing may be found")
    if search.index is not None:
        place = search.index.path or f"is not kept ({search.index.problem})"
        note(f"index {place}: recall@10 {search.index.recall:.3f}; {len(query_names)} searched in {seconds(spent)}")
    return None


def _check_same_kind(embedding: Embedding, queries: Embedding) -> None:
    """Refuse vectors of one kind of graph to be compared with those of another, where both say what they are."""
    kinds = [KINDS[each.sides.kind] for each in (queries, embedding)]
    if embedding.recipe and queries.recipe and kinds[0] != kinds[1]:
        raise InputError(
            f"--vectors {queries.path}: has vectors of {kinds[0]} graph, and {embedding.path} those of {kinds[1]} one: "
            "they are not comparable; give vectors of the same kind, such as those of fold-in"
        )


def _write_all(embedding: Embedding, output: str | None, as_json: bool, options: dict[str, Any]) -> None:
    """Write the neighbors of every node, block by block."""
    import numpy as np

    from graphrefine.display.table import save_blocks
    from graphrefine.search.index import INDEX_BEYOND
    from graphrefine.search.neighbors import all_neighbors

    if output is None:
        raise click.UsageError("--all is for a table; say where it goes, with -o near.parquet or another name")
    side, bipartite = options.pop("side"), embedding.sides.kind == "rows"
    if side is not None and not bipartite:
        raise click.UsageError("--side is for bipartite graphs; leave it out")
    labels = take_labels(options["labels"], options, embedding.names)
    limits = {name: options[name] for name in ("k", "score", "index", "label", "unlinked", "threads")}
    readings, start, rows = show_labels(labels, embedding.names), perf_counter(), 0

    def count_rows(tables: Iterator[Table]) -> Iterator[dict[str, Any]]:
        nonlocal rows
        for each in tables:
            table = each if side is None else each[np.flatnonzero(each["side"] == side)]
            rows += len(table)
            yield table.columns

    with progress_bar() as bar:
        save_blocks(count_rows(all_neighbors(embedding, labels=labels, watch=bar, **limits)), output)
    spent = perf_counter() - start
    if as_json:
        is_indexed = len(embedding) > INDEX_BEYOND if options["index"] is None else options["index"]
        return show_json({
            "output": output, "nodes": len(embedding), "rows": rows, "k": options["k"], "score": options["score"],
            "side": side, "search": "index" if is_indexed else "exact", **readings, "seconds": spent,
        })  # fmt: skip
    print(f"{output}: {rows:,} neighbors of {len(embedding):,} nodes in {seconds(spent)}")
    return None


def _find_unknown(embedding: Embedding, names: list[Any], options: dict[str, Any]) -> list[Any]:
    """Return names that no node has, where they are to be left out; otherwise the search raises."""
    from graphrefine.graph.lookup import list_some

    rows = embedding.lookup.rows(names, options["side"], unknown=options["unknown"])
    skipped = [names[at] for at in (rows < 0).nonzero()[0]]
    if skipped:
        some = f"{len(skipped):,} of {len(names):,}, such as {list_some(skipped)}"
        note(f"note: names that no node has were left out: {some}")
    return skipped


def _make_search(embedding: Embedding, options: dict[str, Any]) -> Search:
    from graphrefine.search.index import INDEX_BEYOND
    from graphrefine.search.searcher import Search

    if options["index"] is None and len(embedding) > INDEX_BEYOND:
        note(f"{len(embedding):,} nodes are searched by an index, made now if there is none; --exact searches them all")
    with progress_bar() as bar:
        return Search(embedding, options["score"], index=options["index"], threads=options["threads"], watcher=bar)


def _index_stats(search: Search) -> dict[str, Any]:
    if search.index is None:
        return {"search": "exact"}
    path = search.index.path
    stats = {"path": None if path is None else str(path), "made": search.index.is_new, "recall": search.index.recall}
    return {"search": "index", "index": stats}


def _read_names(file: str) -> list[str]:
    """Names, one on each line; empty lines are passed over."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(file, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(file, f"is not UTF-8 text: {error.reason} at byte {error.start}") from None
    return [name for line in text.splitlines() if (name := line.strip())]
