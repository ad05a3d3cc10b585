"""Two versions of the arithmetic, end to end: other bits, both recipes, and no work that joins them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from arithmetics import salted
from cli_runs import check_refused, ring_of_cliques, run, works, write_csv
from engines import engine_in
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import FORMATS
from graphrefine.embedding.notebook import embedding_html
from graphrefine.errors import ArgumentWarning, InputError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import kernels
from graphrefine.kernels.arithmetic import ARITHMETICS, Arithmetic, use_arithmetic
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.memory_plan import MemoryPlan
from graphrefine.pipeline.out_of_core import working
from graphrefine.progress import Stages
from graphrefine.refine.refine import refine
from graphrefine.sklearn.embedding_cache import embed_once
from graphrefine.system.work_folder import WorkFolder
from graphs import random_graph
from reproduction.cache import Cache
from reproduction.setup import Source
from stopping import StoppedError, stop_after

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproducibility.md"
COVERED = ("refine", "rbqr", "arope", "deepwalk", "node2vec", "line", "pte")
WITH_RECIPE = ["folder", "x.npz", "x.parquet", "x.arrow", "x.safetensors"]


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version 2, the newest, whose random signs are others."""
    monkeypatch.setitem(ARITHMETICS, 2, Arithmetic(2, {"signs": salted}))


def embed(**options: Any) -> Embedding:
    return graphrefine.embed(random_graph(300, seed=3), dim=8, threads=2, **options)


@pytest.mark.parametrize("options", [{"quality": "fast"}, {}, {"method": "deepwalk", "walks": 1, "length": 5}])
def test_both_versions_are_computed_and_each_recipe_has_its_own(second: None, options: dict[str, Any]) -> None:
    newest, two, one = (embed(arithmetic=version, **options) for version in (None, 2, 1))
    assert newest.recipe["arithmetic"] == two.recipe["arithmetic"] == 2 and one.recipe["arithmetic"] == 1
    assert np.array_equal(newest.vectors, two.vectors) and not np.array_equal(one.vectors, two.vectors)
    again = embed(arithmetic=one.recipe["arithmetic"], **options)
    assert np.array_equal(again.vectors, one.vectors) and again.recipe == one.recipe
    assert arithmetic_of_now() == 2


def test_the_first_version_is_the_same_beside_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = embed()
    monkeypatch.setitem(ARITHMETICS, 2, Arithmetic(2, {"signs": salted}))
    assert np.array_equal(embed(arithmetic=1).vectors, alone.vectors)


def arithmetic_of_now() -> int:
    return kernels().arithmetic


@pytest.mark.parametrize(
    ("version", "words"),
    [(99, "arithmetic=99 is not one"), *((bad, f"arithmetic={bad!r} must be") for bad in ("x", True, 0))],
)
def test_an_unknown_version_is_refused_by_name_before_any_work(version: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as refusal:
        graphrefine.embed("no-such-file.csv", arithmetic=version)
    assert "1" in str(refusal.value) and refusal.value.argument == "arithmetic"


def test_the_command_line_takes_a_version(tmp_path: Path) -> None:
    graph = write_csv(tmp_path / "g.csv", ring_of_cliques())
    figures = works("embed", graph, "-o", tmp_path / "v", "--dim", "4", "--arithmetic", "1", "--json").figures
    assert figures["recipe"]["arithmetic"] == load(tmp_path / "v").recipe["arithmetic"] == 1
    refused = run("embed", graph, "-o", tmp_path / "w", "--dim", "4", "--arithmetic", "9")
    check_refused(refused, "--arithmetic 9 is not one that this graphrefine computes, which is 1")
    check_refused(run("embed", graph, "-o", tmp_path / "w", "--arithmetic", "x"), "'x' is not a valid integer")
    assert not (tmp_path / "w").exists()


def test_the_recipe_says_that_there_were_no_compiled_kernels(each_kernel: None) -> None:
    recipe = embed().recipe
    assert (recipe["arithmetic"], recipe["kernel"]) == (1, kernels().name)
    shown = embedding_html(embed())
    assert ("approximate: without compiled kernels" in shown) == (kernels().name == "scipy")
    assert ("the same bits on every processor" in shown) == (kernels().name == "native")


@pytest.mark.parametrize("method", METHODS)
def test_the_recipe_names_what_depends_on_the_processor(method: str) -> None:
    if method == "louvainne":
        pytest.importorskip("sknetwork")
    few, base, short = {"samples": 0.001}, {"base": "refine"}, {"walks": 1, "length": 5}
    quick: dict[str, dict[str, Any]] = {"line": few, "pte": few, "harp": base, "mile": base}
    quick |= {"deepwalk": short, "node2vec": short}
    recipe = graphrefine.embed(random_graph(60, seed=1), dim=4, method=method, **quick.get(method, {})).recipe
    part = find_method(method).processor_dependence
    assert (part is None) == (method in COVERED)
    assert recipe["arithmetic"] == 1 and recipe.get("processor_dependence") == part
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
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("| method | the same bits on | processor dependence |\n|---|---|---|\n")[1].split("\n\n")[0]
    assert table.splitlines() == [row_of(name) for name in METHODS]


def row_of(name: str) -> str:
    """The line of the page on a method."""
    part = find_method(name).processor_dependence
    return f"| `{name}` | {'every processor | ' if part is None else f'one kind of processor | {part} '}|"


def test_every_format_that_has_recipes_is_tried() -> None:
    files = {each.name for each in FORMATS if each.state and not each.server}
    assert files == {name.partition(".")[2] or name for name in WITH_RECIPE}


@pytest.mark.parametrize("name", WITH_RECIPE)
@pytest.mark.parametrize("value", [7, "x", None, [1]], ids=repr)
def test_vectors_of_another_arithmetic_are_loaded_and_told(name: str, value: Any, tmp_path: Path) -> None:
    made = embed(quality="fast")
    recipe = {**made.recipe, "arithmetic": value}
    Embedding(made.names, made.vectors, recipe).save(tmp_path / name)
    with pytest.warns(ArgumentWarning, match="are used as they are") as caught:
        loaded = load(tmp_path / name)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith(f"{tmp_path / name}: the vectors are of arithmetic {value!r}")
    assert loaded.recipe == recipe and np.array_equal(loaded.vectors, made.vectors)
    with pytest.warns(ArgumentWarning, match="made by different computations"):
        new = embed(align_to=loaded)  # a rotation, whatever the bits
    assert new.recipe["aligned"]["shared"] == len(made) and new.recipe["arithmetic"] == 1


@pytest.mark.parametrize("name", WITH_RECIPE)
def test_the_version_travels_with_the_recipe(second: None, name: str, tmp_path: Path) -> None:
    made = embed(quality="fast", arithmetic=1)
    made.save(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(tmp_path / name).recipe == made.recipe


def test_vectors_without_a_version_are_loaded_in_silence_and_described(tmp_path: Path) -> None:
    made = embed(quality="fast")
    before = {key: value for key, value in made.recipe.items() if key not in ("arithmetic", "kernel")}
    Embedding(made.names, made.vectors, before).save(tmp_path / "old")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old = load(tmp_path / "old")
    assert old.recipe == before and "an arithmetic without a version" in embedding_html(old)


def test_vectors_of_two_arithmetics_are_joined_with_a_warning_that_names_both(second: None) -> None:
    one, two = (embed(quality="fast", arithmetic=version) for version in (1, 2))
    halves = one.subset(one.names[:150].tolist()), two.subset(two.names[150:].tolist())
    with pytest.warns(ArgumentWarning, match=r"different recipes \(arithmetic 1 and 2\)"):
        joined = Embedding.concat(list(halves))
    assert "arithmetic" not in joined.recipe and joined.state.fold_map is None


def begin(folder: Path, graph: Graph, version: int | None) -> None:
    """Begin work in a folder, and stop."""
    plan = MemoryPlan("streamed", 10**9, 10**8, 10**7, 32, 2)
    with (
        pytest.raises(KeyboardInterrupt),
        use_arithmetic(version),
        WorkFolder(folder) as work,
        working(graph, make_settings("refine", dim=8), plan, work=work, method="refine", stages=Stages()),
    ):
        raise KeyboardInterrupt


def test_work_of_another_arithmetic_is_not_taken_up(second: None, tmp_path: Path) -> None:
    graph, folder = random_graph(300, seed=3), tmp_path / "out.work"
    begin(folder, graph, 1)
    with pytest.raises(OutputError, match=r"work of arithmetic 1, and this run has arithmetic 2.*say arithmetic=1"):
        begin(folder, graph, None)
    begin(folder, graph, 1)  # it is still there


@pytest.mark.parametrize("change", [*({"arithmetic": value} for value in (7, "x", None)), {}, {"kernel": "other"}])
def test_marks_of_unfinished_work_are_held_to_this_run(change: dict[str, Any], tmp_path: Path) -> None:
    graph, folder = random_graph(300, seed=3), tmp_path / "out.work"
    begin(folder, graph, 1)
    mark = json.loads((folder / "run.json").read_text())
    assert (mark["arithmetic"], mark["kernel"]) == (1, kernels().name)
    if not change:  # as it was before the arithmetic had a version
        del mark["arithmetic"]
    (folder / "run.json").write_text(json.dumps({**mark, **change}))
    words = "other kernels made it" if "kernel" in change else "unfinished work of .*arithmetic.*delete it"
    with pytest.raises(OutputError, match=words):
        begin(folder, graph, 1)


def test_a_journal_of_another_arithmetic_is_not_taken_up(second: None, tmp_path: Path) -> None:
    graph, settings = random_graph(3000, seed=5), make_settings("refine", dim=32)
    with use_arithmetic(1), pytest.raises(StoppedError):
        refine(stop_after(engine_in(tmp_path, graph, 32), 9), graph, settings, Stages())
    with pytest.raises(OutputError, match="work of arithmetic 1, and this run has arithmetic 2"):
        refine(engine_in(tmp_path, graph, 32), graph, settings, Stages())
    with use_arithmetic(1):
        taken_up = refine(engine_in(tmp_path, graph, 32), graph, settings, Stages())
        whole = refine(engine_in(tmp_path / "whole", graph, 32), graph, settings, Stages())
    assert np.array_equal(taken_up, whole)


def test_caches_keep_the_arithmetics_apart(second: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, options = random_graph(300, seed=3), {"dim": 8, "quality": "fast"}
    one, two = embed_once(graph, {**options, "arithmetic": 1}), embed_once(graph, options)
    assert not np.array_equal(one.vectors, two.vectors)
    assert embed_once(graph, {**options, "arithmetic": 2}) is two is embed_once(graph, {**options, "arithmetic": None})
    monkeypatch.setenv("GRAPHREFINE_KERNEL", "scipy")
    assert embed_once(graph, options).recipe["kernel"] == "scipy"
    monkeypatch.delenv("GRAPHREFINE_KERNEL")

    def measure_version() -> dict[str, int]:
        return {"arithmetic": kernels().arithmetic}

    cache = Cache(tmp_path, Source.load)
    with use_arithmetic(1):
        assert cache.measure(measure_version) == {"arithmetic": 1}
    assert cache.measure(measure_version) == {"arithmetic": 2} and cache.computed == 2


def test_measurements_of_other_kernels_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_kernel() -> dict[str, str]:
        return {"kernel": kernels().name}

    pytest.importorskip("graphrefine.kernels._native")
    cache = Cache(tmp_path, Source.load)
    for name in ("native", "scipy", "native"):
        monkeypatch.setenv("GRAPHREFINE_KERNEL", name)
        assert cache.measure(measure_kernel) == {"kernel": name}
    assert cache.computed == 2
