"""Embeddings in a notebook: a small table of HTML, each vector a strip of colors.

It looks at a few rows alone, for any size. A number near zero is transparent: strips suit light and
dark pages. The template is ``embedding.html`` of `graphrefine.display`; it escapes names and settings.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.html import count_of, render, shorten
from graphrefine.embedding.state import StatefulVectors
from graphrefine.kernels.numerics import describe_numerics

# Few rows and numbers: a notebook stores each output in its file.
FIRST = 5  # rows from the top; and one from the end
FIRST_OF_SIDE = 3  # rows of each side, where there are two
NUMBERS = 64  # of a vector, at most
OPACITIES = (0.15, 0.4, 0.7, 1.0)  # of numbers, from small to large


def embedding_html(embedding: StatefulVectors) -> str:
    """Return an embedding for a notebook: its size, its origin and its first rows."""
    title = f"{count_of(len(embedding), 'node')} × {embedding.dim:,}"  # noqa: RUF001  the sign of a product
    reading = embedding.recipe.get("reading")
    lines = [_origin(embedding.recipe), *([f"graph: {reading}"] if reading else []), _storage(embedding)]
    heads, rows = _table(embedding) if len(embedding) and embedding.dim else ([], [])
    shown = {name: value for name, value in embedding.recipe.items() if value is not None and name != "reading"}
    recipe = ", ".join(_setting_text(name.replace("_", " "), value) for name, value in shown.items())
    return render("embedding.html", title=title, lines=lines, heads=heads, rows=rows, recipe=recipe)


def _origin(recipe: dict[str, Any]) -> str:
    """Return method, kind of graph, and the settings that most people look for."""
    if "method" not in recipe:
        return "how it was made is not recorded"
    graph = {"rows": "bipartite graph", "columns": "directed graph"}.get(recipe.get("sides", ""))
    texts = {"quality": "quality {}", "seed": "seed {}", "version": "graphrefine {}"}
    settings = [text.format(recipe[name]) for name, text in texts.items() if name in recipe]
    return ", ".join([f"by {recipe['method']}", *([graph] if graph else []), *settings, describe_numerics(recipe)])


def _storage(embedding: StatefulVectors) -> str:
    """Return type, size and file of the vectors, and isolated nodes."""
    size = embedding.vectors.nbytes
    facts = [f"float32, {size / 1e6:,.0f} MB" if size >= 1e6 else f"float32, {size / 1e3:,.1f} kB"]
    if embedding.path is not None:
        facts.append(f"from {embedding.path}")
    if embedding.degrees is not None and (isolated := int((embedding.degrees == 0).sum())):
        facts.append(f"{isolated:,} isolated")
    return "; ".join(facts)


def _table(embedding: StatefulVectors) -> tuple[list[str], list[list[Any]]]:
    """Return the heads, and the first rows: names, side, degree, and the vector as a strip."""
    rows = _first_rows(embedding)
    numbers = np.array(embedding.vectors[rows, :NUMBERS])  # a copy of these few
    finite = np.isfinite(numbers)
    scale = float(np.quantile(np.abs(numbers[finite]), 0.98)) if finite.any() else 0.0
    shares = np.divide(numbers, scale, out=np.zeros_like(numbers), where=finite & (scale > 0))
    columns: dict[str, list[Any]] = {"node": [shorten(embedding.names[row]) for row in rows]}
    if embedding.sides.kind == "rows":
        columns["side"] = ["source" if row < embedding.sides.start else "target" for row in rows]
    if embedding.degrees is not None:
        columns["degree"] = [f"{float(embedding.degrees[row]):,g}" for row in rows]
    head = f"first {NUMBERS} of {embedding.dim:,} numbers" if embedding.dim > NUMBERS else "vector"
    limits = f", −{scale:.2g} (orange) to {scale:.2g} (blue)" if scale else ""  # noqa: RUF001  a minus
    columns[head + limits] = [_strip(share) for share in shares]
    lines: list[list[Any]] = []
    for position, cells in enumerate(zip(*columns.values(), strict=True)):
        if position and rows[position] != rows[position - 1] + 1:
            lines.append(["⋮"] + [""] * (len(columns) - 1))
        lines.append([*cells])
    return [*columns], lines


def _first_rows(embedding: StatefulVectors) -> list[int]:
    """Return the first rows and the last one; of two sides, the first of each."""
    count, split = len(embedding), embedding.sides.first("target")
    ends = [(0, split, FIRST_OF_SIDE), (split, count, FIRST_OF_SIDE)] if split else [(0, count, FIRST)]
    rows = [row for first, last, most in ends for row in range(first, min(first + most, last))]
    return [*rows, count - 1] if rows and rows[-1] < count - 1 else rows


def _strip(shares: NDArray[np.float32]) -> dict[str, Any]:
    """Return numbers as cells of a strip, one path for each color: the further from zero, the stronger."""
    width = max(5, min(14, 320 // len(shares)))
    levels = np.minimum((np.sqrt(np.abs(shares)) * len(OPACITIES)).astype(np.int64), len(OPACITIES) - 1)
    paths = []
    for sign in (1, -1):
        for level, opacity in enumerate(OPACITIES):
            cells = np.flatnonzero((np.sign(shares) == sign) & (levels == level)).tolist()
            if cells:
                outline = "".join(f"M{cell * width + 0.5} .5h{width}v14h-{width}z" for cell in cells)
                paths.append({"d": outline, "sign": sign, "opacity": f"{opacity:g}"})
    return {"width": len(shares) * width, "paths": paths}


def _setting_text(name: str, value: Any) -> str:
    """Return a setting in words, such as "power 5", "center" or "not two sided"."""
    if isinstance(value, bool):
        return shorten(name if value else f"not {name}", 80)
    return shorten(f"{name} {value if isinstance(value, str) else json.dumps(value)}", 120)
