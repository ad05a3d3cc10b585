"""The program: fuzz targets and print what came of it; the exit code is 1 if anything was found.

::

    python -m fuzz.run --minutes 10                     all targets, the same time for each
    python -m fuzz.run --target sizes --count 100000    one target, so many inputs
    python -m fuzz.run --target sizes --replay FILE     one input, in this process, with its traceback
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from fuzz.findings import FOLDER
from fuzz.harness import Limits, Result, fuzz
from fuzz.target import GROUPS, Target
from fuzz.targets import list_targets


def main() -> None:
    """Choose the targets, fuzz each, print the table."""
    options = parse_options()
    targets = choose(options)
    if options.replay is not None:
        replay(options.replay, targets)
        return
    results: list[Result] = []
    start = perf_counter()
    for position, target in enumerate(targets):
        seconds = None
        if options.minutes is not None:
            seconds = max(1.0, (options.minutes * 60 - (perf_counter() - start)) / (len(targets) - position))
        memory = int(options.memory * 1e9)
        limits = Limits(options.count, seconds, options.workers, options.hang, memory, options.findings)
        result = fuzz(target, limits, options.seed)
        results.append(result)
        if not options.json:
            print(format_row(result), flush=True)
            print_findings(result, options.findings)
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    else:
        print_totals(results)
    sys.exit(any(result.findings for result in results))


def parse_options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", help="its name, or the beginning of several; all if none is named")
    parser.add_argument("--group", action="append", choices=GROUPS, help="the targets of a group")
    parser.add_argument("--count", type=int, help="inputs of each target")
    parser.add_argument("--minutes", type=float, help="time for all targets together")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0, help="input i of a target depends on this and on i only")
    parser.add_argument("--hang", type=float, default=10.0, metavar="SECONDS", help="an input may take this [10]")
    parser.add_argument("--memory", type=float, default=2.0, metavar="GB", help="an input may take this [2]")
    parser.add_argument("--findings", type=Path, default=FOLDER, help="where inputs are kept [fuzz/findings]")
    parser.add_argument("--module", action="append", default=[], help="take the targets of this module instead")
    parser.add_argument("--replay", type=Path, help="an input: run it here, and let its error through")
    parser.add_argument("--list", action="store_true", help="the names of the targets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.count is None and options.minutes is None and options.replay is None and not options.list:
        parser.error("--count, --minutes or both are needed")
    return options


def choose(options: argparse.Namespace) -> list[Target]:
    """The targets that were asked for."""
    targets = list(list_targets(*options.module).values())
    if options.group:
        targets = [target for target in targets if target.group in options.group]
    if options.target:
        exact = [target for target in targets if target.name in options.target]
        targets = exact or [target for target in targets if target.name.startswith(tuple(options.target))]
    if options.list or not targets:
        for target in list_targets(*options.module).values():
            print(f"{target.group:10} {target.name}")
        sys.exit(0 if options.list else "no such target: those above are known")
    return targets


def replay(path: Path, targets: list[Target]) -> None:
    """Run one input; the target is that of its folder if none was named."""
    named = [target for target in targets if target.name == path.resolve().parent.name]
    target = named[0] if named else targets[0]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        place = Path(folder, "place")
        place.mkdir()
        if target.prepare is not None:
            target.prepare(Path(folder))
        try:
            target.run(path.read_bytes(), place)
        except target.errors as error:
            print(f"{target.name}: refused, as it should be: {type(error).__name__}: {error}")
        else:
            print(f"{target.name}: taken")


def format_row(result: Result) -> str:
    """A line of the table."""
    rate = result.inputs / max(result.seconds, 1e-9)
    places = (result.count("signal", "exit"), result.count("hang"), result.count("memory"), result.count("traceback"))
    return (
        f"{result.group:9} {result.target:24} {result.inputs:>10,} inputs {result.refused:>10,} refused {rate:>8,.0f}/s"
        "  crashes {} hangs {} memory {} tracebacks {}".format(*places)
    )


def print_findings(result: Result, folder: Path) -> None:
    """What was found, and where the inputs lie."""
    for finding in result.findings:
        path = folder / finding.target / finding.input
        print(f"    {finding.kind} x {finding.times}: {finding.place}: {path}", flush=True)


def print_totals(results: list[Result]) -> None:
    """Inputs by group, and places in all."""
    for group in GROUPS:
        inputs = sum(result.inputs for result in results if result.group == group)
        if inputs:
            print(f"{group}: {inputs:,} inputs")
    places = sum(len(result.findings) for result in results)
    print(f"all: {sum(result.inputs for result in results):,} inputs, {places} places with findings")


if __name__ == "__main__":
    main()
