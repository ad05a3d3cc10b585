"""``graphrefine evaluate``: how good an embedding is for a task."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli_options import JSON, THREADS, Group, Option, parse_numbers, parse_penalty


@click.group(cls=Group, no_args_is_help=False)
def evaluate() -> None:
    """How good an embedding is for a task."""


@evaluate.command(
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["labels"], metavar="LABELS"),
        Option(["--ratios"], default="0.1,0.3,0.5,0.7,0.9", show_default=True, metavar="R,R,...",
               callback=parse_numbers, help="Parts of the nodes to train with."),
        Option(["--repeats"], type=int, default=10, show_default=True, metavar="N",
               help="Random splits for each ratio."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Of the logistic regression: a number, or several with commas between or 'cv', of which "
                    "cross-validation on the training nodes chooses."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Of the splits."),
        Option(["--unlabelled"], type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
               help="Leave nodes without labels out before splitting, or split all nodes, as the authors' code "
                    "does."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Of a .mat file."),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON,
    ],
    short_help="How well the vectors tell the labels of the nodes.",
)  # fmt: skip
def labels(
    embedding: str, labels: str, variable: str, format: str | None, as_json: bool, **protocol: Any
) -> None:
    """Node classification, the paper's way: Micro and Macro F1 of the labels in LABELS.

    LABELS is a table in text (node, label; several rows for a node with several labels) or a .mat file with the
    matrix `group`, a row for each node.
    """
    from graphrefine.console import progress_bar, show_json, show_table
    from graphrefine.embedding import load
    from graphrefine.evaluate import evaluate_labels, read_labels

    vectors = load(embedding, format=format)
    known = read_labels(labels, variable=variable)
    with progress_bar() as bar:
        scores = evaluate_labels(vectors, known, progress=bar, **protocol)
    if as_json:
        return show_json({"embedding": embedding, **scores.to_dict()})
    show_table(scores.table())
    print(scores.protocol)
    return None
