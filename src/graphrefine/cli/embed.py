"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import (
    CONFIG,
    GRAPH,
    JSON,
    METHOD,
    PLACING,
    READING,
    REFINING,
    SET,
    THREADS,
    Command,
    Option,
    check_not_input,
    method_options,
    reading_options,
)
from graphrefine.errors import InputError

if TYPE_CHECKING:
    from graphrefine.run.placement import Machines


@click.command(
    cls=Command,
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="Where the vectors go. The suffix says how: none (a folder), .npy .npz .parquet .arrow "
                    ".safetensors .txt .vec (word2vec) .bin (the same, binary) .csv .csv.gz"),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not say."),
        Option(["--features"], metavar="FILE",
               help="What is known of the nodes beside the edges: a table with a node's name and its numbers in each "
                    "line (.csv, .tsv, .parquet ...), or .npy or SciPy's .npz with row i for node i."),
        Option(["--align-to"], metavar="OLD",
               help="Rotate the vectors onto those of OLD, an embedding of some of the same nodes, and tell the drift. "
                    "--dim is that of OLD if not given."),
        METHOD, THREADS, JSON, SET, CONFIG, *PLACING, *REFINING, *READING,
    ],
    short_help="Vectors for every node of a graph.",
)  # fmt: skip
def embed(
    graph: str,
    output: str,
    output_format: str | None,
    align_to: str | None,
    features: str | None,
    memory: str | None,
    work: str | None,
    executor: str,
    scheduler: str | None,
    workers: int | None,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS or GraphML, also
    compressed (gz, zst, bz2, xz); or '-', standard input.
    """
    from graphrefine.cli.describe import drifted, durations, remarks, summed_up, zero_rows
    from graphrefine.embedding.embedding import check_output, load
    from graphrefine.embedding.formats.addresses import shown_place
    from graphrefine.kernels import kernels
    from graphrefine.methods.registry import find, settings
    from graphrefine.progress import Stages
    from graphrefine.run.memory_plan import budget_of
    from graphrefine.run.out_of_core import work_folder
    from graphrefine.run.placement import embed_within, plan_for, read_within
    from graphrefine.system.memory import peak_bytes
    from graphrefine.system.threads import usable_threads
    from graphrefine.system.work_folder import WorkFolder
    from graphrefine.visuals.console import note, progress_bar, show_json

    start = perf_counter()
    reading = reading_options(options)
    method, preset, given = method_options(options)
    old = None if align_to is None else load(align_to)
    if old is not None and align_to is not None:
        align_to = shown_place(align_to)
        given["dim"] = _dim_of(old.dim, given["dim"], align_to)
    chosen, given_dim = settings(method, preset, **given), given["dim"]
    threads, kernel, budget = usable_threads(threads), kernels().name, budget_of(memory)
    place = WorkFolder(work_folder(output) if work is None else work)
    machines = _machines(executor, scheduler, workers, threads)
    check_not_input(output, graph, reading["nodes"], features)
    check_output(output, format=output_format)
    with closing(place), progress_bar() as bar:
        outer = Stages(bar)
        with outer.stage("read"):
            found = read_within(graph, budget=budget, work=place, threads=threads, reading=reading, watcher=bar)
        most = find(method).most_columns(found, chosen)
        lowered = given_dim is None and chosen.dim > most
        wanted, chosen = chosen.dim, replace(chosen, dim=most) if lowered else chosen
        check_output(output, format=output_format, names=found.names, values=found.nodes * chosen.dim)
        if lowered:
            to = "that" if most == found.nodes else f"{most}, as it must be even"
            note(f"warning: {found.source} has {found.nodes} nodes: --dim is lowered from {wanted} to {to}")
        beside = "features" if features is not None else "align_to" if old is not None else None
        how: dict[str, Any] = {"method": method, "work": place, "machines": machines}
        plan = plan_for(found, chosen, budget=budget, beside=beside, **how)
        if memory is not None or plan.mode != "memory":
            note(plan.in_words())
        with embed_within(plan, found, chosen, features=features, threads=threads, watcher=bar, **how) as made:
            embedding, stages = made.embedding, made.stages
            if old is not None:
                with outer.stage("align"):
                    embedding = embedding.align_to(old)
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
        "method": method,
        "dim": embedding.dim,
        "seconds": spent,
        "peak_mb": peak_bytes() / 1e6,
        "threads": threads,
        "kernel": kernel,
        "seed": chosen.seed,
        "plan": {**plan.figures(), "blocks": made.blocks, "resumed": made.resumed},
        "graph": found.summary(),
        "recipe": embedding.recipe,
    }
    if made.workers is not None:
        figures["workers"] = made.workers
    if old is not None:
        figures["aligned"] = {"to": align_to, **embedding.recipe["aligned"]}
    for line in remarks(found, zero_vectors=zero_vectors, features=embedding.recipe.get("features")):
        note(line)
    if kernel == "scipy":
        note("note: no compiled kernels (not built, or GRAPHREFINE_KERNEL=scipy), so this was slower")
    if as_json:
        return show_json(figures)
    print(summed_up(figures))
    if old is not None:
        print(drifted(figures["aligned"]))
    return None


def _machines(executor: str, scheduler: str | None, workers: int | None, threads: int) -> Machines | None:
    if executor == "local":
        if scheduler is not None or workers is not None:
            raise InputError("scheduler and workers are for executor='dask'; say --executor dask, or leave them out")
        return None
    if workers is not None and (scheduler is not None or workers < 1):
        raise InputError(
            f"workers={workers}: how many to start, at least 1, where no scheduler is given; leave one of them out"
        )
    from graphrefine.run.placement import Machines

    return Machines(scheduler, (workers or threads) if scheduler is None else None)


def _dim_of(old: int, given: int | None, path: str | None) -> int:
    """The length of vectors that are to be aligned: that of the old ones, or an error before the work."""
    if given is not None and given != old:
        raise InputError(f"dim={given} is not that of {path}, whose vectors have {old} numbers; leave dim out")
    return old
