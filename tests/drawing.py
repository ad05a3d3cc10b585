"""The drawing of the house: its layers, and the arrows that the files of a source tree hold.

A box is a folder of the package, or a module at its top. An arrow leads from a module to each module of the package
that it imports, at the top of the file, inside a function, or for annotations alone (``TYPE_CHECKING``), or that it
names in a text that is the full name of a module (tables of modules that are loaded on first use). The version of the
package is no arrow: it is set before anything is loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import networkx

LAYERS = (  # bottom to top; boxes of one layer may use each other in one direction
    ("errors", "progress", "system", "display"),
    ("kernels",),
    ("graph", "tables"),
    ("readers", "ingestion"),
    ("linalg",),
    ("engine",),
    ("refine",),
    ("methods",),
    ("search", "display.maps"),
    ("embedding",),
    ("pipeline",),
    ("evaluate", "datasets"),
    ("analysis",),
    ("explore",),
    ("live",),
    ("cli", "sklearn", "__init__", "__main__"),
)
LEVELS = {box: level for level, boxes in enumerate(LAYERS) for box in boxes}


class Arrow(NamedTuple):
    """One module names another."""

    start: str  # the module, with dots
    end: str
    line: int


def module_files(root: Path) -> dict[str, Path]:
    """The Python modules of a package by name; ``root`` is the package's folder."""
    names = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def box_of(module: str) -> str:
    """The box that a module belongs to.

    Examples
    --------
    >>> box_of("graphrefine.engine.local"), box_of("graphrefine.errors"), box_of("graphrefine")
    ('engine', 'errors', '__init__')
    >>> box_of("graphrefine.display.maps.layout")  # a box of its own: maps stand above graphs, tables below them
    'display.maps'
    """
    parts = [*module.split("."), "__init__"]
    return "display.maps" if parts[1:3] == ["display", "maps"] else parts[1]


def draw(root: Path) -> list[Arrow]:
    """All arrows between the modules of a package."""
    files = module_files(root)
    return [
        arrow
        for module, path in files.items()
        for arrow in module_arrows(module, ast.parse(path.read_text(encoding="utf-8")), files)
        if arrow.end != module
    ]


def module_arrows(module: str, tree: ast.Module, files: dict[str, Path]) -> Iterator[Arrow]:
    """The arrows that start in one module."""
    package = module.split(".")[0]
    inside = module if files[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            ends = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = inside.split(".")
            parents = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names if alias.name != "__version__"]
            ends = [name if name in files else base for name in names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            ends = [node.value] if node.value != package and node.value in files else []
        else:
            continue
        for end in dict.fromkeys(ends):
            if end.split(".")[0] == package:
                yield Arrow(module, nearest_module(end, files), node.lineno)


def nearest_module(name: str, files: dict[str, Path]) -> str:
    """The module that holds a name: the longest part of it, from the left, that is a module."""
    while name not in files and "." in name:
        name = name.rpartition(".")[0]
    return name


def unplaced(root: Path) -> list[str]:
    """Boxes that no layer has."""
    return sorted({box_of(module) for module in module_files(root)} - set(LEVELS))


def upward(arrows: list[Arrow]) -> list[str]:
    """The arrows that point up."""
    return [
        f"{arrow.start}, line {arrow.line}: {arrow.end} stands above it"
        for arrow in arrows
        if LEVELS[box_of(arrow.end)] > LEVELS[box_of(arrow.start)]
    ]


def module_cycles(arrows: list[Arrow]) -> list[list[str]]:
    """Groups of modules that all reach each other along arrows."""
    return cycles([(arrow.start, arrow.end) for arrow in arrows])


def box_cycles(arrows: list[Arrow]) -> list[list[str]]:
    """Groups of boxes that all reach each other along arrows."""
    pairs = [(box_of(arrow.start), box_of(arrow.end)) for arrow in arrows]
    return cycles([(start, end) for start, end in pairs if start != end])


def cycles(pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Groups of names that all reach each other."""
    groups = networkx.strongly_connected_components(networkx.DiGraph(pairs))
    return sorted(sorted(group) for group in groups if len(group) > 1)
