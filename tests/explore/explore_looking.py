"""Looking at the page of ``graphrefine explore``: where points are, which colors they have, what is listed."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explore_pages import Truth, place, visit

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
