"""``graphrefine demo``: a real graph, its vectors, their scores and their map."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine.cli.options import JSON, SEED, THREADS, Option, command
from graphrefine.display.console import note, progress_bar, seconds, show_json, show_table
from graphrefine.errors import OutputError
from graphrefine.progress import Stages

DIM = 64
TITLE = "1,797 handwritten digits, placed by the graph of who looks like whom"


@command(
    "demo",
    short_help="See it work on a real graph.",
    params=[
        Option(["-o", "--output"], default="demo-output", show_default=True, metavar="FOLDER",
               help="For the map."),
        SEED, THREADS, JSON,
    ],
)  # fmt: skip
def demo(output: str, seed: int, threads: int | None, as_json: bool) -> None:
    """Embed a real graph that every installation has, score the vectors, and draw a map of them.

    The graph: 1,797 handwritten digits from scikit-learn, each joined to its ten nearest. The labels: which digit
    it is.
    """
    from graphrefine.datasets.digits import digits_graph
    from graphrefine.display.maps import check_map_output
    from graphrefine.display.plots import can_draw
    from graphrefine.evaluate import evaluate_labels, random_control
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.embed_run import embed_graph

    path = Path(output) / "map.png" if can_draw() else None
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{output}: cannot be made a folder: {error.strerror}") from None
        check_map_output(path)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("graph"):
            graph, digit = digits_graph()
        start = perf_counter()
        embedding, _ = embed_graph(graph, make_settings("refine", dim=DIM, seed=seed), threads=threads, watcher=bar)
        spent = perf_counter() - start
        with stages.stage("score", steps=3):
            plain, _ = embed_graph(graph, make_settings("rbqr", dim=DIM, seed=seed), method="rbqr", threads=threads)
            # The control shows what 90% is worth: chance finds one digit in ten.
            control = random_control(graph.nodes, DIM, seed=seed)
            scores: dict[str, dict[str, float]] = {}
            named: dict[str, Any] = {"REFINE": embedding, "RBQR (no filter)": plain, "random control": control}
            for name, vectors in named.items():
                at = evaluate_labels(vectors, digit, ratios=(0.1,), seed=seed, threads=threads).ratios[0]
                scores[name] = {"micro_f1": at.micro_mean, "macro_f1": at.macro_mean}
                stages.advance()
        if path is not None:
            embedding.map(digit, seed=seed, title=TITLE, threads=threads, watcher=bar).save(path, names=None)
    if path is None:
        note('note: no map was drawn, for want of matplotlib: pip install "graphrefine[plot]"')
    if as_json:
        counts = {"nodes": graph.nodes, "edges": graph.edges, "dim": DIM, "seed": seed}
        return show_json({**counts, "seconds": spent, "scores": scores, "map": None if path is None else str(path)})
    print(f"{graph.nodes:,} nodes, {graph.edges:,} edges, embedded in {seconds(spent)}.")
    print("Which digit is it, with 10% of the labels known?\n")
    rows = [(name, f"{score['micro_f1']:.1f}", f"{score['macro_f1']:.1f}") for name, score in scores.items()]
    show_table([("vectors", "Micro F1", "Macro F1"), *rows])
    if path is not None:
        print(f"\nmap: {path}")
    return None
