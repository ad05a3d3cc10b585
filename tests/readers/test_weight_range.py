"""Weights outside of what float32 holds: refused by every reader, with the range and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array

from graphrefine import ingest, read
from graphrefine.errors import InputError
from graphrefine.graph.adjacency import FLOAT32_RANGE

TINY, HUGE = 1e-50, 1e39


@pytest.mark.parametrize("text", ["1e-50", "1e-400", f"0.{'0' * 52}1", "+.1E-60"])
def test_texts_that_are_nothing_as_float32(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(f"a,b,1\nb,c,{text}\n")
    with pytest.raises(InputError, match=r"line 2: weight .* is 0 as a float32 number"):
        read(tmp_path / "g.csv")


@pytest.mark.parametrize("text", ["0", "0.0", "-0.0", "0e7", "+.0E-60", "00"])
def test_zeros_are_no_edges(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(f"a,b,1\nb,c,{text}\nc,d,1.4e-45\n")
    for graph in (read(tmp_path / "g.csv"), ingest(tmp_path / "g.csv", tmp_path / "g.grf")):
        assert graph.report["zero_weights"] == 1
        assert graph.weights is not None and graph.weights.min() > 0


OBJECTS: dict[str, Any] = {
    "frame": lambda w: pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, w]}),
    "triples": lambda w: [("a", "b", 1.0), ("b", "c", w)],
    "dense": lambda w: np.diag([w, 1.0, 1.0], 1),
    "sparse": lambda w: coo_array(([1.0, w], ([0, 1], [1, 2])), shape=(3, 3)).tocsr(),
    "mapping": lambda w: {"a": {"b": 1.0}, "b": {"c": w}},
    "network": lambda w: networkx.Graph([("a", "b", {"weight": w})]),
}


@pytest.mark.parametrize("weight", [TINY, HUGE])
@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(kind: str, weight: float) -> None:
    problem = "is 0 as a float32 number" if weight == TINY else "is not a finite float32 number"
    with pytest.raises(InputError, match=rf"record [12]: weight .* {problem}; {FLOAT32_RANGE}$"):
        read(OBJECTS[kind](weight))


def test_a_matrix_without_its_weights() -> None:
    assert read(OBJECTS["dense"](TINY), weights=False).edges == 3


def test_weights_that_decay_to_nothing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("source,target,day\na,b,1990-01-01\nb,c,2024-01-01\nc,d,2024-01-02\n")
    options: dict[str, Any] = {"time": "day", "half_life": "1d", "until": "2024-01-03"}
    for graph in (read(path, **options), ingest(path, tmp_path / "g.grf", **options)):
        assert graph.edges == 2 and "edges of weight 0 left out: 1" in graph.reading
    options["until"] = "2090-01-01"
    for reader in (read, lambda path, **options: ingest(path, tmp_path / "none.grf", **options)):
        with pytest.raises(InputError, match="no edge in the graph but 3 of weight 0"):
            reader(path, **options)
