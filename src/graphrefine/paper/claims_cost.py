"""Claims of the text about the shares of time: the QR, its blocks, random numbers; and the formulas of complexity."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from graphrefine.paper import verdicts
from graphrefine.paper.cache import Cache
from graphrefine.paper.claims_speed import time_on_graph
from graphrefine.paper.findings import Cell, Findings, Gap, Line, Picture, make_gap_cell, make_gap_findings
from graphrefine.paper.measure_times import fit_exponent, time_qr, time_stages, time_sweep
from graphrefine.paper.setup import Setup
from graphrefine.paper.verdicts import Verdict

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


def check_blocked_qr(setup: Setup, cache: Cache) -> Findings:
    """The blocked QR is cheaper than one QR, and the smaller the blocks, the cheaper."""
    rows, k = setup.scale_count(20_000), setup.dim
    blocks = [b for b in (4, 8, 16, 32, 64) if b < k]
    times = cache.time(time_qr, rows=rows, dim=k, blocks=blocks, seed=setup.seed, rounds=setup.rounds)
    if isinstance(times, Gap):
        return make_gap_findings(times, rows=rows)
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


def check_qr_share(setup: Setup, cache: Cache) -> Findings:
    """The QR takes less than 10% of the time."""
    cells, shares = _measure_shares(setup, cache, "qr", 10.0)
    return Findings(cells, verdict=verdicts.at_most(shares, 10.0, unit="%"))


def check_random_share(setup: Setup, cache: Cache) -> Findings:
    """Random numbers take at least 15% of the time."""
    cells, shares = _measure_shares(setup, cache, "random", 15.0)
    return Findings(cells, verdict=verdicts.at_least(shares, 15.0, unit="%"))


def _measure_shares(setup: Setup, cache: Cache, stage: str, claimed: float) -> tuple[list[Cell], dict[str, float]]:
    """Percent of the time that a stage takes, by implementation, with and without the filter."""
    times = time_on_graph(setup, cache, time_stages)
    if isinstance(times, Gap):
        return [make_gap_cell({"stage": stage, "in": "plain"}, times, claimed, "%")], {}
    cells: list[Cell] = []
    shares: dict[str, float] = {}
    for way, name in WAYS.items():
        without_filter = {one: seconds for one, seconds in times[way].items() if one not in ("filter", "axes")}
        for label, seconds in ((f"{name}, REFINE", times[way]), (f"{name}, RBQR", without_filter)):
            shares[label] = 100 * seconds[stage] / sum(seconds.values())
            what = {"graph": times["graph"], "stage": stage, "in": label}
            cells.append(Cell(what, shares[label], claimed, "%", times["note"], details=seconds))
    return cells, shares


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
            time_sweep, vary=vary, values=scaled, base=base, degree=DEGREE, seed=setup.seed, rounds=rounds
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
                fitted[name], claimed[name] = fit_exponent(sizes, seconds), exponent
                what, details = {"varied": vary, "stage": stage, "in": label}, {"sizes": sizes, "seconds": seconds}
                cells.append(Cell(what, fitted[name], exponent, "exponent", details=details))
                lines.append(Line(f"{stage}, {label}", sizes, seconds))
        pictures.append(Picture(f"time-by-{vary}", f"Time by {vary}", lines, vary, "seconds", log_x=True, log_y=True))
    return Findings(cells, None, pictures, verdicts.near(fitted, claimed, within=0.2))
