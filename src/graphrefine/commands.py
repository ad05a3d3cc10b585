"""The commands: ``graphrefine embed | info | evaluate | convert | demo``.

Heavy parts are imported inside them, so that ``--help`` answers at once. What was asked for goes to stdout, all else to
stderr; `graphrefine.cli` says how a run ends.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from graphrefine import __version__
from graphrefine.cli_options import (
    JSON,
    READING,
    REFINING,
    THREADS,
    Group,
    Option,
    parse_numbers,
    parse_penalty,
    reading_options,
)
from graphrefine.errors import OutputError

GRAPH = click.Argument(["graph"], metavar="GRAPH")


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="graphrefine")
def cli() -> None:
    """Turn a graph into node vectors, in seconds.

    \b
    graphrefine embed friends.csv -o friends        vectors, with the node names kept
    graphrefine info friends.csv                    what is in the graph, what embedding it will cost
    graphrefine evaluate labels friends labels.csv  how well the vectors tell the labels
    graphrefine convert friends friends.parquet     any format to any other
    """  # noqa: D301  click wants the character itself, not its name


@cli.command(
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="Where the vectors go. The suffix says how: none (a folder), .npy .npz .parquet .arrow "
                    ".safetensors .txt .vec (word2vec) .bin (the same, binary) .csv .csv.gz"),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not say."),
        THREADS, JSON, *REFINING, *READING,
    ],
    short_help="Vectors for every node of a graph.",
)  # fmt: skip
def embed(
    graph: str, output: str, output_format: str | None, threads: int | None, as_json: bool, **options: Any
) -> None:
    """Vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS or GraphML, also
    compressed (gz, zst, bz2, xz); or '-', standard input.
    """
    from graphrefine.console import note, progress_bar, show_json
    from graphrefine.describe import durations, remarks, summed_up, zero_rows
    from graphrefine.embedding import check_output
    from graphrefine.graph import usable_threads
    from graphrefine.kernels import kernels
    from graphrefine.plan import peak_bytes
    from graphrefine.progress import Stages
    from graphrefine.reader import read
    from graphrefine.refine import embed_graph, settings

    start = perf_counter()
    reading, given_dim = reading_options(options), options["dim"]
    chosen = settings(options.pop("preset"), **options)
    threads, kernel = usable_threads(threads), kernels().name
    _check_not_input(output, graph, reading["nodes"])
    check_output(output, format=output_format)
    with progress_bar() as bar:
        outer = Stages(bar)
        with outer.stage("read"):
            found = read(graph, threads=threads, **reading)
        lowered = given_dim is None and chosen.dim > found.nodes
        wanted, chosen = chosen.dim, replace(chosen, dim=found.nodes) if lowered else chosen
        check_output(output, format=output_format, names=found.names, values=found.nodes * chosen.dim)
        if lowered:
            note(f"warning: {found.source} has {found.nodes} nodes: --dim is lowered from {wanted} to that")
        embedding, stages = embed_graph(found, chosen, threads=threads, watcher=bar)
        with outer.stage("write"):
            embedding.save(output, format=output_format)
    spent = durations({**outer.seconds, **stages.seconds}, total=perf_counter() - start)
    zero_vectors = zero_rows(embedding.vectors)
    figures = {
        "output": output,
        "nodes": len(embedding),
        "edges": found.edges,
        "isolated": found.isolated,
        "zero_vectors": zero_vectors,
        "dim": embedding.dim,
        "seconds": spent,
        "peak_mb": peak_bytes() / 1e6,
        "threads": threads,
        "kernel": kernel,
        "seed": chosen.seed,
        "graph": found.summary(),
        "recipe": embedding.recipe,
    }
    for line in remarks(found, zero_vectors=zero_vectors):
        note(line)
    if kernel == "scipy":
        note("note: no compiled kernels (not built, or GRAPHREFINE_KERNEL=scipy), so this was slower")
    if as_json:
        return show_json(figures)
    print(summed_up(figures))
    return None


def _check_not_input(output: str, graph: str, nodes: str | int | None) -> None:
    """Refuse to replace what is about to be read."""
    for path in (graph, nodes):
        if isinstance(path, str) and Path(path).exists() and Path(output).exists() and Path(path).samefile(output):
            raise OutputError(f"{output}: is an input, and would be replaced; choose another --output")


@cli.command(
    params=[GRAPH, THREADS, JSON, *REFINING, *READING],
    short_help="What is in a graph, and what embedding it takes.",
)
def info(graph: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """What is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial."""
    from graphrefine.console import note, progress_bar, show_json, show_pairs
    from graphrefine.describe import described, figures, remarks
    from graphrefine.graph import usable_threads
    from graphrefine.plan import estimate
    from graphrefine.progress import Stages
    from graphrefine.reader import read
    from graphrefine.refine import check_size, settings

    reading, given_dim = reading_options(options), options["dim"]
    chosen = settings(options.pop("preset"), **options)
    threads = usable_threads(threads)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            found = read(graph, threads=threads, **reading)
        if given_dim is None:
            chosen = replace(chosen, dim=min(chosen.dim, found.nodes))
        check_size(found, chosen)
        with stages.stage("predict"):
            cost = estimate(found, chosen, threads=threads)
        with stages.stage("count"):
            counted = figures(found)
    if as_json:
        predicted = {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}
        return show_json({**counted, "predicted": {"dim": chosen.dim, "threads": threads, **predicted}})
    show_pairs(described(counted, chosen, cost, threads=threads))
    for line in remarks(found):
        note(line)
    return None


@cli.group(no_args_is_help=False)
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


@cli.command(
    params=[
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        Option(["--from-format"], metavar="NAME", help="Format of FROM where its suffix does not say."),
        Option(["--to-format"], metavar="NAME", help="Format of TO where its suffix does not say."),
        JSON,
    ],
    short_help="An embedding in another format.",
)
def convert(source: str, target: str, from_format: str | None, to_format: str | None, as_json: bool) -> None:
    """Write an embedding in another format; the suffix of TO says which.

    None is the native folder; .npy .npz .parquet .arrow .feather .safetensors; .txt .vec .w2v are word2vec's text,
    .bin its binary form; .csv .csv.gz. An .npy file holds no names.
    """
    from graphrefine import embedding
    from graphrefine.console import show_json

    done = embedding.convert(source, target, source_format=from_format, target_format=to_format)
    if as_json:
        return show_json({"source": source, "target": target, **done._asdict()})
    print(f"{target}: {done.nodes:,} nodes x {done.dim}, {done.source_format} to {done.target_format}")
    return None


@cli.command(
    params=[
        Option(["-o", "--output"], default="demo-output", show_default=True, metavar="FOLDER",
               help="For the map."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the sketch, the splits and the map."),
        THREADS, JSON,
    ],
    short_help="See it work on a real graph.",
)  # fmt: skip
def demo(output: str, seed: int, threads: int | None, as_json: bool) -> None:
    """Embed a real graph that every installation has, score the vectors, and draw a map of them.

    The graph: 1,797 handwritten digits from scikit-learn, each joined to its ten nearest. The labels: which digit
    it is.
    """
    from graphrefine.console import note, progress_bar, seconds, show_json, show_table
    from graphrefine.demo import run_demo

    with progress_bar() as bar:
        figures = run_demo(output, seed=seed, threads=threads, watcher=bar)
    if figures["map"] is None:
        note('note: no map was drawn, for want of matplotlib: pip install "graphrefine[plot]"')
    if as_json:
        return show_json(figures)
    print(f"{figures['nodes']:,} nodes, {figures['edges']:,} edges, embedded in {seconds(figures['seconds'])}.")
    print("Which digit is it, with 10% of the labels known?\n")
    rows = [("vectors", "Micro F1", "Macro F1")]
    rows += [(name, f"{s['micro_f1']:.1f}", f"{s['macro_f1']:.1f}") for name, s in figures["scores"].items()]
    show_table(rows)
    if figures["map"] is not None:
        print(f"\nmap: {figures['map']}")
    return None
