"""The twin of live vectors makes the same rows as the compiled class, in the same order, but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

from live_oracle import apply_group, find_breach, random_history, snapshot


@pytest.mark.parametrize("hub", [512, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_twin_makes_the_same_rows(weighted: bool, hub: int) -> None:
    pytest.importorskip("graphrefine.kernels._native", reason="the compiled kernels are not built")
    history = random_history(nodes=60, groups=5, seed=1, weighted=weighted, hub=hub)
    native, twin = history.start(kernel="native"), history.start(kernel="scipy")
    for group in history.groups:
        answers = [apply_group(live, group) for live in (native, twin)]
        native.settle()
        twin.settle()
        assert answers[0] == answers[1] and native.published().tolist() == twin.published().tolist()
        assert (native.made, native.gathered, native.entries) == (twin.made, twin.gathered, twin.entries)
        one, two = snapshot(native), snapshot(twin)
        for name in one._fields:
            assert np.allclose(getattr(one, name), getattr(two, name), rtol=1e-5, atol=2e-7), name
        ours, theirs = np.empty((2, native.nodes))
        native.bounds(ours, rounds=3)
        twin.bounds(theirs, rounds=3)
        assert np.allclose(ours, theirs, rtol=1e-4) and find_breach(native, history) is None
        native.commit()
        twin.commit()
