"""Results that the documentation shows: written to ``docs/results/``, and put into pages by ``scripts/figures.py``."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import graphrefine
from graphrefine.display.machine import machine
from graphrefine.kernels import native

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "results"
TITLES = {  # of graphs whose file has another name
    "blogcatalog": "BlogCatalog",
    "flickr-8k-subset": "Flickr part",
    "npm-dependencies": "npm",
    "planetoid-pubmed": "pubmed",
    "ppi": "PPI",
    "wikipedia-pos": "Wikipedia",
    "youtube-77k-groups": "YouTube part",
}


class Table(NamedTuple):
    """Rows of text, with a name for each column; the first cell of a row is its name."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def title(graph: str) -> str:
    """Return the plain name of a graph.

    Examples
    --------
    >>> title("wikipedia-pos"), title("web-google")
    ('Wikipedia', 'web-google')
    """
    return TITLES.get(graph, graph)


def save(name: str, packages: Sequence[str] = (), **tables: Table) -> None:
    """Write the tables of a benchmark, with date, machine, versions, commit and command.

    Parameters
    ----------
    name
        Name of the file, without its suffix.
    packages
        Other packages that were measured, as "name version".
    tables
        The tables by name.
    """
    result = {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": _command(),
        "version": graphrefine.__version__,
        "commit": _commit(),
        "machine": {**machine(), "instructions": native.simd()},
        "packages": list(packages),
        "tables": {
            title: {"columns": list(table.columns), "rows": list(map(list, table.rows))}
            for title, table in tables.items()
        },
    }
    FOLDER.mkdir(exist_ok=True)
    hidden = FOLDER / f".{name}.json"
    hidden.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    hidden.replace(FOLDER / f"{name}.json")


def _command() -> str:
    """Return the command line; of files outside the project, only the name."""
    script = Path(sys.argv[0]).resolve().relative_to(ROOT).as_posix()
    words = [Path(word).name if word.startswith(("/", "~")) else word for word in sys.argv[1:]]
    return shlex.join(["python", script, *words])


def _commit() -> str | None:
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or None
