"""The harness finds planted bugs of every kind, keeps their inputs, and finds none where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked, and watched through /proc")

from fuzz import codecs, findings, mutations, run, targets  # noqa: E402
from fuzz.target import CORPUS  # noqa: E402

KINDS = {
    "crash": ["signal"], "leave": ["exit"], "hang": ["hang"], "hoard": ["memory"], "fail": ["traceback"], "refuse": []
}  # fmt: skip


def call(*options: str, folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Fuzz the planted bugs in a process of its own; its exit code, and what it printed."""
    command = [sys.executable, "-m", "fuzz.run", "--module", "planted_bugs", "--json", "--hang", "0.5", *options]
    done = subprocess.run(
        [*command, "--memory", "0.5", "--findings", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(ROOT)])},
        capture_output=True, text=True, timeout=60, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_planted_bugs_are_found_with_their_inputs(tmp_path: Path) -> None:
    code, results = call("--count", "300", "--workers", "2", folder=tmp_path)
    assert code == 1
    assert {result["target"]: result["inputs"] for result in results} == dict.fromkeys(KINDS, 300)
    for result in results:
        found = {finding["kind"]: finding for finding in result["findings"]}
        assert list(found) == KINDS[result["target"]]
        for finding in found.values():
            assert (tmp_path / result["target"] / finding["input"]).read_bytes() == b"BUG"
            assert finding["index"] == 1, "the second seed, before any mutation"
    assert results[-1]["refused"] == 300
    assert "SIGSEGV at fuzzing/planted_bugs.py:" in results[0]["findings"][0]["place"]
    assert results[4]["findings"][0]["times"] > 1, "a place is one finding, however many inputs lead to it"


def test_inputs_depend_on_the_seed_alone(tmp_path: Path) -> None:
    runs = [
        call("--target=fail", "--count=300", "--seed", seed, "--workers", workers, folder=tmp_path / f"{seed}{workers}")
        for seed, workers in (("0", "1"), ("0", "2"), ("1", "2"))
    ]
    times = [results[0]["findings"][0]["times"] for _, results in runs]
    kept = [{path.name for path in folder.glob("fail/*")} for folder in sorted(tmp_path.iterdir())]
    assert times[0] == times[1] and kept[0] == kept[1]
    assert kept[2] != kept[0]


def test_a_run_without_findings_ends_with_0_and_after_its_time(tmp_path: Path) -> None:
    code, (result,) = call("--target", "refuse", "--minutes", "0.01", folder=tmp_path)
    assert (code, result["findings"]) == (0, [])
    assert result["inputs"] == result["refused"] > 100
    assert not list(tmp_path.iterdir())


def test_a_kept_input_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes" / "one"
    path.parent.mkdir()
    target = targets.list_targets()["sizes"]
    for text, said in ((b"5MB", "sizes: taken\n"), (b"5 potatoes", "sizes: refused, as it should be: InputError: ")):
        path.write_bytes(text)
        run.replay(path, [target])
        assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()) if CORPUS.is_dir() else [])
def test_inputs_that_once_failed_do_not(name: str, tmp_path: Path) -> None:
    target = targets.list_targets()[name]
    if target.prepare is not None:
        target.prepare(tmp_path)
    for position, data in enumerate(target.list_corpus()):
        folder = tmp_path / str(position)
        folder.mkdir()
        try:
            target.run(data, folder)
        except target.errors:
            continue


@pytest.mark.parametrize("module", [codecs, findings, mutations, targets])
def test_examples_hold(module: Any) -> None:
    import doctest

    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0
