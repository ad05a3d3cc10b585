"""F1 of a method on a graph by the paper's protocol (unit rows, one-vs-rest, C = 1), and its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from time import perf_counter, process_time
from typing import Any

import numpy as np

from graphrefine.datasets import Dataset
from graphrefine.evaluate import evaluate_labels
from graphrefine.methods import registry as methods
from graphrefine.pipeline.embed_run import embed_graph
from reproduction import numpy_baselines, reference
from reproduction.cache import Cache, Measurement
from reproduction.findings import Cell, Gap, gather, join_notes, make_gap_cell
from reproduction.published import Measure
from reproduction.setup import Setup, Source

PRESETS = {"refine": "paper", "rbqr": "paper"}  # settings of the authors' code
SETTINGS: Mapping[str, Mapping[str, Any]] = {"netmf": {"rank": 256}}  # of the published rows, where not the default
PROTOCOL = (
    "One-vs-rest logistic regression on unit rows, C = 1; the number of labels of each test node is known; nodes "
    "without labels are left out before splitting. In each cell: ours / the paper's."
)


@dataclass(frozen=True)
class MethodScores:
    """F1 of a method on a graph, in percent."""

    ratios: list[float]  # shares of nodes for training
    f1: Mapping[Measure, list[float]]  # at each ratio: the mean over the seeds
    spread: Mapping[Measure, list[float]]  # at each ratio: the standard deviation over the splits
    seconds: float  # of the fastest embedding
    processor: float | None  # seconds of all cores together, the fewest; None in measurements of earlier versions
    seeds: int
    note: str  # for the cells
    comparable: bool  # whether the paper's figures are about the same graph and settings
    conclusive: bool  # whether a verdict may rest on them: a real graph, and no setting shortened

    @property
    def spent(self) -> float:
        """Seconds of all cores together, the same on a busy machine; of the clock where only those are known."""
        return self.processor or self.seconds

    def mean(self, measure: Measure, ratio: float | None = None) -> float:
        """Mean over the ratios, or the figure at one of them."""
        return fmean(self.f1[measure]) if ratio is None else self.f1[measure][self.ratios.index(ratio)]


def score_method(
    setup: Setup,
    cache: Cache,
    graph: str,
    method: str,
    *,
    ratios: Sequence[float],
    seeds: int | None = None,
    published_settings: bool = True,
    **settings: Any,
) -> MethodScores | Gap:
    """F1 of a method at some ratios, by at most so many ``seeds``, with some settings.

    ``published_settings``: those that differ between the paper's text and the authors' code are those of the code.
    """
    source = setup.graphs.find(graph)
    if isinstance(source, Gap):
        return source
    if gap := setup.check_method(graph, method):
        return gap
    costly = source.standin and source.size.nodes > 50_000  # F1 on it is not worth more than one embedding and split
    short = setup.shorten(method)
    options = {**SETTINGS.get(method, {}), **short, **settings}
    preset = PRESETS.get(method) if published_settings else None
    measurements = []
    for seed in setup.list_seeds(method, limit=1 if costly else seeds):
        settings_of_seed = methods.make_settings(method, preset, dim=setup.dim, seed=seed, **options)
        measurements.append(
            cache.measure(
                measure_f1,
                source,
                threads=setup.threads,
                method=method,
                settings=asdict(settings_of_seed),
                ratios=list(ratios),
                repeats=1 if costly else setup.repeats,
            )
        )
    whole = gather(measurements)
    return whole if isinstance(whole, Gap) else _average(whole, source, short)


def _average(measurements: Sequence[Measurement], source: Source, short: Mapping[str, Any]) -> MethodScores:
    def average(name: str) -> list[float]:
        return [fmean(values) for values in zip(*(one[name] for one in measurements), strict=True)]

    shortened = "shortened: " + ", ".join(f"{name}={value}" for name, value in short.items()) if short else ""
    return MethodScores(
        ratios=measurements[0]["ratios"],
        f1={"micro": average("micro"), "macro": average("macro")},
        spread={"micro": average("micro_std"), "macro": average("macro_std")},
        seconds=min(one["seconds"] for one in measurements),
        processor=min((one["processor"] for one in measurements if "processor" in one), default=None),
        seeds=len(measurements),
        note=join_notes(source.note, shortened),
        comparable=source.comparable and not short,
        conclusive=not source.standin and not short,
    )


def make_f1_cells(
    scores: MethodScores | Gap,
    what: Mapping[str, Any],
    *,
    ratios: Sequence[float],
    paper: Mapping[Measure, Sequence[float | None]],
    note: str = "",
) -> list[Cell]:
    """A cell for each measure and ratio; ``paper`` has the measures, and the paper's figures at the ratios."""
    cells = []
    for measure, figures in paper.items():
        for ratio, figure in zip(ratios, figures, strict=True):
            names, unit = {**what, "measure": measure, "train": ratio}, f"% {measure.capitalize()} F1"
            if isinstance(scores, Gap):
                cells.append(make_gap_cell(names, scores, figure, unit))
            elif ratio not in scores.ratios:
                cells.append(make_gap_cell(names, Gap("left out", "by --quick; the full run has it"), figure, unit))
            else:
                details = {"std": scores.spread[measure][scores.ratios.index(ratio)], "seeds": scores.seeds}
                ours, notes = scores.mean(measure, ratio), join_notes(note, scores.note)
                cells.append(Cell(names, ours, figure, unit, notes, scores.comparable, details))
    return cells


def make_mean_cell(scores: MethodScores | Gap, what: Mapping[str, Any], measure: Measure, note: str = "") -> Cell:
    """A cell of the mean over the ratios, beside no figure of the paper."""
    names, unit = {**what, "measure": measure}, "F1, mean over ratios"
    if isinstance(scores, Gap):
        return make_gap_cell(names, scores, unit=unit)
    return Cell(names, scores.mean(measure), None, unit, join_notes(note, scores.note))


def measure_f1(
    dataset: Dataset,
    *,
    method: str,
    settings: Mapping[str, Any],
    ratios: Sequence[float],
    repeats: int,
    threads: int,
) -> Measurement:
    """F1 of a method at every ratio, and the seconds of its embedding: those of the clock, and those of all cores."""
    start, busy = perf_counter(), process_time()
    embedding, _ = embed_graph(dataset.graph, methods.make_settings(method, **settings), method=method, threads=threads)
    times = {"seconds": perf_counter() - start, "processor": process_time() - busy}
    return {**times, **score_vectors(dataset, embedding, ratios=ratios, repeats=repeats, threads=threads)}


def measure_residual(
    dataset: Dataset,
    *,
    dim: int,
    block: int,
    power: int,
    seed: int,
    ratios: Sequence[float],
    repeats: int,
    threads: int,
) -> Measurement:
    """Algorithm 1 with and without the residual, the rest of REFINE after both: F1, share of M, seconds."""
    A = dataset.graph.to_scipy().astype(np.float64)
    M = reference.proximity(A, 1.0, 0.75, False)
    sketch = numpy_baselines.draw_gaussian(M.shape[0], dim, seed=seed)
    total = float((M.data**2).sum())
    measurement: Measurement = {}
    for name, find_basis in (("dropped", numpy_baselines.rbqr), ("deflated", numpy_baselines.deflated_rbqr)):
        with numpy_baselines.limit_blas_threads(1):
            start = perf_counter()
            R = find_basis(M, sketch, block=block, power=power).R  # (n, k)
            seconds = perf_counter() - start
            vectors = numpy_baselines.filter_basis(A, R).astype(np.float32)
        scores = score_vectors(dataset, vectors, ratios=ratios, repeats=repeats, threads=threads)
        measurement[name] = {"seconds": seconds, "share": float((R**2).sum()) / total, **scores}
    return measurement


def score_vectors(
    dataset: Dataset, vectors: Any, *, ratios: Sequence[float], repeats: int, threads: int
) -> Measurement:
    """Mean and spread of Micro and Macro F1 at each ratio, in percent."""
    assert dataset.labels is not None, dataset.name
    scores = evaluate_labels(
        vectors, dataset.labels, ratios=tuple(ratios), repeats=repeats, seed=0, threads=threads
    ).ratios
    return {
        "ratios": list(ratios),
        "micro": [score.micro_mean for score in scores],
        "macro": [score.macro_mean for score in scores],
        "micro_std": [score.std("micro_f1") for score in scores],
        "macro_std": [score.std("macro_f1") for score in scores],
    }


def measure_size(dataset: Dataset) -> Measurement:
    """Size of a graph (Table 3)."""
    assert dataset.labels is not None, dataset.name
    graph = dataset.graph
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "labels": len(dataset.labels.classes),
        "entries": len(graph.indices),
        "self_loops": int(graph.report.get("self_loops", 0)),
        "isolated": graph.isolated,
    }
