"""F1 on youtube-77k-groups of vectors made in memory, out of core and by two Dask workers.

    python benchmarks/scale/f1.py [--graph youtube-77k-groups] [--memory 100MB] [--repeats 10] [--threads 2]
        [--skip-dask] [--folder FOLDER]

Needs GRAPHREFINE_DATA. The protocol is the paper's: C = 1, unit rows, means over splits; the same splits for all.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

import graphrefine
from graphrefine.evaluate import Labels, evaluate_labels, read_labels
from inputs import add_folder, place
from measuring import bar, command, data, machine, plenty, watch

RATIOS = (0.01, 0.05, 0.09)


def cells(vectors: graphrefine.Embedding, labels: Labels, repeats: int) -> NDArray[np.float64]:
    """Micro and Macro F1 at each ratio.  # (ratios, 2)."""
    scores = evaluate_labels(vectors, labels, ratios=RATIOS, repeats=repeats)
    return np.array([[at.micro_mean, at.macro_mean] for at in scores.ratios])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="youtube-77k-groups")
    parser.add_argument("--memory", default="100MB", help="for the run out of core")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--skip-dask", action="store_true")
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    labels = read_labels(data(f"{given.graph}.mat"))
    ways: dict[str, dict[str, object]] = {
        "in memory": {"memory": plenty(), "threads": given.threads},
        "out of core": {"memory": given.memory, "threads": given.threads},
    }
    if not given.skip_dask:
        ways["dask"] = {"memory": plenty(), "threads": 1, "executor": "dask", "workers": 2}
    found = {}
    with place(given.folder) as folder:
        graph = folder / f"{given.graph}.grf"
        watch(command("ingest", data(f"{given.graph}.mat"), "-o", graph)).must()
        for name, options in ways.items():
            out = folder / name.replace(" ", "-")
            run = watch(command("embed", graph, "-o", out, **options)).must()
            found[name] = cells(graphrefine.load(out), labels, given.repeats)
            shown = "  ".join(f"{micro:6.2f}/{macro:6.2f}" for micro, macro in found[name])
            at = ", ".join(f"{ratio:.0%}" for ratio in RATIOS)
            print(f"{name:12} mode {run.plan['mode']:9} Micro/Macro F1 at {at}: {shown}", flush=True)
    passed = [
        bar(f"{name}: largest difference of F1", float(np.abs(scores - found["in memory"]).max()), most=0.1)
        for name, scores in found.items()
        if name != "in memory"
    ]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
