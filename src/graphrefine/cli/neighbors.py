"""``graphrefine neighbors``: the nodes nearest to a node."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_table_output, command, take_labels
from graphrefine.display.console import note, progress_bar, seconds, show_json, show_table
from graphrefine.errors import InputError

if TYPE_CHECKING:
    from graphrefine.display.table import Table
    from graphrefine.embedding.embedding import Embedding

KINDS = {None: "an undirected", "columns": "a directed", "rows": "a bipartite"}  # of graphs, by their sides
MOST_NAMES = 5  # of those that were left out, in JSON


@command(
    "neighbors",
    first=("k", "score", "exclude_linked", "output"),
    short_help="The nodes nearest to a node.",
    params=[
        opt.EMBEDDING,
        click.Argument(["nodes"], metavar="NODE...", nargs=-1),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbors."),
        Option(["--score"], type=click.Choice(["cosine", "dot", "link"]), default="cosine", show_default=True,
               help="What is near: nodes that are alike (cosine), the inner product (dot), or likely links (link)."),
        Option(["--from", "listed"], metavar="FILE", help="Names of further nodes, one on each line; - for stdin."),
        Option(["--all", "every"], is_flag=True, help="The neighbors of every node, written to -o block by block."),
        opt.TABLE,
        Option(["--vectors"], metavar="FILE",
               help="Search for the vectors of this embedding instead of nodes, such as those of new nodes."),
        Option(["--labels"], metavar="LABELS", help="Which node has which label; for --label."),
        Option(["--label"], metavar="LABEL", help="Find only nodes that have this label."),
        opt.VARIABLE,
        Option(["--exclude-linked"], metavar="GRAPH",
               help="Leave out nodes that are neighbors in this graph: near, but not linked yet."),
        Option(["--side"], type=click.Choice(["source", "target"]),
               help="The side of the nodes, where a name is on both of a bipartite graph."),
        opt.INDEX, opt.FORMAT, opt.SKIP, opt.THREADS, opt.JSON, *opt.LABEL_READING,
    ],
)  # fmt: skip
def neighbors(
    embedding: str, nodes: tuple[str, ...], listed: str | None, every: bool, vectors: str | None, output: str | None,
    format: str | None, skip: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Print the nodes nearest to each NODE, the nearest first, itself left out.

    \b
    who is most like her, whom she may want to know, the nearest chess players:
    graphrefine neighbors friends ada -k 5
    graphrefine neighbors friends ada --score link --exclude-linked friends.csv
    graphrefine neighbors friends ada --labels labels.csv --label chess
    every node's, and what to recommend to every user:
    graphrefine neighbors friends --all -o near.parquet
    graphrefine neighbors shop --all --score link --side source -o offers.csv
    """  # noqa: D301
    from graphrefine.embedding.embedding import load
    from graphrefine.readers.small_table import read_names
    from graphrefine.search.index import INDEX_BEYOND
    from graphrefine.search.neighbors import ask
    from graphrefine.search.searcher import Search
    from graphrefine.tables.source import Source

    if [bool(nodes or listed), vectors is not None, every].count(True) != 1:
        raise click.UsageError("name nodes, or give --all or --vectors, to find the neighbors of")
    check_table_output(output, embedding, listed, vectors, options["labels"], options["exclude_linked"])
    names: list[Any] = list(nodes)
    if listed is not None:
        names += read_names(Source(listed, needs="a name on each line is expected"))
    table = load(embedding, format=format)
    if every:
        return _write_all(table, output, as_json, options)
    queries = None if vectors is None else load(vectors)
    skipped: list[Any] = []
    if queries is None:
        names = [table.lookup.as_name(name) for name in names]
        skipped = _find_unknown(table, names, options["side"], skip=skip)
        names = [name for name in names if name not in skipped]
    else:
        _check_same_kind(table, queries)
        names = queries.names.tolist()
    labels, readings = take_labels(options["labels"], options, table.names)
    if options["index"] is None and len(table) > INDEX_BEYOND:
        note(f"{len(table):,} nodes are searched by an index, made now if there is none; --exact searches them all")
    with progress_bar() as bar:
        search = Search(table, options["score"], index=options["index"], threads=options["threads"], watcher=bar)
    start = perf_counter()
    lists = ask(
        search,
        names if queries is None else None,
        vectors=None if queries is None else queries.vectors,
        labels=labels,
        **{name: options[name] for name in ("k", "label", "exclude_linked", "side")},
    )
    spent = perf_counter() - start
    if output is not None:
        lists.table().save(output)
    answers = list(zip(names, lists, strict=True))
    index = search.index
    if as_json:
        results = [{"node": node, "neighbors": [near._asdict() for near in nearest]} for node, nearest in answers]
        stats: dict[str, Any] = {"results": results, "score": options["score"], "search": "exact"}
        if index is not None:
            path = None if index.path is None else str(index.path)
            stats |= {"search": "index", "index": {"path": path, "made": index.is_new, "recall": index.recall}}
        stats |= {**readings, "seconds": spent}
        if skip:
            stats["skipped"] = {"count": len(skipped), "names": skipped[:MOST_NAMES]}
        return show_json(stats)
    rows = [
        (str(node) if rank == 0 else "", str(near.node), f"{near.score:.4f}")
        for node, nearest in answers
        for rank, near in enumerate(nearest)
    ]
    show_table([("node", "neighbor", options["score"]), *rows], left=(0, 1))
    for node, nearest in answers:
        if not nearest:
            note(f"note: nothing is near {node!r}: its vector is zero, or nothing may be found")
    if index is not None:
        where = index.path or f"is not kept ({index.problem})"
        note(f"index {where}: recall@10 {index.recall:.3f}; {len(names)} searched in {seconds(spent)}")
    return None


def _check_same_kind(embedding: Embedding, queries: Embedding) -> None:
    """Raise InputError if vectors of one kind of graph would be compared with those of another."""
    # Vectors of a directed graph are two halves, source and target: their cosines with others mean nothing.
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
        raise click.UsageError("--all is for a table; name it, as in -o near.parquet")
    side = options.pop("side")
    if side is not None and embedding.sides.kind != "rows":
        raise click.UsageError("--side is for bipartite graphs; leave it out")
    labels, readings = take_labels(options["labels"], options, embedding.names)
    limits = {name: options[name] for name in ("k", "score", "index", "label", "exclude_linked", "threads")}
    start, rows = perf_counter(), 0

    def count_rows(tables: Iterator[Table]) -> Iterator[dict[str, Any]]:
        nonlocal rows
        for each in tables:
            table = each if side is None else each[np.flatnonzero(each["side"] == side)]
            rows += len(table)
            yield table.columns

    with progress_bar() as bar:
        save_blocks(count_rows(all_neighbors(embedding, labels=labels, watcher=bar, **limits)), output)
    spent = perf_counter() - start
    if as_json:
        is_indexed = len(embedding) > INDEX_BEYOND if options["index"] is None else options["index"]
        return show_json({
            "output": output, "nodes": len(embedding), "rows": rows, "k": options["k"], "score": options["score"],
            "side": side, "search": "index" if is_indexed else "exact", **readings, "seconds": spent,
        })  # fmt: skip
    print(f"{output}: {rows:,} neighbors of {len(embedding):,} nodes in {seconds(spent)}")
    return None


def _find_unknown(embedding: Embedding, names: list[Any], side: Any, *, skip: bool) -> list[Any]:
    """Return the names that no node has, with a note; UnknownNameError if they are not to be skipped."""
    from graphrefine.graph.lookup import list_some

    rows = embedding.lookup.rows(names, side, unknown="skip" if skip else "error")
    skipped = [names[at] for at in (rows < 0).nonzero()[0]]
    if skipped:
        some = f"{len(skipped):,} of {len(names):,}, such as {list_some(skipped)}"
        note(f"note: names that no node has were left out: {some}")
    return skipped
