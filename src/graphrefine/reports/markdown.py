"""A report as Markdown, as GitHub and others show it; pictures are in ``plots/`` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphrefine.reports.machine import in_words
from graphrefine.reports.parts import SIGNS, Cell, Report, Table, paragraphs


def as_markdown(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Any], note: str = "") -> str:
    """The page. Plots without a picture are left out, and `note` says why."""
    return "\n".join(_lines(report, facts, pictures, note)) + "\n"


def _lines(report: Report, facts: Mapping[str, Any], pictures: Mapping[str, Any], note: str) -> Iterator[str]:
    yield f"# {escape(report.title)}"
    if note:
        yield from ("", escape(note))
    for section in report.sections:
        yield from ("", f"## {escape(section.title)}")
        for text in paragraphs(section.text):
            yield from ("", escape(text))
        for table in section.tables:
            yield ""
            yield from _table(table)
            for text in paragraphs(table.note):
                yield from ("", escape(text))
        for plot in section.plots:
            if plot.name in pictures:
                yield from ("", f"![{escape(plot.title)}](plots/{plot.name}.png)")
                for text in paragraphs(plot.note):
                    yield from ("", escape(text))
    yield from ("", "---", "", f"graphrefine {facts['version']}, {facts['date']}  ")
    if facts["command"]:
        yield f"{_code(facts['command'])}  "
    yield escape(in_words(facts["machine"]))


def _table(table: Table) -> Iterator[str]:
    yield _row(map(escape, table.header))
    yield _row("---:" if right else ":---" for right in table.to_the_right())
    for row in table.cells():
        yield _row(map(_cell, row))


def _row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    return f"**{text}**{SIGNS[cell.mark]}" if cell.mark == "good" and text.strip() else text + SIGNS[cell.mark]


def escape(text: str) -> str:
    r"""Text that means nothing to Markdown or HTML, on one line.

    Examples
    --------
    >>> print(escape("a|b <i> *c* & d"))
    a\|b \<i\> \*c\* &amp; d
    """
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|~$#!])", r"\\\1", one_line.replace("&", "&amp;"))


def _code(text: str) -> str:
    """Text set as code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, pad = "`" * (longest + 1), " " * bool(longest)
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"
