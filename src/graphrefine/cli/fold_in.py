"""``graphrefine fold-in``: vectors for new nodes, from their edges to nodes that have one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.cli.describe import zero_rows
from graphrefine.display.console import note, seconds, show_json
from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import check_output
from graphrefine.graph.lookup import Unknown
from graphrefine.readers.read import read

NOTHING = {"edges": 0, "nodes": 0, "names": []}  # was left out


def fold_in(
    edges: str,
    old: str,
    output: str,
    output_format: str | None,
    extend: bool,
    unknown: Unknown,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write vectors for new nodes, from their edges to nodes that have one."""
    check_output(output, format=output_format)
    embedding = load(old)
    kind = {"bipartite": True} if embedding.sides.kind == "rows" else {"directed": True}
    graph = read(edges, **{**options, **kind, "threads": threads})
    note(f"read: {graph.reading}")
    start = perf_counter()
    new = embedding.fold_in(graph, unknown=unknown)
    spent = perf_counter() - start
    learnt, zeros = new.recipe["learnt"], zero_rows(new.vectors)
    (embedding.extended(new) if extend else new).save(output, format=output_format)
    if not learnt:
        note(f"note: {old} was saved without what folding in learns; the vectors are means of their neighbors'")
    if as_json:
        return show_json({
            "output": output, "into": old, "nodes": len(new), "edges": graph.edges, "dim": new.dim,
            "zero_vectors": zeros, "learnt": learnt, "extended": extend, "seconds": spent, "reading": graph.reading,
            **({"skipped": new.recipe.get("skipped", NOTHING)} if unknown == "skip" else {}),
        })  # fmt: skip
    print(f"{output}: {len(new):,} new nodes x {new.dim} from {graph.edges:,} edges in {seconds(spent)}")
    return None
