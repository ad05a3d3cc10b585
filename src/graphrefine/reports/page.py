"""A report as one HTML file: styles and pictures inside it, no script, no request to anywhere.

Light or dark as the reader's system is: every picture is there twice. Wide tables scroll by themselves, so that the
page fits a phone.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from graphrefine.reports.drawing import Picture
from graphrefine.reports.machine import in_words
from graphrefine.reports.parts import SIGNS, Cell, Plot, Report, Table, paragraphs

# Nothing may be loaded or run, even if a name got past the escaping.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONG = 24  # characters: a cell with more stays wide enough to be read, however narrow the page
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --page: #ffffff; --stripe: #f6f8fa;
  --good: #0a6b3d; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --line: #3d444d; --page: #14181d;
  --stripe: #1c2128; --good: #4fd191; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
p { margin: .5rem 0; }
.note, footer, nav { color: var(--soft); font-size: .875rem; }
nav a { color: inherit; margin-right: 1rem; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom-width: 2px; white-space: nowrap; }
tbody tr:nth-child(even) { background: var(--stripe); }
.right { text-align: right; white-space: nowrap; } .long { min-width: 16rem; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); } .missing { color: var(--soft); }
figure { margin: 1rem 0; } figure img { width: 100%; max-width: 46rem; height: auto; display: block; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
"""


def as_page(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Picture], note: str = "") -> str:
    """The page. Plots without a picture are left out, and `note` says why."""
    return "\n".join(_lines(report, facts, pictures, note)) + "\n"


def _lines(report: Report, facts: Mapping[str, Any], pictures: Mapping[str, Picture], note: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{escape(report.title)}</h1>"
    if note:
        yield f'<p class="note">{escape(note)}</p>'
    if len(report.sections) > 3:
        links = (f'<a href="#s{at}">{escape(s.title)}</a>' for at, s in enumerate(report.sections, 1))
        yield f"<nav>{' '.join(links)}</nav>"
    for at, section in enumerate(report.sections, 1):
        yield f'<section>\n<h2 id="s{at}">{escape(section.title)}</h2>'
        yield from (f"<p>{escape(text)}</p>" for text in paragraphs(section.text))
        for table in section.tables:
            yield from _table(table)
        for plot in section.plots:
            if plot.name in pictures:
                yield from _figure(plot, pictures[plot.name])
        yield "</section>"
    yield from _footer(facts)
    yield "</body>\n</html>"


def _footer(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"<footer>\n<p>graphrefine {escape(facts['version'])}, {escape(facts['date'])}</p>"
    if facts["command"]:
        yield f"<p><code>{escape(facts['command'])}</code></p>"
    yield f"<p>{escape(in_words(facts['machine']))}</p>\n</footer>"


def _table(table: Table) -> Iterator[str]:
    right = table.to_the_right()
    heads = (f"<th{_class('right' * to)}>{escape(name)}</th>" for name, to in zip(table.header, right, strict=True))
    yield f'<div class="wide" tabindex="0">\n<table>\n<thead><tr>{"".join(heads)}</tr></thead>\n<tbody>'
    for row in table.cells():
        yield f"<tr>{''.join(_cell(cell, to) for cell, to in zip(row, right, strict=True))}</tr>"
    yield "</tbody>\n</table>\n</div>"
    yield from (f'<p class="note">{escape(text)}</p>' for text in paragraphs(table.note))


def _cell(cell: Cell, right: bool) -> str:
    classes = " ".join(name for name in ("right" * right, "long" * (len(cell.text) > LONG), cell.mark) if name)
    return f"<td{_class(classes)}>{escape(cell.text)}{SIGNS[cell.mark]}</td>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _figure(plot: Plot, picture: Picture) -> Iterator[str]:
    dark, light = (f"data:image/svg+xml;base64,{b64encode(svg).decode()}" for svg in (picture.dark, picture.svg))
    yield f'<figure>\n<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
    yield f'<img src="{light}" alt="{escape(plot.title)}"></picture>'
    yield from (f'<figcaption class="note">{escape(text)}</figcaption>' for text in paragraphs(plot.note)[:1])
    yield "</figure>"
