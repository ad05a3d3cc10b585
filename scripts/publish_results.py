"""Turn a report of ``python -m reproduction`` into docs/results/paper.md, with its plots and its raw figures.

Usage: ``python scripts/publish_results.py report/``, and for a later report of single experiments, which replace those
on the page or join them, ``python scripts/publish_results.py --add report/``.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from reproduction import EXPERIMENTS

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# The paper, reproduced

For readers of the REFINE paper: its tables, figures and claims, measured with graphrefine. The report is the output of
`python -m reproduction`; its last lines name the machine and the dates. `make reproduce` runs a short version. The
numbers with their spread are in [results.json](../images/results/results.json).
"""
ORDER = [experiment.title for experiment in EXPERIMENTS]


def main(report: Path, *, add: bool) -> None:
    """Copy the page, its plots and its figures."""
    text = (report / "cells" / "report.md").read_text(encoding="utf-8")
    pictures = DOCS / "images" / "results"
    if pictures.exists() and not add:
        shutil.rmtree(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    for name in re.findall(r"\]\(plots/([^)]+)\)", text):
        shutil.copyfile(report / "plots" / name, pictures / name)
    body = re.sub(r"\]\(plots/", "](../images/results/", text.partition("\n")[2])
    page, figures = DOCS / "results" / "paper.md", json.loads((report / "results.json").read_text(encoding="utf-8"))
    if add:
        body = merge_pages(page.read_text(encoding="utf-8"), body)
        figures = merge_figures(json.loads((pictures / "results.json").read_text(encoding="utf-8")), figures)
    (pictures / "results.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    page.write_text(HEAD + body, encoding="utf-8")


def split_page(body: str) -> tuple[list[str], dict[str, str], dict[str, str], str]:
    """Lines of the summary before its table, rows of the table and sections by title, and the last lines."""
    body, _, foot = body.rpartition("\n---\n")
    parts = re.split(r"^## (.+)\n", body, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    lines = sections.pop("Summary").strip().splitlines()
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("|")}
    return [line for line in lines if not line.startswith("|")], rows, sections, foot.strip("\n")


def merge_pages(old: str, new: str) -> str:
    """The sections of both, those of the new report in place of the old ones, in the order of the experiments."""
    summary, rows, sections, foot = split_page(old)
    _, new_rows, new_sections, new_foot = split_page(new)
    heads = [name for name in rows if name == "what" or name.startswith(":--")]
    rows, sections = rows | new_rows, sections | new_sections
    table = [rows[name] for name in heads + [title for title in ORDER if title in rows]]
    whole = "\n".join(["\n## Summary\n", *summary, *([] if summary[-1:] == [""] else [""]), *table, "", ""])
    for title in ORDER:
        if title in sections:
            whole += f"## {title}\n{sections[title].rstrip()}\n\n"
    later = f"{', '.join(f'*{title}*' for title in new_sections)}:\n\n{new_foot}\n"
    return f"{whole}---\n\n{foot}\n\n{later}"


def merge_figures(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The experiments of both; those of the new report say of which run they are."""
    run = {name: new[name] for name in ("version", "machine", "command", "date", "seed", "threads", "dim")}
    ours = old["experiments"] | {name: {**one, "later": run} for name, one in new["experiments"].items()}
    old["experiments"] = {one.name: ours[one.name] for one in EXPERIMENTS if one.name in ours}
    return old


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--add"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    main(Path(arguments[0]), add="--add" in sys.argv)
