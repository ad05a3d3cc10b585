"""Vectors have the same bits on every processor: their modules use no operation whose rounding is left to a library."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphrefine
from arithmetic_rules import find_breaches

ROOT = Path(graphrefine.__file__).parent
FOLDERS = ("engine", "linalg", "refine")
MODULES = (
    *("graph/adjacency.py", "graph/graph.py", "graph/stored.py", "graph/node_ids.py"),
    *("kernels/exact.py", "kernels/hashing.py", "kernels/sampling.py", "kernels/edge_lists.py"),
    *("methods/refine.py", "methods/refine_sides.py", "methods/refine_views.py"),
    *("methods/line.py", "methods/random_walks.py", "methods/skipgram.py"),
)
EXCEPTIONS = {
    ("engine/dense.py", "DenseProduct.apply"): "matrices in full, of methods without this promise: NetMF, GraRep",
    ("engine/sketches.py", "gaussian"): "RandNE's sketch, a method without this promise",
    ("engine/sketches.py", "sparse_signs"): "FastRP's sketch, a method without this promise",
    ("linalg/kmeans.py", ""): "clusters of finished vectors",
    ("linalg/operators.py", "Operator.to_scipy"): "the matrix itself, for tests and small graphs",
    ("refine/reference.py", ""): "the method on one page of NumPy, which tests hold the other modules to",
}
PLANTS = {
    "@": "y = x @ W",
    "np.dot": "y = np.dot(x, W)",
    "np.einsum": "y = np.einsum('ij,ij->i', x, x)",
    "np.log": "terms = {'log': np.log}",
    "np.log1p": "y = np.log1p(x)",
    "np.power": "y = np.power(x, 0.5)",
    "**": "y = x**0.75",
    "linalg.eigh": "values = np.linalg.eigh(gram)",
    "math.exp": "y = math.exp(-t)",
    "math": "from math import exp, factorial",
    "scipy.linalg": "from scipy.linalg import solve_triangular",
    "sklearn.utils.extmath": "from sklearn.utils.extmath import randomized_svd",
    ".dot": "y = x.dot(W)",
    ".standard_normal": "y = rng.standard_normal(9)",
    "argpartition": "y = np.argpartition(x, 3)",
    "argsort": "y = np.argsort(-x)",
}
FREE = """
y = x * x + np.sqrt(x) / 2.0**-53 + n**2
order = np.argsort(-x, kind="stable")
y = exact.matmul(x, W) + exact.dot(x, x) + math.sqrt(2.0)
try:
    lower = exact.cholesky(G)
except np.linalg.LinAlgError:
    lower = np.sort(x).sum()
"""


def covered_modules() -> list[str]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
    return [*(path.relative_to(ROOT).as_posix() for path in files), *MODULES]


def breaches_of(module: str) -> list[tuple[str, str]]:
    return find_breaches((ROOT / module).read_text(encoding="utf-8"))


def is_excepted(module: str, place: str) -> bool:
    names = place.split(".") if place else []
    return any((module, ".".join(names[:count])) in EXCEPTIONS for count in range(len(names) + 1))


@pytest.mark.parametrize("module", covered_modules())
def test_a_module_of_vectors_keeps_to_one_arithmetic(module: str) -> None:
    assert [each for each in breaches_of(module) if not is_excepted(module, each[0])] == []


@pytest.mark.parametrize(("module", "place"), EXCEPTIONS)
def test_an_exception_is_needed(module: str, place: str) -> None:
    assert any(own == place or own.startswith(f"{place}." if place else "") for own, _ in breaches_of(module))


@pytest.mark.parametrize("operation", PLANTS)
def test_a_planted_operation_is_noticed(operation: str) -> None:
    assert find_breaches(f"def plant(x, W):\n    {PLANTS[operation]}\n    return x") == [("plant", operation)]


def test_what_is_rounded_alike_everywhere_is_free() -> None:
    assert find_breaches(FREE) == []
