"""A report as one HTML file, and as Markdown that shows the pictures in ``plots/`` beside it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from graphrefine.visuals.html import render
from graphrefine.visuals.machine import describe_machine
from graphrefine.visuals.plots import Picture
from graphrefine.visuals.report import Cell, Report, paragraphs


def render_html(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Picture], note: str = "") -> str:
    """The page: styles and pictures inside it, no script. Plots without a picture are left out; `note` says why."""
    return _render("report.html", report, facts, pictures, note, title=report.title, svg_uri=_svg_uri)


def render_markdown(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Any], note: str = "") -> str:
    """The same as Markdown, as GitHub and others show it."""
    functions = {"markdown": escape_markdown, "markdown_cell": _markdown_cell, "markdown_code": _markdown_code}
    return _render("report.md", report, facts, pictures, note, **functions)


def _render(
    template: str, report: Report, facts: Mapping[str, Any], pictures: Mapping[str, Any], note: str, **others: Any
) -> str:
    machine = describe_machine(facts["machine"])
    figures = {"report": report, "facts": facts, "pictures": pictures, "note": note, "machine": machine}
    return render(template, **figures, paragraphs=paragraphs, **others)


def _svg_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def escape_markdown(text: str) -> Markup:
    r"""Text that means nothing to Markdown or HTML, on one line.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> *c* & d"))
    a\|b \<i\> \*c\* &amp; d
    """
    one_line = " ".join(text.split())
    return Markup(re.sub(r"([\\`*_\[\]<>|~$#!])", r"\\\1", one_line.replace("&", "&amp;")))


def _markdown_cell(cell: Cell) -> Markup:
    text = escape_markdown(cell.text)
    return (text if cell.mark != "good" or not text.strip() else "**" + text + "**") + cell.sign


def _markdown_code(text: str) -> Markup:
    """Text set as code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, pad = "`" * (longest + 1), " " * bool(longest)
    return Markup(f"{fence}{pad}{' '.join(text.split())}{pad}{fence}")
