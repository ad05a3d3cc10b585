"""The commands by name. Each is a module of this package, loaded when it is called or listed."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

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


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name, each imported on first use: one command must not wait for the others."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._commands: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        command = self._commands[name]
        if command is None:
            module = name.replace("-", "_")
            command = getattr(import_module(f"graphrefine.cli.{module}"), module)
            self._commands[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


@click.group(
    cls=Group,
    commands=LazyCommands(COMMANDS),
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
