"""The stub of the compiled module, by which types are checked, is that of the module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphrefine.kernels import native


def test_the_stub_is_fresh() -> None:
    import graphrefine.kernels

    stubgen = pytest.importorskip("nanobind.stubgen")
    stub = Path(graphrefine.kernels.__file__).with_name("_native.pyi")
    generator = stubgen.StubGen(native)
    generator.put(native)
    command = f"python -m nanobind.stubgen -m graphrefine.kernels._native -o {stub}"
    assert ast.dump(ast.parse(generator.get())) == ast.dump(ast.parse(stub.read_text())), f"run: {command}"
