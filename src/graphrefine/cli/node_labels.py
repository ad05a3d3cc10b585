"""Labels of nodes as commands take them: the file, or the graph's attribute, and the options of reading it."""

from __future__ import annotations

import re
from typing import Any

import click
from numpy.typing import NDArray

from graphrefine.cli.options import LABEL_READING
from graphrefine.display.console import note
from graphrefine.errors import InputError
from graphrefine.evaluate import Labels, as_labels, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import is_attribute

_ARGUMENTS = {"labels_header": "header", "labels_variable": "variable"}  # of the library, by option
_NAMES = tuple(str(option.name) for option in LABEL_READING)


def take_labels(
    labels: str | None, options: dict[str, Any], names: NDArray[Any], *, graph: Graph | None = None
) -> Labels | None:
    """Read the labels of nodes called ``names``; the options of reading them are taken out of a command's."""
    variable = "labels_variable" if "labels_variable" in options else "variable"
    keywords = {_ARGUMENTS.get(name, name): options.pop(name) for name in (*_NAMES, variable)}
    if labels is None:
        _check_unused(variable, "is for --labels, and there are none")
        return None
    try:
        if graph is not None and is_attribute(labels, graph):
            _check_unused(variable, "is for a file, and --labels names an attribute of the graph's nodes")
            return as_labels((graph, labels), names=names)
        return read_labels(labels, names=names, **keywords)
    except InputError as error:
        raise _in_words(error, options=("labels_header", variable)) from None


def tell_labels(labels: Labels | None, names: NDArray[Any]) -> dict[str, str]:
    """Print how labels were read, if there are any; and the same for JSON."""
    if labels is None:
        return {}
    reading = labels.describe(names)
    note(f"labels: {reading}")
    return {"labels_reading": reading}


def _check_unused(variable: str, reason: str) -> None:
    """Refuse options of reading a file of labels where there is none."""
    context = click.get_current_context()
    for option in context.command.params:
        typed = context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
        if typed and option.name in (*_NAMES, variable):
            raise click.UsageError(f"{option.opts[0]} {reason}")


def _in_words(error: InputError, options: tuple[str, ...]) -> InputError:
    """An error about labels, with the library's arguments called as the options are."""
    words = {_ARGUMENTS[option]: option for option in options if option in _ARGUMENTS}
    text = re.sub(r"\b(header|variable)=", lambda match: f"{words.get(match[1], match[1])}=", str(error))
    mentions = [words.get(name, name) for name in error.mentions]
    return InputError(text, argument=mentions[0] if mentions else None, mentions=mentions)
