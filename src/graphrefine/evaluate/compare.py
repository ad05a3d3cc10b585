"""The comparison itself: each method, with each dimension, in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, OutputError
from graphrefine.evaluate.compare_judges import Judge, Verdict, choose_judge, fingerprint
from graphrefine.evaluate.compare_rows import BASELINE, Comparison, Row, ordered
from graphrefine.evaluate.embed_subprocess import Outcome, run_embed
from graphrefine.kernels import kernels
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import METHODS, find, settings
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.read import read
from graphrefine.refine.method_settings import check_integer, check_number
from graphrefine.reports.machine import machine
from graphrefine.system.memory import available_bytes, gigabytes
from graphrefine.system.threads import usable_threads
from graphrefine.system.version import __version__

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

MOST_MEMORY = 8 * 10**9  # bytes for a child, where the user does not say; less if less is free


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
    known: Comparison | Mapping[str, Any] | None = None,
    told: Callable[[Comparison, Row | None], None] | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Embed a graph by many methods, each in a process of its own, and see which is best and what each costs.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes.
    labels
        Anything that `graphrefine.evaluate.as_labels` takes: methods are judged by node classification. Without, by how
        well they find edges that were held out.
    methods
        Names in `graphrefine.methods.registry.METHODS`; by default all. One that cannot take the
        graph is a row that says so.
    dims
        Lengths of the vectors; by default 128, or the number of nodes if that is less.
    ratios, C
        Of the classification.
    repeats
        Random splits (by default 10), or times that edges are held out (by default once).
    seed
        Of the methods, the splits and the held-out edges.
    time_limit, memory_limit
        Seconds and bytes that a child may take; None for no limit of time, and for 8 GB or four fifths of what is free,
        whichever is less.
    threads
        How many to use; by default as many as this process may run on.
    known
        An earlier comparison, or its ``to_dict()``: its rows are not made again if its inputs are the same.
    told
        Called with all there is so far and the latest row: at first, when there are only baselines and rows that were
        known, with None.
    watcher
        Told how far it is.
    """
    whole, count, stages = read(graph), usable_threads(threads), Stages(watcher)
    if whole.sources is not None:
        raise InputError(
            f"{whole.source} was read as bipartite, and methods are compared on a graph of one kind of nodes; read it "
            "without bipartite, or judge one method at a time (graphrefine evaluate links)"
        )
    names = _checked_methods(methods)
    lengths = list(dict.fromkeys(dims)) if dims else [min(128, whole.nodes)]
    for dim in lengths:
        check_integer("dims", dim, least=1)
    check_integer("seed", seed, least=0, most=2**64 - 1)
    wanted = [(name, dim) for name in names for dim in lengths]
    limits = _limits(time_limit, memory_limit)
    judge = choose_judge(whole, labels, ratios=ratios, repeats=repeats, C=C, seed=seed, threads=count)
    with stages.stage("baselines"):
        baselines = judge.baselines(min(max(lengths), whole.nodes))
    done = Comparison(
        rows=tuple(_of_verdict(Row(name, None, BASELINE), verdict) for name, verdict in baselines.items()),
        columns=judge.columns,
        axis=judge.axis,
        protocol=baselines["random vectors"].protocol,
        graph=whole.summary(),
        inputs=inputs_of(whole, judge, seed=seed, threads=count),
        limits=limits,
    )
    old = _kept(known, done, wanted)
    done = replace(done, rows=ordered([*done.rows, *old.values()]))
    if told is not None:
        told(done, None)
    with tempfile.TemporaryDirectory(prefix="graphrefine-") as folder:
        bench = _Bench(whole, judge, limits, seed=seed, threads=count, folder=Path(folder))
        for place, (name, dim) in enumerate(wanted, 1):
            if (name, dim) in old:
                continue
            with stages.stage(f"{place} of {len(wanted)}: {name}, dim {dim}"):
                row = bench.run(name, dim)
            done = replace(done, rows=ordered([*done.rows, row]))
            if told is not None:
                told(done, row)
    return done


def inputs_of(graph: Graph, judge: Judge, *, seed: int, threads: int) -> dict[str, Any]:
    """What the rows depend on: only rows of the same inputs can stand in one table."""
    names, here = [str(name) for name in graph.names.tolist()], machine()
    return {
        "graph": fingerprint(graph.indptr, graph.indices, graph.weights, names=[*names, str(graph.directed)]),
        **judge.inputs(),
        "seed": seed,
        "threads": threads,
        "kernel": kernels().name,
        "version": __version__,
        "processor": f"{here['cpu']}, {here['cores']} cores",
    }


def _checked_methods(methods: Sequence[str] | None) -> list[str]:
    if isinstance(methods, str):
        raise InputError(f"methods={methods!r}: a list of names is expected, as in ['refine', 'rbqr']")
    names = list(dict.fromkeys(METHODS if methods is None else methods))
    if not names:
        raise InputError(f"methods: none is given; the methods are {', '.join(METHODS)}")
    for name in names:
        try:
            find(name)
        except InputError as error:
            raise InputError(str(error).replace("method=", "methods=", 1)) from None
    return names


def _limits(time_limit: float | None, memory_limit: int | None) -> dict[str, Any]:
    if time_limit is not None:
        check_number("time_limit", time_limit, above=0)
    if memory_limit is None:
        free = available_bytes()
        memory_limit = MOST_MEMORY if free is None else min(MOST_MEMORY, free * 4 // 5)
    check_number("memory_limit", memory_limit, above=0)
    return {"seconds": time_limit, "bytes": memory_limit}


def _of_verdict(row: Row, verdict: Verdict) -> Row:
    return replace(row, quality=verdict.quality, shown=verdict.shown, scores=verdict.figures)


def _kept(
    known: Comparison | Mapping[str, Any] | None, now: Comparison, wanted: Sequence[tuple[str, int]]
) -> dict[tuple[str, int | None], Row]:
    """Rows of an earlier comparison that stay: not wanted now, done, or over a limit that is no higher now."""
    if known is None:
        return {}
    stored = known.to_dict() if isinstance(known, Comparison) else known
    try:
        if stored["inputs"] != now.inputs:
            return {}
        rows = [Row.from_dict(row) for row in stored["rows"]]
        then = stored["limits"]
    except (KeyError, TypeError):
        return {}
    again = {  # by status; all others are tried again
        "done": False,
        "timeout": _higher(now.limits["seconds"], then["seconds"]),
        "memory": _higher(now.limits["bytes"], then["bytes"]),
    }
    by_key = {(row.method, row.dim): row for row in rows if row.status != BASELINE}
    return {key: row for key, row in by_key.items() if key not in wanted or not again.get(row.status, True)}


def _higher(now: float | None, then: float | None) -> bool:
    return then is not None and (now is None or now > then)


class _Unfinished(Exception):  # noqa: N818  not an error: a row
    """A child did not make its vectors."""


@dataclass
class _Bench:
    """Runs methods one after the other, and has them judged."""

    graph: Graph
    judge: Judge
    limits: Mapping[str, Any]
    seed: int
    threads: int
    folder: Path
    stored: Graph | None = field(default=None, init=False)  # what is in the file that children read

    def run(self, name: str, dim: int) -> Row:
        """The row of a method; whatever becomes of it, it is a row."""
        row, outcomes = Row(name, dim, "refused"), list[Outcome]()
        try:
            self._check(name, settings(name, dim=dim, seed=self.seed))
        except InputError as reason:
            return replace(row, message=str(reason))
        try:
            verdict = self.judge.judge(lambda graph: self._vectors(graph, name, dim, outcomes))
        except (_Unfinished, InputError) as reason:
            ended = outcomes[-1].status
            return self._costed(
                replace(row, status="failed" if ended == "done" else ended, message=str(reason)), outcomes
            )
        recipe = outcomes[-1].figures["recipe"]
        return self._costed(_of_verdict(replace(row, status="done", recipe=recipe), verdict), outcomes)

    def _check(self, name: str, chosen: Any) -> None:
        method, limit = find(name), self.limits["bytes"]
        method.check(self.graph, chosen)
        needed = method.memory(Shape.of(self.graph), chosen)
        if needed > limit:
            raise InputError(
                f"{self.graph.source} has {self.graph.nodes:,} nodes; {name} would need {gigabytes(needed)} "
                f"({method.bound}), and memory_limit is {gigabytes(limit)}"
            )

    def _vectors(self, graph: Graph, name: str, dim: int, outcomes: list[Outcome]) -> NDArray[np.float32]:
        output = self.folder / "vectors.npy"
        output.unlink(missing_ok=True)
        outcome = run_embed(
            self._stored(graph),
            method=name,
            dim=dim,
            seed=self.seed,
            threads=self.threads,
            seconds=self.limits["seconds"],
            memory=self.limits["bytes"],
            reading={"directed": graph.directed},
            output=output,
        )
        outcomes.append(outcome)
        if outcome.status != "done":
            raise _Unfinished(outcome.message.replace(str(self._path), graph.source))
        vectors: NDArray[np.float32] = np.load(output, allow_pickle=False)
        return vectors

    @property
    def _path(self) -> Path:
        return self.folder / "graph.npz"

    def _stored(self, graph: Graph) -> Path:
        """The graph as a matrix that is read at once; its rows stay where they are, so it needs no names."""
        if graph is not self.stored:
            from scipy.sparse import save_npz

            try:
                save_npz(self._path, graph.to_scipy(), compressed=False)
            except OSError as error:
                raise OutputError(
                    f"{self.folder}: the graph cannot be stored for the methods to read: {error.strerror or error}; "
                    "make room, or set TMPDIR to another folder"
                ) from error
            self.stored = graph
        return self._path

    @staticmethod
    def _costed(row: Row, outcomes: Sequence[Outcome]) -> Row:
        """The row with what its children took: time on average, memory at most."""
        spent = [outcome.seconds for outcome in outcomes if outcome.seconds is not None]
        return replace(
            row,
            seconds=fmean(spent) if spent and row.status == "done" else None,
            total_seconds=fmean(outcome.total for outcome in outcomes),
            peak_bytes=max(outcome.peak_bytes for outcome in outcomes),
        )
