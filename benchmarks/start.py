"""Processor seconds to begin, and of a whole small command: import, ``--help``, ``embed`` of PPI; warm, best of some.

    python benchmarks/start.py [--runs 10] [--only embed]

User and system seconds of a fresh process, from start to end. ``embed`` reads ``ppi.mat`` of GRAPHREFINE_DATA and
writes a file; without that variable it is left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from common import cpu_seconds, data, machine

PROGRAM = [sys.executable, "-m", "graphrefine.cli.main"]
CASES: dict[str, tuple[list[str], float | None]] = {
    "python -c pass": ([sys.executable, "-c", "pass"], None),
    "import numpy": ([sys.executable, "-c", "import numpy"], None),
    "import graphrefine": ([sys.executable, "-c", "import graphrefine"], 0.3),
    "from graphrefine import embed, read": ([sys.executable, "-c", "from graphrefine import embed, read"], None),
    "graphrefine --help": ([*PROGRAM, "--help"], 0.2),
    "graphrefine embed --help": ([*PROGRAM, "embed", "--help"], 0.2),
}


def embed_cases(folder: Path) -> dict[str, tuple[list[str], float | None]]:
    """Commands that embed PPI; the bar is of the one that people type."""
    command = [*PROGRAM, "embed", str(data("ppi.mat")), "-o", str(folder / "x.npz")]
    return {
        "graphrefine embed ppi.mat -o x.npz": (command, 0.25),
        "... --threads 1": ([*command, "--threads", "1"], None),
        "... --quality fast": ([*command, "--quality", "fast"], None),
        "... --quality fast --no-learn": ([*command, "--quality", "fast", "--no-learn"], None),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="", help="cases with this word in their names")
    options = parser.parse_args()
    print(machine())
    print(f"processor seconds, warm, best of {options.runs}")
    reached = True
    with tempfile.TemporaryDirectory() as folder:
        cases = CASES | (embed_cases(Path(folder)) if os.environ.get("GRAPHREFINE_DATA") else {})
        cases = {name: case for name, case in cases.items() if options.only in " ".join([name, *case[0]])}
        best = dict.fromkeys(cases, float("inf"))
        for _ in range(options.runs + 1):  # the first round warms the caches; all cases take turns
            best = {name: min(best[name], cpu_seconds(command)) for name, (command, _) in cases.items()}
    for name, (_, bar) in cases.items():
        reached &= bar is None or best[name] < bar
        verdict = "" if bar is None else f"   bar {bar:g}: {'reached' if best[name] < bar else 'MISSED'}"
        print(f"{name:36} {best[name]:.3f}{verdict}")
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
