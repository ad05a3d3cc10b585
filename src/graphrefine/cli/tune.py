"""``graphrefine tune``: the best settings for a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import (
    GRAPH,
    JSON,
    READING,
    THREADS,
    Command,
    Option,
    check_not_input,
    parse_counts,
    reading_options,
)

if TYPE_CHECKING:
    from graphrefine.evaluate.tune_results import Tuning


def _parse_penalty(_: Any, __: Any, value: str) -> str | float:
    try:
        return value if value == "cv" else float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'cv'") from None


@click.command(
    cls=Command,
    params=[
        GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels: settings are judged by cross-validated Micro F1."),
        Option(["--task"], type=click.Choice(["labels", "links"]),
               help="What decides.  [default: labels if given, else links: edges that are held out]"),
        Option(["--budget"], default="60s", show_default=True, metavar="TIME",
               help="For the search, as in 60s, 2min or 1m30s."),
        Option(["--train"], type=float, metavar="PART",
               help="Look only at the labels of the nodes that evaluate labels trains with at this ratio, in its "
                    "first split.  [default: at all]"),
        Option(["--split-seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of that split: the --seed of evaluate labels."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=_parse_penalty,
               help="Of the logistic regression, for all trials; 'cv': chosen with the default settings."),
        Option(["--dims"], metavar="K,K,...", callback=parse_counts,
               help="Lengths of the vectors to try; longer is nearly always better, and costs more.  [default: 128]"),
        Option(["-o", "--output"], metavar="FILE",
               help="For the best settings, as JSON: graphrefine embed --config FILE takes them."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the vectors, the folds and the held-out edges."),
        THREADS, JSON, *READING,
    ],
    short_help="The best settings for a graph, found by trying.",
)  # fmt: skip
def tune(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Try settings of REFINE on GRAPH, and show which are best: the default first, then filters, then the rest.

    Settings are judged by labels of training nodes, or by edges that are held out. Give only labels that you will not
    test with, or say --train: test labels that help to choose settings make every later score too good.
    """
    from graphrefine.evaluate import read_labels
    from graphrefine.evaluate.tune import tune as run
    from graphrefine.evaluate.tune_clock import seconds_of
    from graphrefine.progress import Stages
    from graphrefine.readers.read import read
    from graphrefine.system.files import check_writable
    from graphrefine.visuals.console import progress_bar, show_json

    seconds_of(options["budget"])
    reading = reading_options(options)
    if output is not None:
        check_not_input(output, graph, labels, reading["nodes"])
        check_writable(output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            found = read(graph, threads=options["threads"], **reading)
            known = None if labels is None else read_labels(labels)
        done = run(found, known, progress=bar, **options)
    if output is not None:
        done.save(output)
    if as_json:
        return show_json({"graph": graph, "output": output, **done.to_dict()})
    _show(done)
    return None


def _show(done: Tuning) -> None:
    from graphrefine.visuals.console import show_table

    table = done.table()
    show_table(table, left=[place for place, name in enumerate(table[0]) if name in ("settings", "")])
    end = "nothing was left to try" if done.complete else f"the budget of {done.budget:g} s ended the search"
    count = f"{len(done.trail)} trial{'s' * (len(done.trail) > 1)}"
    print(f"\n{done.protocol}; {count} in {done.seconds:.1f} s, {end}")
    best = next(trial for trial in done.trail if trial.settings == done.best)
    print(f"best: {best.name}" if done.changes else "best: the default")
