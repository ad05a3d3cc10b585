"""Generated graphs for the benchmarks at scale: drawn and ingested once, kept in a folder for the next run."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from edge_streams import write_edges
from measuring import Run, command, watch


@dataclass(frozen=True)
class Shape:
    """A graph to be drawn."""

    edges: int
    nodes: int
    model: str = "powerlaw"
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.model}-{self.edges}-{self.nodes}-{self.seed}"


def add_folder(parser: argparse.ArgumentParser) -> None:
    """The option that says where graphs are kept."""
    parser.add_argument("--folder", type=Path, help="where graphs and results go; a temporary folder if not given")


@contextlib.contextmanager
def place(folder: Path | None) -> Iterator[Path]:
    """The folder given, made if needed, or one that is removed afterwards."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="graphrefine-scale-") as fresh:
            yield Path(fresh)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def drawn(shape: Shape, folder: Path, *, threads: int) -> Path:
    """The folder with the edges of a graph; drawn if it is not there."""
    edges = folder / f"{shape}-edges"
    if not edges.exists():
        start = perf_counter()
        write_edges(edges, shape.model, nodes=shape.nodes, edges=shape.edges, seed=shape.seed, threads=threads)
        seconds = perf_counter() - start
        print(f"{shape}: drawn in {seconds:.1f} s, {shape.edges / seconds / 1e6:.1f} million edges/s", flush=True)
    return edges


def ingested(
    shape: Shape, folder: Path, *, threads: int, memory: str | None = None, keep: bool = False
) -> tuple[Path, Run | None]:
    """The ``.grf`` of a graph, and how it was ingested if it was not there; the drawn edges go unless they are kept."""
    graph = folder / f"{shape}.grf"
    if graph.exists():
        return graph, None
    edges = drawn(shape, folder, threads=threads)
    run = watch(command("ingest", edges, "-o", graph, memory=memory, threads=threads), folder=folder).must()
    predicted = run.figures.get("predicted_mb")
    of = "" if predicted is None else f", {predicted:,.0f} predicted"
    print(f"{shape}: ingested in {run.seconds:.1f} s, {run.peak / 1e6:,.0f} MB at most{of}", flush=True)
    if not keep:
        shutil.rmtree(edges)
    return graph, run
