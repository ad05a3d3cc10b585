"""What people look at: reports, plots, the one palette, and the templates of every HTML page.

A report is a folder that is replaced as one: ``report.html`` is one file that needs nothing else; ``report.md`` shows
the pictures in ``plots/``; ``results.json`` holds the figures.
"""

from __future__ import annotations

from graphrefine.visuals.report import Cell, Plot, Report, Section, Table
from graphrefine.visuals.report_folder import check_report_folder, save_results, write_report

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
