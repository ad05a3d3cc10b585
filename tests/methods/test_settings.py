"""Settings from options and from text, and the memory that is left."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

import graphrefine
from graphrefine.errors import InputError
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.refine.settings import MethodSettings, build_settings, describe_setting, parse_setting, setting


@dataclass(frozen=True)
class Some(MethodSettings):
    rate: float | None = setting(0.5, "Rate.", above=0)
    steps: int | None = setting(None, "Steps.", least=1, most=9)
    loud: bool = False
    kind: str = setting("a", "Kind.", choices=("a", "b", "c", "3", "none"))
    weights: tuple[float, ...] = setting((1.0,), "Weights.")
    filter: str | tuple[float, ...] = "b"
    free: float = setting(1.0, "A number without bounds is not checked.")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("dim", "7", 7),
        ("rate", "2", 2),
        ("rate", "1e-3", 0.001),
        ("steps", "none", None),
        ("steps", "3", 3),
        ("loud", "yes", True),
        ("loud", "False", False),
        ("kind", "none", "none"),
        ("kind", "3", "3"),
        ("weights", "3", (3.0,)),
        ("weights", "1,-2.5", (1.0, -2.5)),
        ("filter", "0,1", (0.0, 1.0)),
        ("filter", "heat", "heat"),
    ],
)
def test_settings_from_text(name: str, text: str, value: Any) -> None:
    parsed = parse_setting(Some, name, text, of="it")
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text"), [("dim", "7.5"), ("steps", ""), ("loud", "2"), ("weights", "1,b"), ("filter", "1,b"), ("x", "1")]
)
def test_text_of_another_kind_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputError, match=name):
        parse_setting(Some, name, text, of="it")


def test_presets_give_way_to_options() -> None:
    presets = {"default": {}, "fast": {"rate": 0.9, "kind": "b"}}
    chosen = build_settings(Some, {"kind": "c", "steps": None}, presets=presets, preset="fast", of="it")
    assert (chosen.rate, chosen.kind, chosen.steps) == (0.9, "c", None)
    with pytest.raises(InputError, match="'slow'"):
        build_settings(Some, {}, presets=presets, preset="slow", of="it")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("steps", 0),
        ("steps", 10),
        ("steps", 2.5),
        ("rate", 0),
        ("rate", float("nan")),
        ("kind", "d"),
        ("weights", [0, 0]),
        ("dim", 0),
        ("dim", None),
    ],
)
def test_a_setting_is_held_to_its_bounds(name: str, wrong: Any) -> None:
    fine: dict[str, Any] = {"steps": np.int64(9), "rate": 0.5, "kind": "b", "weights": [1, 2], "free": float("inf")}
    assert Some(**fine).weights == (1.0, 2.0)
    with pytest.raises(InputError, match=name):
        Some(**{**fine, name: wrong})


WRONG: list[Any] = [2**63, 10**400, -(10**400), float("nan"), float("inf"), -float("inf"), "x", [], {}, [1] * 1001]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_holds_its_settings_to_their_bounds(name: str) -> None:
    """A run has an end, whatever a file of settings says: no number is without bounds."""
    method, bounded, numbers = find_method(name), 0, 0
    beyond = {"least": -1, "above": 0, "most": 1}

    def refused(setting: str, value: Any) -> None:
        with pytest.raises(InputError, match=setting):
            make_settings(name, **{setting: value})

    for each in fields(method.settings):
        if each.name in method.fixed:
            continue
        about = describe_setting(method.settings, each.name)
        for limit, value in about["bounds"].items():
            bounded += 1
            refused(each.name, value + beyond[limit])
        if about["choices"]:
            refused(each.name, "none of them")
        kind = getattr(each.type, "__name__", str(each.type))
        if kind.split(" ")[0] in ("int", "float", "tuple[float,"):
            numbers += 1
            for value in WRONG[each.name == "seed" :]:  # 2**63 is a seed
                refused(each.name, value)
    assert bounded >= 3 and numbers >= 2  # dim, and both ends of the seed


@pytest.mark.parametrize("value", [[1] * 1001, [10**400], [[1]], 5, {"a": 1}, [None]])
def test_coefficients_that_cannot_be(value: Any) -> None:
    with pytest.raises(InputError, match="filter"):
        make_settings("refine", filter=value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_floats_do_not_hold_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    with pytest.raises(InputError, match="beyond float32"):
        graphrefine.embed(ring, method="grarep", dim=4, seed=12, negative=1e-320)

    def diverge(*_: Any, **__: Any) -> None:
        raise np.linalg.LinAlgError("eigenvalues did not converge")

    monkeypatch.setattr("graphrefine.methods.grarep.scaled_left_vectors", diverge)
    with pytest.raises(InputError, match="grarep"):
        graphrefine.embed(ring, method="grarep", dim=4)
