"""Results as tables: the numbers in frames of other packages, and the text in a notebook."""

from __future__ import annotations

import math

import pytest

import graphrefine
from graphrefine.datasets import block_model
from graphrefine.evaluate import evaluate_labels
from graphrefine.evaluate.results import Comparison, Row

TOWN = block_model(300, 2000, classes=4, mixing=0.1)


@pytest.fixture(scope="module")
def embedding() -> graphrefine.Embedding:
    return graphrefine.embed(TOWN.graph, dim=16)


def test_scores_of_labels(embedding: graphrefine.Embedding) -> None:
    scores = evaluate_labels(embedding, TOWN.labels, ratios=(0.2, 0.8), repeats=3)
    frame = scores.to_pandas()
    assert frame["ratio"].tolist() == [0.2, 0.8] and frame["train_nodes"].tolist() == [60, 240]
    assert frame["micro_f1"].tolist() == [each.micro_mean for each in scores.ratios]
    assert frame["macro_f1_std"].tolist() == [each.std("macro_f1") for each in scores.ratios]
    assert scores.table().stats == scores.to_dict()
    assert all(cell in scores._repr_html_() for cell in scores.text_rows()[1])


def test_a_tuning_is_its_trail() -> None:
    tuning = graphrefine.tune(TOWN.graph, TOWN.labels, budget=2, dims=[8])
    frame = tuning.to_pandas()
    assert frame["score"].tolist() == [trial.score for trial in tuning.trail] and frame["gain"][0] == 0
    assert frame["settings"][0] == "default" and (frame["outcome"] == "best").sum() == 1


def test_a_comparison_has_gaps_as_nan() -> None:
    rows = (
        Row("refine", 8, "done", quality=70.0, seconds=0.5, peak_bytes=10, cells={"F1": "70.0"}),
        Row("<line>", None, "timeout", "not done after 1 s"),
    )
    comparison = Comparison(rows, ("F1",), "Micro F1, %", "how it was done", {}, {}, {})
    frame = comparison.to_pandas()
    assert frame["method"].tolist() == ["refine", "<line>"] and math.isnan(frame["dim"][1])
    assert frame["quality"][0] == 70.0 and math.isnan(frame["quality"][1])
    assert frame["message"][1] == "not done after 1 s"
    assert "&lt;line&gt;" in comparison._repr_html_() and "<line>" not in comparison._repr_html_()
