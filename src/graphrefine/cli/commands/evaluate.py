"""Options and help of ``graphrefine evaluate``."""

from __future__ import annotations

import click

from graphrefine.cli.options import (
    GRAPH,
    JSON,
    LABEL_READING,
    METHOD,
    READING,
    SET,
    THREADS,
    Command,
    Group,
    Option,
    parse_counts,
    parse_names,
    parse_numbers,
    parse_penalty,
)

DIM = Option(["--dim"], type=int, metavar="K",
             help="Length of the vectors.  [default: 128, or the number of nodes if that is less]")  # fmt: skip


LABELS = Command(
    "labels",
    work="evaluate:labels",
    first=("ratios", "C", "cluster", "label_column"),
    short_help="Labels of nodes, predicted from vectors: F1; clusters: NMI.",
    help="""Node classification, the paper's way: Micro and Macro F1 of the labels in LABELS.

    With --cluster, clusters of the vectors are compared with the labels too: NMI and adjusted Rand index.

    LABELS is a table (node, label; several rows for a node with several labels) in text, parquet or arrow, a mapping
    in JSON, a vector in .npy, or a .mat file with the matrix `group`, a row for each node.
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["labels"], metavar="LABELS"),
        Option(["--ratios"], default="0.1,0.3,0.5,0.7,0.9", show_default=True, metavar="R,R,...",
               callback=parse_numbers, help="Parts of the nodes that train."),
        Option(["--repeats"], type=int, metavar="N",
               help="Random splits for each ratio.  [default: 10, and 50 at ratios up to 0.05]"),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Weight of the data in the logistic regression: a number; or several with commas between, or 'cv', "
                    "of which cross-validation on the training nodes chooses."),
        Option(["--cluster"], is_flag=True,
               help="Compare clusters of the vectors with the labels too: k-means with as many clusters as classes; "
                    "NMI and adjusted Rand index, beside those of random vectors."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the splits, and of the clusters."),
        Option(["--unlabeled"], type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
               help="Leave nodes without labels out before splitting, or split all nodes, as the authors' code "
                    "does."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Matrix in a .mat file."),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING, if its suffix does not say."),
        THREADS, JSON, *LABEL_READING,
    ],
)  # fmt: skip


LINKS = Command(
    "links",
    work="evaluate:links",
    first=("dim", "method", "held_out", "repeats"),
    short_help="Held-out edges, found by vectors: AUC, AP, ranks.",
    help="""Link prediction: hold out some edges of GRAPH, embed the rest, and find the held-out edges by the vectors.

    AUC and AP tell held-out edges from as many pairs without an edge; MR, MRR and HITS rank each held-out edge among
    pairs with one end replaced. The last line is the product of the degrees, which the other scores must beat.
    """,
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
)  # fmt: skip


RECONSTRUCTION = Command(
    "reconstruction",
    work="evaluate:reconstruction",
    first=("dim", "method", "top", "sample"),
    short_help="Edges among the closest pairs of vectors: precision.",
    help="""Network reconstruction: the part of edges of GRAPH among the pairs whose vectors are closest, precision@K.

    The vectors are those of EMBEDDING or, without it, those of a method. Beside them: the product of the degrees, a
    random order, and the highest possible precision.
    """,
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
)  # fmt: skip


EVALUATE = Group(
    "evaluate",
    help="Quality of an embedding for a task.",
    commands=[LABELS, LINKS, RECONSTRUCTION],
    no_args_is_help=False,
)
