"""How embeddings and graphs look in a notebook: small tables of HTML, with numbers as drawings.

Nothing here takes longer than a blink, whatever the size: a few rows are looked at, and the degrees of at most a
million nodes. Colours are chosen for light and dark pages alike: text and lines take the page's own, a number near zero
is transparent. Whatever comes from outside, names above all, is escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.remarks import counted

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.graph.graph import Graph

FIRST = 5  # rows that are shown from the top; and one from the end
NUMBERS = 64  # of a vector, at most
MOST_NODES = 1 << 20  # whose degrees are looked at; of more, so many evenly spread ones
LETTERS = 40  # of a name
POSITIVE, NEGATIVE = "#2b8cc4", "#e0762b"
SHADES = (0.15, 0.4, 0.7, 1.0)  # opacities: from small to large

_BOX = "font-size:13px;line-height:1.45;max-width:760px;color:inherit"
_MUTED = "opacity:.65"
_PLAIN = "background:none;color:inherit"
_LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.3)"
_CELL = f"{_LINE};padding:2px 12px 2px 0;text-align:%s;white-space:nowrap;vertical-align:middle;{_PLAIN}"


def embedding_html(embedding: Embedding) -> str:
    """An embedding for a notebook: its size, how it was made, and its first rows.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> shown = embedding_html(Embedding(["ada", "<b>"], [[1, 0], [0.6, -0.8]], {"method": "refine"}))
    >>> "2 nodes × 2" in shown, "&lt;b&gt;" in shown, "<b>" in shown
    (True, True, False)
    """
    rows = _shown_rows(embedding)
    title = f"{_count(len(embedding), 'node')} × {embedding.dim:,}"  # noqa: RUF001  the sign of a product
    parts = [_title("Embedding", title), _line(_made(embedding.recipe)), _line(_kept(embedding))]
    if rows and embedding.dim:
        parts.append(_vectors(embedding, rows))
    return _box(*parts, _settings(embedding.recipe))


def graph_html(graph: Graph) -> str:
    """A graph for a notebook: its size and kind, its degrees drawn, and the nodes that have most.

    Examples
    --------
    >>> from graphrefine import Graph
    >>> "3 nodes, 2 edges" in graph_html(Graph.from_edges(["a", "b"], ["b", "c"]))
    True
    """
    title = f"{_count(graph.nodes, 'node')}, {_count(graph.edges, 'edge')}"
    kind = "directed" if graph.directed else "undirected"
    if graph.sources is not None:
        kind = f"bipartite: {graph.sources:,} sources, {graph.nodes - graph.sources:,} targets"
    facts = [kind, "weighted" if graph.weighted else "unweighted", f"{graph.isolated:,} isolated"]
    told = [f"from {graph.source}"] if graph.source != "memory" else []
    parts = [_title("Graph", title), _line(", ".join(facts)), _line("; ".join(told + _names_in_words(graph)))]
    if graph.edges:
        parts.append(_degrees(graph))
    return _box(*parts, *(_line(note) for note in counted(graph.report, edges=graph.edges)))


# ---------------------------------------------------------------- embeddings


def _shown_rows(embedding: Embedding) -> list[int]:
    """The first rows and the last one; of two sides, some of each."""
    count, split = len(embedding), embedding.sides.first("target")
    ends = [(0, split, 3), (split, count, 3)] if split else [(0, count, FIRST)]
    rows = [row for first, last, most in ends for row in range(first, min(first + most, last))]
    return [*rows, count - 1] if rows and rows[-1] < count - 1 else rows


def _made(recipe: dict[str, Any]) -> str:
    if "method" not in recipe:
        return "how it was made is not recorded"
    known = {"quality": "quality {}", "seed": "seed {}", "version": "graphrefine {}"}
    told = [text.format(recipe[name]) for name, text in known.items() if name in recipe]
    graph = {"rows": "bipartite", "columns": "directed"}.get(recipe.get("sides", ""))
    return ", ".join([f"by {recipe['method']}", *([f"{graph} graph"] if graph else []), *told])


def _kept(embedding: Embedding) -> str:
    size = embedding.vectors.nbytes
    told = [f"float32, {size / 1e6:,.0f} MB" if size >= 1e6 else f"float32, {size / 1e3:,.1f} kB"]
    if embedding.path is not None:
        told.append(f"from {embedding.path}")
    if embedding.degrees is not None and (alone := int((embedding.degrees == 0).sum())):
        told.append(f"{alone:,} isolated")
    return "; ".join(told)


def _vectors(embedding: Embedding, rows: list[int]) -> str:
    """A table of some rows, each vector as a strip of colours."""
    shown = np.array(embedding.vectors[rows, :NUMBERS])  # a copy of these few
    finite = np.isfinite(shown)
    scale = float(np.quantile(np.abs(shown[finite]), 0.98)) if finite.any() else 0.0
    shares = np.divide(shown, scale, out=np.zeros_like(shown), where=finite & (scale > 0))
    numbers = f"first {NUMBERS} of {embedding.dim:,} numbers" if embedding.dim > NUMBERS else "vector"
    sides = embedding.sides.kind == "rows"
    heads = ["node", *(["side"] if sides else []), *(["degree"] if embedding.degrees is not None else [])]
    lines = []
    for at, row in enumerate(rows):
        if at and row != rows[at - 1] + 1:
            lines.append(["⋮"] + [""] * len(heads))
        cells = [_name(embedding.names[row])]
        if sides:
            cells.append("source" if row < embedding.sides.start else "target")
        if embedding.degrees is not None:
            cells.append(f"{float(embedding.degrees[row]):,g}")
        lines.append([*cells, _strip(shares[at])])
    limits = f", −{scale:.2g} (orange) to {scale:.2g} (blue)" if scale else ""  # noqa: RUF001  a minus
    return _table([*heads, numbers + limits], lines, right={"degree"})


def _strip(shares: NDArray[np.float32]) -> str:
    """Numbers as cells of a strip: the further from zero, the stronger the colour."""
    width = max(5, min(14, 320 // len(shares)))
    levels = np.minimum((np.sqrt(np.abs(shares)) * len(SHADES)).astype(np.int64), len(SHADES) - 1)
    size = f'x=".5" y=".5" width="{len(shares) * width}" height="14"'
    paths = [f'<rect {size} fill="none" stroke="currentColor" stroke-opacity=".25"/>']
    for sign, colour in ((1, POSITIVE), (-1, NEGATIVE)):
        for level, shade in enumerate(SHADES):
            cells = np.flatnonzero((np.sign(shares) == sign) & (levels == level))
            if len(cells):
                drawn = "".join(f"M{cell * width + 0.5} .5h{width}v14h-{width}z" for cell in cells.tolist())
                paths.append(f'<path d="{drawn}" fill="{colour}" fill-opacity="{shade:g}"/>')
    return _svg("".join(paths), len(shares) * width + 1, 15, "the numbers of a vector as colours")


def _settings(recipe: dict[str, Any]) -> str:
    """All that the recipe says, folded away."""
    if not recipe:
        return ""
    told = ", ".join(_in_words(name.replace("_", " "), value) for name, value in recipe.items() if value is not None)
    label = '<summary style="cursor:pointer">recipe</summary>'
    return f'<details style="{_MUTED}">{label}{html.escape(told)}</details>'


def _in_words(name: str, value: Any) -> str:
    """A setting as people say it.

    Examples
    --------
    >>> _in_words("power", 5), _in_words("centre", True), _in_words("two sided", False)
    ('power 5', 'centre', 'not two sided')
    """
    if isinstance(value, bool):
        return _cut(name if value else f"not {name}", 80)
    return _cut(f"{name} {value if isinstance(value, str) else json.dumps(value)}", 120)


# ---------------------------------------------------------------- graphs


def _names_in_words(graph: Graph) -> list[str]:
    if not graph.nodes:
        return []
    first, last = graph.names_of([0, graph.nodes - 1]).tolist()
    return [f"names {_cut(repr(first))} to {_cut(repr(last))}" if graph.nodes > 1 else f"name {_cut(repr(first))}"]


def _degrees(graph: Graph) -> str:
    """The degrees as a histogram, and the nodes with the highest."""
    step = -(-graph.nodes // MOST_NODES)  # rounded up
    starts = np.arange(0, graph.nodes, step) if step > 1 else None
    counts = graph.out_counts if starts is None else graph.indptr[starts + 1] - graph.indptr[starts]
    about = "" if step == 1 else f" (of one node in {step})"
    name = "out-degree" if graph.directed else "degree"
    most = min(FIRST, len(counts))
    top = np.argpartition(counts, len(counts) - most)[len(counts) - most :]
    top = top[np.lexsort((top, -counts[top]))]
    middle = int(np.partition(counts, len(counts) // 2)[len(counts) // 2])
    told = f"{name}{about}: median {middle:,}, mean {counts.mean():,.1f}, highest {counts[top[0]]:,}"
    rows = [[_name(node), f"{counts[at]:,}"] for node, at in zip(graph.names_of(top * step), top, strict=True)]
    side = "display:inline-block;vertical-align:top;margin:4px 28px 4px 0"
    drawing = f'<div style="{side}">{_line(told)}{_histogram(counts, name)}</div>'
    return f'{drawing}<div style="{side}">{_table(["highest", name], rows, right={name})}</div>'


def _histogram(counts: NDArray[np.int64], name: str) -> str:
    """How many nodes have 0, 1, 2-3, 4-7 ... neighbours; the height is the logarithm."""
    bins = np.bincount(np.frexp(counts.astype(np.float64))[1])  # 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3
    first = 0 if bins[0] else 1
    heights = np.where(bins, 6 + 54 * np.log1p(bins) / np.log1p(bins.max()), 0)
    width = max(6, min(26, 320 // len(bins)))
    labelled = max(1, 44 // width)  # every so many bars, as labels need room
    drawn = []
    for place in range(first, len(bins)):
        low, left, height = 2**place // 2, (place - first) * width, round(heights[place])
        span = str(low) if place < 2 else f"{low:,} to {2 * low - 1:,}"
        tip = f"<title>{name} {span}: {_count(int(bins[place]), 'node')}</title>"
        box = f'x="{left}" y="{62 - height}" width="{width - 2}" height="{height}"'
        drawn.append(f'<rect {box} fill="{POSITIVE}">{tip}</rect>')
        if (place - first) % labelled == 0:
            at = f'x="{left + width // 2 - 1}" y="76" text-anchor="middle" font-size="10"'
            drawn.append(f'<text {at} fill="currentColor" fill-opacity=".7">{_short(low)}</text>')
    label = f"histogram of the {name}s, heights on a logarithmic scale"
    return _svg("".join(drawn), (len(bins) - first) * width + 12, 80, label)


def _short(number: int) -> str:
    """A power of two as people write it: 512, 1k, 2M.

    Examples
    --------
    >>> _short(512), _short(1024), _short(2**21)
    ('512', '1k', '2M')
    """
    for unit, name in ((2**20, "M"), (2**10, "k")):
        if number >= unit:
            return f"{number // unit}{name}"
    return str(number)


# ---------------------------------------------------------------- pieces of HTML


def _box(*parts: str) -> str:
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def _title(kind: str, text: str) -> str:
    return f'<div style="font-size:15px"><strong>{kind}</strong>&ensp;{html.escape(text)}</div>'


def _line(text: str) -> str:
    return f'<div style="{_MUTED}">{html.escape(text)}</div>' if text else ""


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], *, right: Collection[str] = ()) -> str:
    """A table; heads are text, cells are HTML."""
    styles = [_CELL % ("right" if head in right else "left") for head in heads]
    top = "".join(
        f'<th style="{style};font-weight:600;{_MUTED}">{html.escape(head)}</th>'
        for head, style in zip(heads, styles, strict=True)
    )
    rows = "".join(
        "<tr style='background:none'>"
        + "".join(f'<td style="{style}">{cell}</td>' for cell, style in zip(line, styles, strict=True))
        + "</tr>"
        for line in lines
    )
    style = "border-collapse:collapse;border:0;margin:6px 0;background:none"
    return f'<table style="{style}"><thead><tr style="background:none">{top}</tr></thead><tbody>{rows}</tbody></table>'


def _svg(drawn: str, width: float, height: float, label: str) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    told = f'role="img" aria-label="{html.escape(label)}" style="display:block;max-width:100%"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {told}>{drawn}</svg>'


def _name(name: Any) -> str:
    return html.escape(_cut(str(name)))


def _cut(text: str, letters: int = LETTERS) -> str:
    """Text that fits a cell; what no encoder takes (halves of characters) is replaced."""
    whole = text if len(text) <= letters else f"{text[: letters - 1]}…"
    return "".join(letter if letter.isprintable() else "�" for letter in whole)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"
