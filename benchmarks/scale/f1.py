"""F1 on youtube-77k-groups of vectors made in memory, out of core and by two Dask workers.

    python benchmarks/scale/f1.py [--graph youtube-77k-groups] [--panel 32] [--repeats 10] [--threads 2]
        [--quality default] [--skip-dask] [--folder FOLDER]

Needs GRAPHREFINE_DATA. The protocol is the paper's: C = 1, unit rows, means over splits; the same splits for all. The
graph is so small that no budget would send it out of core: that is said by hand, with panels of so many columns.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import graphrefine
from graphrefine.evaluate import Labels, evaluate_labels, read_labels
from graphrefine.pipeline.embed_run import EmbedRun, Request
from graphrefine.pipeline.memory_plan import MemoryPlan
from graphrefine.pipeline.settings import RunSettings
from graphrefine.refine.settings import refine_settings
from inputs import add_folder, place
from measuring import bar, command, data, machine, plenty, watch

RATIOS = (0.01, 0.05, 0.09)


def cells(vectors: graphrefine.Embedding, labels: Labels, repeats: int) -> NDArray[np.float64]:
    """Micro and Macro F1 at each ratio.  # (ratios, 2)."""
    scores = evaluate_labels(vectors, labels, ratios=RATIOS, repeats=repeats)
    return np.array([[at.micro_mean, at.macro_mean] for at in scores.ratios])


def in_memory(graph: Path, out: Path, given: argparse.Namespace) -> None:
    watch(command("embed", graph, "-o", out, memory=plenty(), threads=given.threads, quality=given.quality)).must()


def by_dask(graph: Path, out: Path, given: argparse.Namespace) -> None:
    options = {"memory": plenty(), "threads": 1, "executor": "dask", "workers": 2, "quality": given.quality}
    watch(command("embed", graph, "-o", out, **options)).must()


def out_of_core(graph: Path, out: Path, given: argparse.Namespace) -> None:
    settings = refine_settings(quality=given.quality)
    request = Request(graph, settings, run=RunSettings(threads=given.threads, work=out.with_name("work")))
    with EmbedRun(request) as run:
        run.read()
        panels = -(-settings.dim // given.panel)
        run.plan = MemoryPlan("streamed", budget=0, predicted=0, panel=given.panel, panels=panels)
        run.embed().save(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="youtube-77k-groups")
    parser.add_argument("--panel", type=int, default=32, help="columns at a time, out of core")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quality", default="default", help="the tier")
    parser.add_argument("--skip-dask", action="store_true")
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    labels = read_labels(data(f"{given.graph}.mat"))
    found = {}
    with place(given.folder) as folder:
        graph = folder / f"{given.graph}.grf"
        watch(command("ingest", data(f"{given.graph}.mat"), "-o", graph)).must()
        for name, embedded in (("in memory", in_memory), ("out of core", out_of_core), ("dask", by_dask)):
            if name == "dask" and given.skip_dask:
                continue
            embedded(graph, folder / "vectors", given)
            found[name] = cells(graphrefine.load(folder / "vectors"), labels, given.repeats)
            shown = "  ".join(f"{micro:6.2f}/{macro:6.2f}" for micro, macro in found[name])
            print(f"{name:12} Micro/Macro F1 at {', '.join(f'{r:.0%}' for r in RATIOS)}: {shown}", flush=True)
    passed = [
        bar(f"{name}: largest difference of F1", float(np.abs(scores - found["in memory"]).max()), most=0.1)
        for name, scores in found.items()
        if name != "in memory"
    ]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
