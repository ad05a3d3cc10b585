"""HTML and Markdown from the templates in ``templates/``: one environment, loaded at the first use.

All text that is put into a template is escaped, unless it is ``Markup`` already.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.display.colors import NEGATIVE, POSITIVE, THEMES

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")
LETTERS = 40  # of a name


def render(template: str, **values: Any) -> str:
    """Return the text of a template, filled with values.

    Examples
    --------
    >>> page = render("graph.html", title="<b> & co.", lines=[], histogram=None, notes=["1 self-loop"])
    >>> "&lt;b&gt; &amp; co." in page, "1 self-loop" in page, "<b>" in page
    (True, True, False)
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals |= {"themes": THEMES, "positive": POSITIVE, "negative": NEGATIVE}
    return environment


def shorten(text: Any, letters: int = LETTERS) -> str:
    """Shorten text to one line of at most this many letters; replace what cannot be drawn (halves of surrogate pairs).

    Examples
    --------
    >>> shorten("ab  cdef", 4), shorten(7)
    ('ab …', '7')
    """
    whole = " ".join(str(text).split())
    short = whole if len(whole) <= letters else f"{whole[: letters - 1]}…"
    return "".join(letter if letter.isprintable() else "�" for letter in short)


def count_of(number: int, thing: str) -> str:
    """Format a number of things."""
    return f"{number:,} {thing}{'s' * (number != 1)}"
