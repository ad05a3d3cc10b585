"""The size of each box of the package, held to ``size.json``.

``python tests/box_sizes.py`` prints the sizes; with ``--lower`` it records what has become smaller.

A box is a folder of ``src/graphrefine``, or its modules at the top, as ``top``; ``tests``, ``web`` and the C++ kernels
are boxes too. An entry of ``size.json`` is ``[lines, files]``, the most that a box may have. An entry is raised by
hand, in a commit that changes nothing else and whose subject begins ``Grow <box>:`` and gives the reason;
`find_unexplained_growth` searches the history for others.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "size.json"

Sizes = dict[str, list[int]]  # box -> [lines, files]


class Growth(NamedTuple):
    """A commit that raised entries without saying so."""

    commit: str
    subject: str
    boxes: list[str]


def measure(root: Path = ROOT) -> Sizes:
    """Return the lines and files of each box below a checkout."""
    package = root / "src" / "graphrefine"
    files = {"top": list(package.glob("*.py"))}
    for folder in sorted(path for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"):
        files[folder.name] = list(folder.rglob("*.py"))
    files["native"] = [path for end in ("*.cpp", "*.h") for path in (package / "kernels" / "native").rglob(end)]
    files["tests"] = list((root / "tests").rglob("*.py"))
    files["web"] = list((root / "web" / "src").rglob("*.ts"))
    lines = {box: sum(path.read_bytes().count(b"\n") for path in paths) for box, paths in files.items()}
    return {box: [lines[box], len(paths)] for box, paths in files.items() if paths}


def read_record() -> Sizes:
    """Return the entries of ``size.json``."""
    record: Sizes = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def find_excess(sizes: Sizes, record: Sizes) -> list[str]:
    """Return a line for each box that is larger than its entry, or has none."""
    problems = [f"{box} has no entry in tests/size.json" for box in sizes.keys() - record.keys()]
    for box in sorted(sizes.keys() & record.keys()):
        for unit, size, most in zip(("lines", "files"), sizes[box], record[box], strict=True):
            if size > most:
                problems.append(f"{box} has {size:,} {unit}, and at most {most:,} are allowed")
    return problems


def find_slack(sizes: Sizes, record: Sizes) -> list[str]:
    """Return the boxes whose entry is more than 2 % and 50 lines above their size, or that no longer exist."""
    most = {box: max(1.02 * lines, lines + 50) for box, (lines, _) in sizes.items()}
    return sorted(box for box in record if record[box][0] > most.get(box, -1))


def find_unexplained_growth(root: Path = ROOT) -> list[Growth]:
    """Return the commits that raised an entry together with other changes, or without ``Grow <box>:``."""
    path = RECORD.relative_to(ROOT).as_posix()
    unexplained = []
    for commit in _git(root, "log", "--format=%H", "--no-merges", "--", path).split():
        before, after = (_read_at(root, each, path) for each in (f"{commit}^", commit))
        raised = sorted(box for box, entry in after.items() if box not in before or _is_above(entry, before[box]))
        if not raised or not before:
            continue
        subject = _git(root, "log", "-1", "--format=%s", commit).strip()
        changed = _git(root, "diff-tree", "--no-commit-id", "--name-only", "-r", commit).split()
        if changed != [path] or not any(subject.startswith(f"Grow {box}:") for box in raised):
            unexplained.append(Growth(commit[:10], subject, raised))
    return unexplained


def _is_above(entry: list[int], before: list[int]) -> bool:
    return any(new > old for new, old in zip(entry, before, strict=True))


def _read_at(root: Path, commit: str, path: str) -> Sizes:
    """Return the record as of a commit; empty where it did not exist."""
    try:
        record: Sizes = json.loads(_git(root, "show", f"{commit}:{path}"))
    except subprocess.CalledProcessError:
        return {}
    return record


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Print the boxes with their entries, and lower these if asked to; new boxes are left to a commit that grows."""
    sizes, record = measure(), read_record()
    if "--lower" in sys.argv[1:]:
        record = {
            box: [min(pair) for pair in zip(record[box], sizes[box], strict=True)] for box in record if box in sizes
        }
        lines = [f" {json.dumps(box)}: {json.dumps(record[box])}" for box in sorted(record)]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for box, (count, files) in sizes.items():
        print(f"{box:12} {count:7,} lines {files:4} files   at most {record.get(box, ['-', '-'])}")
    package = [pair for box, pair in sizes.items() if box not in ("native", "tests", "web")]
    print(f"{'package':12} {sum(pair[0] for pair in package):7,} lines {sum(pair[1] for pair in package):4} files")


if __name__ == "__main__":
    main()
