"""The page of a map in a real browser: it draws, finds, tells and hides; nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from explore_pages import check_axe, chromium, eventually
from graphrefine.display.colors import DARK, LIGHT
from graphrefine.display.maps import Map
from graphrefine.display.maps.points import Classes

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = "</script><b>&\"'"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A map of four points: two red ones on the left, one of another class on the right, one without a class."""
    places = np.array([[-0.9, -0.9], [-0.9, 0.9], [0.9, 0.9], [0, 0]], np.float32)
    classes = Classes(("red", EVIL), np.array([0, 0, 1, -1], np.int32), np.array([2, 1]))
    names = np.array(["ada", "bob", EVIL, "dee"], object)
    Map(names, places, classes, title="Four <people>").save(tmp_path / "map.html")
    opened = browser.new_page(viewport={"width": 900, "height": 600}, color_scheme="light")
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith("file:") else None)
    opened.goto((tmp_path / "map.html").as_uri())
    # The page's policy lets nobody wait for a function of the page's own.
    assert eventually(opened, lambda: drawn(opened, LIGHT.classes[1]) > 10), "the map is not drawn"
    yield opened
    opened.close()
    assert wrong == []


def drawn(page: Page, tone: str) -> int:
    """How many pixels of the map have a color."""
    counted: Any = page.evaluate(
        """tone => {
        const canvas = document.getElementById("map");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const [r, g, b] = [1, 3, 5].map((at) => parseInt(tone.slice(at, at + 2), 16));
        let count = 0;
        for (let at = 0; at < pixels.length; at += 4)
            count += pixels[at] === r && pixels[at + 1] === g && pixels[at + 2] === b && pixels[at + 3] === 255;
        return count; }""",
        tone,
    )
    return int(counted)


def test_points_are_drawn_by_class_and_hidden_by_its_button(page: Page) -> None:
    assert page.inner_text("h1") == "Four <people>"
    assert eventually(page, lambda: drawn(page, LIGHT.classes[0]) == 2 * drawn(page, LIGHT.classes[1]) > 20)
    before = drawn(page, LIGHT.classes[0])
    button = page.get_by_role("button", name="red 2")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert eventually(page, lambda: drawn(page, LIGHT.classes[0]) == 0 < drawn(page, LIGHT.classes[1]))
    button.press("Enter")
    assert eventually(page, lambda: drawn(page, LIGHT.classes[0]) == before > 20)


def test_a_node_is_found_by_its_name(page: Page) -> None:
    page.get_by_label("Find a node").fill("BO")
    page.keyboard.press("Enter")
    assert page.inner_text("#status") == "bob: red"
    page.get_by_label("Find a node").fill("zoe")
    page.keyboard.press("Enter")
    assert page.inner_text("#status") == "no node is called zoe"


def test_the_pointer_tells_the_name_of_the_point_below_it(page: Page) -> None:
    box = page.locator("#map").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"]) * 0.94
    places = {EVIL: (0.9, 0.9), "ada": (-0.9, -0.9), "dee": (0.0, 0.0)}
    for name, (x, y) in places.items():
        at = box["x"] + box["width"] / 2 + x / 2 * side, box["y"] + box["height"] / 2 - y / 2 * side
        page.mouse.move(*at)
        assert eventually(page, lambda name=name: page.inner_text("#tip").startswith(name))  # type: ignore[misc]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    assert eventually(page, lambda: not page.is_visible("#tip"))


def test_keys_move_and_zoom_the_map(page: Page) -> None:
    other = drawn(page, LIGHT.classes[1])
    page.locator("#map").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    assert eventually(page, lambda: drawn(page, LIGHT.classes[1]) == 0), "what was on the right is in sight"
    page.keyboard.press("0")
    assert eventually(page, lambda: drawn(page, LIGHT.classes[1]) == other)
    for _ in range(6):
        page.keyboard.press("+")
    assert eventually(page, lambda: drawn(page, LIGHT.classes[0]) == drawn(page, LIGHT.classes[1]) == 0), (
        "more than the middle is in sight"
    )


def test_the_page_is_dark_where_the_system_is(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    assert eventually(page, lambda: drawn(page, DARK.classes[0]) > 10 and drawn(page, LIGHT.classes[0]) == 0)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


def test_axe_finds_nothing_serious(page: Page) -> None:
    check_axe(page)
