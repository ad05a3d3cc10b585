"""The demonstration: a real graph that ships with scikit-learn, its vectors, their scores and their map."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError
from graphrefine.evaluate import evaluate_labels, random_control
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import embed_graph, settings
from graphrefine.progress import Stages, Watcher
from graphrefine.system.files import check_writable, replacing
from graphrefine.system.threads import usable_threads

DIM = 64
NEIGHBOURS = 10
ROUNDS = 400  # of t-SNE: more of them move the digits apart, and no longer from one group to another


def run_demo(
    folder: str, *, seed: int = 0, threads: int | None = None, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Embed the digits, score the vectors beside random ones, and draw the map into ``folder``.

    Without matplotlib there is no map, and all else is the same.
    """
    threads = usable_threads(threads)
    draws = importlib.util.find_spec("matplotlib") is not None
    if draws:
        _check_folder(folder)
    stages = Stages(watcher)
    with stages.stage("graph"):
        graph, digit = digits_graph()
    start = perf_counter()
    embedding, _ = embed_graph(graph, settings("refine", dim=DIM, seed=seed), threads=threads, watcher=watcher)
    spent = perf_counter() - start
    with stages.stage("score", steps=3):
        plain, _ = embed_graph(graph, settings("rbqr", dim=DIM, seed=seed), method="rbqr", threads=threads)
        scores = {}
        for name, vectors in {
            "REFINE": embedding.vectors,
            "RBQR (no filter)": plain.vectors,
            "random control": random_control(graph.nodes, DIM, seed=seed),
        }.items():
            at = evaluate_labels(vectors, digit, ratios=(0.1,), seed=seed, threads=threads).ratios[0]
            scores[name] = {"micro_f1": at.micro_mean, "macro_f1": at.macro_mean}
            stages.advance()
    with stages.stage("map"):
        picture = str(draw_map(embedding.vectors, digit, folder, seed=seed)) if draws else None
    counts = {"nodes": graph.nodes, "edges": graph.edges, "dim": DIM, "seed": seed}
    return {**counts, "seconds": spent, "scores": scores, "map": picture}


def digits_graph() -> tuple[Graph, NDArray[np.int64]]:
    """Handwritten digits, each joined to those that look most like it; and which digit each is."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    digits = load_digits()
    return Graph.from_matrix(kneighbors_graph(digits.data, NEIGHBOURS)), digits.target


def _check_folder(folder: str) -> None:
    """Find out before the work whether the map can be drawn: the folder, or the nearest above it, takes files."""
    place = Path(folder).absolute()
    there = next(above for above in (place, *place.parents) if above.exists())
    check_writable(there / "map.png")


def draw_map(vectors: NDArray[np.float32], digit: NDArray[np.int64], folder: str, *, seed: int) -> Path:
    """A picture of the vectors in the plane, coloured by digit, the digit's name in the midst of its nodes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = _flattened(vectors, seed)
    figure = Figure(figsize=(7, 6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for value in range(10):
        mine, colour = points[digit == value], mpl.colormaps["tab10"](value)
        axes.scatter(mine[:, 0], mine[:, 1], s=6, linewidths=0, color=colour)
        frame = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": colour, "alpha": 0.85}
        x, y = np.median(mine, axis=0)
        axes.text(x, y, str(value), fontsize=15, fontweight="bold", ha="center", va="center", bbox=frame)
    axes.set_axis_off()
    axes.set_title("1,797 handwritten digits, placed by the graph of who looks like whom", fontsize=10)
    path = Path(folder) / "map.png"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    with replacing(path) as hidden:
        figure.savefig(hidden, format="png")
    return path


def _flattened(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The vectors in two dimensions.  # (n, 2)."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # its threads wait by spinning: on a busy machine, ten times slower than one
        points: NDArray[np.float32] = TSNE(init="pca", max_iter=ROUNDS, random_state=seed).fit_transform(vectors)
    return points
