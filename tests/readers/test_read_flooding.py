"""Names and ids that were made to collide in the reader's hash table cost no more than others do."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import pytest

import graphrefine
from graphrefine.readers.read import read

SCRIPTS = Path(__file__).parents[2] / "benchmarks"
COUNT = 20_000
SLOWDOWN = 5.0  # quadratic work takes a hundred times as long, and more

if TYPE_CHECKING:
    import colliding_names

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks are not here")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    global colliding_names
    import colliding_names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["names", "ids"])
def test_colliding_names_and_ids_take_no_longer(kind: str, tmp_path: Path) -> None:
    if kind == "names":
        makers = (colliding_names.ordinary_names, colliding_names.colliding_names)
        texts = [colliding_names.edge_list(make(COUNT)) for make in makers]
    else:
        ids = (colliding_names.ordinary_ids(COUNT), colliding_names.colliding_ids(COUNT))
        texts = [colliding_names.edge_list_of_ids(each) for each in ids]
    ordinary, colliding = (_best_time(tmp_path / f"{at}.csv", text) for at, text in enumerate(texts))
    assert colliding < SLOWDOWN * ordinary, f"{colliding:.3f} s where others take {ordinary:.3f} s"


def _best_time(path: Path, text: bytes) -> float:
    """Seconds of the processor, which others on the machine do not lengthen."""
    path.write_bytes(text)
    seconds = []
    for _ in range(3):
        start = process_time()
        graph = read(path, threads=1)
        seconds.append(process_time() - start)
        assert graph.nodes == COUNT
    return min(seconds)


def test_ids_that_collide_in_duckdb_take_no_longer(tmp_path: Path) -> None:
    """Ids far apart are numbered by DuckDB, whose hash has no salt: 60,000 such ids took minutes."""
    pytest.importorskip("duckdb")
    seconds = []
    for name, ids in (("a", colliding_names.ordinary_ids(COUNT)), ("b", colliding_names.colliding_ids(COUNT))):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(colliding_names.edge_list_of_ids(ids))
        start = process_time()
        graph = graphrefine.ingest(path, tmp_path / f"{name}.grf", memory="256MB", threads=1)
        seconds.append(process_time() - start)
        assert graph.names.tolist() == sorted(ids.tolist())
    assert seconds[1] < SLOWDOWN * seconds[0], seconds
