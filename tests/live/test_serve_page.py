"""The page of ``graphrefine live serve`` in a real browser: figures, nodes that move, names as text, axe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_servers import HTML, NODES, ask_server, serving_live, write_folder
from playwright.sync_api import Browser, Page, expect

from explore_pages import check_axe, chromium, chromium_path, eventually, watched
from explore_servers import Server

INK = """() => {
  const canvas = document.getElementById("plane");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0;
  for (let at = 3; at < data.length; at += 4) sum += data[at] ? (at % 65521) + 1 : 0;
  return sum;
}"""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    chromium_path()
    with serving_live(write_folder(tmp_path)) as each:
        yield each


def open_page(page: Page, server: Server) -> None:
    page.goto(server.url)
    expect(page.locator("#status")).to_have_text("Up to date once a second.")


def ink(page: Page) -> int:
    """A sum of what is drawn, once it stays."""
    sums = [-1, 0]

    def stays() -> bool:
        sums[:] = sums[1], page.evaluate(INK)
        page.wait_for_timeout(200)
        return 0 < sums[0] == sums[1]

    assert eventually(page, stays)
    return sums[0]


def test_the_map_and_the_figures_follow_changes(chrome: Browser, server: Server) -> None:
    with watched(chrome) as seen:
        page = seen.page
        open_page(page, server)
        assert "token" not in page.url and page.title() == "ring.live: graphrefine live"
        expect(page.locator("#nodes")).to_have_text(str(NODES))
        expect(page.locator("#shown")).to_have_text(f"{NODES} of {NODES} nodes are drawn")
        expect(page.locator("#refreshed")).to_have_text("none yet")
        page.select_option("#x", index=4)  # other axes, another map
        drawn = ink(page)
        assert any("/api/live/map?x=4&y=1" in url for url in seen.requests)
        changes = [["+", "ann", HTML, 5.0], ["+", "ann", "n9"], ["-", "n40"]]
        ask_server(server, "/api/edges", request="a", changes=changes)
        expect(page.locator("#group")).to_have_text("1")
        expect(page.locator("#rate")).to_have_text("0.1")
        expect(page.locator("#last")).to_contain_text("s ago")
        expect(page.locator("#shown")).to_have_text(f"{NODES} of {NODES} nodes are drawn")
        assert eventually(page, lambda: page.evaluate(INK) != drawn)
        expect(page.locator("#moved button", has_text="ann")).to_be_visible()
        assert not seen.problems and all(f":{server.port}/" in url for url in seen.requests)


def test_names_are_text_and_keys_are_enough(chrome: Browser, server: Server) -> None:
    with watched(chrome) as seen:
        page = seen.page
        open_page(page, server)
        ask_server(server, "/api/edges", request="a", changes=[["+", HTML, f"{HTML}2", 9.0]])
        button = page.locator("#moved button", has_text=f"{HTML}2")
        expect(button).to_be_visible()
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#card-name")).to_have_text(f"{HTML}2")
        expect(page.locator("#card-facts")).to_contain_text("Degree 1")
        near = ask_server(server, "/api/live/neighbors?node=%3Cimg%20src%3Dx%20onerror%3D%22alert(1)%22%3E2&k=8")
        expect(page.locator("#card-near li")).to_have_count(8)
        for place, each in enumerate(near["neighbors"]):
            expect(page.locator("#card-near li").nth(place)).to_contain_text(each["node"])
        assert page.locator("img").count() == 0 and not seen.problems


def test_a_server_that_is_gone_is_told(chrome: Browser, server: Server) -> None:
    with watched(chrome) as seen:
        open_page(seen.page, server)
        server.process.terminate()
        server.process.wait(20)
        expect(seen.page.locator("#status")).to_have_text("The server does not answer; trying again.")


def test_motion_can_be_reduced(chrome: Browser, server: Server) -> None:
    """With motion, a node is between its two places for some frames; without, never."""
    count = """() => new Promise((done) => {
      const ways = new Set();
      const known = CanvasRenderingContext2D.prototype.arc;
      CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
        ways.add(`${x.toFixed(2)},${y.toFixed(2)}`);
        return known.call(this, x, y, ...rest);
      };
      setTimeout(() => done(ways.size), 4000);
    })"""
    ways = {}
    for number, motion in enumerate(("reduce", "no-preference")):
        with watched(chrome, reduced_motion=motion) as seen:
            open_page(seen.page, server)
            handle = seen.page.evaluate_handle(f"() => {{ window.ways = ({count})(); }}")
            ask_server(server, "/api/edges", request=f"r{number}", changes=[["=", "n1", "n30", 50.0 + 500 * number]])
            ways[motion] = seen.page.evaluate("() => window.ways")
            handle.dispose()
    assert 0 < ways["reduce"] <= NODES + 2
    assert ways["no-preference"] > ways["reduce"], ways


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 390])
def test_axe_finds_nothing_serious(chrome: Browser, server: Server, scheme: str, width: int) -> None:
    with watched(chrome, color_scheme=scheme, viewport={"width": width, "height": 700}, bypass_csp=True) as seen:
        open_page(seen.page, server)
        ask_server(server, "/api/edges", request="a", changes=[["+", "ann", "n9"]])
        seen.page.locator("#moved button").first.click()
        expect(seen.page.locator("#card")).to_be_visible()
        check_axe(seen.page)
