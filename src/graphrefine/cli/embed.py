"""``graphrefine embed``: vectors for every node of a graph."""

from __future__ import annotations

from dataclasses import fields
from time import perf_counter
from typing import Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, count_zero_rows, show_notes
from graphrefine.display.console import note, progress_bar, seconds, show_json
from graphrefine.embedding.formats import check_content, check_output, format_place
from graphrefine.system.memory import PeakMemory


@command(
    "embed",
    first=("output", "dim", "weights", "quality"),
    short_help="Vectors for every node of a graph.",
    params=[
        opt.GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help=f"File or folder for the vectors. The suffix names the format: {opt.SUFFIXES}."),
        opt.OUTPUT_FORMAT,
        Option(["--features"], metavar="FILE",
               help="What is known of the nodes in addition to the edges: a table with a node's name and its numbers "
                    "in each line (.csv, .tsv, .parquet ...), or .npy or SciPy's .npz with row i for node i."),
        Option(["--align-to"], metavar="OLD",
               help="Rotate the vectors onto those of OLD, an embedding of some of the same nodes, with its --dim."),
        Option(["--config"], metavar="FILE",
               help="The method and its settings from a JSON file, as tune writes it; options override it."),
        # An option of embed is a field of `RunSettings` (of the run), `RefineSettings` (of the method) or `ReadOptions`
        # (of reading, which ingest, info and others get too): the field has its type, default and help.
        opt.METHOD, opt.JSON, opt.SET, *opt.RUNNING, *opt.REFINING, *opt.READING,
    ],
)  # fmt: skip
def embed(output: str, output_format: str | None, as_json: bool, **options: Any) -> None:
    """Compute vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS, GraphML, GEXF, GML, Pajek,
    JSON, JSON Lines or an adjacency list, also compressed (gz, zst, bz2, xz); a database of SQLite or DuckDB; a folder
    of OGB; or '-', standard input.
    """
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.formats.io import save_data
    from graphrefine.pipeline.embed_run import EmbedRun, make_request
    from graphrefine.pipeline.settings import RunSettings

    start = perf_counter()
    source, features, align_to = options.pop("graph"), options.pop("features"), options.pop("align_to")
    inputs = [source, features, options["config"], options["nodes"]]
    if align_to is not None and not opt.is_same(align_to, output):  # the output may be a newer version of it
        inputs.append(align_to)
    check_not_input(output, inputs)
    file_format = check_output(output, format=output_format)
    reading = opt.reading_options(options)
    values = {each.name: options.pop(each.name) for each in fields(RunSettings)}
    method, preset, settings = opt.method_options(options)
    request = make_request(
        source,
        settings=settings,
        method=method.name,
        preset=preset,
        reading=reading,
        features=features,
        align_to=None if align_to is None else load(align_to),
        run=RunSettings(**{name: value for name, value in values.items() if value is not None}),
        output=output,
    )
    with EmbedRun(request) as run, PeakMemory(tree=run.cluster is not None) as peak, progress_bar() as bar:
        graph = run.read(bar)
        learn = file_format.state if request.run.learn is None else request.run.learn
        plan = run.make_plan(learn=learn, writing=file_format.memory)
        note(f"read: {graph.reading}")
        # Hours may follow: names that the format cannot store, or a full disk, are found now.
        check_content(output, file_format, graph.names, graph.nodes * run.settings.dim)
        if request.run.memory is not None or plan.mode != "memory":
            note(plan.in_words())
        embedding = run.embed()
        with run.stages.stage("write"):
            fingerprint = save_data(embedding.data, output, file_format) or embedding.fingerprint
    vectors, zeros = embedding.vectors, count_zero_rows(embedding.vectors)
    stats = {
        "output": output,
        "reading": graph.reading,
        "nodes": len(vectors),
        "dim": embedding.dim,
        "zero_vectors": zeros,
        "edges": graph.edges,
        "isolated": graph.isolated,
        "graph": graph.summary(),
        "recipe": embedding.recipe,
        "peak_mb": peak.bytes / 1e6,
        **run.stats(total=perf_counter() - start),
        "fingerprint": fingerprint.to_dict(),
    }
    if run.can_learn and not plan.learn:
        why = ", as the memory has no room for that" if learn else ""
        note(f"note: nothing was learned from the graph{why}: fold-in will use the mean of neighbors, and scores "
             "the usual weight of degrees")  # fmt: skip
    show_notes(graph, zero_vectors=zeros, features=embedding.recipe.get("features"))
    if align_to is not None:
        stats["aligned"] = {"to": format_place(align_to), **embedding.recipe["aligned"]}
    if as_json:
        return show_json(stats)
    size = f"{len(vectors):,} nodes x {embedding.dim} from {graph.edges:,} edges"
    spent = {name: seconds(value) for name, value in stats["seconds"].items()}
    parts = ", ".join(f"{name} {spent[name]}" for name in ("read", "compute", "learn", "write") if name in spent)
    tier = f"; quality {embedding.recipe['quality']}" if embedding.recipe.get("quality") else ""
    memory, name = f"{stats['peak_mb']:,.0f} MB", stats["fingerprint"]["name"]
    print(f"{output}: {size} in {spent['total']} ({parts}; {memory}{tier}), {name}")
    if "auto_dim" in stats:
        print(f"dim {embedding.dim}: {opt.describe_dimension(stats['auto_dim'])}")
    if align_to is not None:
        aligned = stats["aligned"]
        drift = f"mean drift {aligned['after']:.3f} ({aligned['before']:.3f} before the rotation)"
        print(f"aligned to {aligned['to']} by {aligned['shared']:,} shared nodes: {drift}")
    return None
