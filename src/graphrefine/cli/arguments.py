"""Arguments of the library, out of the options of a command."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from graphrefine.cli.options import READING
from graphrefine.errors import OutputError
from graphrefine.methods.contract import Method
from graphrefine.methods.registry import find_method
from graphrefine.refine.settings import parse_setting
from graphrefine.run.settings import RunSettings, read_config


def check_not_input(output: str, *inputs: str | int | None) -> None:
    """Refuse to replace what is about to be read."""
    for path in inputs:
        if isinstance(path, str) and Path(path).exists() and Path(output).exists() and Path(path).samefile(output):
            raise OutputError(f"{output}: is an input, and would be replaced; choose another --output")


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options for `graphrefine.read` out of a command's."""
    return {str(option.name): options.pop(str(option.name)) for option in READING}


def run_values(options: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of the run, those that are given, out of a command's options."""
    values = {each.name: options.pop(each.name) for each in fields(RunSettings) if each.name in options}
    return {name: value for name, value in values.items() if value is not None}


def method_options(options: dict[str, Any]) -> tuple[Method[Any], str | None, dict[str, Any]]:
    """Take the method, its preset and its settings out of a command's options."""
    path = options.pop("config", None)
    configured = {} if path is None else _config(path, options)
    method, preset = find_method(options.pop("method")), options.pop("preset", None)
    for assignment in options.pop("assigned"):
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{assignment!r} is not SETTING=VALUE, as in window=5", param_hint="--set")
        if options.get(name) is not None:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--set")
        options[name] = parse_setting(method.settings, name, text, of=f"method {method.name!r}")
    for name, value in configured.items():
        if options.get(name) is None:
            options[name] = value
    return method, preset, options


def _config(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """The settings in a file; its method becomes that of the options."""
    if options.get("preset") is not None:
        raise click.BadParameter("cannot stand beside --preset; leave one of them out", param_hint="--config")
    config = read_config(path)
    by_hand = click.get_current_context().get_parameter_source("method") is not click.core.ParameterSource.DEFAULT
    if by_hand and options["method"] != config.method:
        raise click.BadParameter(f"{path} has settings of {config.method}", param_hint="--method")
    options["method"] = config.method
    return config.settings
