"""Live vectors: every bound holds after any history of changes, and what is undone leaves no bit behind."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from oracles.live import (
    ADD,
    COLUMNS,
    DUST,
    ISOLATE,
    REMOVE,
    SET,
    Change,
    Group,
    History,
    apply_group,
    find_breach,
    lags_of,
    settle_group,
    snapshot,
)
from strategies import PATIENT

WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 0.5, 1 / 3, 1e-3, 1e6, 1e-20, 1e20])


@st.composite
def changes(draw: st.DrawFn, nodes: int, *, weighted: bool) -> tuple[Change, ...]:
    """Changes of one edge, or two of the same edge, which may cancel."""
    weight = draw(WEIGHTS) if weighted else 1.0
    u = draw(st.integers(0, nodes - 1))
    v = (u + draw(st.integers(1, nodes - 1))) % nodes
    kinds = [(ADD,), (ADD,), (ADD,), (REMOVE,), (REMOVE,), (SET,), (ISOLATE,), (ADD, ADD), (ADD, REMOVE), (REMOVE, SET)]
    first, *others = draw(st.sampled_from(kinds))
    return (first, u, v, weight), *((other, v, u, weight) for other in others)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Few nodes, so that edges meet; the last of them are unknown to the basis."""
    weighted = draw(st.booleans())
    first = nodes = draw(st.integers(2, 9))
    joins = draw(st.lists(changes(nodes, weighted=weighted), max_size=20))
    edges = tuple((u, v, weight) for (_, u, v, weight), *_ in joins)
    groups: list[Group] = []
    for _ in range(draw(st.integers(1, 4))):
        new = draw(st.sampled_from([0, 0, 1, 2]))
        nodes += new
        each = draw(st.lists(changes(nodes, weighted=weighted), max_size=8))
        groups.append((new, tuple(change for some in each for change in some)))
    return History(
        first,
        draw(st.integers(0, first)),
        edges,
        tuple(groups),
        dim=draw(st.integers(1, 6)),
        seed=draw(st.integers(0, 99)),
        loop=draw(st.sampled_from([0.5, 1.0, 1e-3])),
        tolerance=draw(st.sampled_from([1e-3, 0.02, 0.2])),
        publish=draw(st.sampled_from([0.0, 0.05, 0.5])),
        hub=draw(st.sampled_from([1, 2, 3, 512])),
    )


# A heavy edge that comes and goes beside a hub, whose sum of states must not be rounded to float32.
HEAVY = History(
    nodes=2, known=1, edges=(),
    groups=((1, ((0, 0, 1, 1.0), (0, 0, 1, 1.0), (0, 0, 2, 1.0))), (0, ((0, 1, 2, 1e6), (1, 2, 1, 1e6)))),
    dim=1, seed=0, loop=0.5, tolerance=0.001, publish=0.0, hub=2,
)  # fmt: skip


@PATIENT
@given(history=histories())
@example(history=HEAVY)
def test_bounds_hold_after_every_group(history: History) -> None:
    live, model = history.start(), history.model()
    assert find_breach(live, history) is None
    for group in history.groups:
        settle_group(live, group)
        model.rows += [{} for _ in range(group[0])]
        model.change(group[1])
        assert np.all(lags_of(live) <= history.tolerance)
        expected: Any = model.arrays()
        assert all(np.array_equal(ours, theirs) for ours, theirs in zip(live.rows(), expected, strict=True))
        assert live.nodes == len(model.rows) and live.entries == len(expected[1])
        assert find_breach(live, history) is None
        now = snapshot(live)
        sums = [now.numbers[:, 5].sum(), (now.numbers[:, 3] ** 2).sum()]
        assert np.allclose(now.sums, sums, rtol=1e-9, atol=1e-9), "sums kept up to date are those of the nodes"


@PATIENT
@given(history=histories(), settled=st.booleans())
def test_undo_leaves_no_bit_behind(history: History, settled: bool) -> None:
    live, other = history.start(), history.start()
    for group in history.groups:
        before, rows = snapshot(live), live.nodes
        apply_group(live, group)
        if settled:
            live.settle()
            apply_group(live, (1, ((ADD, 0, rows - 1, 3.0),) if rows > 1 else ()))
        live.undo()
        assert live.nodes == rows and snapshot(live).same_bits(before) and not len(live.published())
        for each in (live, other):  # the one that never saw what was undone
            apply_group(each, group)
            each.settle()
        assert live.published().tolist() == other.published().tolist()
        live.commit()
        other.commit()
        assert snapshot(live).same_bits(snapshot(other))


@PATIENT
@given(history=histories(), at=st.integers(0, 3))
def test_states_go_on_in_another_object(history: History, at: int) -> None:
    live = history.start()
    for i, group in enumerate(history.groups):
        if i == at:
            now = snapshot(live)
            live = history.build(live.rows())
            live.put_in(0, now.targets, now.states, now.numbers)
            live.begin()
            live.commit()
            assert snapshot(live).same_bits(now, sums=False)
            assert np.allclose(snapshot(live).sums, now.sums)
        settle_group(live, group)
    other = history.start()
    for i, group in enumerate(history.groups):
        if i == at:
            other.begin()  # sums of hubs are made anew, as they are in the other object
            other.commit()
        settle_group(other, group)
    assert snapshot(live).same_bits(snapshot(other), sums=False)


@PATIENT
@given(history=histories())
def test_vectors_that_moved_are_published(history: History) -> None:
    live = history.start()
    shown = snapshot(live).vectors()
    for group in history.groups:
        apply_group(live, group)
        live.settle()
        new = np.zeros((live.nodes - len(shown), COLUMNS))
        vectors, shown = snapshot(live).vectors(), np.concatenate([shown, new])
        published = live.published()
        assert np.all(np.diff(published) > 0)
        assert set(range(live.nodes - len(new), live.nodes)) <= set(published.tolist())
        shown[published] = vectors[published]
        moved, lengths = (np.linalg.norm(each, axis=1) for each in (vectors - shown, vectors))
        unpublished = snapshot(live).numbers[:, 4]
        assert np.all(moved <= unpublished + DUST)
        assert np.all(unpublished <= history.publish * lengths + DUST)
        live.commit()
