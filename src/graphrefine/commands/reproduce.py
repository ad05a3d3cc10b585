"""``graphrefine reproduce``: the paper's tables, figures and claims, our figures beside the paper's."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli_options import JSON, THREADS, Command, Option


@click.command(
    cls=Command,
    params=[
        Option(["-o", "--output"], metavar="FOLDER",
               help="For the report: report.html, report.md, plots, results.json; and cells/, from which a second run "
                    "goes on."),
        Option(["--quick"], is_flag=True, help="A little of everything, in minutes."),
        Option(["--only"], metavar="NAMES", help="These experiments, with commas between, as in table1,figure3."),
        Option(["--list", "listed"], is_flag=True, help="Print the experiments and what is left to do; run nothing."),
        Option(["--data"], metavar="FOLDER", help="With the real graphs.  [default: $GRAPHREFINE_DATA]"),
        Option(["--seed"], type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
               help="Of the embeddings and sketches."),
        THREADS, JSON,
    ],
    short_help="The paper's tables, figures and claims, measured.",
)  # fmt: skip
def reproduce(output: str | None, listed: bool, only: str | None, as_json: bool, **options: Any) -> None:
    """Run the experiments of the REFINE paper, and set our figures beside the paper's.

    Tables 1 to 5, Figures 1 to 3, and each claim of the text with a verdict: holds, partly, does not hold. Real
    graphs are looked for in --data; where one is missing, a generated stand-in takes its place, and is marked, or the
    cell says what is missing. Every finished cell is kept: interrupted or repeated, a run goes on from there.
    """
    from graphrefine.console import note, show_json, show_table
    from graphrefine.paper import full, quick
    from graphrefine.paper import reproduce as run
    from graphrefine.paper.progress import telling

    setup = (quick if options["quick"] else full)(
        threads=options["threads"], data=options["data"], seed=options["seed"]
    )
    names = [name.strip() for name in only.split(",")] if only is not None else None
    if listed:
        return _list(setup, names, output, as_json)
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output': the folder for the report")
    try:
        with telling() as teller:
            found = run(output, setup, only=names, teller=teller)
    except KeyboardInterrupt:
        note(f"what was finished is kept in {output}; the same command goes on from there")
        raise
    if as_json:
        return show_json(found.results)
    rows = [("experiment", "verdict", "because")]
    rows += [(name, word, _short(because)) for name, word, because in found.headlines]
    show_table(rows, left=(0, 1, 2))
    work = found.results["work"]
    done = f"{work['computed']} outcomes computed, {work['reused']} reused, {work['failed']} failed"
    print(f"\n{done}; {output}/report.html")
    return None


def _list(setup: Any, names: list[str] | None, output: str | None, as_json: bool) -> None:
    """Print the experiments with the work they need."""
    from pathlib import Path

    from graphrefine.console import seconds, show_json, show_table
    from graphrefine.paper import CELLS, plan
    from graphrefine.paper.cache import Store
    from graphrefine.paper.experiments import chosen

    store = Store(Path(output) / CELLS) if output else None
    found = []
    for experiment in chosen(names):
        jobs = plan(experiment, setup)
        left = [job for job in jobs if store is None or store.get(job.kind, job.asked) is None]
        guess = sum(job.guess for job in left)
        found.append((experiment.name, experiment.title, len(jobs), len(jobs) - len(left), guess))
    if as_json:
        keys = ("name", "title", "work", "finished", "seconds_left")
        return show_json({"experiments": [dict(zip(keys, row, strict=True)) for row in found]})
    rows = [("experiment", "what", "work", "finished", "about")]
    rows += [(name, title, str(jobs), str(done), seconds(guess)) for name, title, jobs, done, guess in found]
    show_table(rows, left=(0, 1))
    print("\nwork that several experiments share is done once, and counted for each of them here")
    return None


def _short(text: str, most: int = 150) -> str:
    return text if len(text) <= most else f"{text[: most - 4]} ..."
