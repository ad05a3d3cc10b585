"""A map as one HTML page to look around in: no request to anywhere, nothing to install, up to a million points.

Coordinates are 16 bits an axis and classes 8 bits, in base64; names are JSON in which no ``<`` is left, so that no name
can end its script. The policy of the page allows its own script, by its hash, and nothing else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.maps.picture import DARK, GREY, LIGHT, ONE

if TYPE_CHECKING:
    from graphrefine.maps.map import Map

NONE = 255  # the code of points without a class
MOST = 41  # classes; the rest are one of them


def as_page(drawn: Map) -> str:
    """The page.

    Examples
    --------
    >>> from graphrefine.maps import Map
    >>> page = as_page(Map(np.array(["</script><b>"], object), np.zeros((1, 2), np.float32), title="<i>"))
    >>> "<b>" in page, "<i>" in page, page.count("</script>")
    (False, False, 2)
    """
    script, style = (Path(__file__).with_name(f"page.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    title = escape(drawn.title or "Map")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<form id="find" role="search">
<label for="name">Find a node</label> <input id="name" autocomplete="off" spellcheck="false"> <button>Go</button>
</form>
<p id="told" role="status"></p>
</header>
<main>
<canvas id="map" tabindex="0" role="img" aria-label="Map: arrow keys move, plus and minus zoom, 0 shows all"></canvas>
<div id="tip" hidden></div>
<aside id="legend" aria-label="Classes"></aside>
</main>
<script type="application/json" id="data">{_safe(_data(drawn))}</script>
<script>{script}</script>
</body>
</html>
"""


def _safe(data: dict[str, Any]) -> str:
    """JSON that stands in a page as it is."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(drawn: Map) -> dict[str, Any]:
    places = np.round((drawn.coordinates.astype(np.float64) + 1) / 2 * 65535).astype("<u2")
    data: dict[str, Any] = {
        "count": len(drawn),
        "places": _packed(places),
        "names": [name if isinstance(name, int) else str(name) for name in drawn.names.tolist()],
        "classes": [],
        "light": [*LIGHT],
        "dark": [*DARK],
        "grey": GREY,
        "one": ONE,
    }
    if drawn.classes is not None:
        few = drawn.classes.most_frequent(MOST)
        data["classes"] = [[name, count] for name, count in zip(few.names, few.counts.tolist(), strict=True)]
        data["codes"] = _packed(np.where(few.codes < 0, NONE, few.codes).astype(np.uint8))
        data["without"] = int((few.codes < 0).sum())
    return data


def _packed(numbers: NDArray[Any]) -> str:
    return b64encode(numbers.tobytes()).decode()
