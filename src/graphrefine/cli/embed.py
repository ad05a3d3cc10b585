"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import (
    CONFIG,
    GRAPH,
    JSON,
    METHOD,
    READING,
    REFINING,
    RUNNING,
    SET,
    Command,
    Option,
    check_not_input,
    method_options,
    reading_options,
    run_options,
)

if TYPE_CHECKING:
    from graphrefine.run.embed import EmbedRun, Request


@click.command(
    cls=Command,
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="File or folder for the vectors. The suffix names the format: none (a folder), .npy .npz .parquet "
                    ".arrow .safetensors .txt .vec (word2vec) .bin (the same, binary) .csv .csv.gz"),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not name it."),
        Option(["--features"], metavar="FILE",
               help="Further knowledge of the nodes beside the edges: a table with a node's name and its numbers in "
                    "each line (.csv, .tsv, .parquet ...), or .npy or SciPy's .npz with row i for node i."),
        Option(["--align-to"], metavar="OLD",
               help="Rotate the vectors onto those of OLD, an embedding of some of the same nodes, and print the "
                    "drift. --dim is that of OLD if not given."),
        METHOD, JSON, SET, CONFIG, *RUNNING, *REFINING, *READING,
    ],
    short_help="Vectors for every node of a graph.",
)  # fmt: skip
def embed(output: str, output_format: str | None, as_json: bool, **options: Any) -> None:
    """Vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS or GraphML, also
    compressed (gz, zst, bz2, xz); or '-', standard input.
    """
    from graphrefine.cli.describe import drift_line, embed_figures, remarks, summary_line
    from graphrefine.embedding.storage import check_output
    from graphrefine.run.embed import EmbedRun
    from graphrefine.system.memory import PeakMemory
    from graphrefine.visuals.console import note, progress_bar, show_json

    start = perf_counter()
    memory, align_to = options["memory"], options["align_to"]
    request = _request(output, output_format, options)
    check_not_input(output, request.source, request.reading["nodes"], request.features)
    check_output(output, format=output_format)
    tree = request.run.executor == "dask"
    with PeakMemory(tree=tree) as peak, progress_bar() as bar, EmbedRun(request, watcher=bar) as run:
        graph = run.read()
        check_output(output, format=output_format, names=graph.names, values=graph.nodes * run.settings.dim)
        plan = run.make_plan()
        if memory is not None or plan.mode != "memory":
            note(plan.in_words())
        embedding = run.embed()
        with run.stages.stage("write"):
            embedding.save(output, format=output_format)
    figures = embed_figures(run, embedding, output=output, total=perf_counter() - start, peak=peak.bytes)
    if align_to is not None:
        figures["aligned"] = {"to": _place(align_to), **embedding.recipe["aligned"]}
    for line in remarks(graph, zero_vectors=figures["zero_vectors"], features=embedding.recipe.get("features")):
        note(line)
    _note_learning(run)
    if figures["kernel"] == "scipy":
        note("note: no compiled kernels (not built, or GRAPHREFINE_KERNEL=scipy), so this was slower")
    if as_json:
        return show_json(figures)
    print(summary_line(figures))
    if align_to is not None:
        print(drift_line(figures["aligned"]))
    return None


def _request(output: str, output_format: str | None, options: dict[str, Any]) -> Request:
    """The request that the options make."""
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats import choose_format
    from graphrefine.methods.registry import make_settings
    from graphrefine.run.embed import Request, aligned_dim
    from graphrefine.run.out_of_core import work_folder

    source, features, align_to = options.pop("graph"), options.pop("features"), options.pop("align_to")
    run, reading = run_options(options), reading_options(options)
    method, preset, settings = method_options(options)
    old = None if align_to is None else load(align_to)
    if old is not None:
        settings["dim"] = aligned_dim(settings["dim"], old, _place(align_to))
    file_format = choose_format(output, output_format)
    learn = file_format.state if run.learn is None else run.learn
    run = replace(run, learn=learn, work=work_folder(output) if run.work is None else run.work)
    return Request(
        source,
        make_settings(method, preset, **settings),
        method=method,
        dim_is_default=settings["dim"] is None,
        reading=reading,
        features=features,
        align_to=old,
        run=run,
        writing=file_format.memory,
    )


def _note_learning(run: EmbedRun) -> None:
    from graphrefine.embedding.learn import can_learn
    from graphrefine.visuals.console import note

    if not run.request.run.learn and can_learn(run.graph):
        note(
            "note: nothing was learned from the graph: fold-in will use the mean of neighbours, and scores the usual "
            "weight of degrees"
        )


def _place(path: str) -> str:
    from graphrefine.embedding.formats.addresses import shown_place

    return shown_place(path)
