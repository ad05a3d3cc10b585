"""The demonstration: a real graph that ships with scikit-learn, its vectors, their scores and their map."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import MissingExtraError, OutputError
from graphrefine.evaluate import evaluate_labels, random_control
from graphrefine.graph import Graph
from graphrefine.progress import Stages, Watcher
from graphrefine.refine import embed_graph, settings

DIM = 64
NEIGHBOURS = 10


def digits_graph() -> tuple[Graph, NDArray[np.int64]]:
    """Handwritten digits, each joined to those that look most like it; and which digit each is."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    digits = load_digits()
    matrix = kneighbors_graph(digits.data, NEIGHBOURS, mode="connectivity")
    return Graph.from_matrix(matrix), digits.target


def run_demo(
    folder: str, *, seed: int = 0, threads: int | None = None, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Embed the digits, score the vectors beside random ones, and draw the map into ``folder``."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("the map", "matplotlib", "plot") from None
    stages = Stages(watcher)
    with stages.stage("graph"):
        graph, digit = digits_graph()
    start = perf_counter()
    embedding, _ = embed_graph(graph, settings(dim=DIM, seed=seed), threads=threads, watcher=watcher)
    spent = perf_counter() - start
    plain, _ = embed_graph(graph, settings(dim=DIM, seed=seed, filter="none"), threads=threads)
    candidates = {
        "REFINE": embedding.vectors,
        "RBQR (no filter)": plain.vectors,
        "random control": random_control(graph.nodes, DIM, seed=seed),
    }
    scores = {}
    for name, vectors in candidates.items():
        at = evaluate_labels(vectors, digit, ratios=(0.1,), seed=seed, threads=threads).ratios[0]
        scores[name] = {"micro_f1": at.micro_mean, "macro_f1": at.macro_mean}
    with stages.stage("map"):
        picture = draw_map(embedding.vectors, digit, folder, seed=seed)
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "dim": DIM,
        "seconds": spent,
        "scores": scores,
        "map": str(picture),
        "seed": seed,
    }


def draw_map(vectors: NDArray[np.float32], digit: NDArray[np.int64], folder: str, *, seed: int) -> Path:
    """A picture of the vectors in two dimensions, coloured by digit, the digit's name in the midst of its nodes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from sklearn.manifold import TSNE

    from graphrefine.files import replacing

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    points = TSNE(init="pca", perplexity=30, random_state=seed).fit_transform(vectors)
    figure = Figure(figsize=(7, 6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = mpl.colormaps["tab10"]
    for value in range(10):
        mine = points[digit == value]
        axes.scatter(mine[:, 0], mine[:, 1], s=6, linewidths=0, color=colours(value))
        x, y = np.median(mine, axis=0)
        axes.text(x, y, str(value), fontsize=15, fontweight="bold", ha="center", va="center",
                  bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": colours(value), "alpha": 0.85})  # fmt: skip
    axes.set_axis_off()
    axes.set_title("1,797 handwritten digits, placed by graphrefine from their nearest-neighbour graph alone", fontsize=9)
    path = Path(folder) / "map.png"
    with replacing(path) as hidden:
        figure.savefig(hidden, format="png")
    return path
