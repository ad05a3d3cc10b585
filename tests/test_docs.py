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
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from graphrefine.cli.main import main
from graphrefine.refine import filters
from reproduction.__main__ import main as reproduce

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))
import figures  # noqa: E402  scripts are no package
import reference  # noqa: E402

PARTS = ("tutorials", "guides", "explanation")
DOCS = [ROOT / "docs" / "index.md", ROOT / "docs" / "glossary.md", ROOT / "docs" / "architecture.md"]
DOCS += [page for part in PARTS for page in sorted((ROOT / "docs" / part).glob("*.md"))]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")), *DOCS]
REFERENCE = ROOT / "docs" / "reference"  # written before the links are followed
ELSEWHERE = ROOT / "docs" / "guides" / "store-vectors.md"  # its blocks need packages of their own: tests/clients
WITHOUT_EXAMPLES = (
    *("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/architecture.md", "docs/glossary.md"),
    *("docs/explanation/performance.md", "docs/explanation/limits.md", "docs/explanation/versions.md"),
)
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)|<img[^>]* src=\"([^\"]+)\"")
ANCHOR = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
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


@pytest.fixture(scope="module")
def written_reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the reference, as `make docs` writes them."""
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return folder


def follow_link(page: Path, link: str, written: Path) -> Path:
    """Where a link of a page leads; pages of the reference are those just written."""
    target = (page.parent / link).resolve()
    return written / target.name if target.parent == REFERENCE else target


@pytest.mark.parametrize("page", PAGES, ids=place_of)
def test_links_between_files_lead_somewhere(page: Path, written_reference: Path) -> None:
    links = [first or second for first, second in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not follow_link(page, link, written_reference).exists()] == []


def headings(page: Path) -> set[str]:
    """The anchors of a page: headings in small letters, hyphens for blanks, no signs."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=place_of)
def test_links_lead_to_headings(page: Path, written_reference: Path) -> None:
    for link, anchor in ANCHOR.findall(page.read_text(encoding="utf-8")):
        assert anchor in headings(follow_link(page, link, written_reference) if link else page), f"{link}#{anchor}"


def test_method_page_names_every_filter() -> None:
    page = (ROOT / "docs" / "explanation" / "method.md").read_text(encoding="utf-8")
    assert [name for name in (*filters.FILTERS, "none") if f'`"{name}"`' not in page] == []


SCRIPTS = (
    *("arm_root", "arm_rows", "check_arm", "check_links", "check_versions", "figures", "reference", "sbom"),
    "trace_row",
)


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


# What is not typed by hand: durations, sizes in memory, ratios of speed, scores. Shares of labels, edges and nodes are
# settings of an experiment; what a command takes stands in code, and tables come from results.
TYPED = re.compile(
    r"(?<![\w.-])\d(?:[\d.,]*\d)?\s?(?:ms|µs|us|s|seconds?|minutes?|min|hours?|[KMGT]i?B|x|times|points?)\b(?!-)"
    r"|(?<![\w.-])\d(?:[\d.,]*\d)?\s?%(?!(?:(?:,| and|, and) \d+%)* of the\s+(?:labels|edges|nodes|bounds))"
    r"|\b(?:AUC|F1|MRR|[Rr]ecall|NDCG)(?: is| of)? (?:about )?\d?\.?\d+"
)
# Results that wait for a quiet machine: their tables say so. Each must go from here once it is measured.
UNMEASURED = {
    "command",
    "live-latency",
    "live-size",
    "map-time",
    "methods",
    "neighbors",
    "peers",
    "speed",
    "tiers-time",
}
GENERATED = re.compile(r"<!-- (table|figure): .*?<!-- /\1 -->", re.DOTALL)


def find_typed_figures(text: str) -> list[str]:
    """The numbers with units in the prose of a page."""
    prose = re.sub(r"`[^`]*`", "", GENERATED.sub("", FENCE.sub("", text)))
    return [found[0] for found in TYPED.finditer(prose)]


@pytest.mark.parametrize("page", [*figures.find_pages()], ids=place_of)
def test_figures_are_those_of_the_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(figures.find_missing(text)) <= UNMEASURED, "run: make results"
    assert figures.fill(text) == text, "run: python scripts/figures.py"
    assert find_typed_figures(text) == []


def test_no_result_is_called_unmeasured_that_is_there() -> None:
    assert {name for name in UNMEASURED if (figures.RESULTS / f"{name}.json").exists()} == set()


def test_figures_that_are_typed_or_old_are_noticed(tmp_path: Path) -> None:
    assert find_typed_figures("It takes 3.5 s, 2 GB, and is 12 times as fast: AUC of .93 at 40%.") == [
        *("3.5 s", "2 GB", "12 times", "AUC of .93", "40%")
    ]
    assert find_typed_figures("`--memory 8GB`, 128 dimensions, 1% and 10% of the labels, Python 3.11") == []
    result: dict[str, Any] = {"date": "2026-01-02T03:04", "command": "python benchmarks/a.py", "version": "0.1.0"}
    result |= {
        "machine": {"cpu": "Z80", "cores": 1},
        "tables": {"t": {"columns": ["", "s"], "rows": [["fast", "2.6"]]}},
    }
    (tmp_path / "a.json").write_text(json.dumps(result))
    page = "<!-- table: a.t -->\n| old |\n<!-- /table -->\nin <!-- figure: a.t | fast | s -->9<!-- /figure --> s\n"
    filled = figures.fill(page, tmp_path)
    assert "| fast | 2.6 |" in filled and "old" not in filled and "-->2.6<!--" in filled
    assert "2026-01-02, Z80" in filled and figures.fill(filled, tmp_path) == filled


@pytest.mark.parametrize("path", sorted(figures.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_results_say_where_they_are_from(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    assert {"date", "command", "version", "commit", "machine", "tables"} <= result.keys()
    script = result["command"].split()[1]
    assert (ROOT / script).exists() or script == "-m"
    assert any(f"{path.stem}." in page.read_text(encoding="utf-8") for page in figures.find_pages()), "no page shows it"


# Words of the pages written by hand, code among them.
MOST_WORDS = {"README.md": 700, "CONTRIBUTING.md": 1500, "docs/architecture.md": 2000, "CHANGELOG.md": 600}
ALL_WORDS = 42_000
COUNTS = {"tutorials": 8, "guides": 12, "explanation": 8}


def count_words(page: Path) -> int:
    return len(GENERATED.sub("", page.read_text(encoding="utf-8")).split())


def test_pages_stay_short() -> None:
    words = {place_of(page): count_words(page) for page in PAGES}
    assert {name: words[name] for name, most in MOST_WORDS.items() if words[name] > most} == {}
    assert sum(words.values()) <= ALL_WORDS
    assert all(len([*(ROOT / "docs" / part).glob("*.md")]) <= most for part, most in COUNTS.items())
