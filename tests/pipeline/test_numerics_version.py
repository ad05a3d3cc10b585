"""The version of the numerics, end to end: in recipes, in each format, and in unfinished work."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import works
from engines import StoppedError, engine_in, stop_after
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.notebook import embedding_html
from graphrefine.errors import ArgumentWarning, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.memory_plan import MemoryPlan
from graphrefine.pipeline.out_of_core import working
from graphrefine.progress import Stages
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import RefineSettings
from graphrefine.system.work_folder import WorkFolder
from graphs import random_graph

COVERED = ("refine", "rbqr", "arope", "deepwalk", "node2vec", "line", "pte")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "methods.md"
WITH_RECIPE = ["folder", "x.npz", "x.parquet", "x.arrow", "x.safetensors"]


def embed(**options: Any) -> Embedding:
    return graphrefine.embed(random_graph(300, seed=3), dim=8, threads=2, **options)


@pytest.mark.parametrize("method", METHODS)
def test_the_recipe_names_what_depends_on_the_processor(method: str) -> None:
    few, base, short = {"samples": 0.001}, {"base": "refine"}, {"walks": 1, "length": 5}
    quick: dict[str, dict[str, Any]] = {"line": few, "pte": few, "harp": base, "mile": base}
    quick |= {"deepwalk": short, "node2vec": short}
    recipe = graphrefine.embed(random_graph(60, seed=1), dim=4, method=method, **quick.get(method, {})).recipe
    part = find_method(method).processor_dependence
    assert (part is None) == (method in COVERED)
    assert recipe["numerics_version"] == 1 and recipe.get("processor_dependence") == part
    assert ("scikit-network" in recipe["made_on"]) == (method == "louvainne")


def test_the_list_of_methods_and_the_page_say_which_are_covered() -> None:
    for figures in works("methods", "--json").figures["methods"]:
        covered = figures["name"] in COVERED
        assert figures["every_processor"] == covered and (figures["processor_dependence"] is None) == covered
        shown = works("methods", figures["name"]).out
        assert ("on every processor" in shown) == covered
        assert covered or f"on one kind of processor ({figures['processor_dependence']})" in shown
    head, *lines = works("methods").out.splitlines()
    assert head.endswith("same bits")
    assert all(line.endswith("every" if line.split()[0] in COVERED else "one kind") for line in lines[: len(METHODS)])
    rows = re.findall(r"^\| `(\w+)` \|(?:[^|\n]*\|){3} ([^|\n]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {name: "every processor" if name in COVERED else "one kind" for name in METHODS}


@pytest.mark.parametrize("name", WITH_RECIPE)
@pytest.mark.parametrize("value", [7, "x", None, [1]], ids=repr)
def test_vectors_of_another_version_are_loaded_with_a_warning(name: str, value: Any, tmp_path: Path) -> None:
    made = embed(quality="fast")
    recipe = {**made.recipe, "numerics_version": value}
    Embedding(made.names, made.vectors, recipe).save(tmp_path / name)
    with pytest.warns(ArgumentWarning, match="numerics version") as caught:
        loaded = load(tmp_path / name)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith(f"{tmp_path / name}: the vectors are of numerics version {value!r}")
    assert loaded.recipe == recipe and np.array_equal(loaded.vectors, made.vectors)
    with pytest.warns(ArgumentWarning, match="made by different computations"):
        new = embed(align_to=loaded)  # a rotation, whatever the bits
    assert new.recipe["aligned"]["shared"] == len(made) and new.recipe["numerics_version"] == 1


def test_vectors_without_a_version_are_loaded_in_silence_and_described(tmp_path: Path) -> None:
    made = embed(quality="fast")
    before = {key: value for key, value in made.recipe.items() if key != "numerics_version"}
    Embedding(made.names, made.vectors, before).save(tmp_path / "old")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old = load(tmp_path / "old")
    assert old.recipe == before and "no numerics version" in embedding_html(old)


def begin(folder: Path, graph: Graph, settings: RefineSettings) -> None:
    """Begin work in a folder, and stop."""
    plan = MemoryPlan("streamed", 10**9, 10**8, 10**7, 32, 2)
    with (
        pytest.raises(KeyboardInterrupt),
        WorkFolder(folder) as work,
        working(graph, settings, plan, work=work, method="refine", stages=Stages()),
    ):
        raise KeyboardInterrupt


@pytest.mark.parametrize("version", [7, "x", None])
def test_work_of_another_version_is_not_taken_up(version: Any, tmp_path: Path) -> None:
    graph, folder, settings = random_graph(300, seed=3), tmp_path / "out.work", make_settings("refine", dim=8)
    begin(folder, graph, settings)
    begin(folder, graph, settings)  # it is taken up
    state = json.loads((folder / "run.json").read_text())
    assert state["numerics_version"] == 1
    (folder / "run.json").write_text(json.dumps({**state, "numerics_version": version}))
    with pytest.raises(OutputError, match=r"another run \(numerics_version\); delete it"):
        begin(folder, graph, settings)


def test_a_journal_of_another_version_is_not_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, settings = random_graph(3000, seed=5), make_settings("refine", dim=32)
    with pytest.raises(StoppedError):
        refine(stop_after(engine_in(tmp_path, graph, 32), 9), graph, settings, Stages())
    with monkeypatch.context() as patch, pytest.raises(OutputError, match=r"numerics version 1, .* version 2"):
        patch.setattr("graphrefine.kernels.numerics.NUMERICS_VERSION", 2)
        refine(engine_in(tmp_path, graph, 32), graph, settings, Stages())
    taken_up = refine(engine_in(tmp_path, graph, 32), graph, settings, Stages())
    whole = refine(engine_in(tmp_path / "whole", graph, 32), graph, settings, Stages())
    assert np.array_equal(taken_up, whole)
