"""The program: each fault of each system call of each writer, and a table of the counts. `make faults` runs it."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import groupby
from pathlib import Path

from faults import filter
from faults.trials import MEMORY, Trial
from faults.writers import all_writers, patch_slow_parts, write_inputs


def main() -> int:
    """Run the writers that are asked for; 1 if there is a problem."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("names", nargs="*", help="writers, by a part of their names; all if none is given")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th fault only")
    parser.add_argument("--once", action="store_true", help="one fault of each call, the kinds in turn")
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="faults of these kinds only: EIO, short, kill ...")
    parser.add_argument("--calls-on", default="", metavar="TEXT", help="only calls on files with this in their paths")
    parser.add_argument("--calls", action="store_true", help="print the calls; fail none")
    options = parser.parse_args()
    if (problem := filter.problem()) is not None:
        print(f"{problem}: NOT tested")
        return 0
    # No TemporaryDirectory: the children run what is to be done at exit, and the first would remove it.
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=MEMORY))
    try:
        return run(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(place: Path, options: argparse.Namespace) -> int:
    """Run writers, and print a line for each."""
    write_inputs(place / "from")
    patch_slow_parts()
    chosen = [each for each in all_writers() if not options.names or any(n in each.name for n in options.names)]
    print(f"{'writer':<22}{'calls':>7}{'faults':>8}{'problems':>10}{'seconds':>9}")
    total, tried = 0, 0
    for number, writer in enumerate(chosen):
        trial, start = Trial(writer, place), time.perf_counter()
        trial.prepare()
        if options.calls:
            print(*trial.calls, sep="\n")
            continue
        faults = [
            fault
            for fault in trial.faults()
            if (not options.kinds or fault.kind in options.kinds) and options.calls_on in str(trial.calls[fault.number])
        ]
        if options.once:
            calls = [list(group) for _, group in groupby(faults, lambda fault: fault.number)]
            faults = [group[group[0].number % len(group)] for group in calls]
        faults = faults[number % options.every % max(len(faults), 1) :: options.every]
        problems = [problem for fault in faults for problem in trial.judge(fault)]
        total, tried, seconds = total + len(problems), tried + len(faults), time.perf_counter() - start
        print(f"{writer.name:<22}{len(trial.calls):>7}{len(faults):>8}{len(problems):>10}{seconds:>9.1f}", flush=True)
        for text, times in Counter(problems).items():
            print(f"    {times} x {text}")
    print(f"{'all':<22}{'':>7}{tried:>8}{total:>10}")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
