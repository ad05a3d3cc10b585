"""What the text claims about where time goes: the QR, its blocks, random numbers; and the formulas of complexity."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from graphrefine.paper import verdicts
from graphrefine.paper.cache import Outcome
from graphrefine.paper.claims_speed import ask_on_graph
from graphrefine.paper.findings import Findings, Line, Picture
from graphrefine.paper.jobs import Ask, Gap, Job
from graphrefine.paper.label_scores import Cell, gap_cell
from graphrefine.paper.setup import Setup
from graphrefine.paper.verdicts import Verdict

SWEEPS: dict[str, tuple[int, ...]] = {  # what is varied, over which sizes; the others stay at BASE
    "edges": (250_000, 500_000, 1_000_000, 2_000_000),
    "nodes": (10_000, 20_000, 40_000, 80_000),
    "dim": (32, 64, 128, 256),
    "power": (1, 2, 4, 8),
    "block": (8, 16, 32, 64),
}
BASE = {"nodes": 20_000, "edges": 500_000, "dim": 128, "block": 16, "power": 3}
DEGREE = 50  # of the graphs whose number of nodes is varied
CLAIMED = {  # exponents by the formulas: (sweep, stage) -> p
    ("edges", "products"): 1.0,
    ("edges", "filter"): 1.0,
    ("nodes", "qr"): 1.0,
    ("nodes", "projections"): 1.0,
    ("dim", "products"): 1.0,
    ("dim", "filter"): 1.0,
    ("dim", "projections"): 2.0,
    ("power", "products"): 1.0,
    ("block", "qr"): 1.0,
}


def claim_blocked_qr(setup: Setup, ask: Ask) -> Findings:
    """The blocked QR is cheaper than one QR, and the smaller the blocks, the cheaper."""
    rows = setup.sized(20_000)
    blocks = [b for b in (4, 8, 16, 32, 64) if b < setup.dim]
    asked = {"rows": rows, "dim": setup.dim, "blocks": blocks, "seed": setup.seed, "rounds": setup.rounds}
    found = ask(Job("time_qr", {**asked, "machine": setup.machine}, 8.0 * setup.size))
    if isinstance(found, Gap):
        return Findings([gap_cell({"rows": rows}, found)], verdict=verdicts.NOT_MEASURED)
    best = found["best"]
    cells = [
        Cell({"rows": rows, "k": setup.dim, "block": way}, seconds, None, "s", details=_flops(rows, setup.dim, way))
        for way, seconds in best.items()
    ]
    by_block = {int(way): seconds for way, seconds in best.items() if way != "unblocked"}
    return Findings(cells, verdict=blocked_verdict(by_block, best["unblocked"]))


def _flops(n: int, k: int, way: str) -> dict[str, float]:
    """Operations by the paper's formulas: 2nk^2 - 2k^3/3 for one QR; two for each of k/b blocks, and projections."""
    if way == "unblocked":
        return {"flops": 2 * n * k**2 - 2 / 3 * k**3}
    b = int(way)
    return {"flops": 2 * (k / b) * (2 * n * b**2 - 2 / 3 * b**3) + 2 * n * k * (k - b)}


def blocked_verdict(by_block: Mapping[int, float], unblocked: float) -> Verdict:
    """What the seconds of blocked QR say.

    Examples
    --------
    >>> blocked_verdict({8: 1.0, 16: 2.0, 32: 3.0}, 4.0).word
    'holds'
    >>> blocked_verdict({8: 3.0, 16: 2.0, 32: 1.0}, 0.5).word
    'does not hold'
    """
    ratios = {f"b = {b}": unblocked / seconds for b, seconds in by_block.items()}
    smallest_first = [by_block[b] for b in sorted(by_block)]
    series = ", ".join(f"b = {b}: {by_block[b]:.3f} s" for b in sorted(by_block))
    cheaper = all(a <= b * 1.05 for a, b in pairwise(smallest_first))
    parts = {
        "faster than one QR": verdicts.at_least(ratios, 1.0, digits=2),
        "smaller is cheaper": Verdict("holds" if cheaper else "does not hold", series),
    }
    return verdicts.all_of(parts)


def claim_qr_share(setup: Setup, ask: Ask) -> Findings:
    """The QR takes less than 10% of the time."""
    shares = _shares(setup, ask, ("qr",))
    figures = {way: found["qr"] for way, found in shares.items() if not isinstance(found, Gap)}
    cells = _share_cells(shares, "qr", 10.0)
    return Findings(cells, verdict=verdicts.at_most(figures, 10.0, unit="%"))


def claim_random_share(setup: Setup, ask: Ask) -> Findings:
    """Random numbers take at least 15% of the time."""
    shares = _shares(setup, ask, ("random",))
    figures = {way: found["random"] for way, found in shares.items() if not isinstance(found, Gap)}
    cells = _share_cells(shares, "random", 15.0)
    return Findings(cells, verdict=verdicts.at_least(figures, 15.0, unit="%"))


def _shares(setup: Setup, ask: Ask, stages: tuple[str, ...]) -> dict[str, Outcome | Gap]:
    """Percent of the whole that stages take, by implementation, with and without the filter."""
    found = ask_on_graph(setup, ask, "time_stages", 10.0)
    if isinstance(found, Gap):
        return {"plain": found}
    shares: dict[str, Outcome | Gap] = {}
    for way in ("plain", "graphrefine"):
        seconds = found[way]
        bare = {stage: spent for stage, spent in seconds.items() if stage not in ("filter", "axes")}
        name = {"plain": "NumPy", "graphrefine": "graphrefine"}[way]
        for label, part in ((f"{name}, REFINE", seconds), (f"{name}, RBQR", bare)):
            total = sum(part.values())
            shares[label] = {
                **{stage: 100 * part[stage] / total for stage in stages},
                "seconds": part,
                "note": found["note"],
                "graph": found["graph"],
            }
    return shares


def _share_cells(shares: Mapping[str, Outcome | Gap], stage: str, claimed: float) -> list[Cell]:
    cells = []
    for way, found in shares.items():
        what = {"stage": stage, "in": way}
        if isinstance(found, Gap):
            cells.append(gap_cell(what, found, claimed, "%"))
        else:
            named = {"graph": found["graph"], **what}
            details = found["seconds"]
            cells.append(Cell(named, found[stage], claimed, "%", "measured", found["note"], details=details))
    return cells


def claim_complexity(setup: Setup, ask: Ask) -> Findings:
    """(q+1) C_spmm |E| k + C_mm n k^2 + 2 C_qr n k b, and 3 |E| k + 3 n k for the filter: exponents fitted to times."""
    from graphrefine.paper.measure_times import exponent

    cells: list[Cell] = []
    fitted: dict[str, float] = {}
    claimed: dict[str, float] = {}
    pictures: list[Picture] = []
    for vary, values in SWEEPS.items():
        found = ask(_sweep_job(setup, vary, values))
        if isinstance(found, Gap):
            cells.append(gap_cell({"varied": vary}, found))
            continue
        points = found["points"]
        sizes = [point["actual_edges"] if vary == "edges" else point[vary] for point in points]
        lines = []
        for (sweep, stage), p in CLAIMED.items():
            ways = ("plain", "graphrefine") if stage in points[0]["graphrefine"] and stage != "qr" else ("plain",)
            for way in ways if sweep == vary else ():
                seconds = [point[way][stage] for point in points]
                name = f"{stage} by {vary}, {'NumPy' if way == 'plain' else way}"
                fitted[name], claimed[name] = exponent(sizes, seconds), p
                what = {"varied": vary, "stage": stage, "in": "NumPy" if way == "plain" else way}
                details = {"sizes": sizes, "seconds": seconds}
                cells.append(Cell(what, fitted[name], p, "exponent", details=details))
                lines.append(Line(f"{stage}, {what['in']}", sizes, seconds))
        pictures.append(Picture(f"time-by-{vary}", f"Time by {vary}", lines, vary, "seconds", log_x=True, log_y=True))
    return Findings(cells, None, pictures, verdicts.near(fitted, claimed, within=0.2))


def _sweep_job(setup: Setup, vary: str, values: tuple[int, ...]) -> Job:
    base = {**BASE, "nodes": setup.sized(BASE["nodes"]), "edges": setup.sized(BASE["edges"])}
    sized = [setup.sized(value) if vary in ("nodes", "edges") else value for value in values]
    asked = {"vary": vary, "values": sized, "base": base, "degree": DEGREE, "seed": setup.seed}
    rounds = min(3, setup.rounds)  # each goes through several graphs
    return Job("time_sweep", {**asked, "rounds": rounds, "machine": setup.machine}, 40.0 * setup.size)
