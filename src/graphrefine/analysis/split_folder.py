"""Folder of a split: a table for each part, names of nodes, and the recipe in ``split.json``; replaced in one step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.display.console import json_text
from graphrefine.display.table import WRITERS, Table, check_table_path
from graphrefine.errors import OutputError
from graphrefine.system.checks import check_choice
from graphrefine.system.files import check_writable, replacing_folder

RECIPE = "split.json"
KIND = "graphrefine split"
FORMATS = tuple(suffix.removeprefix(".") for suffix in WRITERS)


def check_split_folder(folder: str | os.PathLike[str], format: str) -> None:
    """Refuse a place where no split can be written, or a format that there is not, before any work is done for it.

    Examples
    --------
    >>> check_split_folder("split", "xlsx")
    Traceback (most recent call last):
    graphrefine.errors.InputError: format='xlsx' is not known; it can be 'csv', 'tsv', 'jsonl', 'parquet', 'arrow'
    """
    check_choice("format", format, FORMATS)
    check_table_path(Path(os.path.realpath(folder)).parent / f"train.{format}")
    check_writable(folder, folder=True, replaceable=_check_split)


def save_split(
    folder: str | os.PathLike[str],
    format: str,
    tables: Mapping[str, Table],
    lists: Mapping[str, NDArray[Any]],
    figures: Mapping[str, Any],
) -> None:
    """Write the tables of a split, the lists of names, and the recipe."""
    check_split_folder(folder, format)
    files = {**{name: f"{name}.{format}" for name in tables}, **{name: f"{name}.txt" for name in lists}}
    with replacing_folder(folder, replaceable=_check_split) as hidden:
        for name, table in tables.items():
            table.save(hidden / files[name])
        for name, names in lists.items():
            text = "".join(f"{each}\n" for each in names.tolist())
            (hidden / files[name]).write_text(text, encoding="utf-8", errors="surrogateescape")
        recipe = {"kind": KIND, "version": __version__, **figures, "files": files}
        (hidden / RECIPE).write_text(json_text(recipe) + "\n", encoding="utf-8")


def _check_split(folder: Path) -> None:
    """Refuse to replace a folder that is no split, or that holds anything else."""
    names = {path.name for path in folder.iterdir()}
    if not names:
        return
    try:
        recipe = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
        files = {RECIPE, *recipe["files"].values()} if recipe["kind"] == KIND else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        files = set()
    other = sorted(names - files)
    if other:
        problem = "is a folder that holds no split" if not files else f"holds more than a split, such as {other[0]}"
        raise OutputError(f"{folder}: {problem}, and would be replaced; choose another name")
