"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphrefine.cli.common import check_not_input, is_same
from graphrefine.cli.options import (
    CONFIG,
    GRAPH,
    JSON,
    METHOD,
    READING,
    REFINING,
    RUNNING,
    SET,
    SUFFIXES,
    Option,
    command,
    method_options,
    reading_options,
    run_values,
)
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.formats import check_content, check_output, format_place
from graphrefine.system.memory import PeakMemory

if TYPE_CHECKING:
    from graphrefine.pipeline.embed_run import EmbedRun, Request


@command(
    "embed",
    first=("output", "dim", "weights", "quality"),
    short_help="Vectors for every node of a graph.",
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help=f"File or folder for the vectors. The suffix names the format: {SUFFIXES}."),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not name it."),
        Option(["--features"], metavar="FILE",
               help="Further knowledge of the nodes beside the edges: a table with a node's name and its numbers in "
                    "each line (.csv, .tsv, .parquet ...), or .npy or SciPy's .npz with row i for node i."),
        Option(["--align-to"], metavar="OLD",
               help="Rotate the vectors onto those of OLD, an embedding of some of the same nodes, and print the "
                    "drift. --dim is that of OLD if not given."),
        METHOD, JSON, SET, CONFIG, *RUNNING, *REFINING, *READING,
    ],
)  # fmt: skip
def embed(output: str, output_format: str | None, as_json: bool, **options: Any) -> None:
    """Compute vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS, GraphML, GEXF, GML, Pajek,
    JSON, JSON Lines or an adjacency list, also compressed (gz, zst, bz2, xz); a database of SQLite or DuckDB; a folder
    of OGB; or '-', standard input.
    """
    from graphrefine.cli.describe import describe_result, dimension_line, drift_line, summary_line
    from graphrefine.embedding.formats.io import save_data
    from graphrefine.pipeline.embed_run import EmbedRun

    start = perf_counter()
    memory, align_to = options["memory"], options["align_to"]
    inputs = [options["graph"], options["features"], options["config"], options["nodes"]]
    if align_to is not None and not is_same(align_to, output):  # the output may be a newer version of it
        inputs.append(align_to)
    check_not_input(output, inputs)
    with EmbedRun(_make_request(output, options)) as run:
        file_format = check_output(output, format=output_format)
        with PeakMemory(tree=run.cluster is not None) as peak, progress_bar() as bar:
            graph = run.read(bar)
            learn = file_format.state if run.request.run.learn is None else run.request.run.learn
            plan = run.make_plan(learn=learn, writing=file_format.memory)
            note(f"read: {graph.reading}")
            check_content(output, file_format, graph.names, graph.nodes * run.settings.dim)
            if memory is not None or plan.mode != "memory":
                note(plan.in_words())
            embedding = run.embed()
            with run.stages.stage("write"):
                fingerprint = save_data(embedding.data, output, file_format) or embedding.fingerprint
    figures = {
        "output": output,
        "reading": graph.reading,
        "peak_mb": peak.bytes / 1e6,
        **run.stats(total=perf_counter() - start),
    }
    figures["fingerprint"] = fingerprint.to_dict()
    remarks = _remark_on_learning(run, learn=learn)
    remarks += describe_result(graph, embedding, figures)
    if align_to is not None:
        figures["aligned"] = {"to": format_place(align_to), **embedding.recipe["aligned"]}
    for line in remarks:
        note(f"note: {line}")
    if as_json:
        return show_json(figures)
    print(summary_line(figures))
    if "auto_dim" in figures:
        print(f"dim {figures['dim']}: {dimension_line(figures['auto_dim'])}")
    if align_to is not None:
        print(drift_line(figures["aligned"]))
    return None


def _make_request(output: str, options: dict[str, Any]) -> Request:
    """Return the request that the options make."""
    from graphrefine.embedding.embedding import load
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.embed_run import Request, aligned_dim
    from graphrefine.pipeline.settings import RunSettings, check_work, work_folder

    source, features, align_to = options.pop("graph"), options.pop("features"), options.pop("align_to")
    reading, values = reading_options(options), run_values(options)
    method, preset, settings = method_options(options)
    old = None if align_to is None else load(align_to)
    if old is not None:
        settings["dim"] = aligned_dim(settings["dim"], old, format_place(align_to))
    dim_is_default, automatic = settings["dim"] is None, settings["dim"] == "auto"
    if automatic:
        settings["dim"] = None
    method_settings = make_settings(method.name, preset, **settings)
    check_work(values.get("work"), memory=values.get("memory"), executor=values.get("executor"))
    return Request(
        source,
        method_settings,
        method=method,
        dim_is_default=dim_is_default,
        dim_is_automatic=automatic,
        reading=reading,
        features=features,
        align_to=old,
        run=RunSettings(**{"work": work_folder(output), **values}),
    )


def _remark_on_learning(run: EmbedRun, *, learn: bool) -> list[str]:
    if run.learn or not run.can_learn:
        return []
    why = ", as the memory has no room for that" if learn else ""
    return [
        f"nothing was learned from the graph{why}: fold-in will use the mean of neighbors, and scores the usual "
        "weight of degrees"
    ]
