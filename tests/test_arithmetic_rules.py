"""Vectors have the same bits on every processor: their modules use no operation whose rounding is left to a library.

Rounded alike everywhere: + - * /, roots, comparisons, whole numbers, NumPy's sums, sorting. Not: what BLAS, LAPACK and
the mathematical library compute, and orders of equal numbers. `find_breaches` searches a module for those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphrefine

ROOT = Path(graphrefine.__file__).parent
FOLDERS = ("engine", "linalg", "refine")
MODULES = (
    *("graph/adjacency.py", "graph/graph.py", "graph/stored.py", "graph/node_ids.py"),
    *("kernels/exact.py", "kernels/hashing.py", "kernels/sampling.py", "kernels/edge_lists.py"),
    *("methods/refine.py", "methods/line.py", "methods/random_walks.py", "methods/skipgram.py"),
)
EXCEPTIONS = {
    ("engine/dense.py", "dense_product"): "matrices in full, of methods without this promise: NetMF, GraRep",
    ("engine/sketches.py", "gaussian"): "RandNE's sketch, a method without this promise",
    ("engine/sketches.py", "sparse_signs"): "FastRP's sketch, a method without this promise",
    ("linalg/kmeans.py", ""): "clusters of finished vectors",
    ("linalg/operators.py", "Operator.to_scipy"): "the matrix itself, for tests and small graphs",
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

ALGEBRA = {"dot", "vdot", "inner", "matmul", "tensordot", "einsum", "vecdot", "matvec", "convolve", "correlate", "kron"}
FUNCTIONS = {
    *("log", "log2", "log10", "log1p", "logaddexp", "exp", "exp2", "expm1", "power", "float_power", "cbrt", "hypot"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arctan2", "sinc", "i0"),
}
MATH = {"pow", "gamma", "lgamma", "erf", "erfc", "dist", "acos", "asin", "atan", "atan2", *FUNCTIONS}
DRAWS = {
    *("standard_normal", "normal", "lognormal", "exponential", "standard_exponential", "gamma", "standard_gamma"),
    *("beta", "geometric", "poisson", "binomial", "pareto", "weibull", "gumbel", "laplace", "multivariate_normal"),
}
LIBRARIES = ("scipy.linalg", "scipy.sparse.linalg", "scipy.special", "scipy.spatial", "sklearn")


def find_breaches(source: str) -> list[tuple[str, str]]:
    """Return the function (or "") and the operation, of each operation that breaks the rules."""
    return list(_walk(ast.parse(source), ""))


def _walk(node: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inside = f"{inside}.{node.name}" if inside else node.name
    if breach := _breach(node):
        yield inside, breach
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, inside)


def _breach(node: ast.AST) -> str | None:
    match node:
        case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
            return "@"
        case ast.BinOp(left=left, op=ast.Pow(), right=right) if not _is_exact_power(left, right):
            return "**"
        case ast.AugAssign(op=ast.Pow(), value=right) if not _is_exact_power(None, right):
            return "**"
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in ALGEBRA | FUNCTIONS:
            return f"np.{name}"
        case ast.Attribute(value=ast.Attribute(attr="linalg"), attr=name) if name != "LinAlgError":
            return f"linalg.{name}"
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in MATH:
            return f"math.{name}"
        case ast.ImportFrom(module="math", names=names) if any(each.name in MATH for each in names):
            return "math"
        case ast.ImportFrom(module=str(module)) if module.startswith(LIBRARIES):
            return module
        case ast.Import(names=names) if any(each.name.startswith(LIBRARIES) for each in names):
            return names[0].name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="exact" | "np"), attr="dot")):
            return None  # of `kernels.exact`; NumPy's has its own rule above
        case ast.Call(func=ast.Attribute(attr="dot")):
            return ".dot"
        case ast.Call(func=ast.Attribute(attr=name)) if name in DRAWS:
            return f".{name}"
        case ast.Call(func=ast.Attribute(attr="argpartition")):
            return "argpartition"
        case ast.Call(func=ast.Attribute(attr="argsort"), keywords=keywords) if not any(map(_is_stable, keywords)):
            return "argsort"
    return None


def _is_exact_power(base: ast.expr | None, exponent: ast.expr) -> bool:
    """Return whether a power is a square, which is a product; or one of numbers in the source."""
    is_square = isinstance(exponent, ast.Constant) and exponent.value == 2
    return is_square or (_is_number(base) and _is_number(exponent))


def _is_number(node: ast.expr | None) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _is_stable(keyword: ast.keyword) -> bool:
    return keyword.arg == "kind" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "stable"


def test_modules_of_vectors_keep_to_one_arithmetic_and_each_exception_is_needed() -> None:
    folders = [path.relative_to(ROOT).as_posix() for name in FOLDERS for path in sorted((ROOT / name).glob("*.py"))]
    breaches, needed = [], set()
    for module in [*folders, *MODULES]:
        for function, operation in find_breaches((ROOT / module).read_text(encoding="utf-8")):
            parts = function.split(".")
            excepted = {(module, "")} | {(module, ".".join(parts[:count])) for count in range(1, len(parts) + 1)}
            needed |= excepted & EXCEPTIONS.keys()
            breaches += [] if excepted & EXCEPTIONS.keys() else [(module, function, operation)]
    assert breaches == []
    assert needed == EXCEPTIONS.keys()


@pytest.mark.parametrize("operation", PLANTS)
def test_a_planted_operation_is_noticed(operation: str) -> None:
    assert find_breaches(f"def plant(x, W):\n    {PLANTS[operation]}\n    return x") == [("plant", operation)]


def test_what_is_rounded_alike_everywhere_is_free() -> None:
    assert find_breaches(FREE) == []
