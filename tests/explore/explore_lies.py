"""Lies: an endpoint answers with another node's, column's or embedding's data, as the browser sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, Route


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
LINKED = _asked_for(r"/api/neighbors", unlinked="false")
CODES = _rolled(r"/api/columns/(label|community)", 2)
NUMBERS = _rolled(r"/api/columns/(degree|year)", 4)
RECIPE = _Routed("/api/info", _change_recipe)
