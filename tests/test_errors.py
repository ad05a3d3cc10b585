"""Errors carry the arguments that their messages mention, so that the command line can write them as its options."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphrefine
from graphrefine.errors import ArgumentWarning, FormatError, InputError, OutputError

ROOT = Path(graphrefine.__file__).parent
MENTION = re.compile(r"(?<![\w./'\"-])([A-Za-z_]+)=(?!=)")
NO_ARGUMENTS = {"SETTING", "length", "window", "sides"}  # of examples, and of recipes


def text_of(node: ast.expr) -> str:
    """The words of a message that stand in the code; values that are filled in are left out."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "\0" for part in node.values)
    return ""


def undeclared(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Lines of errors, and the arguments that they mention without declaring them."""
    for call in ast.walk(tree):
        name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or not re.fullmatch(r"[A-Z]\w*Error", name):
            continue
        declared = " ".join(ast.unparse(each.value) for each in call.keywords if each.arg in ("argument", "mentions"))
        text = " ".join(map(text_of, call.args))
        missing = [each for each in MENTION.findall(text) if each not in NO_ARGUMENTS and f"'{each}'" not in declared]
        if "\0=" in text and not declared:
            missing.append("a name that is filled in")
        if missing:
            yield call.lineno, missing


def test_every_argument_in_a_message_is_declared() -> None:
    problems = [
        f"{path.relative_to(ROOT)}, line {line}: {', '.join(names)}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, names in undeclared(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert problems == []


@pytest.mark.parametrize(
    "code",
    [
        "InputError('dim=3 is too small')",
        "errors.InputError(f'dim={dim} goes with seed=', argument='dim')",
        "FormatError(path, f'{name}={value!r} is odd')",
    ],
)
def test_an_argument_that_is_not_declared_is_seen(code: str) -> None:
    assert list(undeclared(ast.parse(code)))


def test_errors_carry_arguments() -> None:
    error = InputError("dim=3 goes with seed=", argument="dim", mentions=["seed", "dim"])
    assert (error.argument, error.mentions, str(error)) == ("dim", ("dim", "seed"), "dim=3 goes with seed=")
    assert FormatError("a.csv", "nodes= is odd", line=3, argument="nodes").mentions == ("nodes",)
    assert InputError("the file is empty").mentions == ()
    again = pickle.loads(pickle.dumps(OutputError("work= is full", argument="work")))
    assert (str(again), again.argument, again.mentions) == ("work= is full", "work", ("work",))
    assert ArgumentWarning("dim= is lowered", "dim").mentions == ("dim",)
