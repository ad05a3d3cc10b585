"""The layers of the package, held to its files: imports point down, and there are no cycles.

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
import pytest

ROOT = Path(__file__).resolve().parent.parent / "src" / "graphrefine"
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
    """Return the Python modules of a package by name; ``root`` is the package's folder."""
    names = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def box_of(module: str) -> str:
    """Return the box of a module: its folder, its name at the top, or ``display.maps``, which uses search."""
    parts = [*module.split("."), "__init__"]
    return "display.maps" if parts[1:3] == ["display", "maps"] else parts[1]


def draw(root: Path) -> list[Arrow]:
    """Return all arrows between the modules of a package."""
    files = module_files(root)
    arrows = [arrow for module in files for arrow in module_arrows(module, files)]
    return [arrow for arrow in arrows if arrow.end != arrow.start]


def module_arrows(module: str, files: dict[str, Path]) -> Iterator[Arrow]:
    """Yield the arrows that start in one module."""
    package = module.split(".")[0]
    inside = module if files[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(files[module].read_text(encoding="utf-8"))):
        ends: list[str] = []
        if isinstance(node, ast.Import):
            ends = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = inside.split(".")
            parents = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            ends = [f"{base}.{alias.name}" for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.Constant) and node.value != package and node.value in files:
            ends = [str(node.value)]
        for end in ends:
            if end.split(".")[0] == package:
                while end not in files:  # the name of something in a module
                    end = end.rpartition(".")[0]
                yield Arrow(module, end, getattr(node, "lineno", 0))


def upward(arrows: list[Arrow]) -> list[str]:
    """Return the arrows that point up."""
    return [
        f"{arrow.start}, line {arrow.line}: {arrow.end} is above it"
        for arrow in arrows
        if LEVELS[box_of(arrow.end)] > LEVELS[box_of(arrow.start)]
    ]


def cycles(arrows: list[Arrow]) -> list[list[str]]:
    """Return the groups of modules, and of boxes, that all reach each other along arrows."""
    modules = [(arrow.start, arrow.end) for arrow in arrows]
    boxes = [(box_of(start), box_of(end)) for start, end in modules if box_of(start) != box_of(end)]
    groups = [
        sorted(group)
        for pairs in (modules, boxes)
        for group in networkx.strongly_connected_components(networkx.DiGraph(pairs))
    ]
    return sorted(group for group in groups if len(group) > 1)


def make_tree(folder: Path, **modules: str) -> Path:
    """Make a package of that name with modules whose names have ``__`` between the parts."""
    root = folder / "graphrefine"
    for name, text in {"": "", **modules}.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py") if name else root / "__init__.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    return root


UP = {
    "import at the top": "from graphrefine.pipeline.embed import embed",
    "import of a module": "import graphrefine.pipeline.embed",
    "import from a folder": "from graphrefine.pipeline import embed",
    "relative import": "from ..pipeline import embed",
    "import inside a function": "def f():\n    from graphrefine.pipeline.embed import embed",
    "import for annotations": "if TYPE_CHECKING:\n    from graphrefine.pipeline.embed import embed",
    "table of modules": "HOME = {'embed': 'graphrefine.pipeline.embed'}",
    "public name": "from graphrefine import embed",
    "package": "def f():\n    import graphrefine",
}
NOT_UP = [
    '"""Used by graphrefine.pipeline.embed."""',
    "from graphrefine.kernels import twin",
    "from graphrefine.graph.node_ids import number",
    "from graphrefine import __version__",
    "import graphrefinery.run",
    "x: 'Literal[\"a b\"]' = 'graphrefine'",
]


@pytest.mark.parametrize(
    ("text", "is_up"), [*((text, True) for text in UP.values()), *((text, False) for text in NOT_UP)]
)
def test_an_arrow_up_is_seen_and_no_other(tmp_path: Path, text: str, is_up: bool) -> None:
    root = make_tree(tmp_path, pipeline__embed="", kernels__twin="", graph__node_ids="", graph__graph=text)
    arrows = draw(root)
    assert cycles(arrows) == []
    assert [problem.partition(",")[0] for problem in upward(arrows)] == ["graphrefine.graph.graph"] * is_up


@pytest.mark.parametrize("style", ["{}", "def f():\n    {}", "if TYPE_CHECKING:\n    {}"])
def test_a_cycle_is_seen(tmp_path: Path, style: str) -> None:
    root = make_tree(
        tmp_path,
        graph__a="from graphrefine.graph.b import f",
        graph__b="from graphrefine.graph import c",
        graph__c=style.format("import graphrefine.graph.a"),
        graph__d="import graphrefine.graph.a",
        tables__a="from graphrefine.tables import f",
        readers__a="",
        ingestion__a="import graphrefine.readers.a",  # in one direction
        ingestion__b="",
    )
    (root / "tables" / "__init__.py").write_text("from graphrefine.tables.a import g")
    expected = [[f"graphrefine.graph.{name}" for name in "abc"], ["graphrefine.tables", "graphrefine.tables.a"]]
    assert cycles(draw(root)) == expected
    (root / "readers" / "b.py").write_text("import graphrefine.ingestion.b")
    assert cycles(draw(root)) == [*expected, ["ingestion", "readers"]]
    assert upward(draw(root)) == []


def test_every_box_has_a_layer_imports_point_down_and_nothing_goes_round() -> None:
    assert {box_of(module) for module in module_files(ROOT)} <= set(LEVELS)
    assert upward(draw(ROOT)) == []
    assert cycles(draw(ROOT)) == []
