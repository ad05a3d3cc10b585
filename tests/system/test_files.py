"""Outputs are the old or the new one, whole, whatever happens; other people's data is never touched."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import run
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import Format
from graphrefine.embedding.formats.folder import check_replaceable
from graphrefine.errors import OutputError
from graphrefine.system import files
from graphrefine.system.arrays import save_npy
from graphrefine.system.files import check_writable, read_mark, replacing_folder

OUTPUTS = ["folder", "x.npz", "x.parquet", "x.arrow", "x.safetensors", "x.vec", "x.bin", "x.csv", "x.csv.gz"]


def version(number: int) -> Embedding:
    names = [f"{number}-{row}" for row in range(40)]
    return Embedding(names, np.full((40, 8), number, dtype=np.float32), {"version": number})


def version_of(embedding: Embedding) -> int:
    """Return which version this is, or fail if it is a mix of two."""
    found = {int(name.split("-")[0]) for name in embedding.names} | set(embedding.vectors.ravel().tolist())
    assert len(found) == 1, f"a mix of {found}"
    assert len(embedding) == 40
    assert embedding.recipe in ({}, {"version": next(iter(found))})
    return int(found.pop())


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize(
    ("path", "folder", "fact"),
    [
        ("no/x.npy", False, "does not exist"),
        ("file/x.npy", False, "not a folder"),
        ("dir.npy", False, "is a folder"),
        ("file", True, "is a file"),
        ("/", True, "not the name"),
        ("/proc/x.npy", False, "cannot write in /proc"),
        (os.devnull, False, "not a regular file"),
    ],
)
def test_outputs_that_cannot_be_written_are_refused(tmp_path: Path, path: str, folder: bool, fact: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dir.npy").mkdir()
    with pytest.raises(OutputError, match=fact):
        check_writable(tmp_path / path, folder=folder)
    assert names_in(tmp_path) == ["dir.npy", "file"]


@pytest.mark.parametrize("content", ["thesis.tex", "meta.json", "vectors.npy"])
def test_other_folders_are_never_replaced(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / content).write_text("{}")
    with pytest.raises(OutputError, match="would be lost"):
        version(1).save(tmp_path / "mine")
    assert (tmp_path / "mine" / content).read_text() == "{}"


def test_a_folder_with_something_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    version(1).save(tmp_path / "emb")
    (tmp_path / "emb" / ".DS_Store").write_text("")
    version(2).save(tmp_path / "emb")
    (tmp_path / "emb" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        version(3).save(tmp_path / "emb")
    assert (tmp_path / "emb" / "notes.txt").read_text() == "mine" and version_of(load(tmp_path / "emb")) == 2
    (tmp_path / "later").mkdir()  # which fills up during the work
    replacing_it = replacing_folder(tmp_path / "later", replaceable=check_replaceable)
    with pytest.raises(OutputError, match="would be lost"), replacing_it:
        (tmp_path / "later" / "notes.txt").write_text("mine")
    assert names_in(tmp_path / "later") == ["notes.txt"] and names_in(tmp_path) == ["emb", "later"]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other"}', "[" * 100_000, "\udcff"])
def test_a_mark_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta.json").write_text(text, errors="surrogateescape")
    assert read_mark(tmp_path / "meta.json", "ours") is None


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_replaced_and_nothing_else_is_left(name: str, tmp_path: Path) -> None:
    for number in range(3):
        version(number).save(tmp_path / name, durable=number == 2)
        assert version_of(load(tmp_path / name)) == number
        assert names_in(tmp_path) == [name]


@pytest.mark.skipif(os.name != "posix", reason="making links needs rights on Windows")
def test_links_stay_links_and_permissions_are_usual(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name in ("x.npz", "folder"):
        version(1).save(tmp_path / "real" / name)
        (tmp_path / name).symlink_to(tmp_path / "real" / name)
        version(2).save(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert version_of(load(tmp_path / "real" / name)) == 2
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "x.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["folder", "x.npz"])
@pytest.mark.parametrize("error", [RuntimeError("bug"), KeyboardInterrupt(), SystemExit()])
def test_a_failure_in_the_middle_leaves_the_old_one(
    name: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version(1).save(tmp_path / name)
    written = Format.write

    def fail(self: Format, path: Path, parts: Any) -> None:
        written(self, path, parts)
        raise error

    monkeypatch.setattr(Format, "write", fail)
    with pytest.raises(type(error)):
        version(2).save(tmp_path / name)
    assert names_in(tmp_path) == [name]
    assert version_of(load(tmp_path / name)) == 1


@pytest.mark.skipif(os.name != "posix", reason="file size limits are POSIX")
def test_a_full_disk_is_one_clear_error_and_leaves_the_old_one(tmp_path: Path) -> None:
    for name in OUTPUTS:
        version(1).save(tmp_path / name)
    code = f"""
        import resource, numpy as np
        from graphrefine.embedding.embedding import Embedding
        from graphrefine.errors import OutputError
        big = Embedding(None, np.random.default_rng(0).standard_normal((3000, 8)))
        Embedding(None, [[1]]).save({str(tmp_path / "warm.parquet")!r})
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        for name in {OUTPUTS}:
            try:
                big.save({str(tmp_path)!r} + "/" + name)
            except OutputError as error:
                assert name in str(error) and "cannot be written" in str(error), error
                print(name)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == OUTPUTS, done.stderr
    assert names_in(tmp_path) == sorted([*OUTPUTS, "warm.parquet"])
    for name in OUTPUTS:
        assert version_of(load(tmp_path / name)) == 1


def read_while(action: Callable[[], None], path: Path) -> list[int]:
    """Load again and again while ``action`` runs; return the versions seen, or raise the first error."""
    done = threading.Event()

    def read() -> list[int]:
        seen: list[int] = []
        while not done.is_set():
            seen.append(version_of(load(path)))
        return seen

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            action()
        finally:
            done.set()
        return reading.result()


@pytest.mark.parametrize("name", ["folder", "x.npz", "x.arrow", "x.safetensors"])
def test_a_reader_never_sees_a_mix(name: str, tmp_path: Path) -> None:
    version(0).save(tmp_path / name)
    load(tmp_path / name)  # packages that a first read imports take longer than all saves

    def replace() -> None:
        for number in range(1, 51):
            version(number).save(tmp_path / name)

    seen = read_while(replace, tmp_path / name)
    assert seen == sorted(seen)
    assert len(set(seen)) > 1
    assert names_in(tmp_path) == [name]


def test_the_reader_test_can_fail(tmp_path: Path) -> None:
    """Control: a folder whose files are replaced one by one is seen half done."""
    version(0).save(tmp_path / "folder")

    def replace_one_by_one() -> None:
        for number in range(1, 300):
            version(number).save(tmp_path / "next")
            for file in (tmp_path / "next").iterdir():
                file.replace(tmp_path / "folder" / file.name)

    with pytest.raises((AssertionError, ValueError)):
        read_while(replace_one_by_one, tmp_path / "folder")


def test_a_failed_second_step_takes_the_first_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version(1).save(tmp_path / "emb")
    monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise PermissionError(13, "in use")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OutputError, match="in use"):
        version(2).save(tmp_path / "emb")
    assert names_in(tmp_path) == ["emb"]
    assert version_of(load(tmp_path / "emb")) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_numbers_that_a_full_disk_does_not_take_are_an_error() -> None:
    # They are few, so that they wait in a buffer until the file is closed.
    array = np.arange(40, dtype=np.float32)
    with pytest.raises(OSError, match="No space left"):
        save_npy(Path("/dev/full"), array)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are read from /proc")
def test_commands_flush_what_they_write_and_then_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    version(1).save(tmp_path / "x")
    assert flushed == []
    for target, count in (("y", 6), ("y.npz", 2), ("y.csv", 2)):
        flushed.clear()
        assert run("convert", tmp_path / "x", tmp_path / target).code == 0
        assert flushed[-1] == str(tmp_path) and len(flushed) == count, flushed
        assert all(f".{target}.graphrefine-" in name for name in flushed[:-1]), flushed
    version(1).save(tmp_path / "x", durable=True)
    assert len(flushed) == 8, "what Python asks for"
    version(2).save(tmp_path / "x")
    assert len(flushed) == 8, "and after a command, Python decides for itself again"
