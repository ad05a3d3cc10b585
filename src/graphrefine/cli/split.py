"""``graphrefine split``: train, validation and test edges, with negatives."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, read_graph, reading_options, under
from graphrefine.display.console import note, progress_bar, show_json, show_table
from graphrefine.progress import Stages

_PARTS = under(
    "The parts",
    Option(["--test"], type=float, default=0.1, show_default=True, metavar="PART", help="Part of the edges to test."),
    Option(["--validation"], type=float, default=0.05, show_default=True, metavar="PART",
           help="Part of the edges to choose settings by; 0 for none."),
    Option(["--negatives"], type=float, default=1.0, show_default=True, metavar="N",
           help="Pairs without an edge for each edge, in every part; 0 for none."),
    Option(["--negatives-by"], type=click.Choice(["uniform", "degree"]), default="uniform", show_default=True,
           help="Draw them from all pairs alike, or by the degrees of the edges, so that degrees say nothing."),
    Option(["--connected"], is_flag=True,
           help="Keep a spanning forest in train, so that no node loses its last edge."),
)  # fmt: skip


@command(
    "split",
    first=("output", "test", "validation", "negatives"),
    short_help="Train, validation and test edges, with negatives.",
    params=[
        opt.GRAPH,
        Option(["-o", "--output"], required=True, metavar="FOLDER", help="Folder to make, or an earlier split to "
               "replace."),
        Option(["--table", "table"], type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"]), default="csv",
               show_default=True, help="Format of the tables."),
        *_PARTS, opt.SEED, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def split(graph: str, output: str, table: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """Split the edges of GRAPH into train, validation and test, with pairs that are no edges, for a model of your own.

    Nothing leaks: an edge is in one part alone, in both directions if it has none; a negative is no edge of any part,
    and in one part alone. FOLDER gets a table for each (train, train_negatives, ...), the nodes, and split.json with
    the recipe. A column of times is not split by: --until and --since read the graph before and after a moment.

    \b
    graphrefine split friends.csv -o parts
    graphrefine embed parts/train.csv --nodes parts/nodes.txt -o friends
    """  # noqa: D301
    from graphrefine.analysis.edge_split import check_split_folder, split_edges

    reading = reading_options(options)
    check_not_input(output, [graph, reading["nodes"]])
    check_split_folder(output, table)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            whole = read_graph(graph, threads=threads, **reading)
        with stages.stage("split"):
            parts = split_edges(whole, **options)
        with stages.stage("write"):
            parts.save(output, format=table)
    if as_json:
        return show_json({**parts.stats, "output": output, "table": table})
    rows = [(name, f"{part['edges']:,}", f"{part['negatives']:,}") for name, part in parts.stats["parts"].items()]
    show_table([("part", "edges", "negatives"), *rows])
    lost = parts.stats["without_train_edges"]
    if lost:
        note(f"note: {lost:,} nodes have edges, and none in train; --connected keeps one for each")
    note(f"{output}: tables in {table}, the nodes, and split.json")
    return None
