"""Every experiment runs in small, its outcomes are kept and found again, and one that fails is a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from graphrefine.errors import OutputError
from graphrefine.paper import EXPERIMENTS, Reproduction, measure_scores, plan, reproduce
from graphrefine.paper.cache import Finished, Store
from graphrefine.paper.jobs import Job
from graphrefine.paper.runner import KINDS, Forecast
from reproduce_setups import tiny

STATUSES = {"measured", "left out", "missing"}


@pytest.fixture(scope="module", autouse=True)
def _without_plots() -> Iterator[None]:
    """Drawing takes longer than all the rest; one test does it."""
    with patch("graphrefine.reports.folder.can_draw", return_value=False):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduce") / "report"


@pytest.fixture(scope="module")
def whole(folder: Path) -> Reproduction:
    """All experiments, once."""
    return reproduce(folder, tiny())


def cells_of(found: Reproduction, name: str) -> list[dict[str, Any]]:
    cells = found.results["experiments"][name]["cells"]
    assert isinstance(cells, list)
    return cells


def test_every_experiment_runs_and_none_fails(whole: Reproduction) -> None:
    assert list(whole.results["experiments"]) == [experiment.name for experiment in EXPERIMENTS]
    assert whole.results["work"]["failed"] == 0
    for name in whole.results["experiments"]:
        cells = cells_of(whole, name)
        assert cells, name
        for cell in cells:
            assert cell["status"] in STATUSES, cell
            assert (cell["ours"] is None) == (cell["status"] != "measured"), cell
            assert cell["status"] == "measured" or cell["note"], "why there is none must be said"


def test_claims_have_verdicts_and_tables_have_none(whole: Reproduction) -> None:
    for name, found in whole.results["experiments"].items():
        is_claim = found["title"].startswith("Claim")
        assert ("verdict" in found) == is_claim, name
        if is_claim:
            assert found["verdict"] in {"holds", "partly", "does not hold", "not measured"}
            assert found["because"]


def test_every_kind_of_work_is_used(whole: Reproduction) -> None:
    used = {job.kind for experiment in EXPERIMENTS for job in plan(experiment, tiny())}
    assert used | {"count"} == set(KINDS), "count alone needs real graphs"


def test_a_stand_in_is_marked_and_not_compared(whole: Reproduction) -> None:
    measured = [cell for cell in cells_of(whole, "table1") if cell["status"] == "measured"]
    assert measured
    for cell in measured:
        assert cell["note"].startswith("stand-in") or "stand-in" in cell["note"]
        assert cell["paper"] is not None and cell["difference"] is None


def test_missing_data_is_named_with_the_way_to_get_it(whole: Reproduction) -> None:
    missing = [cell for cell in cells_of(whole, "table3") if cell["status"] == "missing"]
    assert {cell["what"]["graph"] for cell in missing} >= {"flickr", "youtube"}
    assert all("download http://" in cell["note"] for cell in missing)


def test_the_report_has_it_all(whole: Reproduction, folder: Path) -> None:
    assert json.loads((folder / "results.json").read_text())["experiments"] == whole.results["experiments"]
    page, text = (folder / "report.html").read_text(), (folder / "report.md").read_text()
    for experiment in EXPERIMENTS:
        assert f"## {experiment.title}\n" in text.replace("\\", "").replace("&amp;", "&")
    assert "stand-in" in page and 'src="http' not in page
    assert len(list((folder / "cells").glob("*.json"))) == whole.results["work"]["computed"]


def test_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with patch("graphrefine.reports.folder.can_draw", return_value=True):
        reproduce(tmp_path / "r", tiny(), only=["figure3"])
    drawn = sorted(path.name for path in (tmp_path / "r" / "plots").iterdir())
    assert drawn == ["figure3-macro.png", "figure3-macro.svg", "figure3-micro.png", "figure3-micro.svg"]


def test_a_second_run_reuses_every_outcome(whole: Reproduction, folder: Path) -> None:
    again = reproduce(folder, tiny())
    assert again.results["work"] == {"computed": 0, "reused": whole.results["work"]["computed"], "failed": 0}
    assert again.results["experiments"] == whole.results["experiments"]


def test_other_settings_are_other_work(whole: Reproduction, folder: Path) -> None:
    jobs = {job.key for job in plan(EXPERIMENTS[0], tiny())}
    assert jobs.isdisjoint({job.key for job in plan(EXPERIMENTS[0], tiny(seed=7))})
    assert jobs.isdisjoint({job.key for job in plan(EXPERIMENTS[0], tiny(repeats=2))})
    assert jobs == {job.key for job in plan(EXPERIMENTS[0], tiny(threads=1))}, "scores do not depend on threads"


def test_experiments_finished_before_stay_in_the_report(tmp_path: Path) -> None:
    reproduce(tmp_path / "r", tiny(), only=["figure3"])
    later = reproduce(tmp_path / "r", tiny(), only=["power"])
    assert list(later.results["experiments"]) == ["figure2", "figure3", "power", "block"], "two need the same"
    assert later.results["work"]["reused"] == 1, "q = 3, b = 16 is in both"


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder with the two outcomes of an experiment, and the file of one of them."""
    reproduce(tmp_path / "r", tiny(), only=["figure2"])
    yield tmp_path / "r", sorted((tmp_path / "r" / "cells").glob("score-*.json"))[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_text("{}"),
        lambda path: path.write_bytes(b"\x00\xff"),
        lambda path: _altered(path, "outcome", "micro", [99.0]),
        lambda path: _altered(path, "asked", "repeats", 1000),
    ],
    ids=["cut", "empty", "bytes", "another figure", "another key"],
)
def test_a_damaged_cell_is_computed_again(stored: tuple[Path, Path], damage: Any) -> None:
    folder, path = stored
    whole = path.read_text()
    damage(path)
    again = reproduce(folder, tiny(), only=["figure2"])
    assert again.results["work"]["computed"] == 1 and again.results["work"]["reused"] == 3
    assert json.loads(path.read_text())["outcome"]["micro"] == json.loads(whole)["outcome"]["micro"]


def _altered(path: Path, part: str, name: str, value: Any) -> None:
    content = json.loads(path.read_text())
    content[part][name] = value
    path.write_text(json.dumps(content))


def test_a_failure_is_a_cell_and_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        real = measure_scores.score

        def sometimes(bench: Any, asked: Any) -> Any:
            if asked["settings"]["power"] == 2:
                raise MemoryError("of all things")
            return real(bench, asked)

        patched.setattr(measure_scores, "score", sometimes)
        found = reproduce(tmp_path / "r", tiny(), only=["figure2"])
    failed = [cell for cell in cells_of(found, "figure2") if cell["status"] == "failed"]
    assert failed and all(cell["what"]["power"] == 2 for cell in failed)
    assert "MemoryError: of all things" in failed[0]["note"]
    assert found.results["work"] == {"computed": 3, "reused": 0, "failed": 1}
    again = reproduce(tmp_path / "r", tiny(), only=["figure2"])
    assert again.results["work"] == {"computed": 1, "reused": 3, "failed": 0}


def test_an_interruption_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        real = measure_scores.score

        def stopped(bench: Any, asked: Any) -> Any:
            if asked["settings"]["power"] == 3:
                raise KeyboardInterrupt
            return real(bench, asked)

        patched.setattr(measure_scores, "score", stopped)
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path / "r", tiny(), only=["figure2"])
    again = reproduce(tmp_path / "r", tiny(), only=["figure2"])
    assert again.results["work"] == {"computed": 2, "reused": 2, "failed": 0}


def test_a_full_disk_ends_the_run_and_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = Store.put, [2]

    def put(store: Store, kind: str, asked: Any, finished: Finished) -> None:
        if not left[0]:
            with monkeypatch.context() as full:
                full.setattr(Path, "write_text", _no_space)
                real(store, kind, asked, finished)
        left[0] -= 1
        real(store, kind, asked, finished)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "put", put)
        with pytest.raises(OutputError, match=r"No space left on device.*the same command goes on"):
            reproduce(tmp_path / "r", tiny(), only=["figure2"])
    again = reproduce(tmp_path / "r", tiny(), only=["figure2"])
    assert again.results["work"]["reused"] == 2


def _no_space(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"thesis\.tex"):
        reproduce(tmp_path / "r", tiny(), only=["table3"])
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["thesis.tex"]


def test_a_report_of_another_run_is_refused(tmp_path: Path) -> None:
    reproduce(tmp_path / "r", tiny(), only=["table3"])
    from dataclasses import replace

    with pytest.raises(OutputError, match="another report"):
        reproduce(tmp_path / "r", replace(tiny(), name="quick"), only=["table3"])


def test_forecasts_learn_by_group_and_in_general() -> None:
    forecast = Forecast()
    slow, other = Job("score", {"method": "line"}, 2.0), Job("time_qr", {}, 1.0)
    forecast.learn(slow, 20.0)
    forecast.learn(other, 1.0)
    assert forecast.seconds([slow]) == 20.0
    assert forecast.seconds([other]) == 1.0
    assert forecast.seconds([Job("errors", {}, 3.0)]) == 3.0 * 21 / 3
