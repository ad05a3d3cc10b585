"""``graphrefine fold-in``: vectors for new nodes, from their edges to nodes that have one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli.options import JSON, READING, THREADS, Command, Option


@click.command(
    "fold-in",
    cls=Command,
    params=[
        click.Argument(["edges"], metavar="EDGES"),
        Option(["--into", "old"], required=True, metavar="OLD", help="The embedding that has the known nodes."),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="Where the vectors of the new nodes go; the suffix says how, as for graphrefine embed."),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not say."),
        Option(["--extend"], is_flag=True, help="Write the known nodes too, the new ones below them."),
        THREADS, JSON, *(option for option in READING if option.name not in ("directed", "nodes")),
    ],
    short_help="Vectors for new nodes, from their edges alone.",
)  # fmt: skip
def fold_in(
    edges: str,
    old: str,
    output: str,
    output_format: str | None,
    extend: bool,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Vectors for new nodes from their edges to nodes of OLD, without its graph and in milliseconds.

    EDGES is a file as for graphrefine embed, whose edges lead from a new node to one of OLD, or to another new node:
    the new one comes first.
    """
    from graphrefine.cli.describe import zero_rows
    from graphrefine.embedding.embedding import load
    from graphrefine.embedding.storage import check_output
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import note, seconds, show_json

    check_output(output, format=output_format)
    known = load(old)
    found = read(edges, directed=True, threads=threads, **options)
    start = perf_counter()
    new = known.fold_in(found)
    spent = perf_counter() - start
    learnt, zeros = new.recipe["learnt"], zero_rows(new.vectors)
    (known.extended(new) if extend else new).save(output, format=output_format)
    if not learnt:
        note(f"note: {old} was saved without what folding in learns; the vectors are means of their neighbours'")
    if as_json:
        return show_json({
            "output": output, "into": old, "nodes": len(new), "edges": found.edges, "dim": new.dim,
            "zero_vectors": zeros, "learnt": learnt, "extended": extend, "seconds": spent,
        })  # fmt: skip
    print(f"{output}: {len(new):,} new nodes x {new.dim} from {found.edges:,} edges in {seconds(spent)}")
    return None
