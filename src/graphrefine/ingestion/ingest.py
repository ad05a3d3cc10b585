"""`graphrefine.ingest`: the stages in order, each taken up where an earlier run left it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphrefine.errors import InputError
from graphrefine.graph.stored import StoredGraph, check_replaceable, open_stored, store
from graphrefine.graph.stored_writer import StoredWriter
from graphrefine.ingestion.inputs import STREAMED, Input, find_inputs
from graphrefine.ingestion.job import Job, begin
from graphrefine.ingestion.limits import LEAST, bucket_bounds, check_memory, disk_bytes
from graphrefine.ingestion.node_names import Named, number
from graphrefine.ingestion.sorting import Buckets, deal, merge
from graphrefine.ingestion.spool import Spool
from graphrefine.ingestion.spooling import Table, open_table, read_pieces
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.options import Column, Options
from graphrefine.readers.read import check_options, check_sides, read
from graphrefine.readers.source import reading_bytes
from graphrefine.system.disk import check_free_disk
from graphrefine.system.files import check_writable, recover, replacing_folder
from graphrefine.system.memory import PeakMemory, budget_of
from graphrefine.system.threads import usable_threads
from graphrefine.system.work_folder import WorkFolder


@dataclass(frozen=True)
class Done:
    """A graph that was ingested, and what it took."""

    graph: StoredGraph
    seconds: dict[str, float]
    budget: int
    predicted: int  # bytes of memory
    peak: int
    resumed: bool


def ingest(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    directed: bool = False,
    bipartite: bool = False,
    weights: Any = None,
    source: Column | None = None,
    target: Column | None = None,
    nodes: int | str | os.PathLike[str] | Iterable[Any] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
    encoding: str | None = None,
    variable: str | None = None,
    threads: int | None = None,
) -> StoredGraph:
    r"""Make a graph on disk of edges that need not fit into memory. It is the graph that `graphrefine.read` gives.

    Parameters
    ----------
    paths
        Files that `graphrefine.read` takes, folders of such files, or patterns such as ``"edges/*.parquet"``. Several
        are parts of one list of edges.
    output
        The graph on disk, a folder; ``.grf`` is its usual suffix. `graphrefine.read` opens it. Work in progress is in
        a folder beside it, with ``.work`` at the end of its name; a run that was killed goes on from there.
    memory
        The most memory to use: bytes, or ``"8GB"``. By default most of what is free.
    directed, bipartite, weights, source, target, nodes, format, delimiter, header, comments, encoding, variable
        As for `graphrefine.read`. Columns of parts without a header are those of the first part.
    threads
        At most so many; by default all cores. The graph is the same.

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
    options = Options(
        directed=directed,
        bipartite=bipartite,
        weights=weights,
        source=source,
        target=target,
        delimiter=delimiter,
        header=header,
        comments=comments,
        encoding=encoding,
        variable=variable,
        threads=usable_threads(threads),
    )
    return ingest_files(paths, output, options, memory=memory, nodes=nodes, format=format).graph


def ingest_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: Options,
    *,
    memory: int | str | None = None,
    nodes: Any = None,
    format: str | None = None,
    watcher: Watcher | None = None,
) -> Done:
    """`ingest`, with what it took."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if options.weights is True:
        raise InputError("weights=True says nothing; name the column of the weights, or leave it to be found")
    check_sides(None, directed=options.directed, bipartite=options.bipartite, nodes=nodes)
    given = None if memory is None else budget_of(memory)
    if given is not None:
        check_memory(given)
    place = Path(os.path.realpath(output))
    recover(place)
    check_writable(place, folder=True, replaceable=check_replaceable)
    inputs = find_inputs(listed, format)
    for each in inputs:
        check_options(options, each.format.options, f"a {each.format.name} file")
    with PeakMemory() as peak:
        made = _made(inputs, place, options, given, nodes, Stages(watcher))
    return replace(made, peak=peak.bytes)


def _made(
    inputs: Sequence[Input], place: Path, options: Options, given: int | None, nodes: Any, stages: Stages
) -> Done:
    if any(each.format.name not in STREAMED for each in inputs):
        return _whole(inputs, place, options, memory=given or budget_of(None), nodes=nodes, stages=stages)
    with WorkFolder(f"{place}.work") as work:
        try:
            job = begin(work, inputs, options, nodes=nodes, memory=given, usual=budget_of(None))
            predicted = _streamed(work, job, place, stages)
        except InputError:
            work.finish()  # a mistake of the user's: what was done for it is of no use
            raise
        work.finish()
    return Done(open_stored(place, verify=False), stages.seconds, job.budget.memory, predicted, 0, job.resumed)


def _whole(inputs: Sequence[Input], place: Path, options: Options, *, memory: int, nodes: Any, stages: Stages) -> Done:
    """A file of a kind that is read whole, if it fits."""
    (first, *others) = inputs
    whole = next(each for each in inputs if each.format.name not in STREAMED)
    if others:
        raise whole.source.error(f"a {whole.format.name} file is a whole graph; it cannot be one of several parts")
    predicted = LEAST + reading_bytes(first.source.path)
    if predicted > memory:
        raise first.source.error(
            f"a {first.format.name} file is read whole, which takes about {predicted / 1e6:,.0f} MB, and the budget is "
            f"{memory / 1e6:,.0f} MB; write the edges as text or parquet, or say a larger memory="
        )
    named = {name: getattr(options, name) for name in ("directed", "bipartite", "weights", "variable", "threads")}
    with stages.stage("read"):
        graph = read(first.source.path, format=first.format.name, nodes=nodes, **named)
    with stages.stage("finish"):
        store(graph, place, threads=options.threads)
    return Done(open_stored(place, verify=False), stages.seconds, memory, predicted, 0, False)


def _streamed(work: WorkFolder, job: Job, place: Path, stages: Stages) -> int:
    """All stages; what they were predicted to take."""
    threads, directed = job.options.threads, job.options.directed
    table = open_table(job.inputs, job.options, work.path)
    spool = Spool(work.path / "pieces")
    if not spool.entries:
        size = disk_bytes(table.records, weighted=table.weighted)
        check_free_disk(place.parent, size, label=f"{place.parent}: ingesting")
    with stages.stage("read", steps=100):
        read_pieces(work, job, table, spool, stages)
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
    report = _report(job, table, spool, named, merged)
    with stages.stage("finish"):
        with StoredWriter(graph, directed=directed, state=merged["writer"]) as writer:
            told: dict[str, Any] = {"names": named.kind, "source": table.name, "sources": named.sources}
            writer.finish(report=report, threads=threads, **told)
        with replacing_folder(place, replaceable=check_replaceable) as hidden:
            for path in graph.iterdir():
                _place(path, hidden / path.name)
    return int(work.state("buckets")["predicted"])


def _buckets(work: WorkFolder, job: Job, spool: Spool, named: Named) -> Buckets:
    """The buckets; their bounds are found once, as they depend on pieces that go."""
    import numpy as np

    weighted = any(entry.weighted for entry in spool.entries)
    each = 24 if weighted else 16
    state = work.state("buckets")
    if state is None:
        starts, arcs = named.nodes.pages()
        budget = job.budget
        bounds = bucket_bounds(starts, arcs, each=each, most=budget.bucket, room=int(budget.free * 0.8))
        predicted = budget.predicted(spool, starts, arcs, bounds, each=each - 4, named=named.bytes)
        state = {"bounds": bounds.tolist(), "predicted": predicted}
        work.save("buckets", state)
    bounds = np.array(state["bounds"], np.int32)
    return Buckets(work.path / "arcs", bounds, directed=job.options.directed, weighted=weighted)


def _report(job: Job, table: Table, spool: Spool, named: Named, merged: dict[str, Any]) -> dict[str, Any]:
    total: dict[str, int] = {}
    for entry in spool.entries:
        for name, count in entry.tally.items():
            total[name] = total.get(name, 0) + count
    dropped = total["missing"] + total["self_loops"] + total["zero_weights"]
    if merged["arcs"] == 0:
        loops = total["self_loops"]
        raise InputError(f"{table.name}: there is no edge in the graph{f' but {loops} self-loops' if loops else ''}")
    total["duplicates"] = total["records"] - dropped - merged["arcs"]
    total["reciprocal"] = 0 if job.options.directed else merged["pairs"] // 2
    comments = sum(entry.comments for entry in spool.entries)
    return {**total, **table.report(comments, named.encoding)}


def _place(path: Path, to: Path) -> None:
    """Give a file a second name, so that it is still in the work folder if this is cut short."""
    try:
        os.link(path, to)
    except OSError:  # a file system without links
        shutil.copyfile(path, to)
