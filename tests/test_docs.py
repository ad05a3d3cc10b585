"""Every example in the README and the documentation runs, and what it shows is what comes out.

A fenced block whose first line names a file (```` ```csv friends.csv ````) is that file. ``python`` blocks
run in order, in one namespace a page, as doctests where they have prompts. In ``console`` blocks, lines that
begin with ``$ graphrefine`` run through the command line, and the lines below are their output, durations and
memory aside, with ``...`` for anything. In ``sh`` blocks, lines that begin with ``graphrefine`` run.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from graphrefine.cli.main import main
from graphrefine.embedding.formats import FORMATS as EMBEDDING_FORMATS
from graphrefine.readers.formats import FORMATS as GRAPH_FORMATS
from graphrefine.refine import filters
from graphrefine.tables.source import CODECS
from reproduction.__main__ import main as reproduce

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))
import commands  # noqa: E402  likewise, for the page of commands

DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *DOCS]
ELSEWHERE = ROOT / "docs" / "clients.md"  # its blocks need packages of their own: tests/clients
WITHOUT_EXAMPLES = (
    *("CONTRIBUTING.md", "SECURITY.md", "docs/api.md", "docs/architecture.md", "docs/commands.md"),
    *("docs/explore_page.md", "docs/figures.md", "docs/notebooks/index.md", "docs/results.md", "docs/scale.md"),
)
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)|<img[^>]* src=\"([^\"]+)\"")
ANCHOR = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
AUTO = re.compile(r"^\.\. auto\w+:: (\S+)$", re.MULTILINE)  # a name with its docstring
MEASURED = re.compile(r"(\d+ min )?[\d,.]+ (ms|s|MB)\b")
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def place_of(page: Path) -> str:
    """The path of a page below the root, as links have it."""
    return page.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """A fenced block: its language, the file it stands for, its text and its line."""

    language: str
    file: str
    text: str
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        yield Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start()) + 2)


def run_page(text: str, name: str) -> int:
    """Run the examples of a page in the current folder; how many there were."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    done = 0
    for block in blocks_of(text):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block, name, namespace)
            done += 1
        elif block.language in ("console", "sh"):
            done += run_commands(block, name)
    return done


def run_python(block: Block, name: str, namespace: dict[str, Any]) -> None:
    if ">>>" not in block.text:
        code = "\n" * (block.line - 1) + block.text  # so that a traceback names the line of the page
        exec(compile(code, name, "exec"), namespace)
        return
    example = doctest.DocTestParser().get_doctest(block.text, namespace, name, name, block.line - 1)
    output = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=LOOSE)
    runner.run(example, out=output.write, clear_globs=False)
    namespace.update(example.globs)
    assert not runner.failures, output.getvalue()


def run_commands(block: Block, name: str) -> int:
    done = 0
    for command, expected in commands_of(block):
        words = shlex.split(command, comments=True)
        program = next((name for name in PROGRAMS if command.startswith(f"{name} ")), None)
        if program is None:
            continue
        code, shown = run_command(PROGRAMS[program], words)
        where = f"{name}, line {block.line}: {command}"
        refused = re.search("^error:", expected, re.MULTILINE) is not None  # a graph may have been read before
        assert (code != 0) == refused, f"{where} ended with {code}:\n{shown}"
        if expected:
            wanted, got = (MEASURED.sub("#", text.strip()) for text in (expected, shown))
            agree = doctest.OutputChecker().check_output(wanted + "\n", got + "\n", LOOSE)
            assert agree, f"{where}\nshows:\n{expected}\nand gives:\n{shown}"
        done += 1
    return done


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Commands with the output that is shown below them."""
    text = block.text.replace("\\\n", " ")
    if block.language == "sh":
        yield from ((line, "") for line in text.splitlines() if line.strip())
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.strip("\n")


PROGRAMS: dict[str, Callable[[list[str]], object]] = {
    "graphrefine": lambda words: main(),
    "python -m reproduction": lambda words: sys.exit(reproduce(words[3:])),
}


def run_command(program: Callable[[list[str]], object], words: list[str]) -> tuple[int, str]:
    """The exit code of a command, and all that it printed."""
    printed, code = io.StringIO(), 0
    with patch("sys.argv", words), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            program(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return code, printed.getvalue()


@pytest.mark.parametrize("page", [page for page in PAGES if page != ELSEWHERE], ids=place_of)
def test_examples_run_and_show_what_comes_out(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    done = run_page(page.read_text(encoding="utf-8"), page.name)
    assert done or place_of(page) in WITHOUT_EXAMPLES, "no example ran"


@pytest.mark.parametrize(
    "page",
    [
        "```python\nassert 1 + 1 == 3\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```console\n$ graphrefine --version\ngraphrefine, version 0.0.0\n```\n",
        "```console\n$ graphrefine embed missing.csv -o out\n```\n",
        "```sh\ngraphrefine embed missing.csv -o out\n```\n",
    ],
)
def test_a_wrong_example_is_noticed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError):
        run_page(page, "wrong.md")


@pytest.mark.parametrize("page", PAGES, ids=place_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    links = [first or second for first, second in LINK.findall(page.read_text(encoding="utf-8"))]
    lost = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not lost
    links = ANCHOR.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if link[1] not in headings(page.parent / link[0] if link[0] else page)] == []


def headings(page: Path) -> set[str]:
    """The anchors of a page: names of the reference, and headings in small letters, hyphens for blanks, no signs."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines} | set(AUTO.findall(text))


def test_pages_name_every_format_suffix_filter_and_command() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    reading, writing = page.split("## Embeddings")
    known = [suffix for each in GRAPH_FORMATS for suffix in (each.name, *each.suffixes)]
    known += [codec.suffix for codec in CODECS]
    assert [suffix for suffix in known if f"`{suffix}`" not in reading] == []
    known = [suffix for each in EMBEDDING_FORMATS for suffix in (each.name, *each.suffixes)]
    assert [suffix for suffix in known if f"`{suffix}`" not in writing] == []
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    assert [name for name in (*filters.FILTERS, "none") if f'`"{name}"`' not in page] == []
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page == commands.write_page(), "run: python scripts/commands.py"


SCRIPTS = ["arm_root", "arm_rows", "check_arm", "check_links", "check_versions", "commands", "sbom", "trace_row"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_examples_of_the_scripts_hold(script: str) -> None:
    assert doctest.testmod(importlib.import_module(script)).failed == 0


@pytest.mark.parametrize(
    "folder", sorted(path.parent.name for path in (ROOT / "src" / "graphrefine").glob("*/__init__.py"))
)
def test_folders_list_names_that_exist(folder: str) -> None:
    package = importlib.import_module(f"graphrefine.{folder}")
    offered = str(package.__doc__).partition("For others:")[2]
    for name in re.findall(r"`([\w.]+)`", offered):
        module, _, member = name.rpartition(".")
        if hasattr(package, name):
            continue
        path = f"graphrefine.{folder}.{module or name}"
        assert importlib.util.find_spec(path) is not None, f"{folder} offers {name}"
        assert not module or hasattr(importlib.import_module(path), member), f"{folder} offers {name}"


def test_the_files_of_common_changes_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| change | files | what to write |\n|---|---|---|\n")[1].split("\n\n")[0]
    files = [cell for row in table.splitlines() for cell in re.findall(r"`([\w/.-]+)`", row.split("|")[2])]
    roots = (ROOT / "src" / "graphrefine", ROOT)
    assert len(files) >= 20
    assert [file for file in files if not any((root / file).exists() for root in roots)] == []
