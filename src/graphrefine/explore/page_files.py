"""The files of the page, read once: an address is looked up in a table, and never becomes a path."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
MISSING = """<!doctype html><html lang="en"><title>graphrefine explore</title>
<h1>The page is not built</h1>
<p>This copy of graphrefine has no page in it. In a clone of its source, <code>make web</code> builds it.
<p>The API is here all the same: <a href="/api/info">/api/info</a>, <a href="/api/openapi.json">/api/openapi.json</a>.
"""


class File(NamedTuple):
    """The content of an address."""

    content: bytes
    media_type: str


def read_page(folder: Path = FOLDER) -> dict[str, File]:
    """Every file of the page by its address; ``/`` is index.html."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in TYPES)
    files = {f"/{path.relative_to(folder).as_posix()}": File(path.read_bytes(), TYPES[path.suffix]) for path in paths}
    index = files.pop("/index.html", None)
    files["/"] = index or File(MISSING.encode(), TYPES[".html"])
    return files
