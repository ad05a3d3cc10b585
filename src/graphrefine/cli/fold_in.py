"""``graphrefine fold-in``: vectors for new nodes, from their edges to nodes that have one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, count_zero_rows, is_same, read_graph
from graphrefine.display.console import note, seconds, show_json
from graphrefine.embedding.formats import check_output

NOTHING = {"edges": 0, "nodes": 0, "names": []}  # was left out


@command(
    "fold-in",
    first=("old", "output", "extend", "weights"),
    short_help="Vectors for new nodes, from their edges alone.",
    params=[
        click.Argument(["edges"], metavar="EDGES"),
        Option(["--into", "old"], required=True, metavar="OLD", help="The embedding that has the known nodes."),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="Where the vectors of the new nodes go; the suffix says how, as for graphrefine embed."),
        Option(["--extend"], is_flag=True, help="Write the known nodes too, the new ones below them."),
        opt.OUTPUT_FORMAT, opt.SKIP, opt.THREADS, opt.JSON,
        *(option for option in opt.READING if option.name not in ("directed", "bipartite", "nodes")),
    ],
)  # fmt: skip
def fold_in(
    edges: str, old: str, output: str, output_format: str | None, extend: bool, skip: bool, threads: int | None,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Compute vectors for new nodes from their edges to nodes of OLD, without its graph and in milliseconds.

    EDGES is a file as for graphrefine embed, whose edges lead from a new node to one of OLD, or to another new node:
    the new one comes first. Where OLD is of a directed or bipartite graph, edges lead from a source to a target, as in
    its graph, and one end of each is new.
    """
    from graphrefine.embedding.embedding import load

    # With --extend the output may be a newer version of the old embedding.
    check_not_input(output, [edges] if extend and is_same(old, output) else [edges, old])
    check_output(output, format=output_format)
    embedding = load(old)
    # An edge leads from the new node to a known one, in the file's order: undirected reading would lose which is which.
    kind = {"bipartite": True} if embedding.sides.kind == "rows" else {"directed": True}
    graph = read_graph(edges, **{**options, **kind, "threads": threads})
    start = perf_counter()
    new = embedding.fold_in(graph, unknown="skip" if skip else "error")
    spent = perf_counter() - start
    learnt, zeros = new.recipe["learnt"], count_zero_rows(new.vectors)
    (embedding.extended(new) if extend else new).save(output, format=output_format)
    if not learnt:
        note(f"note: {old} was saved without what folding in learns; the vectors are means of their neighbors'")
    if as_json:
        return show_json({
            "output": output, "into": old, "nodes": len(new), "edges": graph.edges, "dim": new.dim,
            "zero_vectors": zeros, "learnt": learnt, "extended": extend, "seconds": spent, "reading": graph.reading,
            **({"skipped": new.recipe.get("skipped", NOTHING)} if skip else {}),
        })  # fmt: skip
    print(f"{output}: {len(new):,} new nodes x {new.dim} from {graph.edges:,} edges in {seconds(spent)}")
    return None
