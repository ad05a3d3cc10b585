"""Freeze what graphrefine reads and what it offers, and list each later difference.

::

    PYTHONPATH=tests python -m goldens.freeze --record   # write readings.json and surface.json
    PYTHONPATH=tests python -m goldens.freeze            # compare; exit code 1 if there is an unexpected difference

``readings.json`` has one line for each case: a digest of what was read, or the type, argument and line of the error.
``surface.json`` has the public names, signatures, commands, options and the keys of JSON outputs. ``intended.json``
maps the id of a case that may differ (or the start of several ids, followed by ``*``) to the reason, in one line. An
entry of ``intended.json`` that matches no difference is an error, so that the list stays true.

Wording of messages, paths, times and versions of other packages are not recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from goldens import freeze_readings, freeze_surface
from goldens.freeze_readings import Case, Outcome

HERE = Path(__file__).resolve().parent
READINGS, SURFACE, INTENDED = "readings.json", "surface.json", "intended.json"
ABSENT = "(no such case)"


@contextmanager
def clean_environment() -> Iterator[None]:
    """Keep variables of graphrefine and of the terminal, and warnings, from making a difference."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GRAPHREFINE_")}
    with patch.dict(os.environ, {**kept, "COLUMNS": "100"}, clear=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def may_begin(group: str, only: str) -> bool:
    """Return whether ids of a group, such as ``corpus/``, may begin with a text."""
    return group.startswith(only) or only.startswith(group)


def read_all(only: str = "") -> dict[str, Outcome | None]:
    """Run all cases whose ids begin with a text; None where an optional package is missing."""
    found: dict[str, Outcome | None] = {}
    groups = [run for group, run in freeze_readings.GROUPS.items() if may_begin(group, only)]
    with clean_environment():
        for case in (case for run in groups for case in run() if case.id.startswith(only)):
            if case.id in found:
                raise ValueError(f"two cases are called {case.id!r}")
            with tempfile.TemporaryDirectory(prefix="freeze-") as folder:
                found[case.id] = run_case(case, Path(folder))
    return found


def run_case(case: Case, folder: Path) -> Outcome | None:
    """Run a case in an empty folder: what was read, or the error."""
    try:
        return case.read(case.make(folder))
    except ImportError:
        return None
    except Exception as error:  # any error is the behavior of today
        return describe_error(error)


def describe_error(error: Exception) -> Outcome:
    """Describe an error: its type, its argument, and the line that its message names.

    >>> describe_error(ValueError("edges.csv, line 3: no number"))
    {'error': 'ValueError', 'line': 3}
    """
    line = re.search(r"\bline ([\d,]*\d)\b", str(error))
    argument = getattr(error, "argument", None)
    kind = next(each for each in type(error).__mro__ if not each.__name__.startswith("Ambiguous"))
    return {
        "error": kind.__name__,  # of a table with two readings, the type of which that is a kind
        **({} if argument is None else {"argument": str(argument)}),
        **({} if line is None else {"line": int(line[1].replace(",", ""))}),
    }


def describe_surface(only: str = "") -> dict[str, Any]:
    """Describe the public surface: names, members, commands, and keys of JSON outputs."""
    with clean_environment():
        groups = [run() for group, run in freeze_surface.GROUPS.items() if may_begin(group, only)]
    return {key: value for group in groups for key, value in group.items() if key.startswith(only)}


class Difference(NamedTuple):
    """A case that is not as it was recorded."""

    id: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.id}\n  before {write_value(self.before)}\n  now    {write_value(self.after)}"


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    unexpected: list[Difference]
    expected: list[Difference]
    stale: list[str]  # entries of intended.json without a difference
    skipped: list[str]  # cases that need packages which are not installed

    @property
    def is_good(self) -> bool:
        """Whether there is nothing but what is intended."""
        return not self.unexpected and not self.stale

    def __str__(self) -> str:
        lines = [f"DIFFERENT {each}" for each in self.unexpected]
        lines += [f"intended: {each}" for each in self.expected]
        lines += [f"STALE {entry}: {INTENDED} lists it, and there is no such difference" for entry in self.stale]
        lines += [f"skipped, a package is not installed: {len(self.skipped)}"] * bool(self.skipped)
        counts = f"{len(self.unexpected)} unexpected, {len(self.expected)} intended, {len(self.stale)} stale"
        return "\n".join([*lines, f"differences: {counts}"])


def compare(
    recorded: Mapping[str, Any], found: Mapping[str, Any], intended: Mapping[str, str], *, whole: bool
) -> Report:
    """Compare what was recorded with what was found; None could not be run here.

    After a check of a part (``whole`` is False), only entries about one case that ran can be stale.
    """

    def matches(entry: str, name: str) -> bool:
        return name.startswith(entry[:-1]) if entry.endswith("*") else name == entry

    pairs = [(name, recorded.get(name, ABSENT), found.get(name, ABSENT)) for name in sorted({*recorded, *found})]
    differences = [Difference(*each) for each in pairs if each[2] is not None and each[1] != each[2]]
    is_listed = [any(matches(entry, each.id) for entry in intended) for each in differences]
    unused = [entry for entry in intended if not any(matches(entry, each.id) for each in differences)]
    return Report(
        [each for each, listed in zip(differences, is_listed, strict=True) if not listed],
        [each for each, listed in zip(differences, is_listed, strict=True) if listed],
        [entry for entry in unused if whole or entry in found],
        [name for name, _, after in pairs if after is None],
    )


def load_table(name: str) -> dict[str, Any]:
    """Load a table that lies next to this module."""
    table: dict[str, Any] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return table


def check(only: str = "") -> Report:
    """Compute everything whose id begins with a text, and compare it with the record."""
    found = {**read_all(only), **describe_surface(only)}
    recorded = {**load_table(READINGS), **load_table(SURFACE)}
    recorded = {name: value for name, value in recorded.items() if name.startswith(only)}
    return compare(recorded, found, load_table(INTENDED), whole=not only)


def write_value(value: Any) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def write_table(table: Mapping[str, Any]) -> str:
    """Write a table as JSON, one line for each case, sorted by id."""
    lines = [f"{json.dumps(name, ensure_ascii=False)}:{write_value(table[name])}" for name in sorted(table)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record() -> int:
    """Write both tables; return 1 where a package is missing that a case needs."""
    readings = read_all()
    missing = sorted(name for name, outcome in readings.items() if outcome is None)
    if missing:
        print(f"not recorded, these cases need packages that are not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    (HERE / READINGS).write_text(write_table(readings), encoding="utf-8")
    (HERE / SURFACE).write_text(write_table(describe_surface()), encoding="utf-8")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or check; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m goldens.freeze", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write readings.json and surface.json again")
    parser.add_argument("--only", default="", metavar="TEXT", help="check only cases whose ids begin with this text")
    options = parser.parse_args(arguments)
    if options.record:
        if options.only:
            parser.error("--record writes all cases; leave out --only")
        return record()
    report = check(options.only)
    print(report)
    return 0 if report.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
