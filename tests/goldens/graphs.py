"""The graphs of the goldens: generated ones of every kind, and real ones from ``GRAPHREFINE_DATA``."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

REAL = ("ppi", "wikipedia-pos", "lastfm-asia")


def ring(nodes: int = 60) -> list[tuple[int, int]]:
    """A ring, its nodes numbered."""
    return [(i, (i + 1) % nodes) for i in range(nodes)]


def _block_edges(nodes: int, groups: int, degree: int, seed: int) -> Any:
    """Edges of a random block model: four of five stay in the group.  # (m, 2)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    source = rng.integers(0, nodes, nodes * degree // 2)
    inside = (source + groups * rng.integers(1, nodes // groups, len(source))) % nodes
    target = np.where(rng.random(len(source)) < 0.8, inside, rng.integers(0, nodes, len(source)))
    chain = np.arange(nodes)
    pairs = np.concatenate([np.column_stack([source, target]), np.column_stack([chain, (chain + 1) % nodes])])
    return pairs[pairs[:, 0] != pairs[:, 1]]


def blocks(nodes: int = 600, seed: int = 1) -> list[tuple[str, str]]:
    """A random block model whose nodes have string names, some of them not ASCII."""
    marks = ("a", "b", "ü", "ß", "猫", "e f")
    return [(f"{marks[u % 6]}{u}", f"{marks[v % 6]}{v}") for u, v in _block_edges(nodes, 6, 10, seed).tolist()]


def weighted(nodes: int = 400) -> list[tuple[int, int, float]]:
    """Edges with weights from 0.25 to 16, some listed again."""
    edges = _block_edges(nodes, 4, 8, 2)
    weights = np.random.Generator(np.random.PCG64(3)).integers(1, 65, len(edges)) / 4
    rows = [(u, v, w) for (u, v), w in zip(edges.tolist(), weights.tolist(), strict=True)]
    return [*rows, *rows[:50]]


def directed(nodes: int = 500) -> list[tuple[int, int]]:
    """Edges with a direction; some nodes have none that go out."""
    edges = _block_edges(nodes, 5, 8, 4)
    return [(u, v) for u, v in edges.tolist() if u % 17]


def bipartite(users: int = 300, items: int = 180) -> list[tuple[str, str, float]]:
    """Users and items with ratings."""
    rng = np.random.Generator(np.random.PCG64(5))
    user = rng.integers(0, users, users * 9)
    item = np.where(rng.random(len(user)) < 0.7, (user % 6) + 6 * rng.integers(0, items // 6, len(user)),
                    rng.integers(0, items, len(user)))  # fmt: skip
    pairs = sorted({(u, i) for u, i in zip(user.tolist(), item.tolist(), strict=True)})
    return [(f"user {u}", f"item {i}", 1.0 + (u * i) % 5) for u, i in pairs]


def isolated(nodes: int = 300) -> Any:
    """A matrix with self loops, and with nodes that have no edges."""
    edges = _block_edges(nodes, 3, 6, 6)
    edges = edges[(edges % 13 != 0).all(axis=1)]
    loops = np.arange(1, nodes, 7)
    loops = loops[loops % 13 != 0]
    source = np.concatenate([edges[:, 0], edges[:, 1], loops])
    target = np.concatenate([edges[:, 1], edges[:, 0], loops])
    matrix = sp.csr_array((np.ones(len(source), np.float32), (source, target)), shape=(nodes, nodes))
    matrix.data[:] = 1.0
    return matrix


def features(nodes: int, columns: int = 12) -> Any:
    """Features of nodes 0 to n-1, a few of them zero rows.  # (n, columns)."""
    rng = np.random.Generator(np.random.PCG64(7))
    matrix = rng.random((nodes, columns)).astype(np.float32)
    matrix[:, 0] += np.arange(nodes) % 4
    matrix[::29] = 0
    return matrix


@cache
def real(name: str) -> Any:
    """A real graph; LookupError where the folder of the real graphs is not known."""
    import graphrefine

    folder = os.environ.get("GRAPHREFINE_DATA")
    if not folder or not (Path(folder) / f"{name}.mat").exists():
        raise LookupError(f"GRAPHREFINE_DATA is not set, or has no {name}.mat: the real graphs are not here")
    return graphrefine.read(Path(folder) / f"{name}.mat")


def write_edges(path: Path, edges: list[Any]) -> Path:
    """An edge list as a file of tab-separated text."""
    path.write_text("".join("\t".join(map(str, edge)) + "\n" for edge in edges), encoding="utf-8")
    return path


def large(nodes: int = 60_000) -> list[tuple[int, int]]:
    """A graph whose vectors are larger than a small budget."""
    return [(u, v) for u, v in _block_edges(nodes, 60, 6, 8).tolist()]
