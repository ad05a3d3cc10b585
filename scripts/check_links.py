"""Check the links of the built site: every link to a page, a file or a heading of it leads somewhere.

``python scripts/check_links.py docs/_build`` does it, and ``make docs`` after it has built the site.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Anchors(HTMLParser):
    """The links of a page, and the names that links can lead to.

    Examples
    --------
    >>> page = Anchors()
    >>> page.feed('<h1 id="top"><a href="other.html#there">there</a></h1><img src="picture.png">')
    >>> page.links, page.names
    (['other.html#there', 'picture.png'], {'top'})
    """

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and names of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def find_lost(folder: Path) -> Iterator[str]:
    """The links that lead nowhere, each with its page."""
    files = (path.resolve() for path in folder.rglob("*.html") if "_static" not in path.parts)  # the theme's templates
    pages = {path: Anchors() for path in files}
    for path, page in pages.items():
        page.feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages.get(target)
            if not target.exists() or (anchors and parts.fragment and unquote(parts.fragment) not in anchors.names):
                yield f"{path.relative_to(folder.resolve())}: {link} leads nowhere"


if __name__ == "__main__":
    lost = sorted(set(find_lost(Path(sys.argv[1]))))
    print("\n".join(lost) or "every link leads somewhere", file=sys.stderr)
    sys.exit(bool(lost))
