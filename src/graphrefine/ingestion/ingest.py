"""`graphrefine.ingest`: the stages in order; each goes on from the point that an earlier run reached."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.graph.graph import store
from graphrefine.graph.stored import StoredGraph, open_stored
from graphrefine.graph.stored_writer import StoredWriter, check_replaceable
from graphrefine.ingestion.input_table import InputTable, open_table, read_pieces
from graphrefine.ingestion.job import LEAST, Input, Job, begin, bucket_bounds, check_memory, find_inputs
from graphrefine.ingestion.numbering import NamedNodes, number, open_texts
from graphrefine.ingestion.pieces import EdgeFile, TextFile
from graphrefine.ingestion.sorting import Buckets, deal, merge
from graphrefine.ingestion.spool import Spool
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.odd_names import add_name_notes
from graphrefine.readers.options import ReadKeywords, ReadOptions, list_options, read_options
from graphrefine.readers.read import check_options, check_sides, check_values, describe_no_edge, read_file
from graphrefine.system.files import check_free_disk, check_writable, replacing_folder
from graphrefine.system.memory import PeakMemory, budget_of
from graphrefine.system.work_folder import WorkFolder
from graphrefine.tables.roles import ambiguous_direction
from graphrefine.tables.source import reading_bytes, reading_within


@dataclass(frozen=True)
class Ingestion:
    """A graph on disk, with the time and memory that making it took."""

    graph: StoredGraph
    seconds: dict[str, float]
    budget: int  # bytes of memory, as are the next two
    predicted: int
    peak: int
    resumed: bool


@list_options
def ingest(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    **options: Unpack[ReadKeywords],
) -> StoredGraph:
    r"""Make a graph on disk of edges that need not fit into memory. It is the graph that `graphrefine.read` gives.

    Parameters
    ----------
    paths
        Files that `graphrefine.read` takes, folders of such files, or patterns such as ``"edges/*.parquet"``. Several
        are parts of one list of edges.
    output
        Folder of the graph on disk; ``.grf`` is its usual suffix. `graphrefine.read` opens it. Work in progress is in
        a folder next to it, with ``.work`` at the end of its name; a run that was killed goes on from there.
    memory
        Largest amount of memory: bytes, or ``"8GB"``. By default most of the free memory.
    directed, bipartite, weights, source, target, nodes, format, delimiter, header, quote, comments, encoding, time
        As for `graphrefine.read`.
    since, until, half_life, names, query, variable
        As for `graphrefine.read`. Columns of parts without a header are those of the first part.
    threads
        Largest number of threads; by default all cores. The graph is the same.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for part, text in {"1": "ann bob\nbob cleo\n", "2": "cleo ann\nann bob\n"}.items():
    ...     _ = (folder / f"{part}.txt").write_text(text)
    >>> graph = ingest(folder / "*.txt", folder / "friends.grf")
    >>> graph, graph.names.tolist(), graph.weights.tolist()
    (Graph(3 nodes, 3 edges, undirected, weighted), ['ann', 'bob', 'cleo'], [2.0, 1.0, 2.0, 1.0, 1.0, 1.0])
    """
    return ingest_files(paths, output, read_options(options), memory=memory).graph


def ingest_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: ReadOptions,
    *,
    memory: int | str | None = None,
    watcher: Watcher | None = None,
) -> Ingestion:
    """Ingest, and return the graph with the time and memory that it took."""
    check_values(options)
    check_sides(options)
    budget = None if memory is None else budget_of(memory)
    output = Path(os.path.realpath(output))
    check_writable(output, folder=True, replaceable=check_replaceable)
    inputs = find_inputs([paths] if isinstance(paths, str | os.PathLike) else list(paths), options.format)
    for each in inputs:
        check_options(options, each.format.options, f"a {each.format.name} file")
    with PeakMemory() as peak:
        if all(each.format.pieces for each in inputs):
            ingestion = _ingest_pieces(inputs, output, options, budget, Stages(watcher))
        else:
            ingestion = _ingest_whole(inputs, output, options, budget or budget_of(None), Stages(watcher))
    return replace(ingestion, peak=peak.bytes)


def _ingest_whole(
    inputs: Sequence[Input], output: Path, options: ReadOptions, memory: int, stages: Stages
) -> Ingestion:
    """Ingest a file of a format that is read whole, if it fits."""
    (first, *others) = inputs
    whole = next(each for each in inputs if not each.format.pieces)
    if others:
        raise whole.source.error(f"a {whole.format.name} file is a whole graph; it cannot be one of several parts")
    predicted = LEAST + reading_bytes(first.source.path)
    if predicted > memory:
        raise first.source.error(
            f"a {first.format.name} file is read whole, which takes about {predicted / 1e6:,.0f} MB, and the budget is "
            f"{memory / 1e6:,.0f} MB; write the edges as text or parquet, or pass a larger memory=",
            argument="memory",
        )
    with stages.stage("read"):
        with reading_within(memory):
            graph = read_file(first.source, options)
        if graph.attributes:
            notes = [*graph.report.get("notes", ()), "attributes of nodes are not kept on disk"]
            graph = replace(graph, report={**graph.report, "notes": notes})
    with stages.stage("finish"):
        store(graph, output, threads=options.thread_count)
    return Ingestion(open_stored(output, verify=False), stages.seconds, memory, predicted, 0, False)


def _ingest_pieces(
    inputs: Sequence[Input], output: Path, options: ReadOptions, memory: int | None, stages: Stages
) -> Ingestion:
    """Ingest files of formats that are cut into pieces."""
    with WorkFolder(f"{output}.work") as work:
        try:
            job = begin(work, inputs, options, memory=memory)
            with reading_within(job.budget.memory):
                predicted = _run_stages(work, job, output, stages)
        except (InputError, MissingExtraError):
            work.finish()  # a mistake of the user's: the work for it is of no use
            raise
        except OutputError:  # says all there is to say
            raise
        except OSError as error:
            raise OutputError(
                f"{output}: cannot be made: {error.filename or work.path}: {error.strerror or error}; the same command "
                f"goes on from {work.path}"
            ) from error
        work.finish()
    graph = open_stored(output, verify=False)
    return Ingestion(graph, stages.seconds, job.budget.memory, predicted, 0, job.resumed)


def _direction(first: EdgeFile, options: ReadOptions) -> bool:
    """Return the direction of the options, else the one that the first part declares for all its edges."""
    roles = first.roles
    if options.directed is not None or options.bipartite or roles is None:
        return bool(options.directed)
    if roles.direction is not None:  # which all of its values tell, and not the first ones
        raise first.source.error(ambiguous_direction())
    return bool(roles.directed)


def _run_stages(work: WorkFolder, job: Job, output: Path, stages: Stages) -> int:
    """Run all stages, and return the memory in bytes that they were predicted to take."""
    # Each stage writes down how far it is and skips what an earlier run has done, so their order is that of the data:
    # a piece goes once its arcs are dealt, and arcs go once their rows are written.
    table = open_table(job.inputs, job.options, work.path)
    job = replace(job, options=replace(job.options, directed=_direction(table.parts[0], job.options)))
    threads, directed = job.options.thread_count, bool(job.options.directed)
    spool = Spool(work.path / "pieces")
    if not spool.entries:
        check_free_disk(output.parent, table.disk_bytes, label=f"{output.parent}: ingesting")
    with stages.stage("read", steps=100):
        read_pieces(work, job, table, spool, stages)
    if not any(entry.edges for entry in spool.entries):
        raise _no_edge(table, spool)
    graph = work.path / "graph"
    graph.mkdir(exist_ok=True)
    with stages.stage("number", steps=len(spool.entries)):
        named = number(work, job, table, spool, graph, stages)
    check_memory(job.budget.memory, named.nodes.nodes)
    buckets = _buckets(work, job, spool, named)
    with stages.stage("deal", steps=len(spool.entries)):
        deal(work, spool, named.nodes, buckets, threads=threads, stages=stages)
    with stages.stage("merge", steps=len(buckets) * len(buckets.sides)):
        merged = merge(work, buckets, graph, threads=threads, stages=stages)
    report, predicted = _report(job, table, spool, named, merged), int(work.state("buckets")["predicted"])
    with stages.stage("finish"):
        if named.kind == "strings":
            # A text of Python takes 100 to 200 bytes: of more names than the budget holds, none is looked at.
            names = open_texts(graph, named.sources, most=job.budget.free // 200)
            report = add_name_notes(report, *names)
        with StoredWriter(graph, directed=directed, state=merged["writer"]) as writer:
            writer.finish(names=named.kind, report=report, source=table.name, sources=named.sources, threads=threads)
        # Links, not moves: if this is cut short, the files are still in the work folder, and a later run finds them.
        with replacing_folder(output, replaceable=check_replaceable) as hidden:
            for path in graph.iterdir():
                try:
                    os.link(path, hidden / path.name)
                except OSError:  # a file system without links
                    shutil.copyfile(path, hidden / path.name)
    return predicted


def _buckets(work: WorkFolder, job: Job, spool: Spool, named: NamedNodes) -> Buckets:
    """Return the buckets; their bounds are computed once, as they depend on pieces that go."""
    weighted = any(entry.weighted for entry in spool.entries)
    arc_bytes = 24 if weighted else 16
    state = work.state("buckets")
    if state is None:
        starts, arcs = named.nodes.pages()
        budget = job.budget
        bounds = bucket_bounds(starts, arcs, each=arc_bytes, most=budget.bucket, room=int(budget.free * 0.8))
        predicted = budget.predicted(spool, (starts, arcs), bounds, each=arc_bytes - 4, named=named.bytes)
        state = {"bounds": bounds.tolist(), "predicted": predicted}
        work.save("buckets", state)
    bounds = np.array(state["bounds"], np.int32)
    return Buckets(work.path / "arcs", bounds, directed=bool(job.options.directed), weighted=weighted)


def _report(job: Job, table: InputTable, spool: Spool, named: NamedNodes, merged: dict[str, Any]) -> Mapping[str, Any]:
    if merged["arcs"] == 0:
        raise _no_edge(table, spool)
    total = spool.tally()
    dropped = total["missing"] + total["self_loops"] + total["zero_weights"]
    total["duplicates"] = total["records"] - dropped - merged["arcs"]
    total["reciprocal"] = 0 if job.options.directed else merged["pairs"] // 2
    if not any(isinstance(part, TextFile) for part in table.parts):
        del total["trimmed"]
    first = table.parts[0].report(total.pop("comments"), named.encoding)
    files = {} if len(table.inputs) == 1 else {"files": len(table.inputs)}
    return {**total, **first, "format": table.inputs[0].format.name, **files}


def _no_edge(table: InputTable, spool: Spool) -> InputError:
    """Return the error for files without an edge, in the words of `graphrefine.read`."""
    return InputError(f"{table.name}: {describe_no_edge(spool.tally())}")
