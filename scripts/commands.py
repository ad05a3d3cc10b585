"""Write the reference of the commands, docs/commands.md, from their declarations: what ``--help`` shows, as tables.

``python scripts/commands.py`` does it; a test holds the page to the declarations. Options that many commands share
are described once, at the end of the page, and named where a command has them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from graphrefine.cli.commands import cli
from graphrefine.cli.options import LABEL_READING, READING, REFINING, RUNNING, Command, Option

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "commands.md"
SHARED = {str(option.heading): options for options in (READING, LABEL_READING, REFINING, RUNNING) for option in options}
INTRODUCTION = """\
# Commands

Every command of `graphrefine` with all its options, as `graphrefine COMMAND --help` shows them. `--json` makes any of
them print one JSON object on stdout and nothing else. The exit code is 0 if the work is done, 2 for a mistake that you
can correct (one line tells what, where and the way out), 130 after Ctrl-C.

<!-- written by scripts/commands.py -->
"""


def list_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The commands that do work, with their full names, in the order of ``--help``."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def write_page() -> str:
    """The page as Markdown."""
    commands = dict(list_commands(cli))
    rows = (
        f"| [`{name}`](#{_anchor(f'graphrefine {name}')}) | {_cell(command.get_short_help_str(200))} |"
        for name, command in commands.items()
    )
    parts = [INTRODUCTION, _table("command", rows)]
    parts += [_describe(name, command) for name, command in commands.items() if isinstance(command, Command)]
    parts.append("## Shared options\n\nThe meaning of the options that several commands have.\n")
    parts += [f"### {heading}\n\n{_records(options)}" for heading, options in SHARED.items()]
    return "\n".join(parts)


def _describe(name: str, command: Command) -> str:
    """A command: heading, help, usage, its options."""
    names = cli.context_settings["help_option_names"]
    context = click.Context(command, info_name=f"graphrefine {name}", help_option_names=names)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## graphrefine {name}\n\n```text\n{usage}\n```\n", _prose(command.help or "")]
    for heading, records in command.option_records(context).items():
        if heading in SHARED:
            names = ", ".join(f"`{option.split(' ')[0].rstrip(',')}`" for option, _ in records)
            parts.append(f"[{heading}](#{_anchor(heading)}): {names}.\n")
        else:
            parts.append(f"**{heading}**\n\n" + _table("option", (_row(*record) for record in records)))
    return "\n".join(parts)


def _records(options: tuple[Option, ...]) -> str:
    context = click.Context(click.Command("graphrefine"))
    records = (option.get_help_record(context) for option in options)
    return _table("option", (_row(*record) for record in records if record is not None))


def _row(option: str, help: str) -> str:
    return f"| `{_cell(option)}` | {_cell(re.sub('  +', ' ', help))} |"


def _table(first: str, rows: Iterator[str]) -> str:
    return "\n".join([f"| {first} | meaning |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    r"""Text for a cell of a table.

    Examples
    --------
    >>> _cell("N|none, at *.csv <here>")
    'N\\|none, at \\*.csv &lt;here>'
    """
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _prose(text: str) -> str:
    r"""Help of click as Markdown: paragraphs stay, and those that begin with ``\b`` keep their lines."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            lines = paragraph.split("\n")[1:]
            words = [line for line in lines if not line.startswith("graphrefine ")]
            calls = [line for line in lines if line.startswith("graphrefine ")]
            paragraph = "\n".join([*words, *([""] if words else []), "```text", *calls, "```"])
        parts.append(f"{paragraph}\n")
    return "\n".join(parts)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
