"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.cli.describe import describe_result, dimension_line, drift_line, summary_line
from graphrefine.cli.options import method_options, reading_options, run_values
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import check_output, choose_format, format_place
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import EmbedRun, Request, aligned_dim
from graphrefine.pipeline.settings import RunSettings, check_work, work_folder
from graphrefine.system.memory import PeakMemory


def embed(output: str, output_format: str | None, as_json: bool, **options: Any) -> None:
    """Write vectors for every node of a graph."""
    start = perf_counter()
    memory, align_to = options["memory"], options["align_to"]
    with EmbedRun(_make_request(output, options)) as run:
        file_format = choose_format(output, output_format)
        check_output(output, format=output_format)
        with PeakMemory(tree=run.cluster is not None) as peak, progress_bar() as bar:
            graph = run.read(bar)
            learn = file_format.state if run.request.run.learn is None else run.request.run.learn
            plan = run.make_plan(learn=learn, writing=file_format.memory)
            note(f"read: {graph.reading}")
            check_output(output, format=output_format, names=graph.names, values=graph.nodes * run.settings.dim)
            if memory is not None or plan.mode != "memory":
                note(plan.in_words())
            embedding = run.embed()
            with run.stages.stage("write"):
                fingerprint = embedding.fingerprint
                embedding.save(output, format=output_format)
    figures = {
        "output": output,
        "reading": graph.reading,
        "peak_mb": peak.bytes / 1e6,
        **run.figures(total=perf_counter() - start),
    }
    figures["fingerprint"] = fingerprint.figures()
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
    """The request that the options make."""
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
        quality_is_default=settings.get("quality") is None,
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
