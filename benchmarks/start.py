"""How long it takes to begin: ``import graphrefine`` and ``graphrefine --help``, in CPU seconds, warm, best of 10.

python benchmarks/start.py
"""

from __future__ import annotations

import resource
import subprocess
import sys

from common import machine

RUNS = 10
CASES = {
    "python -c pass": ([sys.executable, "-c", "pass"], None),
    "import graphrefine": ([sys.executable, "-c", "import graphrefine"], 0.3),
    "from graphrefine import embed, read": ([sys.executable, "-c", "from graphrefine import embed, read"], None),
    "graphrefine --help": ([sys.executable, "-m", "graphrefine.cli.main", "--help"], 0.2),
    "graphrefine embed --help": ([sys.executable, "-m", "graphrefine.cli.main", "embed", "--help"], 0.2),
}


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    print(machine())
    print(f"CPU seconds, warm, best of {RUNS}")
    best = {name: float("inf") for name in CASES}
    for _ in range(RUNS + 1):  # the first round warms the caches; all cases take turns
        best = {name: min(best[name], cpu_seconds(command)) for name, (command, _) in CASES.items()}
    for name, (_, bar) in CASES.items():
        verdict = "" if bar is None else f"   bar {bar:.1f}: {'reached' if best[name] < bar else 'MISSED'}"
        print(f"{name:36} {best[name]:.3f}{verdict}")


if __name__ == "__main__":
    main()
