"""How Sphinx makes web pages of this folder: `make docs`."""

project = "graphrefine"
author = "the graphrefine authors"
extensions = ["myst_parser"]
html_theme = "pydata_sphinx_theme"
html_title = "graphrefine"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # links to files outside docs/, which lead somewhere on the code's own pages
    "misc.highlighting_failure",  # console blocks that show what a program printed
]
