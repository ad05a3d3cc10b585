"""A real ``graphrefine explore`` over a small graph, Chromium to look at it with, and the truth from the files."""

from __future__ import annotations

import csv
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

import graphrefine
from explore_servers import serving
from graphrefine.embedding.embedding import Embedding

HTML = '<img src=x onerror="alert(1)">'
LABELS = ("theory", "<b>bold</b>", "vision", "systems")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE: ViewportSize = {"width": 1000, "height": 640}
NODES = 160
PATIENCE = 30.0  # seconds for what must come, on a busy machine too
_patience = {"drawing": PATIENCE}


@dataclass(frozen=True)
class Truth:
    """What the page must show, taken from what the server was given."""

    url: str
    embedding: Embedding
    edges: set[tuple[str, str]]
    labels: Mapping[str, str]
    years: Mapping[str, int]
    coordinates: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """By row."""
        return [str(name) for name in self.embedding.names]

    @cached_property
    def info(self) -> dict[str, Any]:
        """As a script gets it."""
        return dict(httpx.get(f"{self.url}api/info").json())

    def adjacent(self, row: int) -> set[int]:
        """Rows of the neighbors in the graph."""
        name = self.names[row]
        others = {b if a == name else a for a, b in self.edges if name in (a, b)}
        return {self.names.index(other) for other in others}

    def xy(self, layout: str) -> NDArray[np.float32]:
        """Places of the nodes, as a script gets them."""
        if layout not in self.coordinates:
            raw = httpx.get(f"{self.url}api/coordinates", params={"layout": layout}).content
            self.coordinates[layout] = np.frombuffer(raw, "<f4").reshape(-1, 2)
        return self.coordinates[layout]

    def categories(self, column: str) -> list[str]:
        """Names of the nodes' categories, as a script gets them; each node has one."""
        facts = next(one for one in self.info["columns"] if one["name"] == column)
        codes = np.frombuffer(httpx.get(f"{self.url}api/columns/{column}").content, "<u2")
        return [facts["categories"][code]["name"] for code in codes]

    def scores(self, row: int, score: str) -> NDArray[np.floating[Any]]:
        """Of all nodes with one; itself is last."""
        vectors = np.asarray(self.embedding.vectors, np.float64)
        if score == "cosine":
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found = self.embedding.score(self.names[row]) if score == "link" else vectors @ vectors[row]
        scores = np.array(found, np.float64)
        scores[row] = -np.inf
        return scores


def write_graph(folder: Path) -> tuple[set[tuple[str, str]], dict[str, str], dict[str, int]]:
    """Four groups of papers; some names and labels would be harmful if a page took them for HTML."""
    random = np.random.default_rng(3)
    names = [HTML, 'Łódź & "sons", ltd', *(f"paper {i}" for i in range(2, NODES))]
    group = np.arange(NODES) % 4
    likely = np.where(group[:, None] == group, 40 / NODES, 1.5 / NODES)
    pairs = zip(*np.nonzero(np.triu(random.random((NODES, NODES)) < likely, 1)), strict=True)
    edges = {(names[i], names[j]) for i, j in pairs}
    labels = {name: LABELS[i % 4] for i, name in enumerate(names) if i % 9}
    years = {name: 1990 + i % 30 for i, name in enumerate(names)}
    tables: dict[str, list[tuple[Any, Any]]] = {
        "graph": [("source", "target"), *sorted(edges)],
        "labels": [("node", "label"), *labels.items()],
        "columns": [("node", "year"), *years.items()],
    }
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return edges, labels, years


@contextmanager
def exploring(*arguments: str) -> Iterator[str]:
    """``graphrefine explore`` in another process, when everything in the background is made; gives its address."""
    with serving(*arguments, env={"OPENBLAS_NUM_THREADS": "1"}) as server:
        end = time.monotonic() + 2 * PATIENCE
        while '"working"' in httpx.get(f"{server.url}api/info").text:
            assert time.monotonic() < end, "the server still works"
            time.sleep(0.1)
        yield server.url


def eventually(page: Page, holds: Callable[[], bool]) -> bool:
    """Whether a page comes to show something: it draws when it can, on a busy machine later than on an idle one."""
    end = time.monotonic() + _patience["drawing"]
    while not holds():
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(50)
    return True


@contextmanager
def impatient() -> Iterator[None]:
    """A stretch in which nobody waits long: for what must not come."""
    _set_patience(0.6, 3)
    try:
        yield
    finally:
        _set_patience(PATIENCE, PATIENCE)


def _set_patience(elements: float, drawing: float) -> None:
    """Set the seconds that elements of a page, and its drawings, may take."""
    expect.set_options(timeout=elements * 1000)
    _patience["drawing"] = drawing


@contextmanager
def explored(folder: Path) -> Iterator[Truth]:
    """The small graph, embedded and explored with all that the command takes."""
    edges, labels, years = write_graph(folder)
    embedding = graphrefine.embed(graphrefine.read(folder / "graph.csv"), dim=16, seed=0, quality="fast", learn=True)
    embedding.save(folder / "papers.parquet")
    options = [f"--{kind}={folder / kind}.csv" for kind in ("graph", "labels", "columns")]
    with exploring(str(folder / "papers.parquet"), *options) as url:
        yield Truth(url, embedding, edges, labels, years)


def chromium_path() -> str:
    """Debian's Chromium; without it tests fail in CI, and are skipped elsewhere."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        message = "no chromium: install Debian's package of that name to test the page"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for one module of tests.

    The fixtures of pytest-playwright live as long as the session, and with them an event loop that would stand in the
    way of every later test that runs one of its own.
    """
    path = chromium_path()
    _set_patience(PATIENCE, PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=2 * PATIENCE * 1000)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and all that went wrong in it."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def renew(self) -> None:
        """As good as a new page, and sooner there."""
        self.page.unroute_all(behavior="ignoreErrors")
        if self.page.url.startswith("http"):
            self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")
        self.page.set_viewport_size(SIZE)
        self.problems.clear()
        self.requests.clear()


@contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[Watched]:
    """A page in a context of its own, its console and its requests noted."""
    context = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(PATIENCE * 1000)
    seen = Watched(context.new_page())
    seen.page.on("console", lambda line: seen.problems.append(line.text) if line.type == "error" else None)
    seen.page.on("pageerror", lambda error: seen.problems.append(str(error)))
    seen.page.on("dialog", lambda dialog: seen.problems.append(f"dialog {dialog.message}"))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    try:
        yield seen
    finally:
        context.close()


def visit(page: Page, url: str, state: str = "ready") -> None:
    """Open an address and wait for its first view."""
    page.goto(url)
    page.wait_for_selector(f"html[data-state={state}]")


def place(page: Page, xy: NDArray[np.float32]) -> NDArray[np.float64]:
    """Where points of the map are, in pixels of the window, by the camera that the page states."""
    x, y, distance = map(float, (page.get_attribute("#map", "data-camera") or "").split(","))
    box = page.locator("#map").bounding_box()
    assert box is not None
    half = box["height"] / 2
    left = box["x"] + box["width"] / 2 + (xy[..., 0] - x) / distance * half
    return np.stack([left, box["y"] + half - (xy[..., 1] - y) / distance * half], axis=-1)


def check_axe(page: Page) -> None:
    """A page has no serious issue of accessibility."""
    found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
