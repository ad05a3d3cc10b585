"""What `embed` says of its memory before it starts, beside the peak seen from outside, in every mode.

    python benchmarks/scale/modes.py [--edges 1e7] [--dim 128] [--threads 2] [--dask] [--folder FOLDER]

A node has ten edges. The budget falls from all that the machine has, step by step, until it is refused. With a graph
that was ingested the modes "memory" and "streamed" are met on the way; with the same graph in a plain file "memory" and
"columns". The last line of each is the refusal, which names the least budget there is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import scipy.sparse as sp

import graphrefine
from inputs import Shape, add_folder, ingested, place
from measuring import Run, bar, command, hundreds, machine, plenty, size, watch

SHARES = (0.8, 0.5, 0.4, 0.3, 0.2, 0.1)  # budgets, as parts of what the in-memory run needs


def told(run: Run) -> tuple[float, bool]:
    """Print a run; the distance of its prediction from what was measured, and whether it kept to its budget."""
    plan = run.plan
    ratio = float(plan["predicted_mb"]) * 1e6 / run.peak
    over = "" if run.peak <= plan["budget_mb"] * 1e6 else "  OVER THE BUDGET"
    print(
        f"  {plan['mode']:9} budget {plan['budget_mb']:8,.0f} MB, predicted {plan['predicted_mb']:8,.0f}, measured "
        f"{run.peak / 1e6:8,.0f} ({hundreds(ratio)}), {plan.get('panels') or 1:3} panels, {run.seconds:6.1f} s{over}",
        flush=True,
    )
    return abs(ratio - 1), not over


def plain_file(graph: Path) -> Path:
    """The same graph as a SciPy matrix in one file, which is read into memory."""
    path = graph.with_suffix(".npz")
    sp.save_npz(path, graphrefine.read(graph).to_scipy(), compressed=False)
    return path


def descend(graph: Path, folder: Path, *, dim: int, threads: int, dask: bool) -> tuple[dict[str, float], bool]:
    """The worst distance of a prediction, by mode; and whether all kept to their budgets."""
    worst: dict[str, float] = {}
    kept = True

    def embedded(memory: str, **more: object) -> Run:
        words = command("embed", graph, "-o", folder / "vectors", dim=dim, threads=threads, memory=memory, **more)
        return watch(words)

    def judge(run: Run) -> None:
        nonlocal kept
        off, within = told(run)
        mode = run.plan["mode"]
        worst[mode], kept = max(worst.get(mode, 0.0), off), kept and within

    first = embedded(plenty()).must()
    judge(first)
    for share in SHARES:
        run = embedded(f"{share * first.plan['predicted_mb']:.0f}MB")
        if run.code == 2:
            print(f"  refused: {run.errors.strip().splitlines()[-1]}")
            break
        judge(run.must())
    if dask:
        judge(embedded(plenty(), executor="dask", workers=2).must())
    return worst, kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=lambda text: [size(part) for part in text.split(",")], default="1e7")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dask", action="store_true", help="two local workers as well")
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    passed = True
    with place(given.folder) as folder:
        for edges in given.edges:
            graph, _ = ingested(Shape(edges, edges // 10), folder, threads=given.threads)
            print(f"{edges:,} edges, {edges // 10:,} nodes, {given.dim} columns")
            worst, kept = descend(graph, folder, dim=given.dim, threads=given.threads, dask=given.dask)
            print("the same in a plain file")
            plain = plain_file(graph)
            others, also = descend(plain, folder, dim=given.dim, threads=given.threads, dask=False)
            plain.unlink()
            kept &= also
            worst |= {f"{mode}, plain file": off for mode, off in others.items()}
            for mode, off in worst.items():
                passed &= bar(f"  {mode}: prediction and peak differ by", 100 * off, most=15, unit="%")
            passed &= kept
            missing = {"memory", "streamed", "columns, plain file"} - set(worst)
            if missing:
                print(f"  not met: {', '.join(sorted(missing))}")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
