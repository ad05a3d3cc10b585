"""The version of the numerics: what recipes and metadata of unfinished work state, and what is refused."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from graphrefine.errors import ArgumentWarning, OutputError
from graphrefine.kernels.numerics import (
    bits_of,
    check_numerics,
    compare_bits,
    describe_numerics,
    version_of,
    warn_of_numerics,
)

OTHERS: list[Any] = [7, 0, -1, "x", "1", None, [1], {}]


@pytest.mark.parametrize("record", [{}, *({"numerics_version": each} for each in OTHERS), {"arithmetic": 7}])
def test_unfinished_work_of_another_version_is_refused(record: dict[str, Any]) -> None:
    theirs = re.escape(repr(version_of(record)))
    with pytest.raises(OutputError, match=rf"w: .*version {theirs}, .* version 1; delete it"):
        check_numerics(record, source="w")


@pytest.mark.parametrize("key", ["numerics_version", "arithmetic"])
@pytest.mark.parametrize("value", OTHERS)
def test_vectors_of_another_version_cause_one_warning(key: str, value: Any) -> None:
    with pytest.warns(ArgumentWarning) as caught:
        warn_of_numerics({"method": "fold-in", "into": {key: value}}, source="v.npz", stacklevel=1)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith(f"v.npz: the vectors are of numerics version {value!r}")


def test_former_recipes_have_the_same_bits() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for recipe in ({}, {"method": "refine"}, {"arithmetic": 1}, {"numerics_version": 1}):
            warn_of_numerics(recipe, source="v", stacklevel=1)
    former = {"arithmetic": 1, "kernel": "native", "made_on": {"processor": "avx2"}}
    assert bits_of(former) == bits_of({"numerics_version": 1}) and compare_bits(former, {"numerics_version": 1}) is None
    assert compare_bits(former, {"arithmetic": 1, "kernel": "scipy"}) == "kernel 'native' and 'scipy'"
    assert describe_numerics(former) == describe_numerics({"numerics_version": 1})
