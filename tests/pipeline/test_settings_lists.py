"""The lists of settings agree: signatures and command line follow the two dataclasses."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from typing import Any

import click
import pytest

import graphrefine
from graphrefine.cli.embed import embed as embed_command
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.pipeline.settings import RunSettings
from graphrefine.readers.options import ReadOptions
from graphrefine.refine.settings import RefineSettings

KINDS = {"REFINE": RefineSettings, "run": RunSettings}
NOT_SETTINGS_OF_PYTHON = {"graph", "method", "features", "align_to", "preset", "watcher", "others"}
EMBED = inspect.signature(graphrefine.embed).parameters
READING = {each.name for each in fields(ReadOptions)} - {"threads"}  # which is a setting of the run, too


def option_of(each: Field[Any]) -> str:
    """The option that changes a setting on the command line."""
    flag = each.metadata["flag"] if each.default is not False else None  # which turns off what is on
    return f"--{flag or each.name.replace('_', '-')}"


def default_of(each: Field[Any]) -> str:
    """The default in words."""
    assert each.default is not MISSING
    plain = {True: "yes", False: "no", None: "none"}
    if each.metadata["default"]:
        return str(each.metadata["default"])
    if each.default is None or isinstance(each.default, bool):
        return plain[each.default]
    return f"`{each.default:g}`" if isinstance(each.default, float) else f"`{each.default}`"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_the_command_line_has_every_setting_with_its_help_and_default(kind: type) -> None:
    for each in fields(kind):
        assert each.metadata["help"].endswith("."), each.name
        assert each.default is not None or each.metadata["default"] or each.name == "scheduler", each.name
    typed = embed_command.make_context("embed", ["graph.csv", "-o", "vectors"]).params
    for each in fields(kind):
        option = options()[each.name]
        assert option_of(each) in (*option.opts, *option.secondary_opts), each.name
        assert typed[each.name] is None, each.name  # not given: presets and files come before defaults
        default = default_of(each).strip("`")
        end = "" if default == "none" else f"  [default: {default}]"
        assert option.help == f"{each.metadata['help']}{end}", each.name


def test_embed_and_the_command_line_take_every_setting_and_no_other() -> None:
    names = {each.name for kind in KINDS.values() for each in fields(kind)}
    assert EMBED.keys() - NOT_SETTINGS_OF_PYTHON - READING == names
    for each in fields(RefineSettings):
        assert EMBED[each.name].default is None, each.name  # a preset comes before the default
    for each in fields(RunSettings):
        assert EMBED[each.name].default == each.default, each.name
    own = {"output", "output_format", "as_json", "assigned", "config"}
    assert options().keys() - EMBED.keys() == own


@pytest.mark.parametrize("method", METHODS)
def test_no_setting_of_a_method_has_the_name_of_another_keyword_of_embed(method: str) -> None:
    settings = {each.name for each in fields(find_method(method).settings)}
    keywords = EMBED.keys() - {each.name for each in fields(RefineSettings)}
    assert not settings & keywords


def test_embed_hands_every_setting_of_refine_on() -> None:
    values: dict[str, Any] = {
        **{"dim": 3, "seed": 7, "quality": "default", "block": 4, "power": 2, "negative": 2.0, "exponent": 0.5},
        **{"log_weights": False, "two_sided": False, "spectrum": 0.25, "filter": "heat", "order": 3, "scale": 2.0},
        **{"loop": 0.5, "center": False, "axes": 0.75, "bfloat16": False},
    }
    assert values.keys() == {each.name for each in fields(RefineSettings)}
    ring = [(i, (i + 1) % 6) for i in range(6)]
    recipe = graphrefine.embed(ring, **values).recipe
    assert {name: recipe[name] for name in values} == values


def test_the_estimator_takes_every_setting_of_refine() -> None:
    taken = inspect.signature(graphrefine.REFINE).parameters
    own = {"preset", "directed", "rows", "random_state", "rng", "threads"}
    assert taken.keys() - own == {each.name for each in fields(RefineSettings)}
    for each in fields(RefineSettings):
        assert taken[each.name].default in (None, each.default), each.name


def options() -> dict[str, click.Option]:
    return {str(each.name): each for each in embed_command.params if isinstance(each, click.Option)}
