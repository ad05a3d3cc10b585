"""Fixtures that several test modules share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["native", "scipy"])
def each_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with the compiled kernels, where there are any, and once more with their twins."""
    if request.param == "scipy":
        monkeypatch.setenv("GRAPHREFINE_KERNEL", "scipy")
    else:
        pytest.importorskip("graphrefine.kernels._native")
