"""What the page must do, each as a function that raises AssertionError where it does not; and lies to be noticed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Download, Page, Route, expect

from explore_pages import Truth, eventually, place, visit

Check = Callable[[Page, Truth], None]
K = 10  # neighbors on a card
COMPLETIONS = 12  # of the search box
PAGE = 50  # nodes on a page of the selection


def rows_of(page: Page, selector: str) -> list[int]:
    rows: list[str] = page.locator(selector).evaluate_all("all => all.map(one => one.dataset.row)")
    return [int(row) for row in rows]


def layout_of(page: Page) -> str:
    return page.get_attribute("#map", "data-layout") or ""


def camera_of(page: Page) -> list[float]:
    return [float(value) for value in (page.get_attribute("#map", "data-camera") or "").split(",")]


def spot(page: Page, truth: Truth, row: int) -> tuple[float, float]:
    x, y = place(page, truth.xy(layout_of(page))[row])
    return float(x), float(y)


def lonely(page: Page, truth: Truth, apart: float = 12) -> NDArray[np.intp]:
    """Rows that no other point, panel or legend is near to on the screen."""
    at = place(page, truth.xy(layout_of(page)))
    distances = np.linalg.norm(at[:, None] - at[None], axis=-1) + np.eye(len(at)) * 1e9
    free = (distances.min(axis=1) > apart) & (at[:, 0] > 245) & (at[:, 0] < 990) & (at[:, 1] > 70) & (at[:, 1] < 630)
    rows = np.flatnonzero(free)
    assert len(rows) > 5, "no points stand alone enough to be looked at"
    return rows


def colors_at(page: Page, at: NDArray[np.float64]) -> NDArray[np.float64]:
    page.mouse.move(300, 20)  # off the map, so that nothing is ringed
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.float64)
    return np.array([picture[round(y), round(x)] for x, y in at])


def rgb(text: str) -> list[int]:
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def see_card(page: Page, name: str) -> None:
    expect(page.locator("#node-name")).to_have_text(name, use_inner_text=False)


def open_card(page: Page, truth: Truth, row: int, more: str = "") -> None:
    visit(page, f"{truth.url}#row={row}&color=label{more}")


def see_selected(page: Page, truth: Truth, rows: list[int]) -> None:
    """The list of the selection has these nodes, under their names."""
    expect(page.locator("#selection-title")).to_contain_text(f"{len(rows)} nodes selected")
    names = [truth.names[row] for row in sorted(rows)]
    expect(page.locator(".nodes .name")).to_have_text(names[:PAGE])


def hover_names_a_node_and_click_opens_its_card(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    row = int(lonely(page, truth)[3])
    x, y = spot(page, truth, row)
    page.mouse.move(x, y)
    expect(page.locator("#marks text.hover")).to_have_text(truth.names[row])
    page.mouse.click(x, y)
    see_card(page, truth.names[row])


def search_completes_and_goes(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    page.keyboard.press("/")
    page.keyboard.type("Paper 1")
    starting = [name for name in truth.names if name.startswith("paper 1")]
    expect(page.locator("#completions .name")).to_have_text(starting[:COMPLETIONS])
    expect(page.locator("#query")).to_have_attribute("aria-activedescendant", "completion-0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    see_card(page, starting[1])
    expect(page.locator("#marks text.node")).to_have_text(starting[1])


def card_tells_about_the_node(page: Page, truth: Truth) -> None:
    row = 20
    name = truth.names[row]
    open_card(page, truth, row)
    see_card(page, name)
    expect(page.locator("#node-labels .tag")).to_have_text([truth.labels[name]] if name in truth.labels else [])
    facts = page.locator("#node-facts")
    expect(facts).to_contain_text(f"degree{len(truth.adjacent(row))}")
    expect(facts).to_contain_text(f"year{truth.years[name]:,}")


def _neighbors(page: Page, truth: Truth, row: int, scores: NDArray[Any]) -> None:
    best = np.argsort(-scores, kind="stable")[:K]
    expect(page.locator(".neighbors .name")).to_have_text([truth.names[other] for other in best])
    expect(page.locator(".neighbors .number")).to_have_text([f"{scores[other]:.3f}" for other in best])
    expect(page.locator("#marks circle.neighbor")).to_have_count(K)


def neighbors_by(score: str) -> Check:
    def neighbors(page: Page, truth: Truth) -> None:
        open_card(page, truth, 30)
        page.select_option("#score", score)
        _neighbors(page, truth, 30, truth.scores(30, score))

    neighbors.__name__ = f"neighbors_by_{score}"
    return neighbors


def neighbors_of_one_label(page: Page, truth: Truth) -> None:
    open_card(page, truth, 30)
    label = "theory" if truth.labels.get(truth.names[30]) != "theory" else "vision"
    page.select_option("#only-label", label)
    scores = np.where([truth.labels.get(name) == label for name in truth.names], truth.scores(30, "cosine"), -np.inf)
    _neighbors(page, truth, 30, scores)


def neighbors_not_yet_linked(page: Page, truth: Truth) -> None:
    open_card(page, truth, 30)
    page.check("#exclude_linked")
    scores = truth.scores(30, "cosine")
    scores[list(truth.adjacent(30))] = -np.inf
    _neighbors(page, truth, 30, scores)


def ego_network_is_drawn(page: Page, truth: Truth) -> None:
    row = 50
    open_card(page, truth, row)
    expect(page.locator("#ego svg .dot")).to_have_count(len(truth.adjacent(row)))
    near = truth.adjacent(row)
    assert set(rows_of(page, "#ego svg .dot")) == near, "other neighbors are drawn"
    among = {row} | near
    edges = sum(truth.names.index(a) in among and truth.names.index(b) in among for a, b in truth.edges)
    expect(page.locator("#ego svg line")).to_have_count(edges)
    first = page.locator("#ego svg .dot").first
    neighbor = int(first.get_attribute("data-row") or -1)
    first.press("Enter")
    see_card(page, truth.names[neighbor])


def _legend(page: Page) -> tuple[list[str], NDArray[np.float64], list[int]]:
    names: list[str] = page.locator(".entry .name").all_text_contents()
    fills = page.locator(".entry .swatch circle").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
    counts = [int(text.replace(",", "")) for text in page.locator(".entry .count").all_text_contents()]
    return names, np.array([rgb(fill) for fill in fills], np.float64), counts


def _drawn_by(page: Page, column: str) -> None:
    page.select_option("#color", column)
    expect(page.locator("#map")).to_have_attribute("data-color", column)


def colors_by_category(column: str) -> Check:
    def colors(page: Page, truth: Truth) -> None:
        visit(page, truth.url)
        _drawn_by(page, column)
        names, fills, counts = _legend(page)
        of = [truth.labels.get(name, "none") for name in truth.names]
        of = of if column == "label" else truth.categories(column)
        assert counts == [of.count(name) for name in names], "the legend counts wrongly"
        rows = lonely(page, truth)

        def categories_are_those_of_the_rows() -> bool:
            seen = colors_at(page, place(page, truth.xy(layout_of(page))[rows]))
            nearest = np.linalg.norm(seen[:, None] - fills[None], axis=-1).argmin(axis=1)
            return [names[i] for i in nearest] == [of[row] for row in rows]

        assert eventually(page, categories_are_those_of_the_rows), "points have colors of other categories"

    colors.__name__ = f"colors_by_{column}"
    return colors


def colors_by_number(column: str) -> Check:
    def colors(page: Page, truth: Truth) -> None:
        visit(page, truth.url)
        _drawn_by(page, column)
        ramp: list[str] = page.locator(".ramp rect").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
        fills = np.array([rgb(fill) for fill in ramp], np.float64)
        rows = lonely(page, truth)
        of = {"degree": lambda row: len(truth.adjacent(row)), "year": lambda row: truth.years[truth.names[row]]}
        values = np.array([of[column](row) for row in rows], float)
        facts = next(one for one in truth.info["columns"] if one["name"] == column)
        low, high = facts["min"], facts["max"]
        share = np.log1p(values - low) / np.log1p(high - low) if facts["log"] else (values - low) / (high - low)
        expected = fills[np.round(share * (len(fills) - 1)).astype(int)]
        blended = 0.9 * expected + 0.1 * np.array(rgb("#fcfcfb"))

        def values_are_those_of_the_rows() -> bool:
            seen = colors_at(page, place(page, truth.xy(layout_of(page))[rows]))
            return bool(np.abs(seen - blended).max() < 12)

        assert eventually(page, values_are_those_of_the_rows), "points have colors of other values"

    colors.__name__ = f"colors_by_{column}"
    return colors


def legend_highlights_and_selects(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    page.locator(".entry", has=page.get_by_text("vision", exact=True)).press("Enter")
    rows = lonely(page, truth)
    at = place(page, truth.xy(layout_of(page))[rows])
    others = [truth.labels.get(truth.names[row]) != "vision" for row in rows]

    def others_are_faded() -> bool:
        faded = np.linalg.norm(colors_at(page, at) - rgb("#e3e6e9"), axis=-1) < 25
        return bool(faded.tolist() == others)

    assert eventually(page, others_are_faded), "other points than those without the label are faded"
    page.get_by_role("button", name="Select", exact=True).press("Enter")
    see_selected(page, truth, [row for row, name in enumerate(truth.names) if truth.labels.get(name) == "vision"])


def _lasso(page: Page, truth: Truth, *, by_key: bool) -> list[int]:
    """Draw around the left half of the map; gives the rows that must be in it."""
    at = place(page, truth.xy(layout_of(page)))
    middle = float(np.median(at[:, 0]))
    low, high = float(at[:, 0].min()) - 15, middle + 0.5
    corners = [(low, 56), (high, 56), (high, 636), (low, 636), (low, 57)]
    if by_key:
        page.keyboard.press("l")
        expect(page.locator("#lasso")).to_have_attribute("aria-pressed", "true")
    else:
        page.keyboard.down("Shift")
    page.mouse.move(*corners[0])
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(x, y, steps=2)
    page.mouse.up()
    page.keyboard.up("Shift")
    return [int(row) for row in np.flatnonzero(at[:, 0] < middle)]


def lasso_selects_and_lists(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    whole = camera_of(page)
    rows = _lasso(page, truth, by_key=False)
    see_selected(page, truth, rows)
    page.get_by_role("button", name="Page on").click()
    expect(page.locator("#selection-page")).to_have_text(f"{PAGE + 1}\u2013{len(rows)} of {len(rows)}")
    expect(page.locator(".nodes .name")).to_have_text([truth.names[row] for row in sorted(rows)[PAGE:]])
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator("#panel")).to_be_hidden()
    assert eventually(page, lambda: np.allclose(camera_of(page), whole)), "the map does not fill the view again"
    see_selected(page, truth, _lasso(page, truth, by_key=True))


def _saved(page: Page, kind: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Export as {kind}").click()
    download: Download = waiting.value
    assert download.suggested_filename == f"papers.parquet-selection.{kind.lower()}"
    return Path(download.path()).read_text("utf-8")


def export_is_the_selection(page: Page, truth: Truth) -> None:
    rows = list(range(60))
    visit(page, f"{truth.url}#select=0-59&panel=selection")
    lines = list(csv.DictReader(io.StringIO(_saved(page, "CSV"), newline="")))
    records = json.loads(_saved(page, "JSON"))
    xy = truth.xy(layout_of(page))
    for exported in (lines, records):
        assert [record["node"] for record in exported] == [truth.names[row] for row in rows], "other nodes"
        assert [int(record["degree"]) for record in exported] == [len(truth.adjacent(row)) for row in rows]
        at = np.array([[float(record["x"]), float(record["y"])] for record in exported])
        np.testing.assert_allclose(at, xy[rows], atol=1e-6)


def neighbors_are_selected(page: Page, truth: Truth) -> None:
    open_card(page, truth, 30)
    best = np.argsort(-truth.scores(30, "cosine"))[:K]
    expect(page.locator(".neighbors .line")).to_have_count(K)
    page.locator("#select-neighbors").press("Enter")
    see_selected(page, truth, [30, *map(int, best)])


def layouts_are_switched(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    page.select_option("#layout", "pca")
    expect(page.locator("#map")).to_have_attribute("data-layout", "pca")
    row = int(lonely(page, truth)[0])
    x, y = spot(page, truth, row)
    page.mouse.click(x, y)
    see_card(page, truth.names[row])


def link_restores_the_view(page: Page, truth: Truth) -> None:
    visit(page, f"{truth.url}#row=33&select=3-5,9&layout=pca&color=degree&theme=dark&score=dot&camera=0.1,-0.05,0.7")
    page.locator("#map").press("+")
    page.locator("#link").click()
    expect(page.locator("#toast")).to_contain_text("ink")
    camera = camera_of(page)
    link = page.url
    other = page.context.new_page()
    try:
        visit(other, link)
        np.testing.assert_allclose(camera_of(other), camera, atol=1e-3)
        see_card(other, truth.names[33])
        see_card(page, truth.names[33])
        for where, name, value in (
            ("html", "data-theme", "dark"), ("#map", "data-color", "degree"), ("#map", "data-layout", "pca")
        ):  # fmt: skip
            expect(other.locator(where)).to_have_attribute(name, value)
        expect(other.locator("#score")).to_have_value("dot")
        other.keyboard.press("s")
        see_selected(other, truth, [3, 4, 5, 9])
    finally:
        other.close()


def keys_are_enough(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    page.locator("#map").focus()
    camera = camera_of(page)
    for key in ("ArrowRight", "ArrowUp", "+"):
        before = page.get_attribute("#map", "data-camera") or ""
        page.keyboard.press(key)
        expect(page.locator("#map")).not_to_have_attribute("data-camera", before)
    moved = camera_of(page)
    assert moved[0] > camera[0] and moved[1] > camera[1] and moved[2] < camera[2], "arrows and + do not move the map"
    at = place(page, truth.xy(layout_of(page)))
    legend = page.locator("#legend").bounding_box()
    box = page.locator("#map").bounding_box()
    assert legend is not None and box is not None
    left, right = legend["x"] + legend["width"] + 16, box["width"] - 36
    middle = np.array([(left + right) / 2, box["y"] + box["height"] / 2])
    row = int(np.linalg.norm(at - middle, axis=1).argmin())
    page.keyboard.press("Enter")
    see_card(page, truth.names[row])
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def about_tells_how_it_was_made(page: Page, truth: Truth) -> None:
    visit(page, truth.url)
    page.locator("#about").press("Enter")
    for fact in ("methodrefine", "dim16", "seed0"):
        expect(page.locator("#recipe")).to_contain_text(fact)
    expect(page.locator("#about-facts")).to_contain_text(f"{len(truth.edges):,} edges")
    for score in truth.info["scores"]:
        expect(page.locator("#scores")).to_contain_text(score["name"])


def narrow_windows_have_a_sheet(page: Page, truth: Truth) -> None:
    page.set_viewport_size({"width": 375, "height": 700})
    open_card(page, truth, 30)
    see_card(page, truth.names[30])
    box = page.locator("#panel").bounding_box()
    assert box is not None and (box["x"], box["width"]) == (0, 375)
    assert box["y"] > 250 and abs(box["y"] + box["height"] - 700) < 1
    assert page.evaluate("document.documentElement.scrollWidth") == 375, "the page is wider than the window"
    x, y = spot(page, truth, 30)
    assert 0 < x < 375 and 92 < y < box["y"], "the sheet covers the node"


# Lies: an endpoint answers with another node's, column's or embedding's data, as the browser sees it.


@dataclass(frozen=True)
class _Routed:
    pattern: str
    route: Callable[[Route], None]

    def __call__(self, page: Page) -> None:
        page.route(re.compile(self.pattern), self.route)


Lie = Callable[[Page], None]


def _asked_for(pattern: str, **changed: str | None) -> Lie:
    """Ask the server something else than the page did; None leaves a parameter out."""

    def route(route: Route) -> None:
        parts = urlsplit(route.request.url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changed
        changed_query = {name: value for name, value in query.items() if value is not None}
        route.fulfill(response=route.fetch(url=parts._replace(query=urlencode(changed_query)).geturl()))

    return _Routed(pattern, route)


def _next_row(pattern: str) -> Lie:
    """Answer for the node one row further."""

    def route(route: Route) -> None:
        if route.request.method == "POST":
            rows = [row + 1 if row < 150 else row - 1 for row in json.loads(route.request.post_data or "")["rows"]]
            route.fulfill(response=route.fetch(post_data=json.dumps({"rows": rows})))
        else:
            changed = re.sub(r"\brow=(\d+)", lambda match: f"row={(int(match[1]) + 1) % 150}", route.request.url)
            route.fulfill(response=route.fetch(url=changed))

    return _Routed(pattern, route)


def _rolled(pattern: str, size: int) -> Lie:
    """Give every node the bytes of the one before it."""

    def route(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.body()[-size:] + response.body()[:-size])

    return _Routed(pattern, route)


def _change_recipe(route: Route) -> None:
    response = route.fetch()
    info = response.json()
    recipe = {**info["recipe"], "seed": 17, "dim": 8}
    route.fulfill(response=response, json={**info, "recipe": recipe, "dim": 8})


NODE = _next_row(r"/api/nodes\?row=")
LISTED = _next_row(r"/api/nodes$")
NEIGHBORS = _next_row(r"/api/neighbors")
EGO = _next_row(r"/api/ego")
FOUND = _asked_for(r"/api/nodes\?prefix=", prefix="paper 2")
PLACES = _rolled(r"/api/coordinates", 8)
PCA = _rolled(r"/api/coordinates\?layout=pca", 8)
ANY_LABEL = _asked_for(r"/api/neighbors", label=None)
LINKED = _asked_for(r"/api/neighbors", exclude_linked="false")
CODES = _rolled(r"/api/columns/(label|community)", 2)
NUMBERS = _rolled(r"/api/columns/(degree|year)", 4)
RECIPE = _Routed("/api/info", _change_recipe)
