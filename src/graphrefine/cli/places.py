"""Places of a command, inputs and outputs: no output takes the place of an input, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from graphrefine.errors import OutputError

INPUTS = frozenset(  # what options and arguments that are read call their values in --help
    {"CHANGES", "EDGES", "EMBEDDING", "FILE", "FOLDER", "GRAPH", "LABELS", "NEW", "OLD", "TABLE"}
)


def input_params(command: click.Command) -> Iterator[click.Parameter]:
    """The arguments and options of a command that name files or folders to read."""
    for each in command.params:
        if each.name != "output" and (each.metavar or "").strip("[].") in INPUTS:
            yield each


def check_output_is_no_input(command: click.Command, options: Mapping[str, Any]) -> None:
    """Refuse an output that would replace an input of the same command."""
    output = options.get("output")
    if output is None:
        return
    for each in input_params(command):
        value = options.get(str(each.name))
        if (each.name == "align_to" or (options.get("extend") and each.name == "old")) and _is_same(value, output):
            continue  # the output is a newer version of it
        check_not_input(output, value if isinstance(value, tuple) else [value])


def check_not_input(output: str, inputs: Iterable[Any], *, way_out: str = "choose another --output") -> None:
    """Refuse to replace what is about to be read: a file or folder, one inside the other, also behind links.

    Examples
    --------
    >>> check_not_input("new", [".", "no such file", None])
    >>> check_not_input("/usr", ["/usr/../usr"])
    Traceback (most recent call last):
    graphrefine.errors.OutputError: /usr: is an input, and would be replaced; choose another --output
    """
    target = Path(output)
    if not _is_there(target):
        return
    for each in inputs:
        if not isinstance(each, str) or not _is_there(Path(each)):
            continue
        place = Path(each)
        if place.samefile(target):
            problem = "is an input"
        elif target.is_dir() and _is_inside(place, target) and not _is_inside(Path(), target):  # which none replaces
            problem = f"holds {each}, an input"
        elif target.is_file() and place.is_dir() and _is_inside(target, place):
            problem = f"is a part of {each}, an input"
        else:
            continue
        raise OutputError(f"{output}: {problem}, and would be replaced; {way_out}")


def _is_same(value: Any, output: str) -> bool:
    return isinstance(value, str) and all(map(_is_there, (Path(value), Path(output)))) and Path(value).samefile(output)


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a place is a folder or lies in it."""
    return path.resolve().is_relative_to(folder.resolve())


def _is_there(path: Path) -> bool:
    """Whether something is there; what cannot be looked at is left to the reader's or writer's own error."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
