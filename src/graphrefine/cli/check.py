"""``graphrefine check``: whether an embedding is whole, can be made again, and is close enough to another one."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, command, under
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.formats import format_place

if TYPE_CHECKING:
    from graphrefine.analysis.check import Verdict

# The exit code of an embedding that is not as it should be. It differs from that of a mistake in the command, 2: a job
# that checks its vectors every night must know the one from the other.
BEYOND = 1


@command(
    "check",
    first=("graph", "against", "max_drift", "min_neighbors"),
    short_help="Is an embedding whole, the same here, close to another?",
    params=[
        opt.EMBEDDING,
        Option(["--graph"], metavar="FILE",
               help="The graph that it was made from: run its recipe again, and compare the bits."),
        Option(["--features"], metavar="FILE", help="The features that it was made with, in addition to --graph."),
        Option(["--expect"], metavar="FINGERPRINT",
               help="The fingerprint that it must have, or the digits of a part; for formats that hold none."),
        *under(
            "Another embedding",
            Option(["--against"], metavar="NEW", help="A newer embedding, of any making, to be held to the limits."),
            Option(["--max-drift"], type=float, metavar="X",
                   help="Largest mean distance of unit vectors after the best rotation, from 0 to 2."),
            Option(["--min-neighbors"], type=float, metavar="X",
                   help="Smallest mean share of nearest nodes, and of nearest targets of a source, kept: 0 to 1."),
            Option(["--max-lost"], type=float, metavar="X",
                   help="Largest share of the nodes that NEW does not have, or has as zeros, from 0 to 1."),
            Option(["-k"], type=int, default=10, show_default=True, metavar="K",
                   help="How many neighbors to compare; fewer where these would be all."),
        ),
        Option(["--embedding-format"], metavar="NAME", help="Format of both embeddings if their suffixes do not say."),
        Option(["--table"], metavar="NAME", help="Of a PostgreSQL server: the table."),
        opt.EVERY, opt.SEED, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def check(
    embedding: str, graph: str | None, against: str | None, embedding_format: str | None, every: bool, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Check that an embedding is whole, can be made again here, and is close enough to another one.

    Its file is compared with the fingerprint in it. Limits hold for each side of a bipartite graph. Exit code 0: all is
    well; 1: EMBEDDING or NEW is damaged, other vectors come out here, or NEW is beyond a limit; 2: a mistake in the
    command, such as a missing path.

    \b
    graphrefine check friends --graph friends.csv
    graphrefine check monday --against tuesday --max-drift 0.2 --max-lost 0.01
    """  # noqa: D301
    from graphrefine.analysis.check import check as check_embedding
    from graphrefine.analysis.drift import SAMPLE

    start, reading = perf_counter(), opt.reading_options(options)
    with progress_bar() as bar:
        verdict = check_embedding(
            embedding,
            graph=graph,
            reading=reading,
            against=against,
            format=embedding_format,
            sample=None if every else SAMPLE,
            watcher=bar,
            **options,
        )
    spent = perf_counter() - start
    if as_json:
        stats = verdict.to_dict()
        if "remade" in stats:
            stats["reading"] = stats["remade"].pop("reading")
        show_json({**stats, "graph": graph, "against": against, "seconds": spent})
    else:
        _print(verdict, format_place(embedding), against)
    if not verdict.ok:
        raise click.exceptions.Exit(BEYOND)


def _print(verdict: Verdict, name: str, against: str | None) -> None:
    from graphrefine.cli.drift import describe_drift

    stats = verdict.stats
    if "remade" in stats:
        note(f"read: {stats['remade']['reading']}")
    for line in verdict.notes:
        note(f"note: {line}")
    for line in describe_drift(stats["drift"]) if "drift" in stats else ():
        note(line)
    if "fingerprint" in stats:
        words = [f"{stats['nodes']:,} nodes x {stats['dim']}", stats["fingerprint"]["name"]]
        if stats.get("whole") or (stats.get("whole") is None and verdict.ok and "expected" in stats):
            words.append("whole")
        if stats.get("remade", {}).get("same_vectors"):
            words.append("the same bits here")
        if against is not None and verdict.ok:
            words.append(f"{format_place(against)} is within the limits")
        print(f"{name}: {', '.join(words)}")
    for problem in verdict.problems:
        print(f"problem: {problem}")
