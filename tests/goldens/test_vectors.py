"""Every vector has the bits that the table of goldens has; ``table.py`` and ``make.py`` say more.

Covered rows have one hash, on every machine, whatever its processor and its libraries, and in
every way in which the vectors can be made. Other rows have one for each kind of processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from goldens import covered, local, table

pytestmark = pytest.mark.filterwarnings("ignore")  # about graphs that are made to be odd


def list_ways() -> Iterator[Any]:
    """Each covered row in each of its ways."""
    for name, row in covered.ROWS.items():
        for way, slow in row.list_ways().items():
            yield pytest.param(row, way, id=f"{name}-{way}", marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize(("row", "way"), list(list_ways()))
def test_bits_of_every_processor(row: covered.Row, way: str) -> None:
    hashes = table.covered_hashes()
    assert row.name in hashes, f"vectors.json has no {row.name} of {table.arithmetic_name()}; {table.WAY_OUT}"
    try:
        assert row.hash(way) == hashes[row.name]
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def column() -> dict[str, str]:
    """The column of this machine; without one, the tests are skipped and say how to add it."""
    hashes, problem = table.local_hashes()
    if problem:
        pytest.skip(problem)
    return hashes


@pytest.mark.parametrize("row", [pytest.param(row, id=name, marks=[pytest.mark.slow] * row.slow)
                                 for name, row in local.ROWS.items()])  # fmt: skip
def test_bits_of_one_kind_of_processor(row: local.Row, column: dict[str, str]) -> None:
    assert row.name in column, f"vectors.json has no {row.name}; {table.WAY_OUT}"
    try:
        assert row.hash() == column[row.name]
    except LookupError as error:
        pytest.skip(str(error))


def test_every_method_has_rows_where_it_belongs() -> None:
    from graphrefine.methods.registry import METHODS

    assert set(covered.METHODS) == set(METHODS)
    for method in METHODS:
        rows = covered.ROWS if covered.is_covered(method) else local.ROWS
        others = local.ROWS if covered.is_covered(method) else covered.ROWS
        assert any(f"method/{method}/" in name for name in rows)
        assert not any(f"method/{method}/" in name for name in others)


def test_another_bit_has_another_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a row whose vectors have one other last bit, or whose signs are others, is seen."""
    import numpy as np

    row, honest = covered.ROWS["fast/ring"], covered.embed

    def nudge(graph: Any, **settings: Any) -> Any:
        embedding = honest(graph, **settings)
        embedding.vectors[5, 3] = np.nextafter(embedding.vectors[5, 3], np.float32(9))
        return embedding

    monkeypatch.setitem(covered.WAYS, "memory", nudge)
    assert row.hash() != table.covered_hashes()[row.name]
