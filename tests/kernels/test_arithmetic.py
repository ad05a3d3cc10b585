"""Versions of the arithmetic: which are computed, what recipes and marks of unfinished work say, what is refused."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetics import register, salted
from graphrefine.errors import ArgumentWarning, InputError, OutputError
from graphrefine.kernels import choose_kernel, kernels
from graphrefine.kernels.arithmetic import (
    ARITHMETICS,
    Arithmetic,
    arithmetic_in_use,
    check_arithmetic,
    describe_arithmetic,
    is_version,
    newest_arithmetic,
    resolve_arithmetic,
    use_arithmetic,
    warn_of_arithmetic,
)
from graphrefine.system.threads import map_tasks

NO_VERSIONS: list[Any] = ["x", "1", None, True, 1.0, 0, -1, [1], {}]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version 2, the newest, whose random signs are others."""
    monkeypatch.setitem(ARITHMETICS, 2, Arithmetic(2, {"signs": salted}))


def draw() -> bytes:
    signs: np.ndarray[Any, Any] = choose_kernel("signs")(0, 0, rows=4, words=2)
    return signs.tobytes()


def test_this_release_computes_the_first() -> None:
    assert list(ARITHMETICS) == [1] and newest_arithmetic() == arithmetic_in_use() == kernels().arithmetic == 1
    assert not ARITHMETICS[1].kernels


def test_the_newest_is_in_use_unless_another_is_named(second: None, each_kernel: None) -> None:
    newest = draw()
    assert kernels().names() == {"arithmetic": 2, "kernel": kernels().name}
    with use_arithmetic(1) as version:
        assert version == arithmetic_in_use() == kernels().arithmetic == 1
        first = draw()
        with use_arithmetic(None):
            assert draw() == newest
        assert draw() == first
    assert arithmetic_in_use() == 2 and draw() == newest != first


def test_a_version_registered_anew_has_its_new_kernels(second: None, monkeypatch: pytest.MonkeyPatch) -> None:
    salted_bits = draw()
    monkeypatch.setitem(ARITHMETICS, 2, Arithmetic(2))
    assert draw() != salted_bits


def test_an_error_ends_the_stretch(second: None) -> None:
    with pytest.raises(KeyError), use_arithmetic(1):
        raise KeyError
    assert arithmetic_in_use() == 2


def test_threads_compute_with_the_arithmetic_of_their_caller(second: None) -> None:
    with use_arithmetic(1):
        assert set(map_tasks(range(8), lambda _: arithmetic_in_use(), threads=4)) == {1}
    assert set(map_tasks(range(8), lambda _: arithmetic_in_use(), threads=4)) == {2}


def test_two_threads_can_compute_with_two_arithmetics(second: None) -> None:
    def many(version: int) -> set[bytes]:
        with use_arithmetic(version):
            return {draw() for _ in range(50)}

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(many, (1, 2))
    assert len(one) == len(two) == 1 and one != two


@pytest.mark.parametrize("value", [value for value in NO_VERSIONS if value is not None])
def test_what_is_no_version_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match=r"arithmetic=.* must be a whole number.* computes 1$") as refusal:
        resolve_arithmetic(value)
    assert refusal.value.argument == "arithmetic"


def test_a_version_that_is_not_computed_is_refused_with_those_that_are(second: None) -> None:
    with pytest.raises(InputError, match=r"arithmetic=99 is not one .* which is 1 or 2; leave it out for the newest"):
        resolve_arithmetic(99)
    assert [resolve_arithmetic(version) for version in (None, 1, 2)] == [2, 1, 2]


def test_unfinished_work_of_another_arithmetic_names_both_and_the_way_out(second: None) -> None:
    check_arithmetic({"arithmetic": 2}, source="w")
    with pytest.raises(OutputError) as refusal:
        check_arithmetic({"arithmetic": 1}, source="w")
    text = "w: holds unfinished work of arithmetic 1, and this run has arithmetic 2: their bits cannot be joined; "
    assert str(refusal.value) == f"{text}delete it to start anew, or say arithmetic=1 to go on with it"
    assert refusal.value.mentions == ("arithmetic",)
    with use_arithmetic(1):
        check_arithmetic({"arithmetic": 1}, source="w")


@pytest.mark.parametrize(
    ("record", "name"),
    [({}, "an arithmetic without a version"), ({"arithmetic": 7}, "arithmetic 7"),
     *(({"arithmetic": value}, f"arithmetic {value!r}, which is no version") for value in NO_VERSIONS)],
)  # fmt: skip
def test_unfinished_work_of_an_unknown_arithmetic_can_only_be_deleted(record: dict[str, Any], name: str) -> None:
    with pytest.raises(OutputError) as refusal:
        check_arithmetic(record, source="w")
    assert str(refusal.value).startswith(f"w: holds unfinished work of {name}, and this run has arithmetic 1")
    assert str(refusal.value).endswith("delete it to start anew")


@given(json_values)
def test_any_value_is_either_computed_or_told(value: Any) -> None:
    recipe = {"method": "refine", "arithmetic": value, "kernel": "native"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_arithmetic(recipe, source="v.npz", stacklevel=1)
    known = is_version(value) and value in ARITHMETICS
    assert len(caught) == (not known)
    assert describe_arithmetic(recipe).startswith(f"arithmetic {value!r}")
    if not known:
        assert f"v.npz: the vectors are of arithmetic {value!r}" in str(caught[0].message)
        with pytest.raises(OutputError):
            check_arithmetic(recipe, source="v.work")


@pytest.mark.parametrize("recipe", [{}, {"method": "refine", "version": "0.1.0"}, {"arithmetic": 1}])
def test_vectors_from_elsewhere_and_of_before_are_no_cause_for_a_warning(recipe: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_arithmetic(recipe, source="v", stacklevel=1)


def test_folded_in_nodes_are_of_the_arithmetic_that_they_are_folded_into() -> None:
    into = {"arithmetic": 7, "kernel": "native"}
    with pytest.warns(ArgumentWarning, match="arithmetic 7, and this graphrefine computes arithmetic 1"):
        warn_of_arithmetic({"method": "fold-in", "into": into}, source="v", stacklevel=1)
    assert describe_arithmetic({"method": "fold-in", "into": into}) == "arithmetic 7: the same bits on every processor"


def test_a_version_can_be_registered_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arithmetics.ARITHMETICS", registry := {1: ARITHMETICS[1]})
    register(5)
    assert registry[5].version == 5 and "signs" in registry[5].kernels
