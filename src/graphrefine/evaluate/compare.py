"""`compare`: each method, with each dimension, embeds a graph in a separate process, and is judged.

A task evaluates a function that makes vectors from a graph and has the columns of a table, the axis of a plot,
and the baselines that methods must beat. Labels of nodes are the task if there are any, with vectors of the whole
graph; else held-out edges, with vectors of the graph without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphrefine import __version__
from graphrefine.display.machine import identify_machine
from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.fingerprint import digest_graph
from graphrefine.errors import InputError, OutputError
from graphrefine.evaluate.classification import choose_repeats, evaluate_labels, random_control
from graphrefine.evaluate.embed_subprocess import Outcome, run_embed
from graphrefine.evaluate.links import evaluate_links
from graphrefine.evaluate.metrics import METRICS
from graphrefine.evaluate.results import BASELINE, Comparison, LinkScores, Row, sort_rows
from graphrefine.graph.graph import Graph
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import Labels, align, as_labels
from graphrefine.readers.options import GraphKeywords, list_options
from graphrefine.readers.read import read
from graphrefine.system import as_plain
from graphrefine.system.checks import check_choice, check_integer, check_number
from graphrefine.system.digest import digest_array, digest_json, digest_names
from graphrefine.system.files import temporary_folder
from graphrefine.system.memory import available_bytes, gigabytes
from graphrefine.system.threads import usable_threads

HELD_OUT = 0.3
SCORES = ("dot", "cosine", "dot-degree", "cosine-degree")  # scores by vectors
MOST_MEMORY = 8 * 10**9  # default limit of a child, in bytes; less if less is free

Make = Callable[[Graph], NDArray[Any]]


class Verdict(NamedTuple):
    """Quality of vectors."""

    quality: float  # rows are sorted by it, the highest first
    cells: dict[str, str]  # a text for each column
    stats: dict[str, Any]  # all numbers, for JSON
    protocol: str = ""


class Task(NamedTuple):
    """A way to judge vectors."""

    axis: str  # name of the quality
    columns: tuple[str, ...]
    inputs: dict[str, Any]  # all that verdicts depend on except the graph
    evaluate: Callable[[Make], Verdict]
    baselines: Callable[[int], dict[str, Verdict]]  # by dimension: to be beaten; bad input is refused here


@list_options
def compare(
    graph: Any,
    *,
    labels: Any = None,
    methods: Sequence[str] | None = None,
    dims: Sequence[int] | None = None,
    ratios: Sequence[float] = (0.5,),
    repeats: int | None = None,
    C: float | Sequence[float] | Literal["cv"] = 1.0,
    seed: int = 0,
    time_limit: float | None = 300.0,
    memory_limit: int | None = None,
    threads: int | None = None,
    previous: Comparison | Mapping[str, Any] | None = None,
    on_row: Callable[[Comparison, Row | None], None] | None = None,
    watcher: Watcher | None = None,
    **reading: Unpack[GraphKeywords],
) -> Comparison:
    """Embed a graph by many methods, each in a separate process, and measure the quality and the cost of each.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes.
    labels
        Anything that `graphrefine.evaluate.as_labels` takes, or the name of an attribute of the graph's nodes: methods
        are judged by node classification. Without labels, by link prediction.
    methods
        Names in `graphrefine.methods.registry.METHODS`; by default all. A method that cannot take the graph is a row
        with the reason.
    dims
        Lengths of the vectors; by default 128, or the number of nodes if that is less.
    ratios, C
        Arguments of `evaluate_labels`.
    repeats
        Random splits (by default those of `evaluate_labels`), or repeats of holding edges out (by default 1).
    seed
        Seed of the methods, the splits and the held-out edges.
    time_limit, memory_limit
        Limits of a child, in seconds and bytes. None: no limit of time; the smaller of 8 GB and four fifths of the free
        memory.
    threads
        Number of threads; by default all processors of this process.
    previous
        An earlier comparison, or its ``to_dict()``: its rows are reused if its inputs are the same.
    on_row
        Called with the comparison so far and its latest row; before the first, with the baselines, the reused rows, and
        None.
    watcher
        Watcher of the stages.
    reading
        Options of `graphrefine.read`, such as ``directed``, ``weights`` or ``header``.
    """
    graph, threads, stages = read(graph, threads=threads, **reading), usable_threads(threads), Stages(watcher)
    if graph.sources is not None:
        raise InputError(
            f"{graph.source} was read as bipartite, and methods are compared on a graph of one kind of nodes; read it "
            "without bipartite, or judge one method at a time (graphrefine evaluate links)"
        )
    names = _check_methods(methods)
    wanted = [min(128, graph.nodes)] if dims is None else [check_integer("dims", dim, least=1) for dim in dims]
    lengths = list(dict.fromkeys(wanted)) or [min(128, graph.nodes)]
    seed = check_integer("seed", seed, least=0, most=2**64 - 1)
    repeats = as_plain(repeats)
    runs = [(name, dim) for name in names for dim in lengths]
    limits = _check_limits(time_limit, memory_limit)
    if labels is not None:
        usual = {choose_repeats(ratio) for ratio in ratios}
        if repeats is None and len(usual) == 1:
            repeats = usual.pop()
        protocol = {"ratios": tuple(ratios), "repeats": repeats, "C": C}
        node_labels = as_labels(labels, names=graph.names, graph=graph)
        task = _make_label_task(graph, node_labels, protocol, seed=seed, threads=threads)
    elif graph.directed:
        raise InputError(
            f"{graph.source} was read as directed, and without labels methods are compared by links of an undirected "
            "graph; give labels, or read it with directed=False",
            argument="directed",
        )
    else:
        task = _make_link_task(graph, 1 if repeats is None else repeats, seed=seed, threads=threads)
    with stages.stage("baselines"):
        baselines = task.baselines(min(max(lengths), graph.nodes))
    comparison = Comparison(
        rows=tuple(_with_verdict(Row(name, None, BASELINE), verdict) for name, verdict in baselines.items()),
        columns=task.columns,
        axis=task.axis,
        protocol=baselines["random vectors"].protocol,
        graph=graph.summary(),
        inputs={
            "graph": digest_graph(graph),
            **task.inputs,
            "seed": seed,
            "threads": threads,
            **numerics_entry(),
            "version": __version__,
            "processor": identify_machine(),
        },
        limits=limits,
    )
    # Before any work: an earlier row counts only if everything that it depends on is the same, the processor too, as
    # times are compared.
    reused = _reuse(previous, comparison, runs)
    comparison = replace(comparison, rows=sort_rows([*comparison.rows, *reused.values()]))
    if on_row is not None:
        on_row(comparison, None)
    with temporary_folder() as folder:
        bench = _Bench(graph, task, limits, seed=seed, threads=threads, folder=folder)
        for number, (name, dim) in enumerate(runs, 1):
            if (name, dim) in reused:
                continue
            with stages.stage(f"{number} of {len(runs)}: {name}, dim {dim}"):
                row = bench.run(name, dim)
            comparison = replace(comparison, rows=sort_rows([*comparison.rows, row]))
            if on_row is not None:
                on_row(comparison, row)
    return comparison


def _check_methods(methods: Sequence[str] | None) -> list[str]:
    names = list(dict.fromkeys(METHODS if methods is None else methods))
    if isinstance(methods, str) or not names:
        problem = f"methods={methods!r}: a list of names is expected, as in ['refine', 'rbqr']"
        raise InputError(problem, argument="methods")
    for name in names:
        check_choice("methods", name, METHODS)
    return names


def _check_limits(time_limit: float | None, memory_limit: int | None) -> dict[str, Any]:
    if time_limit is not None:
        check_number("time_limit", time_limit, above=0)
    if memory_limit is None:
        memory_limit = min(MOST_MEMORY, available_bytes() * 4 // 5)
    check_number("memory_limit", memory_limit, above=0)
    return {"seconds": as_plain(time_limit), "bytes": as_plain(memory_limit)}


def _with_verdict(row: Row, verdict: Verdict) -> Row:
    return replace(row, quality=verdict.quality, cells=verdict.cells, scores=verdict.stats)


def _reuse(
    previous: Comparison | Mapping[str, Any] | None, comparison: Comparison, runs: Sequence[tuple[str, int]]
) -> dict[tuple[str, int | None], Row]:
    """Return the rows of an earlier comparison that stay: those that are done, and those of no run of this one."""
    if previous is None:
        return {}
    stored = previous.to_dict() if isinstance(previous, Comparison) else previous
    try:
        if stored["inputs"] != comparison.inputs:
            return {}
        rows = [Row(**row) for row in stored["rows"]]
    except (KeyError, TypeError):
        return {}
    by_key = {(row.method, row.dim): row for row in rows if row.status != BASELINE}
    return {key: row for key, row in by_key.items() if key not in runs or row.status == "done"}


@dataclass
class _Bench:
    """Runs of methods, one after the other, and their evaluation."""

    graph: Graph
    task: Task
    limits: Mapping[str, Any]
    seed: int
    threads: int
    folder: Path
    stored: Graph | None = field(default=None, init=False)  # the graph in the file that children read

    def run(self, name: str, dim: int) -> Row:
        """Run a method, and return its row, also if it fails: with mean time and highest memory of its processes."""
        row, outcomes = Row(name, dim, "refused"), list[Outcome]()
        try:
            self._check(name, make_settings(name, dim=dim, seed=self.seed))
        except InputError as reason:
            return replace(row, message=str(reason))
        try:
            verdict = self.task.evaluate(lambda graph: self._make_vectors(graph, name, dim, outcomes))
        except InputError as reason:  # of the child, or of its vectors
            status = outcomes[-1].status
            row = replace(row, status="failed" if status == "done" else status, message=str(reason))
        else:
            recipe = {name: value for name, value in outcomes[-1].stats["recipe"].items() if name != "reading"}
            row = _with_verdict(replace(row, status="done", recipe=recipe), verdict)
        seconds = [outcome.seconds for outcome in outcomes if outcome.seconds is not None]
        return replace(
            row,
            seconds=fmean(seconds) if seconds and row.status == "done" else None,
            total_seconds=fmean(outcome.total for outcome in outcomes),
            peak_bytes=max(outcome.peak_bytes for outcome in outcomes),
        )

    def _check(self, name: str, settings: Any) -> None:
        method, limit = find_method(name), self.limits["bytes"]
        method.check(self.graph, settings)
        needed = method.memory(Shape.of(self.graph), settings)
        if needed > limit:
            raise InputError(
                f"{self.graph.source} has {self.graph.nodes:,} nodes; {name} would need {gigabytes(needed)} "
                f"({method.bound}), and memory_limit is {gigabytes(limit)}"
            )

    def _make_vectors(self, graph: Graph, name: str, dim: int, outcomes: list[Outcome]) -> NDArray[np.float32]:
        output = self.folder / "vectors.npy"
        output.unlink(missing_ok=True)
        outcome = run_embed(
            self._store(graph),
            method=name,
            dim=dim,
            seed=self.seed,
            threads=self.threads,
            directed=graph.directed,
            seconds=self.limits["seconds"],
            memory=self.limits["bytes"],
            output=output,
        )
        outcomes.append(outcome)
        if outcome.status != "done":
            raise InputError(outcome.message.replace(str(self._path), graph.source))
        vectors: NDArray[np.float32] = np.load(output, allow_pickle=False)
        return vectors

    @property
    def _path(self) -> Path:
        return self.folder / "graph.npz"

    def _store(self, graph: Graph) -> Path:
        """Store the graph as a matrix, whose rows are in order, so that it needs no names."""
        if graph is not self.stored:
            # Not compressed: writing would take longer than a fast method, and the file lives for the comparison only.
            try:
                sparse.save_npz(self._path, graph.to_scipy(), compressed=False)
            except OSError as error:
                raise OutputError(
                    f"{self.folder}: the graph cannot be stored for the methods to read: {error.strerror or error}; "
                    "make room, or set TMPDIR to another folder"
                ) from error
            self.stored = graph
        return self._path


def _make_label_task(graph: Graph, labels: Labels, protocol: dict[str, Any], *, seed: int, threads: int) -> Task:
    """Make the task of node classification, see `graphrefine.evaluate.evaluate_labels`."""
    ratios = protocol["ratios"]
    suffixes = [f" at {100 * ratio:g}%" * (len(ratios) > 1) for ratio in ratios]
    columns = tuple(f"{metric.title}{suffix}" for suffix in suffixes for metric in METRICS.values())

    def evaluate(make: Make) -> Verdict:
        scores = evaluate_labels(Embedding(graph.names, make(graph)), labels, seed=seed, threads=threads, **protocol)
        cells = [each.cell(name) for each in scores.ratios for name in METRICS]
        quality = float(np.mean([at_ratio.micro_mean for at_ratio in scores.ratios]))
        stats = {"ratios": scores.to_dict()["ratios"]}
        return Verdict(quality, dict(zip(columns, cells, strict=True)), stats, scores.protocol)

    def baselines(dim: int) -> dict[str, Verdict]:
        present = np.unique(align(labels, graph.names, unlabeled="drop").indicator.indices)
        if len(present) == 1:
            raise InputError(
                f"{labels.source} has one label for all nodes of the graph: there is nothing to tell apart"
            )
        return {"random vectors": evaluate(lambda graph: random_control(graph.nodes, dim, seed=seed))}

    digest = digest_json({
        "names": digest_names(np.array([*map(str, labels.names.tolist()), *labels.classes], object)),
        "indptr": digest_array(labels.indicator.indptr, "<i8"),
        "indices": digest_array(labels.indicator.indices, "<i8"),
    })  # fmt: skip
    plain = {name: list(value) if isinstance(value, tuple | list) else value for name, value in protocol.items()}
    return Task("Micro F1, %", columns, {"task": "labels", "labels": digest, **plain}, evaluate, baselines)


def _make_link_task(graph: Graph, repeats: int, *, seed: int, threads: int) -> Task:
    """Make the task of link prediction, see `graphrefine.evaluate.evaluate_links`."""
    columns = ("AUC", "AP", "score")
    protocol: dict[str, Any] = {"held_out": HELD_OUT, "repeats": repeats, "scores": SCORES, "seed": seed}
    protocol |= {"corruptions": 1, "ranked": 1}  # only AUC and AP are needed: next to no work for ranks

    def score(make: Make) -> LinkScores:
        return evaluate_links(graph, make, threads=threads, **protocol)

    def judge(scores: LinkScores, name: str, text: str = "") -> Verdict:
        stats = {each.score: {measure: each.to_dict()[measure] for measure in ("auc", "ap")} for each in scores.scores}
        cells = [scores[name].cell(measure, 4) for measure in ("auc", "ap")]
        texts = dict(zip(columns, [*cells, name], strict=True))
        return Verdict(scores[name].mean("auc"), texts, {"scores": stats}, text)

    def judge_best(scores: LinkScores) -> Verdict:
        best = max(SCORES, key=lambda name: scores[name].mean("auc"))
        text = (
            f"{scores.nodes} nodes; {scores.held_out_edges} of {scores.edges} edges ({scores.held_out:.0%}) held out, "
            "against as many pairs without an edge, by vectors made from the rest; of the scores "
            f"{', '.join(SCORES)} the one of the highest AUC; {scores.repeats} repeat{'s' * (scores.repeats > 1)}, "
            f"seed {scores.seed}"
        )
        return judge(scores, best, text)

    def baselines(dim: int) -> dict[str, Verdict]:
        scores = score(lambda graph: random_control(graph.nodes, dim, seed=seed))
        return {"random vectors": judge_best(scores), "degree product": judge(scores, "degree")}

    inputs = {"task": "links", "held_out": HELD_OUT, "repeats": repeats}
    return Task("AUC of held-out edges", columns, inputs, lambda make: judge_best(score(make)), baselines)
