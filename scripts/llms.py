"""Write ``llms.txt`` and ``llms-full.txt`` into the built site, for readers that are language models.

``python scripts/llms.py docs/_build`` does it, and ``make docs`` after it has built the site. The first is a list of
the pages with their first sentences (https://llmstxt.org), the second has their text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent.parent / "docs"
PARTS = ("tutorials", "guides", "reference", "explanation")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
HEAD = """# graphrefine

> Node embeddings for any graph: one command or one call, node names kept, the same vectors every time.
"""


class Page(NamedTuple):
    """A page: its path below docs/, its title, its first paragraph and its text."""

    path: str
    title: str
    summary: str
    text: str


def read_page(path: Path) -> Page:
    """Return a page without its comments."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    title = text.partition("\n")[0].removeprefix("# ")
    summary = " ".join(text.split("\n\n")[1].split())
    return Page(path.relative_to(DOCS).as_posix(), title, summary, text)


def list_pages(part: str) -> Iterator[Page]:
    """Yield the pages of a part, the report of the paper aside."""
    yield from (read_page(path) for path in sorted((DOCS / part).glob("*.md")) if path.stem != "paper")


def write(site: Path) -> None:
    """Write both files into a folder."""
    index, full = [HEAD], [HEAD]
    for part in PARTS:
        index.append(f"## {part.capitalize()}\n")
        for page in list_pages(part):
            index.append(f"- [{page.title}]({page.path.replace('.md', '.html')}): {page.summary}")
            full.append(page.text)
        index.append("")
    (site / "llms.txt").write_text("\n".join(index), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
