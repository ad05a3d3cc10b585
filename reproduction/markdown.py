"""The report as Markdown, which `scripts/publish_results.py` turns into a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphrefine.display.machine import describe_machine
from graphrefine.display.plots import can_draw
from graphrefine.display.report import Cell, Report, Table, paragraphs


def render_markdown(report: Report, facts: Mapping[str, Any]) -> str:
    """Render a report; `facts` are those of its results.json."""
    lines = [f"# {escape_markdown(report.title)}", ""]
    for section in report.sections:
        lines += [f"## {escape_markdown(section.title)}", "", *_render_texts(section.text)]
        for table in section.tables:
            lines += [*_render_table(table), "", *_render_texts(table.note)]
        for plot in section.plots if can_draw() else ():
            lines += [f"![{escape_markdown(plot.title)}](plots/{plot.name}.svg)", "", *_render_texts(plot.note)]
    lines += ["---", "", f"graphrefine {facts['version']}, {facts['date']}  "]
    if facts["command"]:
        lines.append(f"`{facts['command'].replace('`', '')}`  ")
    return "\n".join([*lines, escape_markdown(describe_machine(facts["machine"])), ""])


def _render_texts(text: str) -> Iterator[str]:
    for paragraph in paragraphs(text):
        yield escape_markdown(paragraph)
        yield ""


def _render_table(table: Table) -> Iterator[str]:
    yield _join(escape_markdown(name) for name in table.header)
    yield _join("---:" if numeric else ":---" for numeric in table.numeric_columns())
    for row in table.cells():
        yield _join(map(_render_cell, row))


def _join(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _render_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    return f"**{text}**{cell.sign}" if cell.mark == "good" and text.strip() else f"{text}{cell.sign}"


def escape_markdown(text: str) -> str:
    r"""Escape text for Markdown and HTML, on one line.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> *c* & d"))
    a\|b \<i\> \*c\* &amp; d
    """
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|~$#!])", r"\\\1", one_line.replace("&", "&amp;"))
