"""The page of ``graphrefine explore`` in a real browser, over a real server: features, lies, states, axe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import explore_checks as checks
import numpy as np
import pytest
from explore_checks import camera_of
from playwright.sync_api import Browser, Page, Route, expect

import explore_pages
import graphrefine
from explore_pages import Truth, Watched, check_axe, chromium, eventually, explored, visit, watched

NO_WEBGL = """
const known = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith('webgl') ? null : known.call(this, kind, ...rest);
};
"""


# Each feature, and lies that its check must notice.
FEATURES: list[tuple[checks.Check, list[checks.Lie]]] = [
    (checks.hover_names_a_node_and_click_opens_its_card, [checks.PLACES, checks.NODE]),
    (checks.search_completes_and_goes, [checks.FOUND, checks.NODE]),
    (checks.card_tells_about_the_node, [checks.NODE]),
    *((checks.neighbors_by(score), [checks.NEIGHBORS]) for score in ("cosine", "dot", "link")),
    (checks.neighbors_of_one_label, [checks.ANY_LABEL]),
    (checks.neighbors_not_yet_linked, [checks.LINKED]),
    (checks.ego_network_is_drawn, [checks.EGO]),
    *((checks.colors_by_category(column), [checks.CODES]) for column in ("label", "community")),
    *((checks.colors_by_number(column), [checks.NUMBERS]) for column in ("degree", "year")),
    (checks.legend_highlights_and_selects, [checks.CODES, checks.LISTED]),
    (checks.lasso_selects_and_lists, [checks.PLACES, checks.LISTED]),
    (checks.export_is_the_selection, [checks.LISTED]),
    (checks.neighbors_are_selected, [checks.NEIGHBORS]),
    (checks.layouts_are_switched, [checks.PCA]),
    (checks.link_restores_the_view, [checks.NODE]),
    (checks.keys_are_enough, [checks.NODE]),
    (checks.about_tells_how_it_was_made, [checks.RECIPE]),
    (checks.narrow_windows_have_a_sheet, [checks.NODE]),
]


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Truth]:
    with explored(tmp_path_factory.mktemp("explore")) as fixture:
        yield fixture


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with chromium() as fixture:
        yield fixture


@pytest.fixture(scope="module")
def only_page(chrome: Browser) -> Iterator[Watched]:
    with watched(chrome) as fixture:
        yield fixture


@pytest.fixture
def seen(only_page: Watched) -> Watched:
    only_page.renew()
    return only_page


@pytest.mark.parametrize("check", [check for check, _ in FEATURES], ids=lambda check: check.__name__)
def test_feature(check: checks.Check, seen: Watched, truth: Truth) -> None:
    check(seen.page, truth)
    assert seen.problems == []
    elsewhere = [url for url in seen.requests if not url.startswith((truth.url, "data:", "blob:"))]
    assert elsewhere == [], "a request left the server"


def _lies() -> Iterator[Any]:
    """All of them; the first use of each kind is quick, the others are slow."""
    earlier: list[checks.Lie] = []
    for check, tried in FEATURES:
        for i, lie in enumerate(tried):
            yield pytest.param(check, lie, marks=[pytest.mark.slow] * (lie in earlier), id=f"{check.__name__}-{i}")
            earlier.append(lie)


@pytest.mark.parametrize(("check", "lie"), list(_lies()))
def test_a_lie_is_noticed(check: checks.Check, lie: checks.Lie, seen: Watched, truth: Truth) -> None:
    lie(seen.page)
    with explore_pages.impatient(), pytest.raises(AssertionError):
        check(seen.page, truth)


def _info_with(**changed: Any) -> Callable[[Route], None]:
    """Have the server say something else about the embedding."""

    def route(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), **changed})

    return route


def test_names_are_text_and_never_html(seen: Watched, truth: Truth) -> None:
    row = truth.names.index(explore_pages.HTML)
    visit(seen.page, f"{truth.url}#row={row}&select={row}-{row + 3}&color=label")
    expect(seen.page.locator("#node-name")).to_have_text(explore_pages.HTML)
    expect(seen.page.locator("#marks text.node")).to_have_text(explore_pages.HTML)
    expect(seen.page.locator(".entry .name", has_text="<b>bold</b>")).to_be_visible()
    seen.page.keyboard.press("s")
    expect(seen.page.locator(".nodes .name").first).to_have_text(explore_pages.HTML)
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("<img")
    expect(seen.page.locator("#completions .name")).to_have_text([explore_pages.HTML])
    assert seen.page.locator("img, b").count() == 0
    assert seen.problems == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 375)])
def test_axe_finds_nothing_serious(chrome: Browser, truth: Truth, scheme: str, width: int) -> None:
    with watched(chrome, color_scheme=scheme, viewport={"width": width, "height": 700}) as seen:
        visit(seen.page, truth.url)
        check_axe(seen.page)
        seen.page.goto(f"{truth.url}#row=30&select=1-4&color=label")
        expect(seen.page.locator(".neighbors .line")).to_have_count(10)
        expect(seen.page.locator("#ego svg")).to_be_attached()
        check_axe(seen.page)
        for key, sign in (("s", ".nodes .line"), ("i", "#recipe"), ("?", "#keys h2")):
            seen.page.keyboard.press(key)
            expect(seen.page.locator(sign).first).to_be_visible()
            check_axe(seen.page)
        assert seen.problems == []


def test_axe_is_awake(seen: Watched, truth: Truth) -> None:
    visit(seen.page, truth.url)
    seen.page.evaluate("document.querySelector('#query').removeAttribute('aria-label')")
    seen.page.evaluate("document.querySelector('#query').removeAttribute('placeholder')")
    with pytest.raises(AssertionError):
        check_axe(seen.page)


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
        expect(seen.page.locator("#cover")).to_contain_text("no WebGL")
        width = "document.querySelector('#cover img').naturalWidth"
        assert seen.page.evaluate(f"document.querySelector('#cover img').decode().then(() => {width})") > 100
        seen.page.keyboard.press("/")
        seen.page.keyboard.type("paper 42")
        expect(seen.page.locator("#completions .name").first).to_have_text("paper 42")
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator("#node-name")).to_have_text("paper 42")
        expect(seen.page.locator(".neighbors .line")).to_have_count(10)
        assert seen.problems == []


def test_fingers_pan_and_zoom(chrome: Browser, truth: Truth) -> None:
    with watched(chrome, has_touch=True) as seen:
        visit(seen.page, truth.url)
        fingers = seen.page.context.new_cdp_session(seen.page)

        def touch(kind: str, *places: tuple[float, float]) -> None:
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        def sees(*camera: float) -> bool:
            return eventually(seen.page, lambda: np.allclose(camera_of(seen.page), camera, atol=0.01))

        x, y, distance = camera_of(seen.page)
        touch("touchStart", (500, 300))
        touch("touchMove", (400, 250))
        touch("touchEnd")
        height = seen.page.locator("#map").evaluate("map => map.clientHeight")
        unit = 2 * distance / height
        assert sees(x + 100 * unit, y - 50 * unit, distance), "one finger does not pan"
        touch("touchStart", (450, 300), (550, 300))
        touch("touchMove", (400, 300), (600, 300))
        touch("touchEnd")
        assert eventually(seen.page, lambda: abs(camera_of(seen.page)[2] / distance - 0.5) < 0.02)


def test_background_work_is_told_and_offered(seen: Watched, truth: Truth) -> None:
    states = {"pca": "ready", "clusters": "working"}
    layouts = [{"name": name, "state": state, "error": None} for name, state in states.items()]
    seen.page.route(re.compile("/api/info"), _info_with(layouts=layouts, layout="pca"))
    visit(seen.page, truth.url)
    expect(seen.page.locator("#work")).to_have_text("Working on clusters…")
    expect(seen.page.locator("#layout option")).to_have_text(["pca", "clusters (working…)"])
    seen.page.unroute_all()
    expect(seen.page.locator("#map")).to_have_attribute("data-layout", "clusters")  # nobody had begun to look around
    expect(seen.page.locator("#work")).to_be_hidden()


# What the server answers, the state of the page, and what it says.
FAILURES: list[tuple[str, Callable[[Route], None], str, str]] = [
    ("/api/info", lambda route: route.abort(), "failed", "Is graphrefine explore still running"),
    ("/api/coordinates", lambda route: route.fulfill(body=bytes(24)), "failed", "could not be loaded"),  # of others
    ("/api/", lambda route: route.fulfill(status=401, json={"error": "a token is needed"}), "failed", "?token="),
    ("/api/info", _info_with(nodes=0), "empty", "graphrefine embed"),
]


@pytest.mark.parametrize(("address", "answer", "state", "text"), FAILURES)
def test_failures_at_the_start_say_what_to_do(
    seen: Watched, truth: Truth, address: str, answer: Callable[[Route], None], state: str, text: str
) -> None:
    seen.page.route(re.compile(address), answer)
    visit(seen.page, truth.url, state=state)
    expect(seen.page.locator("#cover")).to_contain_text(text)
    if address == "/api/info" and state == "failed":
        seen.page.unroute_all()
        seen.page.click("#cover button")
        expect(seen.page.locator("html")).to_have_attribute("data-state", "ready")


def test_a_lost_connection_and_a_busy_server_are_told(seen: Watched, truth: Truth) -> None:
    visit(seen.page, truth.url)
    seen.page.route(re.compile("/api/|/healthz"), lambda route: route.abort())
    seen.page.goto(f"{truth.url}#row=3")
    expect(seen.page.locator("#banner")).to_contain_text("connection to graphrefine explore is lost")
    seen.page.unroute_all()
    expect(seen.page.locator("#banner")).to_be_hidden()
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
    with explore_pages.exploring(str(tmp_path / "plain.npz")) as url:
        visit(seen.page, f"{url}#row=3")
        expect(seen.page.locator("#node-name")).to_have_text("n3")
        expect(seen.page.locator("#ego")).to_contain_text("--graph")
        expect(seen.page.locator("#exclude_linked")).to_be_disabled()
        assert seen.problems == []
