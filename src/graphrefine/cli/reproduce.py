"""``graphrefine reproduce``: the paper's tables, figures and claims, our figures beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import JSON, THREADS, Command, Option

if TYPE_CHECKING:
    from graphrefine.paper.setup import Setup


@click.command(
    cls=Command,
    params=[
        Option(["-o", "--output"], metavar="FOLDER",
               help="Folder of the report: report.html, report.md, plots, results.json; and cells/, from which a "
                    "second run goes on."),
        Option(["--quick"], is_flag=True, help="A little of everything, in minutes."),
        Option(["--only"], metavar="NAMES", help="Experiments to run, with commas between, as in table1,figure3."),
        Option(["--list", "list_only"], is_flag=True,
               help="Print the experiments and their remaining work; run nothing."),
        Option(["--data"], metavar="FOLDER", help="Folder of the real graphs.  [default: $GRAPHREFINE_DATA]"),
        Option(["--seed"], type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
               help="Seed of the embeddings and sketches."),
        THREADS, JSON,
    ],
    short_help="The paper's tables, figures and claims, measured.",
)  # fmt: skip
def reproduce(output: str | None, list_only: bool, only: str | None, as_json: bool, **options: Any) -> None:
    """Run the experiments of the REFINE paper, and set our figures beside the paper's.

    Tables 1 to 5, Figures 1 to 3, and each claim of the text with a verdict: holds, partly, does not hold. Real
    graphs are looked for in --data; if one is missing, a generated stand-in takes its place, and is marked, or the
    cell names the missing file. Every finished measurement is kept: interrupted or repeated, a run goes on from there.
    """
    from graphrefine import paper
    from graphrefine.visuals.console import note, show_json, show_table

    setup = (paper.quick if options["quick"] else paper.full)(
        threads=options["threads"], data=options["data"], seed=options["seed"]
    )
    names = [name.strip() for name in only.split(",")] if only is not None else None
    if list_only:
        return _list(setup, names, output, as_json)
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output': the folder for the report")
    try:
        reproduction = paper.reproduce(output, setup, only=names, progress=True)
    except KeyboardInterrupt:
        note(f"finished measurements are kept in {output}; the same command goes on from there")
        raise
    if as_json:
        return show_json(reproduction.results)
    rows = [("experiment", "verdict", "because")]
    rows += [(name, word, _shorten(reason)) for name, word, reason in reproduction.headlines]
    show_table(rows, left=(0, 1, 2))
    work = reproduction.results["work"]
    counts = f"{work['computed']} measurements computed, {work['reused']} reused, {work['failed']} failed"
    print(f"\n{counts}; {output}/report.html")
    return None


def _list(setup: Setup, names: list[str] | None, output: str | None, as_json: bool) -> None:
    """Print the experiments with their work."""
    from graphrefine import paper
    from graphrefine.visuals.console import seconds, show_json, show_table

    experiments = paper.select_experiments(names)
    outlooks = [(experiment, paper.survey(experiment, setup, output)) for experiment in experiments]
    if as_json:
        keys = ("work", "finished", "seconds_left")
        entries = [{"name": e.name, "title": e.title, **dict(zip(keys, o, strict=True))} for e, o in outlooks]
        return show_json({"experiments": entries})
    rows = [("experiment", "what", "work", "finished", "about")]
    rows += [(e.name, e.title, f"{o.measurements}", f"{o.finished}", seconds(o.seconds_left)) for e, o in outlooks]
    show_table(rows, left=(0, 1))
    print("\nwork that several experiments share is done once, and counted for each of them here")
    return None


def _shorten(text: str, limit: int = 150) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."
