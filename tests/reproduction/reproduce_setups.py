"""A setup of the reproduction that takes seconds: a few hundred generated nodes, one split, one round."""

from __future__ import annotations

from pathlib import Path

from reproduction.setup import Graphs, Setup


def tiny(**changes: object) -> Setup:
    settings: dict[str, object] = {
        "graphs": Graphs(Path(__file__).parent, scale=0.05, largest=0.0005),  # there are none there
        "threads": 2,
        "dim": 16,
        "seeds": 1,
        "repeats": 1,
        "ratios": 1,
        "rounds": 1,
        "shortening": 40,
        "scale": 0.01,
        "slow_graphs": frozenset({"ppi"}),
        **changes,
    }
    return Setup("tiny", **settings)  # type: ignore[arg-type]
