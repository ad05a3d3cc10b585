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
    """The Python modules of a package by name; ``root`` is the package's folder."""
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


def boxes_without_layer(root: Path) -> list[str]:
    """Boxes that no layer has."""
    return sorted({box_of(module) for module in module_files(root)} - set(LEVELS))


def upward(arrows: list[Arrow]) -> list[str]:
    """The arrows that point up."""
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
    """A package of that name with modules whose names have ``__`` between the parts."""
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
}  # fmt: skip


@pytest.mark.parametrize("text", UP.values(), ids=UP.keys())
def test_an_arrow_up_is_seen(tmp_path: Path, text: str) -> None:
    root = make_tree(tmp_path, pipeline__embed="", graph__graph=text)
    arrows = draw(root)
    (problem,) = upward(arrows)
    assert problem.startswith("graphrefine.graph.graph, line ")
    assert cycles(arrows) == []


@pytest.mark.parametrize(
    "text",
    [
        '"""Used by graphrefine.pipeline.embed."""',
        "from graphrefine.kernels import twin",
        "from graphrefine.graph.node_ids import number",
        "from graphrefine import __version__",
        "import graphrefinery.run",
        "x: 'Literal[\"a b\"]' = 'graphrefine'",
    ],
)
def test_what_points_down_or_names_nothing_above_is_left_alone(tmp_path: Path, text: str) -> None:
    root = make_tree(tmp_path, pipeline__embed="", kernels__twin="", graph__node_ids="", graph__graph=text)
    assert problems(root) == ([], [])


def problems(root: Path) -> tuple[list[str], list[list[str]]]:
    """Return arrows up, and cycles."""
    arrows = draw(root)
    return upward(arrows), cycles(arrows)


@pytest.mark.parametrize("style", ["{}", "def f():\n    {}", "if TYPE_CHECKING:\n    {}"])
def test_a_cycle_of_modules_is_seen(tmp_path: Path, style: str) -> None:
    root = make_tree(
        tmp_path,
        graph__a="from graphrefine.graph.b import f",
        graph__b="from graphrefine.graph import c",
        graph__c=style.format("import graphrefine.graph.a"),
        graph__d="import graphrefine.graph.a",
    )
    assert problems(root) == ([], [[f"graphrefine.graph.{name}" for name in "abc"]])


def test_a_module_and_its_folder_can_be_a_cycle(tmp_path: Path) -> None:
    root = make_tree(tmp_path, graph__a="from graphrefine.graph import f")
    (root / "graph" / "__init__.py").write_text("from graphrefine.graph.a import g")
    assert problems(root) == ([], [["graphrefine.graph", "graphrefine.graph.a"]])


def test_boxes_of_one_layer_use_each_other_in_one_direction(tmp_path: Path) -> None:
    root = make_tree(tmp_path, readers__a="", ingestion__a="import graphrefine.readers.a", ingestion__b="")
    assert problems(root) == ([], [])
    (root / "readers" / "b.py").write_text("import graphrefine.ingestion.b")
    assert problems(root) == ([], [["ingestion", "readers"]])


@pytest.fixture(scope="module")
def arrows() -> list[Arrow]:
    return draw(ROOT)


def test_every_box_is_in_the_drawing() -> None:
    assert boxes_without_layer(ROOT) == []


def test_imports_point_down(arrows: list[Arrow]) -> None:
    assert upward(arrows) == []


def test_nothing_goes_round(arrows: list[Arrow]) -> None:
    assert cycles(arrows) == []
