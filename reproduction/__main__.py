"""``python -m reproduction``: run the experiments of the REFINE paper, and report our results beside the paper's.

Tables 1 to 5, Figures 1 to 3, and each claim of the text with a verdict: holds, partly, does not hold. Real graphs are
looked for in ``--data``; where one is missing, a generated graph takes its place and is marked as such, or the cell
names the missing file. Finished measurements are kept, so an interrupted or repeated run continues where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import reproduction
from graphrefine.display.console import note, seconds, show_json, show_table
from graphrefine.errors import GraphRefineError
from reproduction.setup import Setup


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments that the arguments ask for; return the exit code."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    if options.output is None and not options.list:
        parser.error("--output is required: the folder of the report")
    if options.seed < 0:
        parser.error(f"--seed must be at least 0, not {options.seed}")
    try:
        _run(options)
    except GraphRefineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        note(f"finished measurements are kept in {options.output}; run the same command to continue")
        return 130
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproduction", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="folder of the report")
    parser.add_argument("--quick", action="store_true", help="small graphs and few repetitions: minutes, not hours")
    parser.add_argument("--only", metavar="NAMES", help="comma-separated experiments, such as table1,figure3")
    parser.add_argument("--list", action="store_true", help="print the experiments and their remaining work")
    parser.add_argument("--data", metavar="FOLDER", help="folder of the real graphs (default: $GRAPHREFINE_DATA)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the embeddings and sketches")
    parser.add_argument("--threads", type=int, metavar="N", help="number of threads (default: all processors)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    return parser


def _run(options: argparse.Namespace) -> None:
    make_setup = reproduction.quick if options.quick else reproduction.full
    setup = make_setup(threads=options.threads, data=options.data, seed=options.seed)
    names = [name.strip() for name in options.only.split(",")] if options.only is not None else None
    if options.list:
        _list_experiments(setup, names, options.output, options.json)
        return
    report = reproduction.reproduce(options.output, setup, only=names, progress=True)
    if options.json:
        show_json(report.results)
        return
    rows = [("experiment", "verdict", "because")]
    rows += [(name, verdict, _shorten(reason)) for name, verdict, reason in report.headlines]
    show_table(rows, left=(0, 1, 2))
    work = report.results["work"]
    counts = f"{work['computed']} measurements computed, {work['reused']} reused, {work['failed']} failed"
    print(f"\n{counts}; {options.output}/report.html")


def _list_experiments(setup: Setup, names: list[str] | None, output: str | None, as_json: bool) -> None:
    """Print the experiments with their work."""
    experiments = reproduction.select_experiments(names)
    outlooks = [(experiment, reproduction.survey(experiment, setup, output)) for experiment in experiments]
    if as_json:
        keys = ("work", "finished", "seconds_left")
        entries = [{"name": e.name, "title": e.title, **dict(zip(keys, o, strict=True))} for e, o in outlooks]
        show_json({"experiments": entries})
        return
    rows = [("experiment", "what", "work", "finished", "about")]
    rows += [(e.name, e.title, f"{o.measurements}", f"{o.finished}", seconds(o.seconds_left)) for e, o in outlooks]
    show_table(rows, left=(0, 1))
    print("\nwork that several experiments share is done once, and counted for each of them here")


def _shorten(text: str, limit: int = 150) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


if __name__ == "__main__":
    sys.exit(main())
