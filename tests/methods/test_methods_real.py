"""Every method on real graphs: as good as published, with random vectors far below."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine.evaluate import evaluate_labels, random_control, read_labels
from graphs import data_folder

# Micro and Macro F1 at 50 % of the labels that must be exceeded: as published, of ProNE, DeepWalk and LINE in Tables 1
# and 2 of the paper, of NetMF and NetSMF in their own, less 1.0 to 1.5 for other splits of the labels. LouvainNE and
# HARP publish other measures: theirs are what was measured here (17.9 and 23.3), less 1.
PUBLISHED: list[tuple[str, str, dict[str, Any], tuple[float, float]]] = [
    ("prone", "ppi", {}, (24.05 - 1.0, 19.59 - 1.0)),
    ("netmf", "ppi", {}, (23.10 - 1.5, 19.94 - 1.5)),
    ("netmf", "ppi", {"rank": 256}, (23.10 - 1.5, 19.94 - 1.5)),
    ("netmf", "wikipedia-pos", {"window": 1}, (57.26 - 1.5, 13.67 - 1.5)),
    ("louvainne", "ppi", {"decay": 0.5}, (17.0, 0.0)),
]
SLOW: list[tuple[str, str, dict[str, Any], tuple[float, float]]] = [
    ("prone", "blogcatalog", {}, (41.20 - 1.0, 24.28 - 1.0)),
    ("prone", "wikipedia-pos", {}, (55.63 - 1.0, 11.40 - 1.0)),
    ("netmf", "blogcatalog", {"rank": 256}, (42.67 - 1.5, 28.31 - 1.5)),
    ("netsmf", "blogcatalog", {}, (33.4 - 1.0, 0.0)),
    ("deepwalk", "ppi", {}, (21.26 - 1.0, 18.25 - 1.0)),
    ("deepwalk", "wikipedia-pos", {}, (48.65 - 1.0, 9.71 - 1.0)),
    ("line", "ppi", {}, (16.0 - 1.0, 13.82 - 1.0)),
    ("line", "wikipedia-pos", {}, (51.89 - 1.0, 12.63 - 1.0)),
    ("harp", "ppi", {}, (22.3, 0.0)),
]


def f1(data: str, found: NDArray[np.floating], repeats: int = 5) -> NDArray[np.float64]:
    at = evaluate_labels(found, read_labels(data_folder() / f"{data}.mat"), ratios=(0.5,), repeats=repeats).ratios[0]
    return np.array([at.micro_mean, at.macro_mean])


def vectors(name: str, data: str, **options: Any) -> NDArray[np.float32]:
    return graphrefine.embed(data_folder() / f"{data}.mat", method=name, threads=2, **options).vectors


@pytest.mark.parametrize(
    ("name", "data", "options", "least"), [*PUBLISHED, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_as_good_as_published(name: str, data: str, options: dict[str, Any], least: tuple[float, float]) -> None:
    found = vectors(name, data, **options)
    assert np.all(f1(data, found) > np.array(least))
    if data == "ppi":  # the control
        assert f1(data, random_control(len(found), 128))[0] < least[0] - 8


def test_methods_that_save_work_are_as_good_as_those_that_do_not() -> None:
    exact, sampled = (f1("ppi", vectors(*case, "ppi"))[0] for case in (("netmf",), ("netsmf",)))
    assert sampled > exact - 1.5
    whole, refined = vectors("refine", "ppi", quality="fast"), vectors("mile", "ppi", base="refine")
    assert f1("ppi", refined)[0] > f1("ppi", whole)[0] - 0.5
    # The control: without any training, the convolution of MILE alone does not do that.
    assert f1("ppi", vectors("mile", "ppi", base="refine", steps=1))[0] < f1("ppi", whole)[0] - 1
