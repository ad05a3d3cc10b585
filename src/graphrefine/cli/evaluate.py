"""``graphrefine evaluate``: the quality of an embedding for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Group, Option, read_graph, refuse_options, take_labels
from graphrefine.display.console import progress_bar, show_json
from graphrefine.embedding.formats import format_place

if TYPE_CHECKING:
    from graphrefine.evaluate.results import Result

LINK_PROTOCOL = ("held_out", "repeats", "corruptions", "ranked", "turned")  # options that are no settings of a method
DIM = Option(["--dim"], type=int, metavar="K",
             help="Length of the vectors.  [default: 128, or the number of nodes if that is less]")  # fmt: skip
evaluate = Group("evaluate", help="Quality of an embedding for a task.", no_args_is_help=False)


@evaluate.command(
    "labels",
    first=("ratios", "C", "cluster", "label_column"),
    short_help="Labels of nodes, predicted from vectors: F1; clusters: NMI.",
    params=[
        opt.EMBEDDING,
        click.Argument(["labels"], metavar="LABELS"),
        Option(["--ratios"], default="0.1,0.3,0.5,0.7,0.9", show_default=True, metavar="R,R,...",
               callback=opt.parse_numbers, help="Parts of the nodes that train."),
        opt.REPEATS,
        opt.penalty_option("1"),
        Option(["--cluster"], is_flag=True,
               help="Compare clusters of the vectors with the labels too, by NMI and adjusted Rand index."),
        Option(["--unlabeled"], type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
               help="Leave nodes without labels out before splitting, or keep them, as the authors' code does."),
        opt.VARIABLE, opt.FORMAT, opt.SEED, opt.THREADS, opt.JSON, *opt.LABEL_READING,
    ],
)  # fmt: skip
def labels(embedding: str, labels: str, format: str | None, cluster: bool, as_json: bool, **protocol: Any) -> None:
    """Classify nodes the paper's way: Micro and Macro F1 of the labels in LABELS.

    With --cluster, clusters of the vectors are compared with the labels too: NMI and adjusted Rand index.

    LABELS is a table (node, label; several rows for a node with several labels) in text, parquet or arrow, a mapping
    in JSON, a vector in .npy, or a .mat file with the matrix `group`, a row for each node.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.evaluate import evaluate_clusters, evaluate_labels

    vectors = load(embedding, format=format)
    node_labels, _ = take_labels(labels, protocol, vectors.names)
    with progress_bar() as bar:
        scores = evaluate_labels(vectors, node_labels, watcher=bar, **protocol)
        clusters = evaluate_clusters(vectors, node_labels, seed=protocol["seed"], watcher=bar) if cluster else None
    also = {} if clusters is None else {"clusters": clusters.to_dict()}
    _show(scores, as_json, embedding=format_place(embedding), **also)
    if clusters is not None and not as_json:
        print()
        _show(clusters, as_json)


@evaluate.command(
    "links",
    first=("dim", "method", "held_out", "repeats"),
    short_help="Held-out edges, found by vectors: AUC, AP, ranks.",
    params=[
        opt.GRAPH, opt.METHOD, DIM, opt.SET,
        Option(["--held-out"], type=float, default=0.3, show_default=True, metavar="PART",
               help="Part of the edges to hold out."),
        Option(["--repeats"], type=int, default=1, show_default=True, metavar="N",
               help="Number of repeats, each with other edges held out."),
        Option(["--scores"], metavar="NAME,NAME,...", callback=opt.parse_names,
               help="Scores: dot, cosine, dot-degree, cosine-degree, spectral; degree is added.  [default: all]"),
        Option(["--corruptions"], type=int, default=1000, show_default=True, metavar="N",
               help="Nodes to rank each held-out edge against."),
        Option(["--ranked"], type=int, default=100_000, show_default=True, metavar="N",
               help="Largest number of held-out edges that are ranked."),
        Option(["--turned"], type=float, metavar="PART",
               help="Directed graphs: part of the pairs without an arc that are reversed arcs.  [default: 0.5]"),
        opt.SEED, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def links(graph: str, scores: tuple[str, ...] | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Predict links: hold out some edges of GRAPH, embed the rest, and find the held-out edges by the vectors.

    AUC and AP tell held-out edges from as many pairs without an edge; MR, MRR and HITS rank each held-out edge among
    pairs with one end replaced. The last line is the product of the degrees, which the other scores must beat.
    """
    from graphrefine.evaluate import evaluate_links
    from graphrefine.evaluate.link_scores import SCORES

    reading = opt.reading_options(options)
    protocol = {name: options.pop(name) for name in LINK_PROTOCOL}
    protocol |= {"scores": tuple(SCORES) if scores is None else scores, "threads": threads}
    method, _, settings = opt.method_options(options)
    with progress_bar() as bar:
        whole = read_graph(graph, threads=threads, **reading)
        scored = evaluate_links(whole, method.name, watcher=bar, **protocol, **settings)
    _show(scored, as_json, reading=whole.reading)


@evaluate.command(
    "reconstruction",
    first=("dim", "method", "top", "sample"),
    short_help="Edges among the closest pairs of vectors: precision.",
    params=[
        opt.GRAPH,
        click.Argument(["embedding"], metavar="[EMBEDDING]", required=False),
        opt.METHOD, DIM, opt.SET,
        Option(["--top"], metavar="K,K,...", callback=opt.parse_counts,
               help="Numbers of closest pairs.  [default: 100, 1000 ... up to the number of edges]"),
        Option(["--sample"], type=int, metavar="N",
               help="Number of nodes whose pairs are judged.  [default: all, or as many as have 1,000 million pairs]"),
        opt.SEED, opt.EMBEDDING_FORMAT, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def reconstruction(
    graph: str, embedding: str | None, top: tuple[int, ...] | None, sample: int | None,
    embedding_format: str | None, threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Reconstruct the network: the part of edges of GRAPH among the pairs whose vectors are closest, precision@K.

    The vectors are those of EMBEDDING or, without it, those of a method. They are compared with the product of the
    degrees, a random order, and the highest possible precision.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.evaluate import evaluate_reconstruction
    from graphrefine.evaluate.links import VectorMaker

    reading, seed = opt.reading_options(options), options["seed"]
    if embedding is not None:
        refuse_options("is for making vectors, and EMBEDDING has them; leave one out", "method", "dim", "assigned")
    elif embedding_format is not None:
        raise click.UsageError("--embedding-format is for an EMBEDDING, and none is given")
    with progress_bar() as bar:
        whole = read_graph(graph, threads=threads, **reading)
        if embedding is not None:
            vectors: Any = load(embedding, format=embedding_format)
            origin: dict[str, Any] = {"embedding": format_place(embedding)}
        else:
            method, _, settings = opt.method_options(options)
            maker = VectorMaker.from_method(method.name, whole, settings, threads=threads, watcher=bar)
            vectors = maker.embedding(whole).vectors
            origin = {"method": maker.name, "settings": maker.settings}
        scored = evaluate_reconstruction(
            whole, vectors, top=top, sample=sample, seed=seed, threads=threads, watcher=bar
        )
    _show(scored, as_json, reading=whole.reading, **origin)


def _show(result: Result, as_json: bool, **origin: Any) -> None:
    if as_json:
        show_json({**origin, **result.to_dict()})
    else:
        print(result.text(), result.protocol, sep="\n")
