"""How Sphinx makes web pages of this folder: `make docs`."""

from graphrefine import __version__

project = "graphrefine"
author = "the graphrefine authors"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "graphrefine"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"**": ["side-bar"]}  # all pages under their headings, on every page
html_show_sourcelink = False
html_theme_options = {
    "navbar_center": [],
    "navbar_persistent": [],
    "navbar_end": ["search-button-field", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copyright = "the graphrefine authors, BSD-3-Clause"

myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # links to files outside docs/, which lead somewhere on the code's own pages
    "misc.highlighting_failure",  # console blocks that show what a program printed
]

default_role = "py:obj"  # `name` in a docstring links to the name where the reference has it
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures stay readable; the docstrings name the types
napoleon_google_docstring = False
napoleon_use_param = False  # settings that share a text stay together
napoleon_use_rtype = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
