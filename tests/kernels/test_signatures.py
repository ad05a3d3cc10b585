"""Each compiled kernel has the signature of its twin, and the stub in the source is that of the compiled module."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import graphrefine.kernels

STUB = Path(graphrefine.kernels.__file__).with_name("_native.pyi")
TWINS = [import_module(f"graphrefine.kernels.{name}") for name in graphrefine.kernels.TWINS]
ONLY_COMPILED = {"simd"}
Parameters = list[tuple[str, bool, Any]]  # name, whether by keyword only, default


def twin_of(name: str) -> Any:
    (home,) = [module for module in TWINS if getattr(getattr(module, name, None), "__module__", "") == module.__name__]
    return getattr(home, name)


def twin_parameters(function: Any) -> Parameters:
    own: Any = function.fget if isinstance(function, property) else function
    parameters = inspect.signature(own).parameters.values()
    return [(each.name, each.kind is each.KEYWORD_ONLY, each.default) for each in parameters]


def stub_parameters(function: ast.FunctionDef) -> Parameters:
    arguments, nothing = function.args, inspect.Parameter.empty
    assert not arguments.defaults, "only keywords have defaults"
    defaults = [nothing if node is None else ast.literal_eval(node) for node in arguments.kw_defaults]
    named = zip(arguments.kwonlyargs, defaults, strict=True)
    return [(each.arg, False, nothing) for each in arguments.args] + [(each.arg, True, value) for each, value in named]


def stub_functions() -> list[tuple[str, str | None, ast.FunctionDef]]:
    """Name, method and definition of all that the stub has."""
    functions: list[tuple[str, str | None, ast.FunctionDef]] = []
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            functions.append((node.name, None, node))
        elif isinstance(node, ast.ClassDef):
            functions += [(node.name, part.name, part) for part in node.body if isinstance(part, ast.FunctionDef)]
    return functions


@pytest.mark.parametrize(
    ("name", "method", "function"), [each for each in stub_functions() if each[0] not in ONLY_COMPILED]
)
def test_a_kernel_and_its_twin_have_one_signature(name: str, method: str | None, function: ast.FunctionDef) -> None:
    own = twin_of(name)
    twin = own if method is None else getattr(own, method)
    assert stub_parameters(function) == twin_parameters(twin)
    assert isinstance(twin, property) == any(ast.unparse(each) == "property" for each in function.decorator_list)


def test_the_stub_is_fresh() -> None:
    native: ModuleType = pytest.importorskip("graphrefine.kernels._native", reason="the compiled kernels are not built")
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(native)
    generator.put(native)
    command = f"python -m nanobind.stubgen -m graphrefine.kernels._native -o {STUB}"
    assert ast.dump(ast.parse(generator.get())) == ast.dump(ast.parse(STUB.read_text())), f"run: {command}"


def test_twins_are_loaded_only_where_there_is_nothing_compiled() -> None:
    pytest.importorskip("graphrefine.kernels._native", reason="the compiled kernels are not built")
    code = (
        "import sys, graphrefine; graphrefine.embed([(i, (i + 1) % 9) for i in range(9)], dim=2)\n"
        "print(*(name for name in sys.modules if name.startswith('graphrefine.kernels.twin')))"
    )
    modules = {}
    for kernel in ("native", "scipy"):
        environment = {**os.environ, "GRAPHREFINE_KERNEL": kernel}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        modules[kernel] = done.stdout.split()
    assert modules["native"] == [] and "graphrefine.kernels.twin" in modules["scipy"]
