"""Turn a report of ``graphrefine reproduce`` into docs/results.md, with its plots and its raw figures.

Usage: ``python scripts/publish_results.py report/``
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# Results

This page is the report of a run of `graphrefine reproduce` ([how](reproduce.md)), unchanged; its last lines name the
machine and the date. All of its figures, with their spread, are in [results.json](images/results/results.json).
"""


def main(report: Path) -> None:
    """Copy the page, its plots and its figures."""
    text = (report / "report.md").read_text(encoding="utf-8")
    pictures = DOCS / "images" / "results"
    if pictures.exists():
        shutil.rmtree(pictures)
    pictures.mkdir(parents=True)
    shutil.copyfile(report / "results.json", pictures / "results.json")
    for name in re.findall(r"\]\(plots/([^)]+)\)", text):
        shutil.copyfile(report / "plots" / name, pictures / name)
    body = re.sub(r"\]\(plots/", "](images/results/", text.partition("\n")[2])
    (DOCS / "results.md").write_text(HEAD + body, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
