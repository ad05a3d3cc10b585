"""Copies of a folder of live vectors, made while it is written."""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from pathlib import Path

from graphrefine.errors import OutputError
from graphrefine.live.bulletin import Bulletin
from graphrefine.live.generation import Generation
from graphrefine.live.store import Store, naming_problems
from graphrefine.system.files import replacing_folder


def refuse(place: Path) -> None:
    """Raise OutputError: folders of live vectors are not replaced."""
    raise OutputError(f"{place} is there already")


def back_up(store: Store, target: Path) -> None:
    """Copy a folder as one moment has it, while it is written, to a place where nothing is yet."""
    if target.exists():
        raise OutputError(f"{target} is there already; choose another place for the backup")
    for _ in range(100):
        with naming_problems(target), suppress(FileNotFoundError, shutil.Error):  # a new generation came meanwhile
            with replacing_folder(target, replaceable=refuse, durable=True) as folder:
                _copy(store, folder)
            return
    raise OutputError(f"{store.path}: its generation changes too often to be copied; stop the writer first")


def _copy(store: Store, folder: Path) -> None:
    """Copy all into a folder; FileNotFoundError where a new generation took the place of the old one meanwhile.

    The copy's bulletin is that of now or, if it is behind by a generation, one of the generation without the groups
    since; a writer brings it up to date.
    """
    with closing(Bulletin(store.path, write=False)) as bulletin:
        shown = bulletin.copy_to(folder)
    number = store.backup(folder)
    copy = Generation(folder / store.folder(number).name)
    copy.check_files()
    if shown != number:
        with closing(Bulletin(folder, write=True)) as fresh:
            fresh.rewrite(number, copy.group, copy.published())
