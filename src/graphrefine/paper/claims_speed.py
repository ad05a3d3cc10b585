"""Claims of the text about time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphrefine.paper import published, verdicts
from graphrefine.paper.cache import Cache, Measurement
from graphrefine.paper.findings import Cell, Findings, Gap, gather, join_notes, make_gap_cell, make_gap_findings
from graphrefine.paper.graphs import Source
from graphrefine.paper.measure_times import time_decompositions, time_embedding, time_threads
from graphrefine.paper.setup import Setup
from graphrefine.paper.tables import make_speedup_cell, time_graph
from graphrefine.paper.verdicts import Verdict

SVD_ITERATIONS = 5  # ProNE's
WALKERS = ("line", "deepwalk", "node2vec", "grarep", "hope")


def check_faster_than_prone(setup: Setup, cache: Cache) -> Findings:
    """REFINE is 8 to 20 times faster than ProNE, with input and output, on one thread."""
    cells: list[Cell] = []
    ratios: dict[str, float] = {}
    for graph, paper in published.TABLE5.items():
        times, what = time_graph(setup, cache, graph), {"graph": graph, "ratio": "prone / refine"}
        if isinstance(times, Gap):
            cells.append(make_gap_cell(what, times, paper["prone"] / paper["refine"], "x"))
            continue
        cells.append(make_speedup_cell(setup, times, what))
        ratios[graph] = times["best"]["prone"] / times["best"]["refine"]
    return Findings(cells, verdict=verdicts.between(ratios, 8, 20))


def check_small_graphs(setup: Setup, cache: Cache) -> Findings:
    """REFINE takes at most 0.15 s on PPI and Wikipedia."""
    return _check_limits(setup, cache, {("ppi", "refine"): 0.15, ("wikipedia", "refine"): 0.15})


def check_million_nodes(setup: Setup, cache: Cache) -> Findings:
    """A million nodes (YouTube) in 30 s (abstract) or 40 s (Table 5), and 26 s without the filter, on one thread."""
    return _check_limits(setup, cache, {("youtube", "refine"): 30.0, ("youtube", "rbqr"): 26.0})


def _check_limits(setup: Setup, cache: Cache, limits: Mapping[tuple[str, str], float]) -> Findings:
    """Verdict on limits in seconds, by graph and method."""
    cells: list[Cell] = []
    parts: dict[str, Verdict] = {}
    for (graph, method), limit in limits.items():
        times, what = time_graph(setup, cache, graph), {"graph": graph, "method": method}
        if isinstance(times, Gap):
            cells.append(make_gap_cell(what, times, limit, "s"))
            continue
        seconds, source = times["best"][method], setup.graphs.find_or_replace(graph)
        cells.append(Cell(what, seconds, limit, "s", source.note, not source.standin))
        parts[f"{method} on {graph}"] = (
            Verdict(verdicts.judge([seconds <= limit]), f"{seconds:.2f} s; at most {limit:g} s is claimed")
            if source.scale == 1
            else Verdict("not measured", f"{seconds:.2f} s on a smaller stand-in")
        )
    return Findings(cells, verdict=verdicts.all_of(parts))


def check_walks_slower(setup: Setup, cache: Cache) -> Findings:
    """ProNE on one thread is 10 to 400 times faster than LINE, DeepWalk, Node2Vec (and GraRep, HOPE) on all threads."""
    source = setup.graphs.find_or_replace(choose_timing_graph(setup))
    prone = _time_method(setup, cache, source, "prone", threads=1)
    cells: list[Cell] = []
    ratios: dict[str, float] = {}
    for method in WALKERS:
        what = {"graph": source.name, "ratio": f"{method} / prone"}
        times = gather([_time_method(setup, cache, source, method, threads=setup.threads), prone])
        if isinstance(times, Gap):
            cells.append(make_gap_cell(what, times, None, "x"))
            continue
        walker, base = times
        factor = setup.shortening if setup.shorten(method) else 1
        ratios[method] = walker * factor / base
        shortened = f"measured with 1/{factor} of the work and multiplied" if factor > 1 else ""
        note = join_notes(source.note, shortened, f"{setup.threads} threads against one")
        cells.append(Cell(what, ratios[method], None, "x", note, details={"seconds": walker, "prone": base}))
    return Findings(cells, verdict=verdicts.between(ratios, 10, 400))


def _time_method(setup: Setup, cache: Cache, source: Source, method: str, *, threads: int) -> float | Gap:
    settings = {"dim": setup.dim, "seed": setup.seed, **setup.shorten(method)}
    rounds = 1 if method in WALKERS else setup.rounds
    times = cache.time(time_embedding, source, method=method, settings=settings, threads=threads, rounds=rounds)
    return times if isinstance(times, Gap) else float(times["best"][method])


def choose_timing_graph(setup: Setup) -> str:
    """Name of the graph on which times are compared."""
    return "blogcatalog" if setup.full else "ppi"


def time_on_graph(
    setup: Setup, cache: Cache, function: Callable[..., Measurement], **arguments: Any
) -> Measurement | Gap:
    """Times on the graph for them, with the paper's settings."""
    source = setup.graphs.find_or_replace(choose_timing_graph(setup))
    settings = {"dim": setup.dim, "block": 16, "power": 3, "seed": setup.seed, "rounds": setup.rounds}
    times = cache.time(function, source, **{**settings, **arguments})
    return times if isinstance(times, Gap) else {**times, "note": source.note, "graph": source.name}


def check_range_finder_faster(setup: Setup, cache: Cache) -> Findings:
    """RBQR is faster than a truncated SVD and than one QR of all columns; all in NumPy, on the same M, one thread."""
    rounds = max(1, setup.rounds // 2)  # the SVD of ARPACK takes its time
    times = time_on_graph(setup, cache, time_decompositions, svd_iterations=SVD_ITERATIONS, rounds=rounds)
    if isinstance(times, Gap):
        return make_gap_findings(times, graph=choose_timing_graph(setup))
    best, graph = times["best"], times["graph"]
    cells = [
        Cell({"graph": graph, "way": way}, seconds, None, "s", times["note"],
             details={"share of M found": times["share"][way]})
        for way, seconds in best.items()
    ]  # fmt: skip
    return Findings(cells, verdict=judge_ratios({way: best[way] / best["rbqr"] for way in best if way != "rbqr"}))


def judge_ratios(ratios: Mapping[str, float]) -> Verdict:
    """Verdict from the seconds of the other ways, in those of RBQR.

    Examples
    --------
    >>> judge_ratios({"truncated svd": 5.0, "unblocked qr": 0.9}).word
    'partly'
    """
    return verdicts.all_of(
        {f"faster than {way}": Verdict(verdicts.judge([r >= 1]), f"{r:.2f}x") for way, r in ratios.items()}
    )


def check_threads(setup: Setup, cache: Cache) -> Findings:
    """QR gains more from threads than SVD."""
    if setup.threads < 2:
        return make_gap_findings(Gap("left out", "one thread is all there is: nothing to compare"), threads=2)
    counts = [1, setup.threads]
    times = time_on_graph(setup, cache, time_threads, threads=counts, svd_iterations=SVD_ITERATIONS)
    if isinstance(times, Gap):
        return make_gap_findings(times, threads=setup.threads)
    best = times["best"]
    names = dict.fromkeys(name.rsplit(", ", 1)[0] for name in best)
    gains = {name: best[f"{name}, 1"] / best[f"{name}, {setup.threads}"] for name in names}
    cells = [
        Cell({"graph": times["graph"], "task": name, "threads": setup.threads}, gain, None, "x", times["note"],
             details={"one": best[f"{name}, 1"], "several": best[f"{name}, {setup.threads}"]})
        for name, gain in gains.items()
    ]  # fmt: skip
    return Findings(cells, verdict=judge_threads(gains))


def judge_threads(gains: Mapping[str, float]) -> Verdict:
    """Verdict from the gains by threads.

    Examples
    --------
    >>> judge_threads({"qr": 1.8, "svd": 1.2, "blocked qr": 1.0, "range finder": 1.0, "randomized svd": 1.3}).word
    'partly'
    """
    if max(gains.values()) < 1.1:
        return Verdict("not measured", f"nothing gained: is the machine busy? {verdicts.list_figures(gains, 'x', 2)}")
    pairs = {"qr": "svd", "blocked qr": "svd", "range finder": "randomized svd"}
    parts = {}
    for one, other in pairs.items():
        word = verdicts.judge([gains[one] > gains[other]])
        reason = f"{one} {gains[one]:.2f}x, {other} {gains[other]:.2f}x"
        parts[f"{one} gains more than {other}"] = Verdict(word, reason)
    return verdicts.all_of(parts)
