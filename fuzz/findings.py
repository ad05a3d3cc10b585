"""What was found: the kind, the place in the source, the input that does it; one of each place is kept."""

from __future__ import annotations

import hashlib
import json
import re
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["signal", "exit", "hang", "memory", "traceback"]

FOLDER = Path(__file__).parent / "findings"
SOURCE = Path(__file__).resolve().parent.parent / "src" / "graphrefine"
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)')  # as faulthandler writes them


@dataclass
class Finding:
    """An input that does what none may do, and how often its place was found."""

    target: str
    kind: Kind
    place: str
    index: int
    input: str  # the name of the file in fuzz/findings/TARGET
    detail: str
    times: int = 1


def describe(error: BaseException) -> str:
    """The place of an error: its type, where the package raised it, and where it began if that is elsewhere.

    Examples
    --------
    >>> try:
    ...     int("x")
    ... except ValueError as error:
    ...     describe(error)
    'ValueError at <doctest fuzz.findings.describe[0]>:2'
    """
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return f"{type(error).__name__} at {_innermost(frames)}"


def describe_dump(dump: str) -> str:
    """The place that faulthandler wrote down: of the thread that was running, its innermost frames."""
    current = dump.split("Current thread")[-1].split("\n\n")[0]
    frames = [(found["file"], int(found["line"])) for found in FRAME.finditer(current)]
    return _innermost(frames[::-1]) if frames else "no frame of Python"


def _innermost(frames: list[tuple[str, int]]) -> str:
    """The last frame, and the last one of the package if that is another."""
    ours = [frame for frame in frames if frame[0].startswith(str(SOURCE))]
    chosen = dict.fromkeys([*ours[-1:], *frames[-1:]])
    return ", ".join(f"{_short(file)}:{line}" for file, line in chosen)


def _short(file: str) -> str:
    path = Path(file)
    return path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else "/".join(path.parts[-2:])


def keep_input(target: str, data: bytes, folder: Path = FOLDER) -> str:
    """Store an input under the hash of its bytes; the name."""
    name = hashlib.sha256(data).hexdigest()[:16]
    (folder / target).mkdir(parents=True, exist_ok=True)
    (folder / target / name).write_bytes(data)
    return name


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding of each target, kind and place, with the shortest way to it: the first index.

    Examples
    --------
    >>> twice = [Finding("a", "hang", "x.py:1", index, "", "") for index in (7, 3)]
    >>> [(finding.index, finding.times) for finding in merge(twice)]
    [(3, 2)]
    """
    merged: dict[tuple[str, str, str], Finding] = {}
    for finding in sorted(findings, key=lambda finding: (finding.target, finding.index)):
        key = (finding.target, finding.kind, finding.place)
        if key in merged:
            merged[key].times += finding.times
        else:
            merged[key] = finding
    return list(merged.values())


def save(findings: Iterable[Finding], folder: Path = FOLDER) -> None:
    """Write what is known of each finding beside its input."""
    for finding in findings:
        path = folder / finding.target / f"{finding.input}.json"
        path.write_text(json.dumps(asdict(finding), indent=1) + "\n", encoding="utf-8")
