"""Every vector has the bits that the table of goldens has for this kind of processor; ``make.py`` says more."""

from __future__ import annotations

import pytest

from goldens import adapter
from goldens.make import find_column
from goldens.rows import ROWS, Row

pytestmark = pytest.mark.filterwarnings("ignore")  # about graphs that are made to be odd


@pytest.fixture(scope="module")
def hashes() -> dict[str, str]:
    """The column of this machine; without one, the tests are skipped and say how to add it."""
    column, problem = find_column()
    if problem:
        pytest.skip(problem)
    return column


@pytest.mark.parametrize("row", [pytest.param(row, id=name, marks=[pytest.mark.slow] * row.slow)
                                 for name, row in ROWS.items()])  # fmt: skip
def test_bits(row: Row, hashes: dict[str, str]) -> None:
    if row.kernel == "native" and adapter.instruction_set() == "none":
        pytest.skip("no compiled kernels here")
    assert row.name in hashes, f"vectors.json has no {row.name}: `PYTHONPATH=tests python -m goldens.make` adds it"
    try:
        assert row.hash() == hashes[row.name]
    except LookupError as error:
        pytest.skip(str(error))
