"""Every experiment runs in small, its measurements are kept and reused, and one that fails is a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from html import unescape
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from reproduce_setups import tiny

from graphrefine.errors import OutputError
from reproduction import EXPERIMENTS, Reproduction, cache, claims_theory, label_scores, measure_times, reproduce
from reproduction.cache import Cache
from reproduction.markdown import escape_markdown
from reproduction.setup import Setup

STATUSES = {"measured", "left out", "missing"}


@pytest.fixture(scope="module", autouse=True)
def _without_plots() -> Iterator[None]:
    """Drawing takes longer than all the rest; one test does it."""
    with patch("graphrefine.display.report.can_draw", return_value=False):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduce") / "report"


@pytest.fixture(scope="module")
def whole(folder: Path) -> Reproduction:
    """All experiments, once."""
    return reproduce(folder, tiny())


def cells_of(reproduction: Reproduction, name: str) -> list[dict[str, Any]]:
    cells = reproduction.results["experiments"][name]["cells"]
    assert isinstance(cells, list)
    return cells


def test_every_experiment_runs_and_claims_have_verdicts(whole: Reproduction) -> None:
    assert list(whole.results["experiments"]) == [experiment.name for experiment in EXPERIMENTS]
    assert whole.results["work"]["failed"] == 0
    for name, experiment in whole.results["experiments"].items():
        assert cells_of(whole, name), name
        for cell in cells_of(whole, name):
            assert cell["status"] in STATUSES, cell
            assert (cell["ours"] is None) == (cell["status"] != "measured"), cell
            assert cell["status"] == "measured" or cell["note"], "why there is none must be said"
        assert ("verdict" in experiment) == experiment["title"].startswith("Claim"), name
        if "verdict" in experiment:
            assert experiment["verdict"] in {"holds", "partly", "does not hold", "not measured"}
            assert experiment["because"]


def names_of_work(setup: Setup, name: str) -> set[str]:
    """Names of the measurements of an experiment, none of which is made."""
    empty = Cache(None)
    next(experiment for experiment in EXPERIMENTS if experiment.name == name).run(setup, empty)
    return set(empty.measurements)


def test_every_measuring_function_is_used(whole: Reproduction) -> None:
    used = {name.rsplit("-", 1)[0] for e in EXPERIMENTS for name in names_of_work(tiny(), e.name)}
    modules = (claims_theory, label_scores, measure_times)
    functions = {
        f.__name__ for module in modules for _, f in getmembers(module, isfunction) if f.__module__ == module.__name__
    }
    measuring = {name for name in functions if name.startswith(("measure_", "time_"))}
    assert used | {"measure_size"} == measuring, "measure_size alone needs real graphs"


def test_stand_ins_are_marked_and_missing_data_is_named(whole: Reproduction) -> None:
    measured = [cell for cell in cells_of(whole, "table1") if cell["status"] == "measured"]
    assert measured
    for cell in measured:
        assert "stand-in" in cell["note"] and cell["paper"] is not None and cell["difference"] is None
    missing = [cell for cell in cells_of(whole, "table3") if cell["status"] == "missing"]
    assert {cell["what"]["graph"] for cell in missing} >= {"flickr", "youtube"}
    assert all("download http" in cell["note"] for cell in missing)


def test_figure_1_has_the_seconds_of_the_clock_and_of_all_cores(tmp_path: Path) -> None:
    """Of two threads at work for 4 seconds each, beside another's work: 10 by the clock, 8 of the processor."""
    with (
        patch.object(label_scores, "perf_counter", side_effect=[100.0, 110.0] * 20),
        patch.object(label_scores, "process_time", side_effect=[50.0, 58.0] * 20),
    ):
        drawn = reproduce(tmp_path / "r", tiny(), only=["figure1"])
    seconds = [(cell["what"]["measure"], cell["ours"]) for cell in cells_of(drawn, "figure1") if cell["unit"] == "s"]
    measured = [pair for pair in seconds if pair[1] is not None]
    assert measured == [("seconds", 10.0), ("processor seconds", 8.0)] * (len(measured) // 2) and len(measured) >= 6


def test_the_report_has_it_all_and_a_second_run_reuses_it(whole: Reproduction, folder: Path) -> None:
    assert json.loads((folder / "results.json").read_text())["experiments"] == whole.results["experiments"]
    page = (folder / "report.html").read_text()
    for experiment in EXPERIMENTS:
        assert f">{experiment.title}</h2>" in unescape(page)
        assert f"## {escape_markdown(experiment.title)}\n" in (folder / "cells" / "report.md").read_text()
    assert "stand-in" in page and 'src="http' not in page
    assert len(list((folder / "cells").glob("*.json"))) == whole.results["work"]["computed"]
    again = reproduce(folder, tiny())
    assert again.results["work"] == {"computed": 0, "reused": whole.results["work"]["computed"], "failed": 0}
    assert again.results["experiments"] == whole.results["experiments"]


def test_figures_are_drawn(tmp_path: Path) -> None:
    with patch("graphrefine.display.report.can_draw", return_value=True):
        reproduce(tmp_path / "r", tiny(), only=["figure3"])
    drawn = sorted(path.name for path in (tmp_path / "r" / "plots").iterdir())
    assert drawn == ["figure3-macro.svg", "figure3-micro.svg"]


def test_what_measurements_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_of_work(tiny(), "table1")
    assert names == names_of_work(tiny(threads=1), "table1"), "scores do not depend on threads"
    assert names and names.isdisjoint(names_of_work(tiny(seed=7), "table1") | names_of_work(tiny(repeats=2), "table1"))
    timed = names_of_work(tiny(), "blocked-qr")
    with monkeypatch.context() as patched:
        patched.setattr(cache, "identify_machine", lambda: "an abacus, 10 cores")
        assert timed.isdisjoint(names_of_work(tiny(), "blocked-qr"))
        assert names == names_of_work(tiny(), "table1")
    monkeypatch.setattr(cache, "__version__", "9.9")
    assert names.isdisjoint(names_of_work(tiny(), "table1"))


def test_experiments_finished_before_stay_and_another_report_is_refused(tmp_path: Path) -> None:
    reproduce(tmp_path / "r", tiny(), only=["figure3"])
    later = reproduce(tmp_path / "r", tiny(), only=["power"])
    assert list(later.results["experiments"]) == ["figure2", "figure3", "power", "block"], "two need the same"
    assert later.results["work"]["reused"] == 1, "q = 3, b = 16 is in both"
    reproduce(tmp_path / "r", tiny(), only=["table3"])
    with pytest.raises(OutputError, match="another report"):
        reproduce(tmp_path / "r", replace(tiny(), name="quick"), only=["table3"])


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder with the measurements of an experiment, and the file of one of them."""
    reproduce(tmp_path / "r", tiny(), only=["figure2"])
    yield tmp_path / "r", sorted((tmp_path / "r" / "cells").glob("measure_f1-*.json"))[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_text("{}"),
        lambda path: path.write_bytes(b"\x00\xff"),
        lambda path: _altered(path, "measurement", "micro", [99.0]),
        lambda path: _altered(path, "key", "repeats", 1000),
    ],
    ids=["cut", "empty", "bytes", "another figure", "another key"],
)
def test_a_damaged_cell_is_computed_again(stored: tuple[Path, Path], damage: Any) -> None:
    folder, path = stored
    whole = path.read_text()
    damage(path)
    again = reproduce(folder, tiny(), only=["figure2"])
    assert again.results["work"]["computed"] == 1 and again.results["work"]["reused"] == 3
    assert json.loads(path.read_text())["measurement"]["micro"] == json.loads(whole)["measurement"]["micro"]


def _altered(path: Path, part: str, name: str, value: Any) -> None:
    content = json.loads(path.read_text())
    content[part][name] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("error", [MemoryError("of all things"), KeyboardInterrupt()])
def test_a_failure_is_a_cell_an_interruption_the_end_and_both_are_tried_again(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = label_scores.measure_f1

    @wraps(real)
    def fail_sometimes(*inputs: Any, settings: Any, **arguments: Any) -> Any:
        if settings["power"] == 2:
            raise error
        return real(*inputs, settings=settings, **arguments)

    with monkeypatch.context() as patched:
        patched.setattr(label_scores, "measure_f1", fail_sometimes)
        with pytest.raises(KeyboardInterrupt) if isinstance(error, KeyboardInterrupt) else nullcontext():
            results = reproduce(tmp_path / "r", tiny(), only=["figure2"])
            failed = [cell for cell in cells_of(results, "figure2") if cell["status"] == "failed"]
            assert failed and all(cell["what"]["power"] == 2 for cell in failed)
            assert "MemoryError: of all things" in failed[0]["note"]
            assert results.results["work"] == {"computed": 3, "reused": 0, "failed": 1}
    again = reproduce(tmp_path / "r", tiny(), only=["figure2", "power"])
    reused = 1 if isinstance(error, KeyboardInterrupt) else 3
    assert again.results["work"]["failed"] == 0 and again.results["work"]["reused"] == reused


def test_the_progress_shows_experiment_forecast_and_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with patch("reproduction.label_scores.measure_f1", autospec=True, side_effect=MemoryError("of all things")):
        reproduce(tmp_path / "r", tiny(), only=["table3", "figure3"], progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("experiment 2 of 2 (figure3), about ")
    assert lines[0].endswith(" left: measure f1 refine blogcatalog")
    assert lines[1:] == ["failed: measure f1 refine blogcatalog: MemoryError: of all things"] * 4
