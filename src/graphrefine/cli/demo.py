"""``graphrefine demo``: a real graph, its vectors, their scores and their map."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine.cli.options import JSON, THREADS, Option, command
from graphrefine.display.console import note, progress_bar, seconds, show_json, show_table
from graphrefine.errors import OutputError
from graphrefine.progress import Stages, Watcher

DIM = 64
TITLE = "1,797 handwritten digits, placed by the graph of who looks like whom"


@command(
    "demo",
    short_help="See it work on a real graph.",
    params=[
        Option(["-o", "--output"], default="demo-output", show_default=True, metavar="FOLDER",
               help="For the map."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the sketch, the splits and the map."),
        THREADS, JSON,
    ],
)  # fmt: skip
def demo(output: str, seed: int, threads: int | None, as_json: bool) -> None:
    """Embed a real graph that every installation has, score the vectors, and draw a map of them.

    The graph: 1,797 handwritten digits from scikit-learn, each joined to its ten nearest. The labels: which digit
    it is.
    """
    with progress_bar() as bar:
        figures = run_demo(output, seed=seed, threads=threads, watcher=bar)
    if figures["map"] is None:
        note('note: no map was drawn, for want of matplotlib: pip install "graphrefine[plot]"')
    if as_json:
        return show_json(figures)
    print(f"{figures['nodes']:,} nodes, {figures['edges']:,} edges, embedded in {seconds(figures['seconds'])}.")
    print("Which digit is it, with 10% of the labels known?\n")
    rows = [("vectors", "Micro F1", "Macro F1")]
    rows += [(name, f"{s['micro_f1']:.1f}", f"{s['macro_f1']:.1f}") for name, s in figures["scores"].items()]
    show_table(rows)
    if figures["map"] is not None:
        print(f"\nmap: {figures['map']}")
    return None


def run_demo(
    folder: str, *, seed: int = 0, threads: int | None = None, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Embed the digits, score the vectors beside random ones, and draw the map into ``folder``.

    Without matplotlib there is no map, and all else is the same.
    """
    from graphrefine.datasets.digits import digits_graph
    from graphrefine.display.maps import check_map_output
    from graphrefine.evaluate import evaluate_labels, random_control
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.embed_run import embed_graph
    from graphrefine.system.threads import usable_threads

    threads = usable_threads(threads)
    path = None if importlib.util.find_spec("matplotlib") is None else Path(folder) / "map.png"
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made a folder: {error.strerror}") from None
        check_map_output(path)
    stages = Stages(watcher)
    with stages.stage("graph"):
        graph, digit = digits_graph()
    start = perf_counter()
    embedding, _ = embed_graph(graph, make_settings("refine", dim=DIM, seed=seed), threads=threads, watcher=watcher)
    spent = perf_counter() - start
    with stages.stage("score", steps=3):
        unfiltered, _ = embed_graph(graph, make_settings("rbqr", dim=DIM, seed=seed), method="rbqr", threads=threads)
        scores = {}
        for name, vectors in {
            "REFINE": embedding.vectors,
            "RBQR (no filter)": unfiltered.vectors,
            "random control": random_control(graph.nodes, DIM, seed=seed),
        }.items():
            at = evaluate_labels(vectors, digit, ratios=(0.1,), seed=seed, threads=threads).ratios[0]
            scores[name] = {"micro_f1": at.micro_mean, "macro_f1": at.macro_mean}
            stages.advance()
    if path is not None:
        node_map = embedding.map(digit, seed=seed, title=TITLE, threads=threads, watch=watcher)
        node_map.save(path, names=None)
    counts = {"nodes": graph.nodes, "edges": graph.edges, "dim": DIM, "seed": seed}
    return {**counts, "seconds": spent, "scores": scores, "map": None if path is None else str(path)}
