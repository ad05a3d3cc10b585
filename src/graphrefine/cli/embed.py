"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.cli.arguments import check_not_input, method_options, reading_options, run_values
from graphrefine.cli.describe import drift_line, embed_figures, remarks, summary_line
from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import choose_format, format_place
from graphrefine.embedding.learn import can_learn
from graphrefine.embedding.storage import check_output
from graphrefine.methods.registry import make_settings
from graphrefine.run.embed import EmbedRun, Request, aligned_dim
from graphrefine.run.settings import RunSettings, work_folder
from graphrefine.system.memory import PeakMemory
from graphrefine.visuals.console import note, progress_bar, show_json


def embed(output: str, output_format: str | None, as_json: bool, **options: Any) -> None:
    """Write vectors for every node of a graph."""
    start = perf_counter()
    memory, align_to = options["memory"], options["align_to"]
    check_not_input(output, options["graph"], options["nodes"], options["features"])
    request = _make_request(output, output_format, options)
    with EmbedRun(request) as run:
        check_output(output, format=output_format)
        with PeakMemory(tree=request.run.executor == "dask") as peak, progress_bar() as bar:
            graph = run.read(bar)
            check_output(output, format=output_format, names=graph.names, values=graph.nodes * run.settings.dim)
            plan = run.make_plan()
            if memory is not None or plan.mode != "memory":
                note(plan.in_words())
            embedding = run.embed()
            with run.stages.stage("write"):
                embedding.save(output, format=output_format)
    figures = embed_figures(run, embedding, output=output, total=perf_counter() - start, peak=peak.bytes)
    if align_to is not None:
        figures["aligned"] = {"to": format_place(align_to), **embedding.recipe["aligned"]}
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


def _make_request(output: str, output_format: str | None, options: dict[str, Any]) -> Request:
    """The request that the options make."""
    source, features, align_to = options.pop("graph"), options.pop("features"), options.pop("align_to")
    reading, values = reading_options(options), run_values(options)
    method, preset, settings = method_options(options)
    old = None if align_to is None else load(align_to)
    if old is not None:
        settings["dim"] = aligned_dim(settings["dim"], old, format_place(align_to))
    run = RunSettings(**{"work": work_folder(output), **values})
    file_format = choose_format(output, output_format)
    learn = file_format.state if run.learn is None else run.learn
    return Request(
        source,
        make_settings(method, preset, **settings),
        method=method,
        dim_is_default=settings["dim"] is None,
        reading=reading,
        features=features,
        align_to=old,
        learn=learn,
        run=run,
        writing=file_format.memory,
    )


def _note_learning(run: EmbedRun) -> None:
    if not run.learn and can_learn(run.graph):
        why = ", as the memory has no room for that" if run.request.learn else ""
        note(
            f"note: nothing was learned from the graph{why}: fold-in will use the mean of neighbours, and "
            "scores the usual weight of degrees"
        )
