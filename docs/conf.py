"""How Sphinx builds the site from this folder: `make docs`."""

import re
import sys
from pathlib import Path

from graphrefine import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))

project = "graphrefine"
author = "the graphrefine authors"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "results"]
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
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
suppress_warnings = [
    "myst.xref_missing",  # links to files outside docs/, which lead somewhere on the code's own pages
    "ref.python",  # `dim` in a docstring is an attribute of three classes
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


def describe_page(app, page, template, context, doctree):
    """Use the first paragraph of a page as its description for search engines."""
    found = re.search(r"<p>(.+?)</p>", context.get("body", ""), re.DOTALL)
    if found:
        text = re.sub(r"<[^>]+>|\s+", " ", found[1]).replace('"', "&quot;").strip()
        context["metatags"] = f'{context.get("metatags", "")}<meta name="description" content="{text}" />'


def setup(app):
    """Write the reference pages before the build."""
    import reference

    reference.write()
    app.connect("html-page-context", describe_page)
