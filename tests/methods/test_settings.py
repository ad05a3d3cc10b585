"""Settings from options and from text, and the memory that is left."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphrefine
from graphrefine.errors import FormatError, InputError
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.settings import read_config
from graphrefine.refine.settings import (
    MethodSettings,
    build_settings,
    describe_setting,
    parse_setting,
    setting,
)
from graphrefine.system import memory


@dataclass(frozen=True)
class Some(MethodSettings):
    rate: float = 0.5
    steps: int | None = None
    loud: bool = False
    kind: str = "a"
    weights: tuple[float, ...] = (1.0,)
    filter: str | tuple[float, ...] = "b"


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
    ("name", "text", "message"),
    [
        *((name, text, "is not of its kind") for name, text in (("dim", "7.5"), ("steps", ""), ("loud", "2"))),
        ("weights", "1,b", "must be numbers with commas between them"),
        ("filter", "1,b", "must be numbers with commas between them"),
        ("x", "1", "it has no setting 'x'; its settings are dim, seed, rate, steps, loud, kind"),
    ],
)
def test_text_of_another_kind_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_setting(Some, name, text, of="it")


def test_presets_give_way_to_options() -> None:
    presets = {"default": {}, "fast": {"rate": 0.9, "kind": "b"}}
    chosen = build_settings(Some, {"kind": "c", "steps": None}, presets=presets, preset="fast", of="it")
    assert (chosen.rate, chosen.kind, chosen.steps) == (0.9, "c", None)
    with pytest.raises(InputError, match="preset='slow' is not known; the presets of it are 'default', 'fast'"):
        build_settings(Some, {}, presets=presets, preset="slow", of="it")


def test_memory_is_what_the_container_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, used = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(memory, "CGROUPS", ((str(limit), str(used)),))
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=5000))
    used.write_text("1000\n")
    for stated, free in (("max", 5000), ("4000", 3000)):
        limit.write_text(f"{stated}\n")
        assert memory.available_bytes() == free


@dataclass(frozen=True)
class Bounded(MethodSettings):
    steps: int = setting(3, "Steps.", least=1, most=9)
    rate: float | None = setting(None, "Rate.", above=0)
    kind: str = setting("a", "Kind.", choices=("a", "b"))
    weights: tuple[float, ...] = setting((1.0,), "Weights.")
    free: float = setting(1.0, "A number without bounds is not checked.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps=0 must be at least 1"),
        ({"steps": 10}, "steps=10 must be at least 1 and at most 9"),
        ({"steps": 2.5}, "steps=2.5 must be a whole number"),
        ({"steps": None}, "steps=None must be a whole number"),
        ({"rate": 0}, "rate=0 must be greater than 0"),
        ({"rate": float("nan")}, "rate=nan must be a finite number"),
        ({"kind": "c"}, "kind='c' is not known; it can be 'a', 'b'"),
        ({"weights": [0, 0]}, "must be finite numbers, not all zero"),
        ({"dim": 0}, "dim=0 must be at least 1"),
    ],
)
def test_a_setting_is_held_to_its_bounds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Bounded(**options)


def test_settings_within_their_bounds() -> None:
    settings = Bounded(steps=np.int64(9), rate=0.5, kind="b", weights=[1, 2], free=float("inf"))  # type: ignore[arg-type]
    assert settings.weights == (1.0, 2.0) and settings.rate == 0.5 and Bounded().rate is None


@pytest.mark.parametrize("name", METHODS)
def test_every_method_holds_its_settings_to_their_bounds(name: str) -> None:
    method, bounded = find_method(name), 0
    for each in fields(method.settings):
        about = describe_setting(method.settings, each.name)
        beyond = {"least": -1, "above": 0, "most": 1}
        for limit, value in about["bounds"].items():
            bounded += 1
            wrong = {each.name: value + beyond[limit]}
            with pytest.raises(InputError, match=f"{each.name}="):
                method.settings(**{**method.fixed, **wrong})
        if about["choices"]:
            with pytest.raises(InputError, match=f"{each.name}='none of them'"):
                method.settings(**{**method.fixed, each.name: "none of them"})
    assert bounded >= 3  # dim, and both ends of the seed


WRONG: list[Any] = [2**63, 10**400, -(10**400), float("nan"), float("inf"), -float("inf"), "x", [], {}, [1] * 1001]


@pytest.mark.parametrize("name", METHODS)
def test_no_number_is_without_bounds(name: str) -> None:
    """A run has an end, whatever a file of settings says."""
    method, tried = find_method(name), 0
    for each in fields(method.settings):
        kind = getattr(each.type, "__name__", str(each.type))
        if kind.split(" ")[0] not in ("int", "float", "tuple[float,") or each.name in method.fixed:
            continue
        tried += 1
        for value in WRONG:
            if each.name == "seed" and value == 2**63:
                continue
            with pytest.raises(InputError, match=each.name):
                make_settings(name, **{each.name: value})
    assert tried >= 2


@pytest.mark.parametrize("value", [[1] * 1001, [10**400], [[1]], 5, {"a": 1}, [None]])
def test_coefficients_that_cannot_be(value: Any) -> None:
    with pytest.raises(InputError, match="filter"):
        make_settings("refine", filter=value)


@pytest.mark.parametrize("value", [[], {}, 1, None, 1.5, True, ["refine"], "\x00"])
def test_a_method_in_a_file_is_a_name(value: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"method": value}))
    with pytest.raises(FormatError, match=r"config.json: method=.* is not known"):
        read_config(tmp_path / "config.json")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_floats_do_not_hold_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    with pytest.raises(InputError, match="beyond float32"):
        graphrefine.embed(ring, method="grarep", dim=4, seed=12, negative=1e-320)

    def diverge(*_: Any, **__: Any) -> None:
        raise np.linalg.LinAlgError("eigenvalues did not converge")

    monkeypatch.setattr("graphrefine.methods.grarep.scaled_left_vectors", diverge)
    with pytest.raises(InputError, match="grarep came to numbers that floats do not hold"):
        graphrefine.embed(ring, method="grarep", dim=4)
