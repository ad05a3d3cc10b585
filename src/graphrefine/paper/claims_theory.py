"""What the text claims about errors of approximation: Theorem 1, and what power iterations do to the factor c'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphrefine.paper import verdicts
from graphrefine.paper.findings import Findings, Line, Picture
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap, Job
from graphrefine.paper.label_scores import Cell, gap_cell
from graphrefine.paper.setup import Setup
from graphrefine.paper.verdicts import Verdict

GRAPH = "ppi"  # all its singular values are found in seconds; a larger one's take minutes
SLACK = 1.002  # of c'^(1/q): the norms themselves are estimated to a part in a thousand


def claim_bound(setup: Setup, ask: Ask) -> Findings:
    """Theorem 1: the expected error of one product with a Gaussian sketch is below the bound."""
    source = setup.graphs.find(GRAPH)
    if not isinstance(source, Source):
        return Findings([gap_cell({"graph": GRAPH}, source)], verdict=verdicts.NOT_MEASURED)
    found = ask(_job(setup, source))
    if isinstance(found, Gap):
        return Findings([gap_cell({"graph": GRAPH}, found)], verdict=verdicts.NOT_MEASURED)
    norm = found["norm"]
    cells = [
        Cell(
            {"graph": GRAPH, "columns": point["columns"]},
            point["mean"] / norm,
            point["bound"] / norm,
            "of ||M||_F; the paper's figure is its bound",
            "measured",
            source.note,
            details={"largest": point["largest"] / norm, "best of this rank": point["best"] / norm},
        )
        for point in found["points"]
    ]
    widths = [point["columns"] for point in found["points"]]
    lines = [
        Line(name, widths, [point[key] / norm for point in found["points"]])
        for name, key in (("bound", "bound"), ("measured, mean", "mean"), ("best possible", "best"))
    ]
    picture = Picture("theorem1", "Theorem 1: error and bound", lines, "columns", "of ||M||_F", log_x=True)
    return Findings(cells, None, [picture], bound_verdict(found["points"]))


def _job(setup: Setup, source: Source) -> Job:
    """Both claims ask the same: the singular values take the time."""
    asked = {
        "graph": source.asked,
        "columns": [width for width in (8, 16, 32, 64, 128, 256) if width <= 2 * setup.dim],
        "dim": setup.dim,
        "powers": [1, 2, 3, 4],
        "draws": 2 * setup.rounds,
        "seed": setup.seed,
    }
    return Job("errors", asked, 20.0)


def bound_verdict(points: Sequence[Mapping[str, float]]) -> Verdict:
    """What mean errors and bounds say.

    Examples
    --------
    >>> bound_verdict([{"columns": 8, "mean": 0.9, "bound": 1.0}, {"columns": 16, "mean": 1.2, "bound": 1.0}])
    Verdict(word='partly', because='error / bound: 8 columns 0.900, 16 columns 1.200')
    """
    ratios = {f"{point['columns']} columns": point["mean"] / point["bound"] for point in points}
    word = verdicts.share(ratio <= 1 for ratio in ratios.values())
    return Verdict(word, f"error / bound: {verdicts.listed(ratios, '', 3)}")


def claim_power_factor(setup: Setup, ask: Ask) -> Findings:
    """If one product is within a factor c' of the best, q products are within c'^(1/q)."""
    source = setup.graphs.find(GRAPH)
    if not isinstance(source, Source):
        return Findings([gap_cell({"graph": GRAPH}, source)], verdict=verdicts.NOT_MEASURED)
    found = ask(_job(setup, source))
    if isinstance(found, Gap):
        return Findings([gap_cell({"graph": GRAPH}, found)], verdict=verdicts.NOT_MEASURED)
    cells = [
        Cell(
            {"graph": GRAPH, "scheme": scheme, "power": point["power"], "norm": norm},
            point[norm],
            points[0][norm] ** (1 / point["power"]),
            "factor over the best of rank k; the paper's figure is c'^(1/q)",
            "measured",
            source.note,
        )
        for scheme, points in found["schemes"].items()
        for norm in ("spectral", "frobenius")
        for point in points
    ]
    lines = [
        Line(f"{scheme}, {norm}", [p["power"] for p in points], [p[norm] for p in points])
        for scheme, points in found["schemes"].items()
        for norm in ("spectral", "frobenius")
    ]
    first = found["schemes"]["published"]
    powers = [point["power"] for point in first]
    claimed = Line("c'^(1/q), spectral", powers, [first[0]["spectral"] ** (1 / q) for q in powers])
    picture = Picture("power-factor", "Error over the best possible, by q", [*lines, claimed], "q", "factor")
    return Findings(cells, None, [picture], factor_verdict(found["schemes"]))


def factor_verdict(schemes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Verdict:
    """What factors by q say: every one for q > 1 is to be at most c'^(1/q).

    Examples
    --------
    >>> good = [{"power": 1, "spectral": 4.0, "frobenius": 1.2}, {"power": 2, "spectral": 1.9, "frobenius": 1.05}]
    >>> factor_verdict({"published": good}).word
    'holds'
    >>> bad = [{"power": 1, "spectral": 4.0, "frobenius": 1.2}, {"power": 2, "spectral": 3.0, "frobenius": 1.2}]
    >>> factor_verdict({"published": bad}).word
    'does not hold'
    """
    parts = {}
    for scheme, points in schemes.items():
        for norm in ("spectral", "frobenius"):
            later = [(p["power"], p[norm], points[0][norm] ** (1 / p["power"])) for p in points[1:]]
            shown = ", ".join(f"q = {q}: {factor:.3f} (claimed {claim:.3f})" for q, factor, claim in later)
            word = verdicts.share(factor <= claim * SLACK for _, factor, claim in later)
            parts[f"{scheme}, {norm} norm"] = Verdict(word, f"c' = {points[0][norm]:.3f}; {shown}")
    return verdicts.all_of(parts)
