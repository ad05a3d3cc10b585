"""Make docs/results.md of a report of ``graphrefine reproduce``: its page, its plots and its raw figures.

``python scripts/publish_results.py report/`` does it.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# Results

This page was written by `graphrefine reproduce` ([how](reproduce.md)) and by nobody since; its last lines say on what
machine and when. All of its figures, with their spread, are in [results.json](images/results/results.json).
"""


def main(report: Path) -> None:
    """Copy the page and what it shows."""
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
