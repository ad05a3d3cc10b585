"""Fill the tables of the documentation from ``docs/results/*.json``, which the benchmarks write.

``python scripts/figures.py`` fills the README and the pages of docs/; a test holds them to the results. A table lies
between two comments of a page, and is replaced as a whole, with a line that gives its date, processor and command::

    <!-- table: peers.speed -->
    <!-- /table -->

A single figure within a sentence names the table, the row by its first cell, and the column::

    about <!-- figure: peers.speed | ProNE | seconds -->274<!-- /figure --> seconds
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
TABLE = re.compile(r"(<!-- table: ([\w-]+)\.(\w+) -->\n).*?(<!-- /table -->)", re.DOTALL)
FIGURE = re.compile(r"(<!-- figure: ([\w-]+)\.(\w+) \| ([^|]+?) \| ([^|]+?) -->)[^<]*(<!-- /figure -->)")


def find_pages(root: Path = ROOT) -> Iterator[Path]:
    """Yield the pages that may show results."""
    yield root / "README.md"
    folders = ("tutorials", "guides", "explanation")
    yield from sorted(page for folder in folders for page in (root / "docs" / folder).glob("*.md"))


@cache
def read_result(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Return what a benchmark has written."""
    result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return result


def fill(text: str, folder: Path = RESULTS) -> str:
    """Return a page with its tables and figures as the results have them."""

    def table(found: re.Match[str]) -> str:
        if not (folder / f"{found[2]}.json").exists():
            waiting = f"*Not measured yet on this version: `python scripts/measure.py --only {found[2]}`*"
            return f"{found[1]}{waiting}\n{found[4]}"
        result = read_result(found[2], folder)
        return f"{found[1]}{show_table(result['tables'][found[3]])}\n\n{show_source(result)}\n{found[4]}"

    def figure(found: re.Match[str]) -> str:
        contents = read_result(found[2], folder)["tables"][found[3]]
        row = next(row for row in contents["rows"] if row[0] == found[4])
        return f"{found[1]}{row[contents['columns'].index(found[5])]}{found[6]}"

    return FIGURE.sub(figure, TABLE.sub(table, text))


def show_table(table: dict[str, Any]) -> str:
    """Return a table as Markdown.

    Examples
    --------
    >>> print(show_table({"columns": ["", "seconds"], "rows": [["fast", "2.6"]]}))
    |  | seconds |
    |---|---|
    | fast | 2.6 |
    """
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    lines[1] = lines[1].replace(" ", "")
    return "\n".join(lines)


def show_source(result: dict[str, Any]) -> str:
    """Return the line below a table: date, processor and command."""
    machine = result["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores"
    return f"*{result['date'][:10]}, {where}, graphrefine {result['version']}: `{result['command']}`*"


def find_missing(text: str, folder: Path = RESULTS) -> list[str]:
    """Return the results that a page asks for and that were not measured."""
    names = dict.fromkeys(found[1] for pattern in (TABLE, FIGURE) for found in pattern.findall(text))
    return [name for name in names if not (folder / f"{name}.json").exists()]


def main() -> None:
    """Fill all pages."""
    for page in find_pages():
        text = page.read_text(encoding="utf-8")
        if missing := find_missing(text):
            print(f"{page.relative_to(ROOT).as_posix()}: not measured yet: {', '.join(missing)}")
        filled = fill(text)
        if filled != text:
            page.write_text(filled, encoding="utf-8")
            print(page.relative_to(ROOT).as_posix())


if __name__ == "__main__":
    main()
