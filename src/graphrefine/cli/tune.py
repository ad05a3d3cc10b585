"""``graphrefine tune``: the best settings for a graph."""

from __future__ import annotations

from typing import Any

from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, progress_bar, show_json, show_table
from graphrefine.evaluate.tune import tune as run
from graphrefine.evaluate.tune_results import Tuning
from graphrefine.evaluate.tune_trials import parse_seconds
from graphrefine.progress import Stages
from graphrefine.readers.read import read
from graphrefine.system.files import check_writable


def tune(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Try settings of REFINE on a graph, and print the best."""
    parse_seconds(options["budget"])
    reading = reading_options(options)
    if output is not None:
        check_writable(output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            whole = read(graph, threads=options["threads"], **reading)
            note(f"read: {whole.reading}")
            node_labels = take_labels(labels, options, whole.names, graph=whole)
        figures = tell_labels(node_labels, whole.names)
        tuning = run(whole, node_labels, progress=bar, **options)
    if output is not None:
        tuning.save(output)
    if as_json:
        return show_json({
            "graph": graph, "output": output, "reading": whole.reading, **figures, **tuning.to_dict(),
        })  # fmt: skip
    _show(tuning)
    return None


def _show(tuning: Tuning) -> None:
    table = tuning.text_rows()
    show_table(table, left=[place for place, name in enumerate(table[0]) if name in ("settings", "")])
    end = "nothing was left to try" if tuning.complete else f"the budget of {tuning.budget:g} s ended the search"
    count = f"{len(tuning.trail)} trial{'s' * (len(tuning.trail) > 1)}"
    print(f"\n{tuning.protocol}; {count} in {tuning.seconds:.1f} s, {end}")
    best = next(trial for trial in tuning.trail if trial.settings == tuning.best)
    print(f"best: {best.name}" if tuning.changes else "best: the default")
