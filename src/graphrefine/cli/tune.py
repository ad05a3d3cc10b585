"""``graphrefine tune``: the best settings for a graph."""

from __future__ import annotations

from typing import Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, read_graph, take_labels
from graphrefine.display.console import progress_bar, show_json
from graphrefine.progress import Stages


@command(
    "tune",
    first=("labels", "budget", "dims", "output"),
    short_help="The best settings for a graph, found by trying.",
    params=[
        opt.GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels, or an attribute of GRAPH's nodes: settings are judged by "
                    "cross-validated Micro F1.  [default: by edges that are held out]"),
        Option(["--budget"], default="60s", show_default=True, metavar="TIME",
               help="Time of the search, as in 60s, 2min or 1.5h."),
        Option(["--train"], type=float, metavar="PART",
               help="Read only the labels of training nodes of evaluate labels at this ratio.  [default: all labels]"),
        Option(["--split-seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of that split: the --seed of evaluate labels."),
        opt.penalty_option("1"),
        Option(["--dims"], metavar="K,K,...", callback=opt.parse_counts,
               help="Lengths of the vectors to try; longer is nearly always better, and costs more.  [default: 128]"),
        Option(["-o", "--output"], metavar="FILE",
               help="File for the best settings, as JSON: graphrefine embed --config FILE takes it."),
        opt.SEED, opt.THREADS, opt.JSON, *opt.LABEL_READING, opt.LABELS_VARIABLE, *opt.READING,
    ],
)  # fmt: skip
def tune(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Try settings of REFINE on GRAPH, and show the best: the default first, then filters, then the rest.

    Settings are judged by labels of training nodes, or by edges that are held out. Give only labels that you will not
    test with, or use --train: test labels that help to choose settings make every later score too good.
    """
    from graphrefine.evaluate.tune import parse_seconds
    from graphrefine.evaluate.tune import tune as run
    from graphrefine.system.files import check_writable

    parse_seconds(options["budget"])  # before the graph is read, which may take minutes
    reading = opt.reading_options(options)
    check_not_input(output, [graph, labels, reading["nodes"]])
    if output is not None:
        check_writable(output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            whole = read_graph(graph, threads=options["threads"], **reading)
            node_labels, readings = take_labels(labels, options, whole.names, graph=whole)
        tuning = run(whole, node_labels, watcher=bar, **options)
    if output is not None:
        tuning.save(output)
    if as_json:
        origin = {"graph": graph, "output": output, "reading": whole.reading, **readings}
        return show_json({**origin, **tuning.to_dict()})
    print(tuning.text())
    end = "nothing was left to try" if tuning.complete else f"the budget of {tuning.budget:g} s ended the search"
    count = f"{len(tuning.trail)} trial{'s' * (len(tuning.trail) > 1)}"
    print(f"\n{tuning.protocol}; {count} in {tuning.seconds:.1f} s, {end}")
    best = next(trial for trial in tuning.trail if trial.settings == tuning.best)
    print(f"best: {best.name}" if tuning.changes else "best: the default")
    return None
