"""Live vectors in fixed cases: broken bounds are seen, hubs, sums that cancel, wrong changes and wrong parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graphrefine.kernels import native
from oracles.live import (
    ADD,
    COLUMNS,
    KEEP,
    REMOVE,
    SET,
    Change,
    History,
    apply_group,
    change_edges,
    find_breach,
    lags_of,
    settle_group,
    snapshot,
)

RING = History(  # a ring of eight; a chord comes, then a node with two edges, then an edge goes
    8,
    8,
    tuple((i, (i + 1) % 8, 1.0) for i in range(8)),
    ((0, ((ADD, 0, 4, 1.0),)), (1, ((ADD, 8, 2, 1.0), (ADD, 8, 3, 2.0))), (0, ((REMOVE, 5, 6, 0.0),))),
)


def test_controls_a_share_of_lags_and_of_bounds_is_too_little() -> None:
    """What breaks a claim is seen: a fifth of the lags, and a twentieth of sharp bounds of a node that is behind."""
    live = RING.start()
    apply_group(live, RING.groups[0])
    assert find_breach(live, RING) is None
    assert "residuals" in str(find_breach(live, RING, lags=0.2 * lags_of(live)))
    history = replace(RING, tolerance=0.2)
    live = history.start()
    apply_group(live, RING.groups[0])
    live.settle()
    assert find_breach(live, history) is None
    assert "bounds" in str(find_breach(live, history, share=0.05))


def test_a_hub_stays_where_its_neighbors_steps_cancel() -> None:
    """Leaves of a star that move apart: sums say that the hub need not move, which their lengths alone cannot."""
    leaves = 400
    edges = tuple((0, leaf, 1.0) for leaf in range(1, leaves + 1))
    pairs = tuple((ADD, leaf, leaf + 1, 1.0) for leaf in range(1, 101, 2))
    history = History(leaves + 1, leaves + 1, edges, ((0, pairs),), dim=16, tolerance=2e-3)
    gathered = {}
    for hub in (64, 512):
        live = replace(history, hub=hub).start()
        live.sweep()
        live.measure()
        before = live.gathered
        settle_group(live, history.groups[0])
        assert find_breach(live, history) is None and lags_of(live).max() <= history.tolerance
        gathered[hub] = live.gathered - before
    assert gathered[64] < gathered[512]


@pytest.mark.parametrize(("hub", "weight"), [(hub, weight) for hub in (2, 512) for weight in (1e20, 3e14, 1e13)])
def test_sums_of_a_hub_survive_a_weight_that_dwarfs_the_others(hub: int, weight: float) -> None:
    """A weight comes and goes: what is left of a sum in float64 is nothing but rounding of 1e20, and partly of 3e14.

    Of 1e13, 5e-5 to 1e-3 of the residual is rounding: the sums are computed again for a share far below a quarter.
    """
    edges = tuple((0, leaf, 1.0) for leaf in range(1, 9))
    groups = ((0, ((ADD, 0, 9, weight),)), (0, ((REMOVE, 0, 9, 0.0),)), (0, ((ADD, 1, 2, 1.0), (ADD, 0, 10, 1e-3))))
    history = History(11, 11, edges, groups, dim=6, tolerance=1e-3, hub=hub)
    live = history.start()
    for group in history.groups:
        settle_group(live, group)
        assert find_breach(live, history) is None and lags_of(live).max() <= history.tolerance


def test_rows_whose_sum_cancels_are_precise() -> None:
    """Two neighbors with nearly opposite rows of the basis: q is short, and its direction is known all the same."""
    history = History(3, 3, ((0, 1, 1.0), (0, 2, 1.0)), ())
    basis = np.zeros((3, COLUMNS), np.float32)
    basis[1, :2], basis[2, :2] = (0.7, 1e-6), (-0.7, 1e-6)
    shifts = np.array([1, 2, np.nextafter(np.float32(2), np.float32(3))], np.float32)
    parts = history.frozen._replace(basis=basis, shifts=shifts)
    numbers = {"keep": KEEP, "loop": 0.5, "tolerance": 0.01, "publish": 0.1, "rounding": 1e-5, "spread": 1.0}
    live = native.LiveGraph(*history.model().arrays(), **parts._asdict(), **numbers)
    live.make_targets()
    entries = shifts.astype(float)[1:] - np.log(2)
    q = entries @ basis[1:].astype(float)
    expected = (q / np.linalg.norm(q) - parts.mean) @ parts.rotation
    assert np.linalg.norm(q) < 1e-5
    assert np.abs(snapshot(live).targets[0] - expected).max() < 1e-6


def test_an_edge_that_is_not_there_cannot_be_removed() -> None:
    live = RING.start()
    changes = ((REMOVE, 0, 1, 0.0), (REMOVE, 1, 0, 0.0), (REMOVE, 0, 3, 0.0), (ADD, 0, 5, 1.0))
    assert change_edges(live, changes, skip=False) == (1, 1)
    assert live.entries == 14  # the first is made, the others are not
    live.undo()
    assert live.entries == 16
    assert change_edges(live, changes) == (2, 0)
    assert live.entries == 16 and 5 in live.neighbors(0)[0]


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0, 3e38, 1e-40])
@pytest.mark.parametrize("skip", [False, True])
def test_a_weight_out_of_range_is_refused(weight: float, skip: bool) -> None:
    live = RING.start()
    before = snapshot(live)
    assert change_edges(live, [(ADD, 0, 3, 1.0), (SET, 0, 5, weight)], skip=skip) == (1, 2)
    live.undo()
    assert change_edges(live, [(ADD, 0, 3, weight)], skip=skip) == (0, 2)
    assert snapshot(live).same_bits(before)


@pytest.mark.parametrize("wrong", [(ADD, 0, 8, 1.0), (ADD, -1, 0, 1.0), (ADD, 2, 2, 1.0), (4, 0, 1, 1.0)])
def test_a_change_of_no_edge_is_an_error(wrong: Change) -> None:
    live = RING.start()
    with pytest.raises(ValueError, match=r"no such node|joins two nodes"):
        change_edges(live, [(REMOVE, 0, 1, 0.0), wrong], skip=False)
    assert live.entries == 16  # nothing is made


ONE, ROWS, NUMBERS = np.zeros(1, np.int32), np.zeros((8, COLUMNS), np.float32), np.zeros((8, 6))
SHAPES: list[tuple[str, Callable[[Any], Any]]] = [
    ("two ends", lambda live: live.change(np.zeros(2, np.uint8), ONE, ONE, np.zeros(1, "f4"), skip=False)),
    ("six numbers", lambda live: live.take_out(0, ROWS, ROWS.copy(), NUMBERS[:, :5].copy())),
    ("six numbers", lambda live: live.put_in(0, ROWS, ROWS[:7].copy(), NUMBERS)),
    ("no such nodes", lambda live: live.put_in(1, ROWS, ROWS.copy(), NUMBERS)),
    ("one number for each node", lambda live: live.lags(np.zeros(7))),
    ("one number for each node", lambda live: live.bounds(np.zeros(9), rounds=1)),
    ("one number for each node", lambda live: live.bounds(np.zeros(8), rounds=-1)),
    ("a row for each node", lambda live: live.vectors(ONE, ROWS[:2].copy(), np.zeros(2))),
    ("a row for each node", lambda live: live.put_states(np.zeros((9, COLUMNS), np.float32))),
    ("no such node", lambda live: live.vectors(ONE + 8, ROWS[:1].copy(), np.zeros(1))),
    ("no such node", lambda live: live.neighbors(8)),
    ("too many nodes", lambda live: live.add_nodes(2**31)),
    ("above the rounding", lambda live: live.set_tolerance(0.0)),
]


@pytest.mark.parametrize(("message", "call"), SHAPES)
def test_arrays_of_another_shape_are_errors(message: str, call: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=message):
        call(RING.start())


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"indptr": np.array([0, 1, 3])}, "from 0 to the number"),
    ({"indptr": np.array([0, 2, 1, 2])}, "must not decrease"),
    ({"indptr": np.array([0, 2**40, 1, 2])}, "must not decrease"),
    ({"indices": np.array([0, 0], np.int32)}, "other nodes"),  # a loop
    ({"indices": np.array([3, 0], np.int32)}, "other nodes"),  # no such node
    ({"weights": np.ones(3, np.float32)}, "one number for each entry"),
    ({"weights": np.zeros(2, np.float32)}, r"between 2\^-100"),
    ({"weights": np.full(2, np.nan, np.float32)}, r"between 2\^-100"),
    ({"basis": np.zeros((2, 31), np.float32)}, "multiple of 32"),
    ({"basis": np.zeros((4, 32), np.float32)}, "multiple of 32"),
    ({"shifts": np.zeros(3, np.float32)}, "row of the basis"),
    ({"rotation": np.zeros((32, 31))}, "columns x columns"),
    ({"mean": np.zeros(31)}, "each column"),
    ({"keep": 1.0}, "between 0 and 1"),
    ({"loop": 0.0}, "between 0 and 1"),
    ({"tolerance": 1e-6}, "above the rounding"),
    ({"spread": -1.0}, "nothing is negative"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_parts_that_do_not_fit_are_errors(change: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {
        "indptr": np.array([0, 1, 2, 2]),
        "indices": np.array([1, 0], np.int32),
        "weights": None,
        **{"basis": np.zeros((2, 32), np.float32), "shifts": np.zeros(2, np.float32)},
        **{"rotation": np.eye(32), "mean": np.zeros(32), "keep": 0.2, "loop": 1.0, "tolerance": 1e-3},
        **{"rounding": 1e-5, "spread": 1.0, "publish": 0.1},
    }
    kernel = native.LiveGraph
    assert kernel(**parts).nodes == 3
    with pytest.raises(ValueError, match=message):
        kernel(**(parts | change))
