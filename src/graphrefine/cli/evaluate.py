"""``graphrefine evaluate``: the quality of an embedding for a task."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import (
    GRAPH,
    JSON,
    METHOD,
    READING,
    SET,
    THREADS,
    Group,
    Option,
    method_options,
    parse_counts,
    parse_names,
    parse_numbers,
    parse_penalty,
    reading_options,
)

DIM = Option(["--dim"], type=int, metavar="K",
             help="Length of the vectors.  [default: 128, or the number of nodes if that is less]")  # fmt: skip


@click.group(cls=Group, no_args_is_help=False)
def evaluate() -> None:
    """Quality of an embedding for a task."""


@evaluate.command(
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["labels"], metavar="LABELS"),
        Option(["--ratios"], default="0.1,0.3,0.5,0.7,0.9", show_default=True, metavar="R,R,...",
               callback=parse_numbers, help="Parts of the nodes that train."),
        Option(["--repeats"], type=int, default=10, show_default=True, metavar="N",
               help="Random splits for each ratio."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Weight of the data in the logistic regression: a number; or several with commas between, or 'cv', "
                    "of which cross-validation on the training nodes chooses."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of the splits."),
        Option(["--unlabelled"], type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
               help="Leave nodes without labels out before splitting, or split all nodes, as the authors' code "
                    "does."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Matrix in a .mat file."),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING, if its suffix does not say."),
        THREADS, JSON,
    ],
    short_help="Labels of nodes, predicted from vectors: F1.",
)  # fmt: skip
def labels(embedding: str, labels: str, variable: str, format: str | None, as_json: bool, **protocol: Any) -> None:
    """Node classification, the paper's way: Micro and Macro F1 of the labels in LABELS.

    LABELS is a table in text (node, label; several rows for a node with several labels) or a .mat file with the
    matrix `group`, a row for each node.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats.addresses import format_place
    from graphrefine.evaluate import evaluate_labels, read_labels
    from graphrefine.visuals.console import progress_bar, show_json, show_table

    vectors = load(embedding, format=format)
    node_labels = read_labels(labels, variable=variable)
    with progress_bar() as bar:
        scores = evaluate_labels(vectors, node_labels, progress=bar, **protocol)
    if as_json:
        return show_json({"embedding": format_place(embedding), **scores.to_dict()})
    show_table(scores.table())
    print(scores.protocol)
    return None


@evaluate.command(
    params=[
        GRAPH, METHOD, DIM, SET,
        Option(["--held-out"], type=float, default=0.3, show_default=True, metavar="PART",
               help="Part of the edges to hold out."),
        Option(["--repeats"], type=int, default=1, show_default=True, metavar="N",
               help="Number of repeats, each with other edges held out."),
        Option(["--scores"], metavar="NAME,NAME,...", callback=parse_names,
               help="Scores: dot, cosine, dot-degree, cosine-degree, spectral; degree is added.  [default: all]"),
        Option(["--corruptions"], type=int, default=1000, show_default=True, metavar="N",
               help="Nodes to rank each held-out edge against."),
        Option(["--ranked"], type=int, default=100_000, show_default=True, metavar="N",
               help="Largest number of held-out edges that are ranked."),
        Option(["--turned"], type=float, metavar="PART",
               help="Directed graphs: part of the pairs without an arc that are held-out arcs turned round.  "
                    "[default: 0.5]"),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the held-out edges, the pairs drawn, and the method."),
        THREADS, JSON, *READING,
    ],
    short_help="Held-out edges, found by vectors: AUC, AP, ranks.",
)  # fmt: skip
def links(
    graph: str, held_out: float, repeats: int, scores: tuple[str, ...] | None, corruptions: int, ranked: int,
    turned: float | None, seed: int, threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Link prediction: hold out some edges of GRAPH, embed the rest, and find the held-out edges by the vectors.

    AUC and AP tell held-out edges from as many pairs without an edge; MR, MRR and HITS rank each held-out edge among
    pairs with one end replaced. The last line is the product of the degrees, which the other scores must beat.
    """
    from graphrefine.evaluate import evaluate_links
    from graphrefine.evaluate.link_scores import SCORES
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import progress_bar, show_json, show_table

    reading = reading_options(options)
    method, _, settings = method_options({**options, "seed": seed})
    with progress_bar() as bar:
        figures = evaluate_links(
            read(graph, threads=threads, **reading),
            method,
            held_out=held_out,
            repeats=repeats,
            scores=tuple(SCORES) if scores is None else scores,
            corruptions=corruptions,
            ranked=ranked,
            turned=turned,
            threads=threads,
            progress=bar,
            **settings,
        )
    if as_json:
        return show_json(figures.to_dict())
    show_table(figures.table())
    print(figures.protocol)
    return None


@evaluate.command(
    params=[
        GRAPH,
        click.Argument(["embedding"], metavar="[EMBEDDING]", required=False),
        METHOD, DIM, SET,
        Option(["--top"], metavar="K,K,...", callback=parse_counts,
               help="Numbers of closest pairs.  [default: 100, 1000 ... up to the number of edges]"),
        Option(["--sample"], type=int, metavar="N",
               help="Number of random nodes whose pairs are judged.  [default: all nodes, or as many as have 1,000 "
                    "million pairs]"),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the sample, and of the method."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING, if its suffix does not say."),
        THREADS, JSON, *READING,
    ],
    short_help="Edges among the closest pairs of vectors: precision.",
)  # fmt: skip
@click.pass_context
def reconstruction(
    context: click.Context, /, graph: str, embedding: str | None, top: tuple[int, ...] | None, sample: int | None,
    seed: int, embedding_format: str | None, threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Network reconstruction: the part of edges of GRAPH among the pairs whose vectors are closest, precision@K.

    The vectors are those of EMBEDDING or, without it, those of a method. Beside them: the product of the degrees, a
    random order, and the highest possible precision.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats.addresses import format_place
    from graphrefine.evaluate import evaluate_reconstruction
    from graphrefine.evaluate.vector_maker import VectorMaker
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import progress_bar, show_json, show_table

    reading = reading_options(options)
    if embedding is not None:
        _check_not_given(context, "method", "dim", "assigned")
    elif embedding_format is not None:
        raise click.UsageError("--embedding-format is for an EMBEDDING, and none is given")
    with progress_bar() as bar:
        whole = read(graph, threads=threads, **reading)
        if embedding is not None:
            vectors: Any = load(embedding, format=embedding_format)
            origin: dict[str, Any] = {"embedding": format_place(embedding)}
        else:
            method, _, settings = method_options({**options, "seed": seed})
            maker = VectorMaker.of(method, whole, settings, threads=threads, progress=bar)
            vectors = maker.vectors(whole)
            origin = {"method": maker.name, "settings": maker.settings}
        figures = evaluate_reconstruction(
            whole, vectors, top=top, sample=sample, seed=seed, threads=threads, progress=bar
        )
    if as_json:
        return show_json({**origin, **figures.to_dict()})
    show_table(figures.table())
    print(figures.protocol)
    return None


def _check_not_given(context: click.Context, *names: str) -> None:
    """Refuse options that would have no effect."""
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} is for making vectors, and EMBEDDING has them; leave one out")
