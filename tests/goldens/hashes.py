"""Hashes of vectors: sha256 of names and float32 bytes; and the command line, run for its vectors."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import graphrefine
from goldens import graphs


def hash_of(names: Iterable[Any], *arrays: Any) -> str:
    """The hash of names, kept apart by their type, and of arrays as float32 with their shapes.

    >>> hash_of([1], [[1.0]]) == hash_of(["1"], [[1.0]])
    False
    """
    digest = hashlib.sha256()
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    digest.update(json.dumps(plain, ensure_ascii=False).encode())
    for array in arrays:
        values = np.ascontiguousarray(array, dtype="<f4")
        digest.update(repr(values.shape).encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def hash_embedding(embedding: Any) -> str:
    """The hash of the names and vectors of an embedding."""
    return hash_of(embedding.names, embedding.vectors)


def run_command(*arguments: str | Path) -> dict[str, Any]:
    """Run ``python -m graphrefine ... --json``, and give the object that it prints."""
    command = [sys.executable, "-m", "graphrefine", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def list_options(settings: dict[str, Any]) -> list[str]:
    """Settings as options of the command line.

    >>> list_options({"dim": 24, "bipartite": True, "log_weights": False})
    ['--dim', '24', '--bipartite', '--no-log-weights']
    """
    options = []
    for name, value in settings.items():
        option = name.replace("_", "-")
        options += [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", value]
    return [str(option) for option in options]


def embed_by_command(
    graph: Callable[[], list[Any]], *options: str, mode: str | None = None, store: bool = False
) -> Any:
    """The embedding of ``graphrefine embed FILE``, after ``ingest`` if asked; ``mode`` is the plan it must follow."""
    with TemporaryDirectory() as folder:
        path = graphs.write_edges(Path(folder) / "edges.tsv", graph())
        if store:
            run_command("ingest", path, "-o", Path(folder) / "edges.grf")
            path = Path(folder) / "edges.grf"
        figures = run_command("embed", path, "-o", Path(folder) / "out.npz", *options)
        plan = figures.get("plan", {})
        if mode is not None and plan.get("mode") != mode:
            raise RuntimeError(f"the plan was {plan.get('mode')!r}, not {mode!r}: {plan}")
        return graphrefine.load(Path(folder) / "out.npz")
