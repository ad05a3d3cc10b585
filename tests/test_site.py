"""The site leads: every page has its place, every public name its entry, and a newcomer's tasks are two clicks away."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import graphrefine
from graphrefine import evaluate
from test_docs import AUTO, DOCS, LINK, ROOT

sys.path.append(str(ROOT / "scripts"))
import check_links

SITE = ROOT / "docs"
FRONT = SITE / "index.md"
TREE = re.compile(r"^```\{toctree\}\n:hidden:\n:caption: (.+)\n\n((?:.+\n)+)```$", re.MULTILINE)
CLICK = re.compile(r"\[([^\]]+)\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def test_every_page_stands_once_in_the_side_bar_and_pictures_are_linked() -> None:
    lines = [line for _, group in TREE.findall(FRONT.read_text(encoding="utf-8")) for line in group.splitlines()]
    listed = [re.sub(r".*<(.+)>$", r"\1", line) for line in lines]
    pages = {page.relative_to(SITE).with_suffix("").as_posix() for page in DOCS if page != FRONT}
    assert sorted(listed) == sorted(pages)
    texts = [(page, page.read_text(encoding="utf-8")) for page in [ROOT / "README.md", *DOCS]]
    linked = {(page.parent / (one or other)).resolve() for page, text in texts for one, other in LINK.findall(text)}
    files = [*SITE.glob("notebooks/*.ipynb"), *SITE.glob("images/*.png")]
    assert [path.name for path in files if path.resolve() not in linked] == []


def test_the_reference_has_every_public_name_and_no_other() -> None:
    entries = set(AUTO.findall((SITE / "api.md").read_text(encoding="utf-8")))
    public = {f"graphrefine.{name}" for name in graphrefine.__all__ if name != "__version__"}
    public |= {f"graphrefine.evaluate.{name}" for name in evaluate.__all__}
    assert public - entries == set()
    for name in entries:
        module, _, member = name.rpartition(".")
        assert member in dir(import_module(module)), name


class Task(NamedTuple):
    """What a person wants, the texts of the links to click from the front page, and what must stand where they lead."""

    want: str
    clicks: tuple[str, ...]
    answer: str


TASKS = [
    Task("install it with parquet support", ("Install",), '".[io,plot]"'),
    Task("get vectors from my csv", ("Quickstart",), "graphrefine embed messages.csv --weights messages"),
    Task("predict the labels of the other nodes", ("Classify nodes",), "graphrefine.predict_labels(embedding, table)"),
    Task("recommend films to a viewer", ("Recommend",), 'embedding.recommend("viewer 7", 3, exclude=graph)'),
    Task("score how likely a link is", ("how likely an edge is",), "embedding.score(3, 14)"),
    Task("list the edges that are missing", ("Missing edges",), "graphrefine predict links"),
    Task("give a new node a vector", ("Embed every day", "how good it is"), "embedding.fold_in("),
    Task("learn whether I need --directed", ("How to choose", "directed or not?"), "`directed=True`: a source"),
    Task("replace my call of node2vec", ("Coming from another library",), "`Node2Vec(graph, dimensions=64"),
    Task("put vectors into PostgreSQL", ("Vectors in databases", "the table and\nits columns"), "--index"),
    Task("know why two leaves are identical", ("Deduplicate", "why"), "nothing in\nthe graph tells them apart"),
    Task("embed a graph larger than memory", ("Memory and machines",), "graphrefine embed web.grf -o web --memory 8GB"),
    Task("use the vectors in Qdrant", ("twenty clients", "Qdrant"), "upload_collection"),
    Task("get a data frame", ("Vectors where you work",), "to_pandas()"),
    Task("learn when a name may go", ("Python reference", "policy of versions and\ndeprecations"), "deprecat"),
    Task("look up an option of neighbors", ("Commands", "`neighbors`"), "`--unlinked GRAPH`"),
]


def follow(page: Path, text: str) -> tuple[Path, str]:
    """Where the link with that text on a page leads: the page, and the heading or none."""
    for words, path, anchor in CLICK.findall(page.read_text(encoding="utf-8")):
        if words == text:
            return (page.parent / path).resolve() if path else page, anchor
    raise AssertionError(f"{page.name} has no link {text!r}")


def section(page: Path, anchor: str) -> str:
    """The text of a page, or of the section that an anchor leads to, with the sections below it."""
    text = page.read_text(encoding="utf-8")
    if not anchor:
        return text
    for match in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE):
        if re.sub(r"[^\w -]", "", match[2].lower()).replace(" ", "-") == anchor:
            rest = text[match.end() :]
            end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
            return rest[: end.start()] if end else rest
    raise AssertionError(f"{page.name} has no heading {anchor!r}")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.want)
def test_tasks_are_two_clicks_from_the_front_page(task: Task) -> None:
    assert 1 <= len(task.clicks) <= 2
    page, anchor = FRONT, ""
    for text in task.clicks:
        page, anchor = follow(page, text)
    assert task.answer in section(page, anchor)


def test_a_lost_link_of_the_site_is_noticed(tmp_path: Path) -> None:
    links = '<a href="b.html#there">b</a><a href="b.html#gone">b</a><a href="https://x.org">x</a>'
    (tmp_path / "a.html").write_text(links)
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1><img src="none.png">')
    lost = sorted(check_links.find_lost(tmp_path))
    assert lost == ["a.html: b.html#gone leads nowhere", "b.html: none.png leads nowhere"]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(SITE.glob("notebooks/*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run_without_a_display(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    import notebooks

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    stored = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    shown = notebooks.run_notebook(path, tmp_path)
    numbers = re.compile(r"\d[\d.,]*")  # last digits differ between processors
    texts = [[numbers.sub("#", text) for text in notebooks.list_texts(each)] for each in (stored, shown)]
    assert texts[0] == texts[1]
    assert str(ROOT) not in path.read_text(encoding="utf-8")
    assert any("image/png" in output.get("data", {}) for cell in shown.cells for output in cell.get("outputs", []))
