"""Claims of the text about errors of approximation: Theorem 1, and the effect of power iterations on the factor c'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from graphrefine.datasets import Dataset
from graphrefine.linalg.operators import Operator, proximity
from reproduction import verdicts
from reproduction.cache import Cache, Measurement
from reproduction.findings import Cell, Findings, Gap, Line, Picture
from reproduction.numpy_baselines import Basis, draw_gaussian, limit_blas_threads, two_sided_rbqr, unblocked_rbqr
from reproduction.setup import Setup, Source
from reproduction.verdicts import Verdict

Array = NDArray[np.float64]

GRAPH = "ppi"  # all its singular values take seconds; those of a larger graph take minutes
NORMS = ("spectral", "frobenius")
SLACK = 1.002  # of c'^(1/q): the norms themselves are estimated to a part in a thousand
SCHEMES: dict[str, Callable[..., Basis]] = {"published": unblocked_rbqr, "two-sided": two_sided_rbqr}


def check_theorem1(setup: Setup, cache: Cache) -> Findings:
    """The expected error of one product with a Gaussian sketch is below the bound of Theorem 1."""
    source, errors = _measure(setup, cache)
    if isinstance(errors, Gap):
        return Findings.without(errors, graph=GRAPH)
    points, norm = errors["points"], errors["norm"]
    cells = [
        Cell(
            {"graph": GRAPH, "columns": point["columns"]},
            point["mean"] / norm,
            point["bound"] / norm,
            "of ||M||_F; the paper's figure is its bound",
            source.note,
            details={"largest": point["largest"] / norm, "best of this rank": point["best"] / norm},
        )
        for point in points
    ]
    widths = [point["columns"] for point in points]
    lines = [
        Line(name, widths, [point[key] / norm for point in points])
        for name, key in (("bound", "bound"), ("measured, mean", "mean"), ("best possible", "best"))
    ]
    picture = Picture("theorem1", "Theorem 1: error and bound", lines, "columns", "of ||M||_F", log_x=True)
    return Findings(cells, None, [picture], judge_bound(points))


def _measure(setup: Setup, cache: Cache) -> tuple[Source, Measurement | Gap]:
    """One measurement for both claims: the singular values take the time."""
    source = setup.graphs.find_or_replace(GRAPH)
    columns = [width for width in (8, 16, 32, 64, 128, 256) if width <= 2 * setup.dim]
    draws = 2 * setup.rounds
    return source, cache.measure(
        measure_errors, source, columns=columns, dim=setup.dim, powers=[1, 2, 3, 4], draws=draws, seed=setup.seed
    )


def judge_bound(points: Sequence[Mapping[str, float]]) -> Verdict:
    """Verdict from mean errors and bounds.

    Examples
    --------
    >>> judge_bound([{"columns": 8, "mean": 0.9, "bound": 1.0}, {"columns": 16, "mean": 1.2, "bound": 1.0}])
    Verdict(word='partly', reason='error / bound: 8 columns 0.900, 16 columns 1.200')
    """
    ratios = {f"{point['columns']} columns": point["mean"] / point["bound"] for point in points}
    word = verdicts.judge(ratio <= 1 for ratio in ratios.values())
    return Verdict(word, f"error / bound: {verdicts.list_figures(ratios, '', 3)}")


def check_power_factor(setup: Setup, cache: Cache) -> Findings:
    """If one product is within a factor c' of the best, q products are within c'^(1/q)."""
    source, errors = _measure(setup, cache)
    if isinstance(errors, Gap):
        return Findings.without(errors, graph=GRAPH)
    cells: list[Cell] = []
    lines: list[Line] = []
    unit = "factor over the best of rank k; the paper's figure is c'^(1/q)"
    for scheme, points in errors["schemes"].items():
        powers = [point["power"] for point in points]
        for norm in NORMS:
            for q, point in zip(powers, points, strict=True):
                what = {"graph": GRAPH, "scheme": scheme, "power": q, "norm": norm}
                cells.append(Cell(what, point[norm], points[0][norm] ** (1 / q), unit, source.note))
            lines.append(Line(f"{scheme}, {norm}", powers, [point[norm] for point in points]))
    first = errors["schemes"]["published"][0]["spectral"]
    lines.append(Line("c'^(1/q), spectral", powers, [first ** (1 / q) for q in powers]))
    picture = Picture("power-factor", "Error over the best possible, by q", lines, "q", "factor")
    return Findings(cells, None, [picture], judge_factors(errors["schemes"]))


def judge_factors(schemes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Verdict:
    """Verdict from factors by q: every one for q > 1 should be at most c'^(1/q).

    Examples
    --------
    >>> good = [{"power": 1, "spectral": 4.0, "frobenius": 1.2}, {"power": 2, "spectral": 1.9, "frobenius": 1.05}]
    >>> judge_factors({"published": good}).word
    'holds'
    >>> bad = [{"power": 1, "spectral": 4.0, "frobenius": 1.2}, {"power": 2, "spectral": 3.0, "frobenius": 1.2}]
    >>> judge_factors({"published": bad}).word
    'does not hold'
    """
    parts = {}
    for scheme, points in schemes.items():
        for norm in NORMS:
            later = [(p["power"], p[norm], points[0][norm] ** (1 / p["power"])) for p in points[1:]]
            factors = ", ".join(f"q = {q}: {factor:.3f} (claimed {claim:.3f})" for q, factor, claim in later)
            word = verdicts.judge(factor <= claim * SLACK for _, factor, claim in later)
            parts[f"{scheme}, {norm} norm"] = Verdict(word, f"c' = {points[0][norm]:.3f}; {factors}")
    return verdicts.all_of(parts)


def measure_errors(
    dataset: Dataset, *, columns: Sequence[int], dim: int, powers: Sequence[int], draws: int, seed: int
) -> Measurement:
    """Errors by width of the sketch beside Theorem 1's bound; factors over the smallest error by q and scheme."""
    operator = proximity(dataset.graph, log_weights=False)
    M = operator.to_scipy().astype(np.float64)
    seeds = range(seed, seed + draws)
    with limit_blas_threads(1):
        values = compute_singular_values(M)
        points = [_measure_bound(operator, M, values, width, seeds) for width in columns]
        schemes = {name: [_measure_factors(M, values, name, dim, q, seeds) for q in powers] for name in SCHEMES}
    return {"norm": float(np.linalg.norm(values)), "points": points, "schemes": schemes}


def _measure_bound(
    operator: Operator, M: sp.csr_array, values: Array, columns: int, seeds: Sequence[int]
) -> dict[str, float]:
    """``||M - C C^T M||_F`` for one product with Gaussian sketches of a width, beside the bound of Theorem 1."""
    sketches = (draw_gaussian(M.shape[0], columns, seed=seed) for seed in seeds)
    errors = [basis_error(operator, unblocked_rbqr(M, sketch, power=1).R) for sketch in sketches]
    return {
        "columns": columns,
        "mean": float(np.mean(errors)),
        "largest": float(np.max(errors)),
        "bound": theorem_bound(values, columns),
        "best": compute_smallest_error(values, columns),
    }


def _measure_factors(
    M: sp.csr_array, values: Array, scheme: str, dim: int, power: int, seeds: Sequence[int]
) -> dict[str, float]:
    """The factor c' by which the errors of a scheme exceed the smallest of rank k, in two norms.

    Halko, Martinsson and Tropp use the spectral norm; Theorem 1 is stated in Frobenius'.
    """
    factors = []
    for seed in seeds:
        basis = SCHEMES[scheme](M, draw_gaussian(M.shape[0], dim, seed=seed), power=power)
        frobenius = np.sqrt(max(float((values**2).sum() - (basis.R**2).sum()), 0.0))
        factors.append(
            (compute_spectral_error(M, basis) / values[dim], frobenius / compute_smallest_error(values, dim))
        )
    spectral, frobenius = np.mean(factors, axis=0).tolist()
    return {"power": power, "spectral": spectral, "frobenius": frobenius}


def compute_singular_values(M: sp.csr_array) -> Array:
    """All singular values, largest first, from the eigenvalues of ``M M^T``.

    Examples
    --------
    >>> compute_singular_values(sp.csr_array(np.diag([3.0, -4.0]))).tolist()
    [4.0, 3.0]
    """
    gram = (M @ M.T).toarray()
    values: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
    return values


def compute_smallest_error(values: Array, rank: int) -> float:
    """The smallest error of any approximation of this rank, in Frobenius' norm."""
    return float(np.linalg.norm(values[rank:]))


def compute_spectral_error(M: sp.csr_array, basis: Basis) -> float:
    """``||M - C R^T||_2``."""
    residual: Any = LinearOperator(
        M.shape,
        matvec=lambda x: M @ x - basis.C @ (basis.R.T @ x),
        rmatvec=lambda x: M.T @ x - basis.R @ (basis.C.T @ x),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(M.shape[0])
    return float(svds(residual, 1, v0=start, return_singular_vectors=False, tol=1e-3)[0])


def basis_error(M: Operator, target: NDArray[np.floating]) -> float:
    """Return ``||M - C C^T M||_F`` from ``R = M^T C`` (rows not scaled): C is orthonormal, so Pythagoras gives it."""
    total = float((M.to_scipy().astype(np.float64) ** 2).sum())
    captured = float((np.asarray(target, np.float64) ** 2).sum())
    return float(np.sqrt(max(total - captured, 0.0)))


def theorem_bound(singular_values: NDArray[np.floating], columns: int) -> float:
    """Return the bound of Theorem 1 on the expected error, for one product with a Gaussian sketch (q = 1).

    It is the least over ``k + p = columns`` of ``sqrt(1 + k / (p - 1)) * sqrt(sum_{j > k} sigma_j^2)``.

    Examples
    --------
    >>> theorem_bound(np.array([4.0, 2.0, 1.0, 1.0]), 4)  # k = 2, p = 2: sqrt(1 + 2 / 1) * sqrt(1 + 1)
    2.449489742783178
    """
    tail = np.append(np.cumsum(np.asarray(singular_values, np.float64)[::-1] ** 2)[::-1], 0.0)
    ranks = np.arange(2, columns - 1)  # k >= 2 and p >= 2
    rest = tail[np.minimum(ranks, len(tail) - 1)]
    return float(np.sqrt((1 + ranks / (columns - ranks - 1)) * rest).min())
