"""``graphrefine predict``: labels of nodes that have none, and missing edges."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Group, Option, check_table_output, read_graph, show_table_or_json, take_labels
from graphrefine.display.console import progress_bar
from graphrefine.embedding.formats import format_place

predict = Group("predict", help="Labels of nodes, and missing edges.", no_args_is_help=False)


@predict.command(
    "labels",
    first=("output", "every", "top", "label_column"),
    short_help="Labels of the nodes that have none, with probabilities.",
    params=[
        opt.EMBEDDING,
        click.Argument(["labels"], metavar="LABELS"),
        opt.TABLE,
        Option(["--all", "every"], is_flag=True,
               help="Predict labeled nodes too, each by classifiers that have not seen its labels."),
        Option(["--top"], type=int, metavar="N",
               help="List the N most likely labels of each node.  [default: the labels that it is given]"),
        opt.penalty_option("cv"),
        Option(["--folds"], type=int, default=5, show_default=True, metavar="N",
               help="Parts of the labeled nodes, each predicted by classifiers of the others."),
        opt.VARIABLE, opt.FORMAT, opt.SEED, opt.THREADS, opt.JSON, *opt.LABEL_READING,
    ],
)  # fmt: skip
def labels(
    embedding: str, labels: str, format: str | None, output: str | None, every: bool, as_json: bool, **options: Any
) -> None:  # fmt: skip
    """Predict labels of the nodes of EMBEDDING that LABELS has none for, with probabilities.

    One logistic regression for each class, on vectors of length 1. If any node has several labels, any node may be
    given several. The scores at the end are those of labeled nodes whose labels were hidden: they say how far to
    trust the answer.

    \b
    labels of the other nodes; and of all, to find those that look wrong:
    graphrefine predict labels friends labels.csv -o predicted.csv
    graphrefine predict labels friends labels.csv --all -o checked.csv
    """  # noqa: D301
    from graphrefine.analysis.label_prediction import describe_prediction, predict_labels
    from graphrefine.embedding.embedding import load

    check_table_output(output, embedding, labels)
    vectors = load(embedding, format=format)
    node_labels, _ = take_labels(labels, options, vectors.names)
    with progress_bar() as bar:
        nodes: Any = "all" if every else "unlabeled"
        table = predict_labels(vectors, node_labels, nodes=nodes, watcher=bar, **options)
    lines = describe_prediction(table)
    show_table_or_json(table, output=output, as_json=as_json, lines=lines, embedding=format_place(embedding))


@predict.command(
    "links",
    first=("output", "top", "weights", "directed"),
    short_help="Missing edges, the most likely first.",
    params=[
        opt.GRAPH, opt.TABLE,
        Option(["--top"], type=int, default=1000, show_default=True, metavar="N", help="Number of pairs."),
        opt.SEED, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def links(graph: str, output: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Predict the pairs of nodes of GRAPH without an edge that most likely have one.

    What makes an edge likely is learned from the graph: a tenth of its edges is hidden, and found again by degrees,
    common neighbors, paths of three steps and low-rank parts of its matrix. The scores at the end say how many of the
    first pairs were hidden edges, by this score and by plain ones.
    """
    from graphrefine.analysis.link_prediction import describe_links, predict_links

    check_table_output(output, graph, options["nodes"])
    reading = opt.reading_options(options)
    with progress_bar() as bar:
        whole = read_graph(graph, threads=threads, **reading)
        table = predict_links(whole, threads=threads, watcher=bar, **options)
    show_table_or_json(table, output=output, as_json=as_json, lines=describe_links(table))
