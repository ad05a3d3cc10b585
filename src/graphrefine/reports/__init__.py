"""Reports: a page, the same in Markdown, plots and raw figures, in a folder that is replaced as one.

``report.html`` is one file that needs nothing else; ``report.md`` shows the pictures in ``plots/``; ``results.json``
holds the figures.
"""

from __future__ import annotations

from graphrefine.reports.folder import check_report_folder, save_results, write_report
from graphrefine.reports.parts import Cell, Plot, Report, Section, Table

__all__ = [
    "Cell",
    "Plot",
    "Report",
    "Section",
    "Table",
    "check_report_folder",
    "save_results",
    "write_report",
]
