"""A map as one HTML page to look around in: no request to anywhere, nothing to install, up to a million points.

Coordinates are 16 bits an axis and classes 8 bits, in base64; names are JSON that cannot end its script. The template
is ``map.html`` of `graphrefine.display`, the script ``map.js`` beside it.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.colors import DARK, LIGHT
from graphrefine.display.html import render
from graphrefine.display.maps.points import MapPoints

NONE = 255  # the code of points without a class
MOST = 41  # classes; the rest are one of them


def render_page(node_map: MapPoints) -> str:
    """The page.

    Examples
    --------
    >>> from graphrefine.display.maps import Map
    >>> page = render_page(Map(np.array(["</script><b>"], object), np.zeros((1, 2), np.float32), title="<i>"))
    >>> "<b>" in page, "<i>" in page, page.count("</script>")
    (False, False, 2)
    """
    digest = b64encode(sha256(render("map.js").encode()).digest()).decode()
    return render("map.html", title=node_map.title or "Map", digest=digest, figures=_figures(node_map))


def _figures(node_map: MapPoints) -> dict[str, Any]:
    places = np.round((node_map.coordinates.astype(np.float64) + 1) / 2 * 65535).astype("<u2")
    figures: dict[str, Any] = {
        "count": len(node_map),
        "places": _pack(places),
        "names": [name if isinstance(name, int) else str(name) for name in node_map.names.tolist()],
        "classes": [],
        "light": LIGHT.classes,
        "dark": DARK.classes,
        "grey": {"light": LIGHT.other, "dark": DARK.other},
        "one": {"light": LIGHT.single, "dark": DARK.single},
    }
    if node_map.classes is not None:
        frequent = node_map.classes.most_frequent(MOST)
        figures["classes"] = [*zip(frequent.names, frequent.counts.tolist(), strict=True)]
        figures["codes"] = _pack(np.where(frequent.codes < 0, NONE, frequent.codes).astype(np.uint8))
        figures["without"] = int((frequent.codes < 0).sum())
    return figures


def _pack(numbers: NDArray[Any]) -> str:
    return b64encode(numbers.tobytes()).decode()
