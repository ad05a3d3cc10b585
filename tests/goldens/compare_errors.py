"""Compare two tables of errors: ``python tests/goldens/compare_errors.py OLD.json NEW.json``.

The tables are those of ``record_errors.py``. Words may change; types and facts (values, numbers, files, lines, names of
arguments) must stay. Losses are printed by the name of the test: an error of the old table is kept if the new one has,
under the same test, an error of the same type with all of its facts. Tests that are missing in the new table are listed
apart, with those of their errors that no other test has now. The exit code is 1 where anything was lost.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Error = dict[str, Any]  # "type", "facts", "words"
Table = dict[str, list[Error]]  # by test


def is_kept(error: Error, errors: Iterable[Error]) -> bool:
    """Whether one of the errors has the type and all facts of this one."""
    facts = set(error["facts"])
    return any(other["type"] == error["type"] and facts <= set(other["facts"]) for other in errors)


def nearest(error: Error, errors: list[Error]) -> Error | None:
    """The error that shares the most with this one: its type first, then its facts."""
    facts = set(error["facts"])
    shared = [(other["type"] == error["type"], len(facts & set(other["facts"]))) for other in errors]
    return errors[shared.index(max(shared))] if errors else None


def describe_loss(error: Error, errors: list[Error]) -> str:
    """What of an error is not there any more, with the old words and the nearest new ones."""
    near = nearest(error, errors)
    lines = [f"  {error['type']}: {error['words']}"]
    if near is None:
        return "\n".join([*lines, "    lost: the whole error"])
    lost = sorted(set(error["facts"]) - set(near["facts"]))
    if near["type"] != error["type"]:
        lost.insert(0, f"type {error['type']} (now {near['type']})")
    return "\n".join([*lines, f"    lost: {', '.join(lost)}", f"    now:  {near['words']}"])


def compare(old: Table, new: Table) -> tuple[dict[str, list[str]], dict[str, list[Error]]]:
    """The losses of each test, and the tests that are missing with their errors that no test has any more."""
    everywhere = [error for errors in new.values() for error in errors]
    losses = {
        test: [describe_loss(error, new[test]) for error in errors if not is_kept(error, new[test])]
        for test, errors in old.items()
        if test in new
    }
    missing = {
        test: [error for error in errors if not is_kept(error, everywhere)]
        for test, errors in old.items()
        if test not in new
    }
    return {test: texts for test, texts in losses.items() if texts}, missing


def main() -> None:
    """Print what was lost."""
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    old, new = (json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:])
    losses, missing = compare(old, new)
    for test, texts in losses.items():
        print(test, *texts, sep="\n")
    print(f"\n{len(losses)} tests lost a type or a fact; {len(missing)} tests are not in the new table:")
    for test, errors in missing.items():
        print(f"{test}: {len(errors)} of {len(old[test])} errors are in no other test")
        print(*(f"  {error['type']}: {error['words']}\n" for error in errors), sep="", end="")
    sys.exit(bool(losses or any(missing.values())))


if __name__ == "__main__":
    main()
