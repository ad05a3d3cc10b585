"""The layers of the package, held to its files: imports point down, and there are no cycles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import drawing

ROOT = Path(__file__).resolve().parent.parent / "src" / "graphrefine"


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
    arrows = drawing.draw(root)
    (problem,) = drawing.upward(arrows)
    assert problem.startswith("graphrefine.graph.graph, line ")
    assert drawing.module_cycles(arrows) == drawing.box_cycles(arrows) == []


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
    assert problems(root) == ([], [], [])


def problems(root: Path) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Arrows up, cycles of modules, cycles of boxes."""
    arrows = drawing.draw(root)
    return drawing.upward(arrows), drawing.module_cycles(arrows), drawing.box_cycles(arrows)


def lazily(text: str) -> str:
    return f"def f():\n    {text}"


def for_annotations(text: str) -> str:
    return f"if TYPE_CHECKING:\n    {text}"


@pytest.mark.parametrize("style", [str, lazily, for_annotations])
def test_a_cycle_of_modules_is_seen(tmp_path: Path, style: Callable[[str], str]) -> None:
    root = make_tree(
        tmp_path,
        graph__a="from graphrefine.graph.b import f",
        graph__b="from graphrefine.graph import c",
        graph__c=style("import graphrefine.graph.a"),
        graph__d="import graphrefine.graph.a",
    )
    assert problems(root) == ([], [[f"graphrefine.graph.{name}" for name in "abc"]], [])


def test_a_module_and_its_folder_can_be_a_cycle(tmp_path: Path) -> None:
    root = make_tree(tmp_path, graph__a="from graphrefine.graph import f")
    (root / "graph" / "__init__.py").write_text("from graphrefine.graph.a import g")
    assert problems(root) == ([], [["graphrefine.graph", "graphrefine.graph.a"]], [])


def test_boxes_of_one_layer_use_each_other_in_one_direction(tmp_path: Path) -> None:
    root = make_tree(tmp_path, readers__a="", ingestion__a="import graphrefine.readers.a", ingestion__b="")
    assert problems(root) == ([], [], [])
    (root / "readers" / "b.py").write_text("import graphrefine.ingestion.b")
    assert problems(root) == ([], [], [["ingestion", "readers"]])


@pytest.fixture(scope="module")
def arrows() -> list[drawing.Arrow]:
    return drawing.draw(ROOT)


def test_every_box_is_in_the_drawing() -> None:
    assert drawing.unplaced(ROOT) == []


def test_imports_point_down(arrows: list[drawing.Arrow]) -> None:
    assert drawing.upward(arrows) == []


def test_nothing_goes_round(arrows: list[drawing.Arrow]) -> None:
    assert drawing.module_cycles(arrows) == drawing.box_cycles(arrows) == []
