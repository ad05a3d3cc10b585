"""The rules of one arithmetic, as a search in the source: operations whose bits depend on the processor.

Rounded alike everywhere: + - * /, roots, comparisons, whole numbers, NumPy's sums, sorting. Not: what BLAS, LAPACK and
the mathematical library compute, and orders of equal numbers. `find_breaches` lists those in a module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    """The function (or "") and the operation, of each operation that breaks the rules.

    Examples
    --------
    >>> find_breaches("def turn(x, W):\\n    return x @ W")
    [('turn', '@')]
    """
    return list(_walk(ast.parse(source), ""))


def _walk(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        place = f"{place}.{node.name}" if place else node.name
    breach = _breach(node)
    if breach:
        yield place, breach
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, place)


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
        case ast.Call(func=ast.Attribute(attr="dot")):
            return None if _is_exact(node.func) else ".dot"
        case ast.Call(func=ast.Attribute(attr=name)) if name in DRAWS:
            return f".{name}"
        case ast.Call(func=ast.Attribute(attr="argpartition")):
            return "argpartition"
        case ast.Call(func=ast.Attribute(attr="argsort"), keywords=keywords) if not any(map(_is_stable, keywords)):
            return "argsort"
    return None


def _is_exact(function: ast.expr) -> bool:
    """Whether a function is one of `graphrefine.kernels.exact`; or NumPy's, which has its own rule."""
    match function:
        case ast.Attribute(value=ast.Name(id="exact" | "np")):
            return True
    return False


def _is_exact_power(base: ast.expr | None, exponent: ast.expr) -> bool:
    """A square, which is a product; or a power of numbers that stand in the source."""
    match exponent:
        case ast.Constant(value=2):
            return True
    return _is_number(base) and _is_number(exponent)


def _is_number(node: ast.expr | None) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _is_stable(keyword: ast.keyword) -> bool:
    return keyword.arg == "kind" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "stable"
