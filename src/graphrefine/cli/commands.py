"""The commands by name. Each is a module of this package, loaded when it is called or listed."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import click

from graphrefine import __version__
from graphrefine.cli.options import Group

COMMANDS = (  # in the order of their use; fold-in is the function fold_in of fold_in.py, and so on
    "embed",
    "info",
    "ingest",
    "evaluate",
    "compare",
    "tune",
    "neighbors",
    "duplicates",
    "communities",
    "drift",
    "check",
    "map",
    "predict",
    "split",
    "explore",
    "fold-in",
    "live",
    "convert",
    "methods",
    "demo",
)


class LazyCommands(UserDict[str, Any]):
    """The commands by name, each imported on first use: one command must not wait for the others."""

    # `graphrefine embed` would otherwise wait for the imports of nineteen other modules. The help of the program, which
    # lists them all, does.
    def __getitem__(self, name: str) -> click.Command:
        if self.data[name] is None:
            module = name.replace("-", "_")
            self.data[name] = getattr(import_module(f"graphrefine.cli.{module}"), module)
        command: click.Command = self.data[name]
        return command


@click.group(
    cls=Group,
    commands=LazyCommands(dict.fromkeys(COMMANDS)),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="graphrefine")
def cli() -> None:
    """Turn a graph into node vectors, in seconds.

    \b
    graphrefine embed friends.csv -o friends        vectors, with the node names kept
    graphrefine info friends.csv                    what is in the graph, what embedding it will cost
    graphrefine evaluate labels friends labels.csv  how well the vectors tell the labels
    graphrefine compare friends.csv                 which method is best on it, and what each costs
    graphrefine tune friends.csv -o settings.json   which settings are best on it
    graphrefine neighbors friends ada               who is most like her
    graphrefine predict labels friends labels.csv   the labels of the others, with probabilities
    graphrefine predict links friends.csv           edges that are missing
    graphrefine map friends -o friends.png          a picture of all of them
    graphrefine explore friends --graph friends.csv a page to look around in
    graphrefine convert friends friends.parquet     any format to any other
    """  # noqa: D301  click wants the character itself, not its name
