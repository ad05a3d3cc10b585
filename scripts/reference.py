"""Write the reference pages of the documentation, docs/reference/, from what the code declares.

``make docs`` does it before it builds the site; ``python scripts/reference.py`` only writes the pages. Commands come
from their ``--help``, the Python reference from docstrings, formats, methods and settings from their tables. The pages
are not committed.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from graphrefine.cli.commands import cli
from graphrefine.cli.options import LABEL_READING, READING, REFINING, RUNNING, Command, Option
from graphrefine.embedding.formats import FORMATS as EMBEDDING_FORMATS
from graphrefine.embedding.formats import SERVER
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.pipeline.settings import RunSettings
from graphrefine.readers.formats import FORMATS as GRAPH_FORMATS
from graphrefine.readers.formats import import_loader
from graphrefine.readers.options import ReadOptions
from graphrefine.refine.settings import PRESETS, MethodSettings, RefineSettings, describe_setting
from graphrefine.tables.source import CODECS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
SHARED = {str(option.heading): options for options in (READING, LABEL_READING, REFINING, RUNNING) for option in options}
COMMANDS = """\
# Commands

Every command of `graphrefine` with its options, as `graphrefine COMMAND --help` shows them. With `--json`, a command
prints one JSON object on standard output and nothing else. The exit code is 0 for success, 1 where a check or a gate
failed, 2 for an error that you can correct, and 130 after Ctrl-C.
"""
PYTHON = """\
# Python reference

Every public name. `import graphrefine` is fast, because a name is loaded when you first use it.
"""
FORMATS = """\
# Formats

The formats that graphrefine reads and writes. See [Read graphs](../guides/read-graphs.md) and
[Store vectors](../guides/store-vectors.md) for how to use them.
"""
SETTINGS = """\
# Settings

The settings of REFINE, of a run and of every other method. In Python they are keyword arguments of `graphrefine.embed`.
See [Choose settings](../guides/choose-settings.md) for which to change.
"""
# The sections of the Python reference; tests/test_site.py holds them to the public names.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Embed": ("embed", "load", "Embedding"),
    "Graphs": ("read", "Graph", "ingest"),
    "Predict and compare": (
        *("predict_labels", "predict_links", "split_edges", "find_communities", "find_duplicates"),
        *("check", "measure_drift"),
    ),
    "Choose settings": ("tune", "evaluate.tune.Tuning"),
    "scikit-learn": ("REFINE", "NodeVectors"),
    "Evaluate": (
        *("evaluate.evaluate_labels", "evaluate.evaluate_clusters", "evaluate.evaluate_links"),
        *("evaluate.evaluate_reconstruction", "evaluate.compare.compare", "evaluate.random_control"),
        *("evaluate.read_labels", "evaluate.as_labels", "evaluate.Labels", "evaluate.LabelScores"),
        *("evaluate.RatioScores", "evaluate.ClusterScores", "evaluate.LinkScores", "evaluate.ScoreStats"),
        "evaluate.Reconstruction",
    ),
    "Live vectors": ("live.create", "live.open", "live.Live", "live.LiveReader"),
    "Datasets": (
        *("datasets.load", "datasets.block_model", "datasets.power_law", "datasets.digits.digits_graph"),
        "datasets.Dataset",
    ),
    "Tables and progress": ("display.table.Table", "progress.Watcher"),
    "Errors": ("GraphRefineError",),
}
INHERITED = ("Embedding", "live.Live", "live.LiveReader")  # of classes of ours; scikit-learn documents its own
EXCLUDED = {"Embedding": "from_parts", "REFINE": "set_fit_request, set_transform_request"}


def write(folder: Path = FOLDER) -> None:
    """Write all pages into a folder, in place of what it held."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")


def list_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The commands that do work, with their full names, in the order of ``--help``."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def write_commands() -> str:
    """Return the page of the commands."""
    commands = dict(list_commands(cli))
    rows = (
        f"| [`{name}`](#{_anchor(f'graphrefine {name}')}) | {_cell(command.get_short_help_str(200))} |"
        for name, command in commands.items()
    )
    parts = [COMMANDS, _table("command", rows)]
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


def write_python() -> str:
    """Return the page of the public names, for Sphinx to fill with their docstrings."""
    parts = [PYTHON]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n\n```{{eval-rst}}")
        for name in names:
            value = _resolve(name)
            kind = "function" if not inspect.isclass(value) else "class"
            kind = "exception" if kind == "class" and issubclass(value, Exception) else kind
            parts.append(f".. auto{kind}:: graphrefine.{name}")
            if kind == "class":
                parts.append("   :members:")
                parts.extend(["   :inherited-members:"] if name in INHERITED else [])
                parts.extend([f"   :exclude-members: {EXCLUDED[name]}"] if name in EXCLUDED else [])
            parts.append("")
        parts.append("```\n")
    parts.append("```{eval-rst}\n.. automodule:: graphrefine.errors\n   :no-index:\n```\n")
    return "\n".join(parts)


def write_formats() -> str:
    """Return the page of the formats and of the options of reading."""
    graphs = (
        f"| `{each.name}` | {_suffixes(each.suffixes)} | {_first_line(import_loader(each.loader))} |"
        for each in GRAPH_FORMATS
    )
    options = (
        f"| `{name}` | {_cell(about['otherwise'] or repr(default))} | {_cell(about['help'])} |"
        for name, default, about in ((each.name, each.default, each.metadata) for each in fields(ReadOptions))
    )
    embeddings = (
        f"| `{each.name}` | {_suffixes(each.suffixes) or ('a folder' if each.folder else 'a server')} "
        f"| {'yes' if each.state else 'no'} | {each.needs or ''} | {_first_line(each.function(each.reader))} |"
        for each in (*EMBEDDING_FORMATS, SERVER)
    )
    return "\n".join(
        [
            f"{FORMATS}\n## Graphs\n\n| format | suffixes | |\n|---|---|---|",
            *graphs,
            f"\nEach may be compressed: {_suffixes(codec.suffix for codec in CODECS)}.",
            "\n### Options of reading\n\n| option | default | meaning |\n|---|---|---|",
            *options,
            "\n## Embeddings\n\n`recipe`: whether the format keeps the recipe and what was learned from the graph.\n",
            "| format | suffixes | recipe | needs | |\n|---|---|---|---|---|",
            *embeddings,
            "",
        ]
    )


def write_settings() -> str:
    """Return the page of the settings."""
    parts = [SETTINGS, "## REFINE\n", *_setting_rows(RefineSettings), "\n### Presets\n"]
    for name, values in PRESETS.items():
        shown = ", ".join(f"`{setting}={value!r}`" for setting, value in values.items())
        parts.append(f"* `{name}`: {shown or 'the defaults'}")
    parts += ["\n## A run\n", *_setting_rows(RunSettings)]
    for name in METHODS:
        kind = find_method(name).settings
        if kind is not RefineSettings:
            parts += [f"\n## {name}\n", *_setting_rows(kind, without=MethodSettings)]
    return "\n".join([*parts, ""])


def _setting_rows(kind: Any, without: Any = None) -> Iterator[str]:
    yield "| setting | default | meaning |\n|---|---|---|"
    left_out = {each.name for each in fields(without)} if without else set()
    for each in fields(kind):
        if each.name not in left_out:
            about = describe_setting(kind, each.name)
            default = about.get("default") or f"`{each.default}`"
            yield f"| `{each.name}` | {_cell(str(default))} | {_cell(about.get('help', ''))} |"


def write_paper() -> str:
    """Return the page of the reproduction of the paper."""
    return (ROOT / "docs" / "results" / "paper.md").read_text(encoding="utf-8")


def _resolve(name: str) -> Any:
    import graphrefine

    value: Any = graphrefine
    path = "graphrefine"
    for part in name.split("."):
        path += f".{part}"
        value = getattr(value, part, None) or import_module(path)
    return value


def _suffixes(suffixes: Iterable[str]) -> str:
    return " ".join(f"`{suffix}`" for suffix in suffixes)


def _first_line(function: Callable[..., Any]) -> str:
    return _cell((inspect.getdoc(function) or "").partition("\n")[0].replace("``", "`"))


PAGES: dict[str, Callable[[], str]] = {
    "commands": write_commands,
    "python": write_python,
    "formats": write_formats,
    "settings": write_settings,
    "paper": write_paper,
}

if __name__ == "__main__":
    write()
