"""The command line: ``graphrefine embed | info | convert | evaluate | demo``.

Heavy parts are imported inside the commands, so that ``--help`` answers at once. A user's mistake ends with exit code 2
and one message, Ctrl-C with 130.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine import __version__
from graphrefine.errors import GraphRefineError, InputError

if TYPE_CHECKING:
    from graphrefine.graph import Graph

Command = Callable[..., None]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="graphrefine")
def cli() -> None:
    """Turn a graph into node vectors, in seconds.

    \b
    graphrefine embed friends.csv -o friends        vectors with the node names kept
    graphrefine info friends.csv                    what is in the graph, and what embedding it will cost
    graphrefine evaluate labels friends labels.csv  how well the vectors tell the labels
    graphrefine convert friends friends.parquet     any format to any other
    """


def _column(_: Any, __: Any, value: str | None) -> str | int | None:
    """A column by position (from 0) if it is written as a number, else by name."""
    return int(value) if value is not None and value.isdecimal() else value


def _weights(_: Any, __: Any, value: str | None) -> str | int | bool | None:
    return False if value == "none" else _column(None, None, value)


def _tab(_: Any, __: Any, value: str | None) -> str | None:
    return {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}.get(value or "", value)


def reads_a_graph(command: Command) -> Command:
    """The options of every command that reads a graph."""
    options = [
        click.argument("graph", metavar="GRAPH"),
        click.option("--directed", is_flag=True, help="Edges have a direction."),
        click.option("--weights", metavar="COLUMN", callback=_weights,
                     help="Column of the weights, by name or position from 0; 'none' for no weights. [default: found]"),
        click.option("--source", metavar="COLUMN", callback=_column, help="Column of the first end of an edge."),
        click.option("--target", metavar="COLUMN", callback=_column, help="Column of the second end of an edge."),
        click.option("--delimiter", metavar="CHAR", callback=_tab, help="Between columns: ',' ';' 'tab' 'space'."),
        click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
        click.option("--format", "file_format", metavar="NAME", help="Format of GRAPH where its suffix does not say."),
        click.option("--variable", metavar="NAME", help="Variable of a .mat file. [default: network]"),
        click.option("--nodes", metavar="FILE", help="Names of all nodes, one a line, isolated ones included."),
        click.option("--encoding", metavar="NAME", help="Of a text file. [default: UTF-8, else Latin-1]"),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def sets_refine(command: Command) -> Command:
    """The options of REFINE."""
    options = [
        click.option("--dim", type=int, metavar="K", help="Length of the vectors. [default: 128]"),
        click.option("--preset", metavar="NAME", help="'paper': what the authors' code computes."),
        click.option("--block", type=int, metavar="B", help="Columns orthonormalised at a time. [default: 16]"),
        click.option("--power", type=int, metavar="Q", help="Products with the proximity matrix. [default: 3]"),
        click.option("--negative", type=float, metavar="LAMBDA", help="Weight of negative samples. [default: 1]"),
        click.option("--exponent", type=float, help="Of the context distribution. [default: 0.75]"),
        click.option("--filter", metavar="NAME", callback=_filter,
                     help="taylor, heat, markov, pagerank, none, or coefficients 'c0,c1,...'. [default: taylor]"),
        click.option("--order", type=int, metavar="K", help="Order of the filter."),
        click.option("--scale", type=float, help="Parameter of the filter: heat's time, pagerank's restart ..."),
        click.option("--log-weights/--no-log-weights", default=None, help="Whether ln(weight) enters the proximity."),
        click.option("--two-sided/--one-sided", default=None, help="Alternate with the transpose. [default: if directed]"),
        click.option("--bfloat16/--no-bfloat16", default=None, help="Gather in half precision. [default: yes]"),
        click.option("--seed", type=int, help="Of the random sketch. [default: 0]"),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _filter(_: Any, __: Any, value: str | None) -> str | tuple[float, ...] | None:
    if value is None or "," not in value:
        return value
    try:
        return tuple(float(c) for c in value.split(","))
    except ValueError:
        raise InputError(f"--filter {value!r}: coefficients are numbers with commas between, as in 0,-1,-2,1") from None


threads_option = click.option("--threads", type=int, metavar="N", help="[default: all cores]")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


@cli.command()
@reads_a_graph
@click.option("-o", "--output", required=True, metavar="OUT",
              help="Where the vectors go; the suffix says how: none (a folder), .npy .npz .parquet .arrow .txt .bin "
                   ".safetensors .csv")  # fmt: skip
@sets_refine
@threads_option
@json_option
def embed(graph: str, output: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """Vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file (edge list, csv, tsv, parquet, arrow, .mat, .mtx, .npz, METIS, GraphML, each also compressed) or '-'
    for standard input.
    """
    from graphrefine.console import note, progress_bar, seconds, show_json
    from graphrefine.embedding import check_output
    from graphrefine.kernels import kernels
    from graphrefine.plan import peak_bytes
    from graphrefine.progress import Stages
    from graphrefine.refine import embed_graph, settings

    start = perf_counter()
    reading, refining = _split(options)
    chosen = settings(refining.pop("preset"), **refining)
    check_output(output)
    with progress_bar() as bar:
        outer = Stages(bar)
        with outer.stage("read"):
            read_graph = _read(graph, threads, reading)
        if refining["dim"] is None and chosen.dim > read_graph.nodes:
            note(f"warning: {graph} has {read_graph.nodes} nodes; dim is lowered from {chosen.dim} to that")
            chosen = settings_with(chosen, dim=read_graph.nodes)
        check_output(output, names=read_graph.names, values=read_graph.nodes * chosen.dim)
        embedding, stages = embed_graph(read_graph, chosen, threads=threads, watcher=bar)
        with outer.stage("write"):
            embedding.save(output)
    total = perf_counter() - start
    spent = {**outer.seconds, **stages.seconds, "total": total}
    spent["compute"] = total - spent["read"] - spent["write"]
    order = ("read", "proximity", "range", "filter", "write", "total", "compute")
    figures = {
        "output": output,
        "nodes": len(embedding),
        "edges": read_graph.edges,
        "isolated": read_graph.isolated,
        "dim": embedding.dim,
        "seconds": {stage: spent[stage] for stage in order},
        "peak_mb": peak_bytes() / 1e6,
        "threads": _threads(threads),
        "kernel": kernels().name,
        "seed": chosen.seed,
        "graph": read_graph.summary(),
        "recipe": embedding.recipe,
    }
    if as_json:
        return show_json(figures)
    for line in _remarks(read_graph):
        note(line)
    if kernels().name == "scipy":
        note("note: the compiled kernels are not in use (none were built, or GRAPHREFINE_KERNEL says so); this is slower")
    print(
        f"{output}: {len(embedding):,} nodes x {embedding.dim} from {read_graph.edges:,} edges in {seconds(total)} "
        f"(read {seconds(spent['read'])}, compute {seconds(spent['compute'])}, write {seconds(spent['write'])}; "
        f"{figures['peak_mb']:,.0f} MB)"
    )


@cli.command()
@reads_a_graph
@sets_refine
@threads_option
@json_option
def info(graph: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """What is in GRAPH, and what embedding it will take: time and memory are predicted by a short trial."""
    import numpy as np

    from graphrefine.console import progress_bar, seconds, show_json, show_pairs
    from graphrefine.plan import estimate
    from graphrefine.progress import Stages
    from graphrefine.refine import settings

    reading, refining = _split(options)
    chosen = settings(refining.pop("preset"), **refining)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            read_graph = _read(graph, threads, reading)
        with stages.stage("predict"):
            if refining["dim"] is None:
                chosen = settings_with(chosen, dim=min(chosen.dim, read_graph.nodes))
            cost = estimate(read_graph, chosen, threads=_threads(threads))
        with stages.stage("components"):
            components, membership = read_graph.components()
    shares = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    quantiles = np.quantile(read_graph.out_counts, shares).tolist()
    weights = read_graph.weights
    figures: dict[str, Any] = {
        **read_graph.summary(),
        "weights": None if weights is None else {"min": float(weights.min()), "max": float(weights.max())},
        "components": components,
        "largest_component": int(np.bincount(membership).max()),
        "degree_quantiles": {f"{share:g}": value for share, value in zip(shares, quantiles, strict=True)},
        "predicted": {
            "dim": chosen.dim,
            "threads": _threads(threads),
            "compute_seconds": cost.seconds,
            "peak_mb": cost.peak_bytes / 1e6,
        },
    }
    if as_json:
        return show_json(figures)
    show_pairs(
        [
            ("graph", figures["source"]),
            ("nodes", f"{read_graph.nodes:,} ({read_graph.isolated:,} isolated)"),
            ("edges", f"{read_graph.edges:,} {'directed' if read_graph.directed else 'undirected'}"),
            ("weights", "none" if weights is None else f"{weights.min():g} to {weights.max():g}"),
            ("components", f"{components:,}, the largest of {figures['largest_component']:,} nodes"),
            ("out-degree" if read_graph.directed else "degree",
             ", ".join(f"{int(100 * s)}%: {q:g}" for s, q in zip(shares, quantiles, strict=True))),
            ("embedding", f"dim {chosen.dim} will take about {seconds(cost.seconds)} on {_threads(threads)} threads, "
                          f"reading and writing aside, and {cost.peak_bytes / 1e6:,.0f} MB"),
        ]
    )  # fmt: skip
    for line in _remarks(read_graph):
        print(line)
    return None


@cli.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--from-format", metavar="NAME", help="Format of FROM where its suffix does not say.")
@click.option("--to-format", metavar="NAME", help="Format of TO where its suffix does not say.")
@json_option
def convert(source: str, target: str, from_format: str | None, to_format: str | None, as_json: bool) -> None:
    """Write an embedding in another format, said by the suffix of TO (none: the native folder)."""
    from graphrefine import embedding
    from graphrefine.console import show_json

    done = embedding.convert(source, target, source_format=from_format, target_format=to_format)
    if as_json:
        return show_json({"source": source, "target": target, **done._asdict()})
    print(f"{target}: {done.nodes:,} nodes x {done.dim}, {done.source_format} to {done.target_format}")
    return None


@cli.group()
def evaluate() -> None:
    """How good an embedding is for a task."""


def _numbers(_: Any, __: Any, value: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in value.split(","))
    except ValueError:
        raise InputError(f"{value!r}: numbers with commas between are expected, as in 0.1,0.5,0.9") from None


def _penalty(_: Any, __: Any, value: str) -> Any:
    return value if value == "cv" else (numbers := _numbers(None, None, value))[0] if "," not in value else numbers


@evaluate.command()
@click.argument("embedding", metavar="EMBEDDING")
@click.argument("labels", metavar="LABELS")
@click.option("--ratios", default="0.1,0.3,0.5,0.7,0.9", show_default=True, callback=_numbers, help="Training parts.")
@click.option("--repeats", default=10, show_default=True, help="Random splits for each ratio.")
@click.option("--C", "C", default="1", show_default=True, callback=_penalty,
              help="Of the logistic regression; 'cv' chooses on the training part.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of the splits.")
@click.option("--unlabelled", type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
              help="Leave nodes without labels out before splitting, or split all nodes as the authors' code does.")  # fmt: skip
@click.option("--variable", default="group", show_default=True, help="Of a .mat file.")
@threads_option
@json_option
def labels(embedding: str, labels: str, variable: str, threads: int | None, as_json: bool, **protocol: Any) -> None:
    """Node classification, the paper's way: Micro and Macro F1 of the labels in LABELS.

    LABELS is a table (node, label; several rows for a node with several labels) or a .mat file with `group`.
    """
    from graphrefine.console import progress_bar, show_json, show_table
    from graphrefine.embedding import load
    from graphrefine.evaluate import evaluate_labels, read_labels

    vectors = load(embedding)
    known = read_labels(labels, variable=variable)
    with progress_bar() as bar:
        scores = evaluate_labels(vectors, known, threads=threads, progress=bar, **protocol)
    if as_json:
        return show_json({"embedding": embedding, **scores.to_dict()})
    show_table(scores.table())
    print(scores.protocol)
    return None


@cli.command()
@click.option("-o", "--output", default="demo-output", show_default=True, metavar="FOLDER", help="For the map.")
@click.option("--seed", default=0, show_default=True)
@threads_option
@json_option
def demo(output: str, seed: int, threads: int | None, as_json: bool) -> None:
    """Embed a real graph that every installation has, score it, and draw it.

    The graph: 1,797 handwritten digits of scikit-learn, each joined to its ten nearest; the labels: which digit it is.
    """
    from graphrefine.console import note, progress_bar, seconds, show_json, show_table
    from graphrefine.demo import run_demo

    with progress_bar() as bar:
        figures = run_demo(output, seed=seed, threads=threads, watcher=bar)
    if as_json:
        return show_json(figures)
    note(f"{figures['nodes']:,} nodes, {figures['edges']:,} edges, embedded in {seconds(figures['seconds'])}")
    rows = [("vectors", "Micro F1", "Macro F1")]
    rows += [(name, f"{s['micro_f1']:.1f}", f"{s['macro_f1']:.1f}") for name, s in figures["scores"].items()]
    show_table(rows, title="which digit is it? (10% of the labels known)")
    print(f"map: {figures['map']}")
    return None


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that say how to read, and those that say how to embed."""
    names = ("directed", "weights", "source", "target", "delimiter", "header", "variable", "nodes", "encoding")
    reading = {name: options.pop(name) for name in names}
    reading["format"] = options.pop("file_format")
    return reading, options


def _read(graph: str, threads: int | None, reading: dict[str, Any]) -> Graph:
    from graphrefine.reader import read

    return read(graph, threads=_threads(threads), **reading)


def _threads(threads: int | None) -> int:
    from graphrefine.graph import usable_threads

    return usable_threads(threads)


def settings_with(chosen: Any, **changes: Any) -> Any:
    """The same settings but for some."""
    from dataclasses import replace

    return replace(chosen, **changes)


def _remarks(graph: Graph) -> list[str]:
    """What reading did that a person may not expect."""
    report, remarks = graph.report, []
    for key, text in (
        ("self_loops", "self-loops were left out"),
        ("duplicates", "edges were listed more than once; their weights were added"),
        ("reciprocal", "edges were listed in both directions and count once"),
        ("zero_weights", "edges of weight 0 were left out"),
        ("missing", "records with an empty end were left out"),
    ):
        if report.get(key):
            remarks.append(f"note: {report[key]:,} {text}")
    if graph.isolated:
        remarks.append(f"note: {graph.isolated:,} nodes have no edges; their vectors are zero")
    return remarks


def main() -> None:
    """The program ``graphrefine``."""
    try:
        cli.main(standalone_mode=False, prog_name="graphrefine")
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as mistake:
        mistake.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted; nothing was written", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except (GraphRefineError, OSError) as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("error: not enough memory; a smaller --dim needs less (see `graphrefine info`)", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
