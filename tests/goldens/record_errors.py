"""A pytest plugin that records every `GraphRefineError` of a run, test by test, in subprocesses too.

::

    PYTHONPATH=tests python -m pytest -p goldens.record_errors --errors-to errors.json -m "not slow" \
        --ignore tests/goldens

The table has one entry for each test function (without file and parameters): a sorted list of ``type``, ``facts`` and
``words``. Facts are the parts of a message that stay when its words get better: quoted values, numbers, file names,
lines and names of arguments. Folders are taken away from paths. ``compare_errors.py`` compares two tables.

Python processes that a test starts record their errors too: they find a ``sitecustomize`` on ``PYTHONPATH``, except
where a test gives them an environment of its own.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

LOG = "GRAPHREFINE_ERROR_LOG"  # the environment variable with the path of the logs: one JSON line for each error

FOLDER = re.compile(r"(?:file://)?(?:[A-Za-z]:)?(?:/[\w.~+-]+)+/(?=[\w.~+-])|(?<![\w.~+-])/(?=tmp\b)")
NOISE = [
    (re.compile(r"\b0x[0-9a-f]+\b"), "0xADDRESS"),
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\bport \d{4,5}\b"), "port PORT"),
    (re.compile(r"\b(process|pid) \d+\b"), r"\1 PID"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "TEMPORARY"),
    (re.compile(r"\btest_\w*?\d+\b(?!\.)"), "FOLDER"),
    # Measured on the machine:
    (re.compile(r"[\d.,]+ ?[kMGT]?B(?= (?:are free|are needed|with the graph on disk|for memory))"), "SIZE"),
    (re.compile(r"takes [\d.]+ s\b"), "takes TIME"),
    (re.compile(r"at least [\d.]+(s|min|h)\b"), "at least TIME"),
]
FACTS = re.compile(
    r"""
    '[^'\n]{1,200}?'(?!\w)              # a quoted value
    | "[^"\n]{1,200}?"
    | --[a-z][a-z0-9-]*                 # an option of the command line
    | \b[a-z_]+=(?=\S)                  # an argument
    | \bline\s\d+                       # a line of a file
    | \b[\w.-]+\.[A-Za-z][A-Za-z0-9]{1,10}\b   # a file
    | (?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?   # a number
    """,
    re.VERBOSE,
)


def clean(message: str) -> str:
    """A message without what differs from run to run: folders, ports, addresses.

    >>> clean("/tmp/of-me/7/edges.csv, line 3: weight 'x'")
    "edges.csv, line 3: weight 'x'"
    """
    message = FOLDER.sub("", message)
    for pattern, name in NOISE:
        message = pattern.sub(name, message)
    return message


def facts_of(message: str) -> list[str]:
    """The facts of a clean message, each once and sorted.

    >>> facts_of("edges.csv, line 3: weight 'x' is not a number; use weights='none'")
    ["'none'", "'x'", 'edges.csv', 'line 3', 'weights=']
    """
    return sorted(set(FACTS.findall(message)))


def record(error: BaseException) -> None:
    """Append an error to the log, under the test that runs."""
    log, test = os.environ.get(LOG), os.environ.get("PYTEST_CURRENT_TEST")
    if not log or not test:
        return
    row = {"test": test, "type": type(error).__name__, "message": ", ".join(map(str, error.args))}
    path = Path(f"{log}.{os.getpid()}")  # of each process its own: some tests limit the size of files
    with suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def wrap(errors: Any) -> None:
    """Let every error of the module ``graphrefine.errors`` be recorded when it is made."""
    base = errors.GraphRefineError
    make = base.__init__

    def make_and_record(self: Any, *args: Any, **carried: Any) -> None:
        make(self, *args, **carried)
        record(self)

    base.__init__ = make_and_record


class Finder:
    """Wraps ``graphrefine.errors`` as soon as a process imports it, and not before."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Find the module by Python's own finder, and have its loader wrap it."""
        if name != "graphrefine.errors":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_wrap(module: Any) -> None:
            execute(module)
            wrap(module)

        spec.loader.exec_module = execute_and_wrap  # type: ignore[method-assign]
        return spec


def watch() -> None:
    """Record the errors of this process, if a run of tests asks for it."""
    if os.environ.get(LOG):
        sys.meta_path.insert(0, Finder)


def table_of(lines: list[str], drawn: Collection[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """The table of a log: for each test function its errors, each once and sorted.

    Tests that are ``drawn`` at random have other values in each run: of their errors, only the types are kept.
    """
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for line in lines:
        row = json.loads(line)
        name = re.sub(r"\[.*", "", row["test"].rsplit(" (", 1)[0].split("::", 1)[-1])
        words = clean(row["message"])
        error = {"type": row["type"], "facts": facts_of(words), "words": words}
        if name in drawn:
            error |= {"facts": [], "words": "(drawn at random)"}
        rows.setdefault(name, {})[json.dumps(error)] = error
    return {name: [errors[key] for key in sorted(errors)] for name, errors in sorted(rows.items())}


# The plugin

DRAWN: set[str] = set()  # tests whose examples are drawn at random


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the place of the table."""
    parser.addoption("--errors-to", metavar="FILE", help="where the table of errors goes", default="errors.json")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record, here and in the processes that tests start."""
    folder = Path(tempfile.mkdtemp(prefix="goldens-"))
    here = str(Path(__file__).resolve())
    (folder / "sitecustomize.py").write_text(
        "from importlib.util import module_from_spec, spec_from_file_location\n"
        f"spec = spec_from_file_location('record_errors', {here!r})\n"
        "module = module_from_spec(spec)\nspec.loader.exec_module(module)\nmodule.watch()\n"
    )
    os.environ[LOG] = str(folder / "errors.jsonl")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    if "graphrefine.errors" in sys.modules:
        wrap(sys.modules["graphrefine.errors"])
    else:
        watch()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Note the tests whose examples are drawn by Hypothesis."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            DRAWN.add(item.nodeid.split("::", 1)[-1].split("[")[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the table."""
    log = Path(os.environ[LOG])
    logs = log.parent.glob(f"{log.name}.*")
    lines = [line for path in logs for line in path.read_text(encoding="utf-8").splitlines()]
    table = table_of(lines, DRAWN)
    text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    Path(session.config.getoption("--errors-to")).write_text(text, encoding="utf-8")
