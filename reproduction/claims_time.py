"""Claims of the text about time: of REFINE and of others, of the QR, its blocks and random numbers; the formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from reproduction import measure_times, published, verdicts
from reproduction.cache import Cache, Measurement
from reproduction.findings import Cell, Findings, Gap, Line, Picture, gather, join_notes, make_gap_cell
from reproduction.setup import Setup, Source
from reproduction.tables import make_speedup_cell, time_graph
from reproduction.verdicts import NOT_MEASURED, Verdict

SVD_ITERATIONS = 5  # ProNE's
WALKERS = ("line", "deepwalk", "node2vec", "grarep", "hope")
WAYS = {"plain": "NumPy", "graphrefine": "graphrefine"}  # implementations, and their names in a report
BASE = {"nodes": 20_000, "edges": 500_000, "dim": 128, "block": 16, "power": 3}
DEGREE = 50  # of the graphs whose number of nodes varies


class Sweep(NamedTuple):
    """Values of a size, the others being those of BASE; and the exponents of the formulas, by stage."""

    values: tuple[int, ...]
    exponents: Mapping[str, float]


SWEEPS = {
    "edges": Sweep((250_000, 500_000, 1_000_000, 2_000_000), {"products": 1.0, "filter": 1.0}),
    "nodes": Sweep((10_000, 20_000, 40_000, 80_000), {"qr": 1.0, "projections": 1.0}),
    "dim": Sweep((32, 64, 128, 256), {"products": 1.0, "filter": 1.0, "projections": 2.0}),
    "power": Sweep((1, 2, 4, 8), {"products": 1.0}),
    "block": Sweep((8, 16, 32, 64), {"qr": 1.0}),
}


def check_faster_than_prone(setup: Setup, cache: Cache) -> Findings:
    """REFINE is 8 to 20 times faster than ProNE, with input and output, on one thread."""
    cells: list[Cell] = []
    ratios: dict[str, float] = {}
    for graph in published.TABLE5:
        times = time_graph(setup, cache, graph)
        cells.append(make_speedup_cell(setup, times, {"graph": graph, "ratio": "prone / refine"}))
        if cells[-1].ours is not None:
            ratios[graph] = cells[-1].ours
    return Findings(cells, verdict=verdicts.between(ratios, 8, 20))


def check_limits(setup: Setup, cache: Cache, *, limits: Mapping[tuple[str, str], float]) -> Findings:
    """A method takes at most so many seconds on a graph, on one thread: limits by graph and method."""
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
    times = cache.time(
        measure_times.time_embedding, source, method=method, settings=settings, threads=threads, rounds=rounds
    )
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
    times = time_on_graph(setup, cache, measure_times.time_decompositions, svd_iterations=SVD_ITERATIONS, rounds=rounds)
    if isinstance(times, Gap):
        return Findings.without(times, graph=choose_timing_graph(setup))
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
        return Findings.without(Gap("left out", "one thread is all there is: nothing to compare"), threads=2)
    counts = [1, setup.threads]
    times = time_on_graph(setup, cache, measure_times.time_threads, threads=counts, svd_iterations=SVD_ITERATIONS)
    if isinstance(times, Gap):
        return Findings.without(times, threads=setup.threads)
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


def check_blocked_qr(setup: Setup, cache: Cache) -> Findings:
    """The blocked QR is cheaper than one QR, and the smaller the blocks, the cheaper."""
    rows, k = setup.scale_count(20_000), setup.dim
    blocks = [b for b in (4, 8, 16, 32, 64) if b < k]
    times = cache.time(measure_times.time_qr, rows=rows, dim=k, blocks=blocks, seed=setup.seed, rounds=setup.rounds)
    if isinstance(times, Gap):
        return Findings.without(times, rows=rows)
    best = times["best"]
    cells = [
        Cell({"rows": rows, "k": k, "block": way}, seconds, None, "s", details={"flops": _count_flops(rows, k, way)})
        for way, seconds in best.items()
    ]
    return Findings(cells, verdict=judge_blocks({b: best[str(b)] for b in blocks}, best["unblocked"]))


def _count_flops(n: int, k: int, way: str) -> float:
    """Operations by the paper's formulas: 2nk^2 - 2k^3/3 for one QR; two for each of k/b blocks, and projections."""
    if way == "unblocked":
        return 2 * n * k**2 - 2 / 3 * k**3
    b = int(way)
    return 2 * (k / b) * (2 * n * b**2 - 2 / 3 * b**3) + 2 * n * k * (k - b)


def judge_blocks(by_block: Mapping[int, float], unblocked: float) -> Verdict:
    """Verdict from the seconds of blocked QR, by block size, and of one QR.

    Examples
    --------
    >>> judge_blocks({8: 1.0, 16: 2.0, 32: 3.0}, 4.0).word
    'holds'
    >>> judge_blocks({8: 3.0, 16: 2.0, 32: 1.0}, 0.5).word
    'does not hold'
    """
    ratios = {f"b = {b}": unblocked / seconds for b, seconds in by_block.items()}
    series = ", ".join(f"b = {b}: {by_block[b]:.3f} s" for b in sorted(by_block))
    cheaper = all(by_block[a] <= by_block[b] * 1.05 for a, b in pairwise(sorted(by_block)))
    parts = {
        "faster than one QR": verdicts.at_least(ratios, 1.0, digits=2),
        "smaller is cheaper": Verdict("holds" if cheaper else "does not hold", series),
    }
    return verdicts.all_of(parts)


def check_share(setup: Setup, cache: Cache, *, stage: str, rule: Callable[..., Verdict], claimed: float) -> Findings:
    """A stage takes at most or at least so many percent of the time, with and without the filter."""
    times = time_on_graph(setup, cache, measure_times.time_stages)
    if isinstance(times, Gap):
        return Findings([make_gap_cell({"stage": stage, "in": "plain"}, times, claimed, "%")], verdict=NOT_MEASURED)
    cells: list[Cell] = []
    shares: dict[str, float] = {}
    for way, name in WAYS.items():
        without_filter = {one: seconds for one, seconds in times[way].items() if one not in ("filter", "axes")}
        for label, seconds in ((f"{name}, REFINE", times[way]), (f"{name}, RBQR", without_filter)):
            shares[label] = 100 * seconds[stage] / sum(seconds.values())
            what = {"graph": times["graph"], "stage": stage, "in": label}
            cells.append(Cell(what, shares[label], claimed, "%", times["note"], details=seconds))
    return Findings(cells, verdict=rule(shares, claimed, unit="%"))


def check_complexity(setup: Setup, cache: Cache) -> Findings:
    """(q+1) C_spmm |E| k + C_mm n k^2 + 2 C_qr n k b, and 3 |E| k + 3 n k for the filter: exponents fitted to times."""
    cells: list[Cell] = []
    fitted: dict[str, float] = {}
    claimed: dict[str, float] = {}
    pictures: list[Picture] = []
    base = {**BASE, "nodes": setup.scale_count(BASE["nodes"]), "edges": setup.scale_count(BASE["edges"])}
    rounds = min(3, setup.rounds)  # each goes through several graphs
    for vary, (values, exponents) in SWEEPS.items():
        scaled = [setup.scale_count(value) if vary in ("nodes", "edges") else value for value in values]
        times = cache.time(
            measure_times.time_sweep, vary=vary, values=scaled, base=base, degree=DEGREE, seed=setup.seed, rounds=rounds
        )
        if isinstance(times, Gap):
            cells.append(make_gap_cell({"varied": vary}, times))
            continue
        points = times["points"]
        sizes = [point["actual_edges" if vary == "edges" else vary] for point in points]
        lines = []
        for stage, exponent in exponents.items():
            for way, label in WAYS.items():
                if way == "graphrefine" and (stage == "qr" or stage not in points[0][way]):
                    continue  # its QR is another algorithm, and projections are a part of it
                seconds = [point[way][stage] for point in points]
                name = f"{stage} by {vary}, {label}"
                fitted[name], claimed[name] = measure_times.fit_exponent(sizes, seconds), exponent
                what, details = {"varied": vary, "stage": stage, "in": label}, {"sizes": sizes, "seconds": seconds}
                cells.append(Cell(what, fitted[name], exponent, "exponent", details=details))
                lines.append(Line(f"{stage}, {label}", sizes, seconds))
        pictures.append(Picture(f"time-by-{vary}", f"Time by {vary}", lines, vary, "seconds", log_x=True, log_y=True))
    return Findings(cells, None, pictures, verdicts.near(fitted, claimed, within=0.2))
