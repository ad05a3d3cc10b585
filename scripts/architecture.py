"""Write the list of modules on the architecture page: one line for each, the first line of its docstring.

``python scripts/architecture.py`` does it. The list stands between two markers in docs/architecture.md, by folder, in
the order of the drawing; a test holds it to the files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "graphrefine"
WEB = ROOT / "web" / "src"
PAGE = ROOT / "docs" / "architecture.md"
START, END = "<!-- modules: written by scripts/architecture.py -->", "<!-- end of modules -->"
ORDER = (  # of the drawing, from the top
    *("", "cli", "explore", "paper", "live", "answers", "evaluate", "datasets", "run", "embedding", "maps"),
    *("search", "vectors", "methods", "refine", "engine", "linalg", "ingestion", "readers", "graph", "kernels"),
    *("visuals", "system"),
)
SUFFIXES = (".py", ".cpp", ".h", ".ts")


def first_line(path: Path) -> str:
    """The first line of a module's docstring, or the first sentence of another file's first comment, as Markdown.

    Examples
    --------
    >>> first_line(SOURCE / "kernels" / "native" / "walks.cpp")
    'Random walks and random edges from CSR rows.'
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        line = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    else:
        comment = re.search(r"^// ?(.*(?:\n// ?\S.*)*)", text, re.MULTILINE)
        line = "" if comment is None else re.sub(r"\n// ?", " ", comment[1])
        line = re.split(r"(?<=\.) (?=[A-Z])", line)[0]
    if not line:
        raise SystemExit(f"{path.relative_to(ROOT)}: has no docstring; its first line belongs on the architecture page")
    return re.sub(r"`{1,2}([^`]+)`{1,2}", r"`\1`", line)


def list_modules() -> str:
    """The list as Markdown: a heading for each folder, a line for each module."""
    page = (f"* `{path.name}`: {first_line(path)}" for path in sorted(WEB.glob("*.ts")))
    heading = "### web/src/\n\nThe page of `graphrefine explore`, in TypeScript.\n"
    return "\n".join([*_lines(SOURCE), heading, *page, ""])


def _lines(source: Path) -> Iterator[str]:
    folders: dict[str, list[Path]] = {}
    for path in sorted(source.rglob("*")):
        if path.suffix in SUFFIXES:
            folders.setdefault(path.parent.relative_to(source).as_posix().removeprefix("."), []).append(path)
    for folder in sorted(folders, key=_position):
        package = source / folder / "__init__.py"
        yield f"### {folder or 'graphrefine'}/\n"
        if package in folders[folder]:
            yield f"{first_line(package)}\n"
        yield from (f"* `{path.name}`: {first_line(path)}" for path in folders[folder] if path != package)
        yield ""


def _position(folder: str) -> tuple[int, str]:
    top = folder.partition("/")[0]
    return (ORDER.index(top) if top in ORDER else len(ORDER), folder)


def updated(page: str, modules: str) -> str:
    """The page with another list of modules between the markers."""
    before, rest = page.split(START)
    return f"{before}{START}\n\n{modules}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), list_modules()), encoding="utf-8")
