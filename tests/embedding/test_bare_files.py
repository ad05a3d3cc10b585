"""Files with names and numbers alone: no score of links goes by what they do not say; formats with a recipe go on."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding
from graphrefine.embedding.formats import FORMATS, SERVER, Format
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.search.vectors import STATE_FORMATS

EDGES = [(f"u{i}", f"i{j}") for i in range(12) for j in range(9) if (i * j + i) % 3 == 0]
BARE = [each for each in FORMATS if not each.state]


def _make(kind: str) -> Embedding:
    return graphrefine.embed(EDGES, dim=4, directed=kind == "directed", bipartite=kind == "bipartite")


def test_the_formats_with_a_recipe_are_named() -> None:
    assert tuple(each.name for each in (*FORMATS, SERVER) if each.state) == STATE_FORMATS


@pytest.mark.parametrize("format", BARE, ids=[each.name for each in BARE])
@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
def test_bare_files_have_no_scores_of_links(kind: str, format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"e{format.suffixes[0]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that npy loses names
        _make(kind).save(path)
    bare = graphrefine.load(path)
    name = bare.names.tolist()[0]
    assert len(bare.neighbors(name, 2)) == len(bare.neighbors(name, 2, score="dot")) == 2
    for again in (bare, pickle.loads(pickle.dumps(bare))):
        with pytest.raises(InputError, match=r"does not say; .*\(folder, npz, .* or score='cosine'"):
            again.neighbors(name, score="link")
        with pytest.raises(InputError, match="recommend needs"):
            again.recommend(name)
        with pytest.raises(InputError, match="score='link'"):
            again.all_neighbors(1, score="link")
        with pytest.warns(ArgumentWarning, match="so score is the cosine alone") as caught:
            again.score(name)
        assert caught[0].filename == __file__
    for call in ([str(name)], ["--all", "-o", str(tmp_path / "all.csv")]):
        expected = (f"{path}: score='link'", "safetensors, pgvector), or score='cosine'", "--score")
        refuses("neighbors", path, *call, "--score", "link", folder=tmp_path, expected=expected)
    works("neighbors", path, str(name), "-k", "2")
