"""The page of ``graphrefine explore`` in a real browser, over a real server: every feature, and lies about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from explore_checks import FEATURES, Check
from explore_lies import Lie
from explore_pages import Truth, Watched, chromium, explored, watched

QUICK, IMPATIENT = 8000, 800  # ms that something may take: where it must come, and where it must not


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


@pytest.mark.parametrize("check", [check for check, _ in FEATURES], ids=lambda check: check.__name__)
def test_feature(check: Check, seen: Watched, truth: Truth) -> None:
    check(seen.page, truth)
    assert seen.problems == []
    elsewhere = [url for url in seen.requests if not url.startswith((truth.url, "data:", "blob:"))]
    assert elsewhere == [], "a request left the server"


LIES = [
    pytest.param(check, lie, marks=[pytest.mark.slow] if i else [], id=f"{check.__name__}-{i}")
    for check, lies in FEATURES
    for i, lie in enumerate(lies)
]


@pytest.mark.parametrize(("check", "lie"), LIES)
def test_a_lie_is_noticed(check: Check, lie: Lie, seen: Watched, truth: Truth) -> None:
    expect.set_options(timeout=IMPATIENT)
    lie(seen.page)
    with pytest.raises(AssertionError):
        check(seen.page, truth)
