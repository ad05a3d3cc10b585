"""The page of ``graphrefine explore`` when things are not well, and for everybody: themes, axe, names as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

import graphrefine
from explore_pages import HTML, Truth, Watched, chromium, chromium_path, explored, exploring, settled, visit, watched

QUICK = 8000  # ms that something may take
NO_WEBGL = """
const known = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith('webgl') ? null : known.call(this, kind, ...rest);
};
"""


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Truth]:
    with explored(tmp_path_factory.mktemp("explore")) as found:
        yield found


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def only_page(chrome: Browser) -> Iterator[Watched]:
    with watched(chrome) as found:
        yield found


@pytest.fixture
def seen(only_page: Watched) -> Watched:
    expect.set_options(timeout=QUICK)
    only_page.renew()
    return only_page


def _told(page: Page, **changed: Any) -> None:
    """Have the server say something else about the embedding."""

    def route(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), **changed})

    page.route(re.compile("/api/info"), route)


def test_names_are_text_and_never_html(seen: Watched, truth: Truth) -> None:
    row = truth.names.index(HTML)
    visit(seen.page, f"{truth.url}#row={row}&select={row}-{row + 3}&color=label")
    expect(seen.page.locator("#node-name")).to_have_text(HTML)
    expect(seen.page.locator("#marks text.node")).to_have_text(HTML)
    expect(seen.page.locator(".entry .name", has_text="<b>bold</b>")).to_be_visible()
    seen.page.keyboard.press("s")
    expect(seen.page.locator(".nodes .name").first).to_have_text(HTML)
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("<img")
    expect(seen.page.locator("#completions .name")).to_have_text([HTML])
    assert seen.page.locator("img, b").count() == 0
    assert seen.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 375])
def test_axe_finds_nothing_serious(chrome: Browser, truth: Truth, scheme: str, width: int) -> None:
    with watched(chrome, color_scheme=scheme, viewport={"width": width, "height": 700}) as seen:
        visit(seen.page, truth.url)
        _no_serious_issue(seen.page)
        seen.page.goto(f"{truth.url}#row=30&select=1-4&color=label")
        expect(seen.page.locator(".neighbors .line")).to_have_count(10)
        expect(seen.page.locator("#ego svg")).to_be_attached()
        _no_serious_issue(seen.page)
        for key, sign in (("s", ".nodes .line"), ("i", "#recipe"), ("?", "#keys h2")):
            seen.page.keyboard.press(key)
            expect(seen.page.locator(sign).first).to_be_visible()
            _no_serious_issue(seen.page)
        assert seen.problems == []


def _no_serious_issue(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    grave = [
        (one["id"], [node["html"] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_axe_is_awake(seen: Watched, truth: Truth) -> None:
    visit(seen.page, truth.url)
    seen.page.evaluate("document.querySelector('#query').removeAttribute('aria-label')")
    seen.page.evaluate("document.querySelector('#query').removeAttribute('placeholder')")
    with pytest.raises(AssertionError):
        _no_serious_issue(seen.page)


def test_theme_follows_the_system_and_the_switch(chrome: Browser, truth: Truth) -> None:
    def background(page: Page) -> int:
        text: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", text)[:3])

    with watched(chrome, color_scheme="dark") as seen:
        visit(seen.page, truth.url)
        assert background(seen.page) < 150
        seen.page.emulate_media(color_scheme="light")
        expect(seen.page.locator("html")).to_have_attribute("data-theme", "light")
        assert background(seen.page) > 600
        seen.page.click("#theme")  # light
        seen.page.click("#theme")  # dark
        expect(seen.page.locator("#theme")).to_have_attribute("aria-label", "Theme: dark")
        assert background(seen.page) < 150
        seen.page.goto("about:blank")
        visit(seen.page, truth.url)  # remembered
        assert background(seen.page) < 150


def test_without_webgl_there_is_a_picture_and_the_rest_works(chrome: Browser, truth: Truth) -> None:
    with watched(chrome) as seen:
        seen.page.add_init_script(NO_WEBGL)
        visit(seen.page, truth.url)
        _see_picture_and_search(seen)


def _see_picture_and_search(seen: Watched) -> None:
    expect(seen.page.locator("#cover")).to_contain_text("no WebGL")
    size = seen.page.evaluate(
        "document.querySelector('#cover img').decode().then(() => document.querySelector('#cover img').naturalWidth)"
    )
    assert size > 100
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("paper 42")
    expect(seen.page.locator("#completions .name").first).to_have_text("paper 42")
    seen.page.keyboard.press("Enter")
    expect(seen.page.locator("#node-name")).to_have_text("paper 42")
    expect(seen.page.locator(".neighbors .line")).to_have_count(10)
    assert seen.problems == []


def test_background_work_is_told_and_offered(seen: Watched, truth: Truth) -> None:
    layouts = [
        {"name": "pca", "state": "ready", "error": None},
        {"name": "clusters", "state": "working", "error": None},
    ]
    _told(seen.page, layouts=layouts, layout="pca")
    visit(seen.page, truth.url)
    expect(seen.page.locator("#work")).to_have_text("Working on clusters…")
    expect(seen.page.locator("#layout option")).to_have_text(["pca", "clusters (working…)"])
    seen.page.unroute_all()
    expect(seen.page.locator("#map")).to_have_attribute("data-layout", "clusters")  # nobody had begun to look around
    expect(seen.page.locator("#work")).to_be_hidden()


def test_an_empty_embedding_says_what_to_do(seen: Watched, truth: Truth) -> None:
    _told(seen.page, nodes=0)
    visit(seen.page, truth.url, state="empty")
    expect(seen.page.locator("#cover")).to_contain_text("graphrefine embed")


def test_a_server_that_fails_at_the_start(seen: Watched, truth: Truth) -> None:
    seen.page.route(re.compile("/api/info"), lambda route: route.abort())
    visit(seen.page, truth.url, state="failed")
    expect(seen.page.locator("#cover")).to_contain_text("Is graphrefine explore still running")
    seen.page.unroute_all()
    seen.page.click("#cover button")
    expect(seen.page.locator("html")).to_have_attribute("data-state", "ready")


def test_coordinates_of_another_embedding_are_refused(seen: Watched, truth: Truth) -> None:
    seen.page.route(re.compile("/api/coordinates"), lambda route: route.fulfill(body=bytes(24)))
    visit(seen.page, truth.url, state="failed")
    expect(seen.page.locator("#cover")).to_contain_text("could not be loaded")


def test_a_lost_connection_is_told_and_found_again(seen: Watched, truth: Truth) -> None:
    visit(seen.page, truth.url)
    seen.page.route(re.compile("/api/|/healthz"), lambda route: route.abort())
    seen.page.goto(f"{truth.url}#row=3")
    expect(seen.page.locator("#banner")).to_contain_text("connection to graphrefine explore is lost")
    seen.page.unroute_all()
    expect(seen.page.locator("#banner")).to_be_hidden()


def test_a_missing_token_is_told(seen: Watched, truth: Truth) -> None:
    seen.page.route(re.compile("/api/"), lambda route: route.fulfill(status=401, json={"error": "a token is needed"}))
    visit(seen.page, truth.url, state="failed")
    expect(seen.page.locator("#cover")).to_contain_text("?token=")


def test_a_busy_server_is_asked_again(seen: Watched, truth: Truth) -> None:
    visit(seen.page, truth.url)
    busy = {"left": 1}

    def route(route: Route) -> None:
        busy["left"] -= 1
        route.fulfill(status=503, json={"error": "busy"}) if busy["left"] >= 0 else route.continue_()

    seen.page.route(re.compile(r"/api/nodes\?row="), route)
    seen.page.goto(f"{truth.url}#row=3")
    expect(seen.page.locator("#node-name")).to_have_text(truth.names[3])
    busy["left"] = 100
    seen.page.goto(f"{truth.url}#row=4")
    expect(seen.page.locator("#panel")).to_contain_text("The server is busy")


def test_without_a_graph_the_card_says_how_to_have_one(seen: Watched, tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    graphrefine.Embedding([f"n{i}" for i in range(30)], vectors).save(tmp_path / "plain.npz")
    with exploring(str(tmp_path / "plain.npz")) as url:
        settled(url)
        visit(seen.page, f"{url}#row=3")
        expect(seen.page.locator("#node-name")).to_have_text("n3")
        expect(seen.page.locator("#ego")).to_contain_text("--graph")
        expect(seen.page.locator("#unlinked")).to_be_disabled()
        assert seen.problems == []


@pytest.mark.slow
def test_a_million_points_are_seen_within_three_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    chromium_path()
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    from explore_first_view import BAR, measure

    assert min(measure(1_000_000, 128, 3)) < BAR
