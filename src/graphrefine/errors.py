"""The one error tree: every error that a user can cause or must know of.

::

    GraphRefineError
    ├── InputError (ValueError)      an argument, a table or a matrix that cannot be used
    │   └── FormatError              a file that cannot be read; names the file, and the line where there is one
    ├── OutputError (OSError)        a place that cannot be written
    ├── DownloadError (OSError)      a file that cannot be fetched; says where it can be put by hand
    └── MissingExtraError (ImportError)   an optional package is needed; says which extra installs it

Each message names what was wrong, where, and what to do about it. The command line prints the message
and exits with 2; Python callers can catch the base class or the built-in parent.
"""

from __future__ import annotations

from os import PathLike, fspath


class GraphRefineError(Exception):
    """Anything graphrefine refuses to do, with the reason and the way out."""


class InputError(GraphRefineError, ValueError):
    """An argument or in-memory input that cannot be used; ``argument`` is its name, where one is to blame.

    Examples
    --------
    >>> InputError("dim=0 is too small", argument="dim").argument
    'dim'
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class FormatError(InputError):
    """A file that cannot be read.

    Examples
    --------
    >>> str(FormatError("edges.csv", "weight 'x' is not a number", line=3))
    "edges.csv, line 3: weight 'x' is not a number"
    """

    def __init__(
        self, path: str | PathLike[str], problem: str, *, line: int | None = None, argument: str | None = None
    ) -> None:
        where = fspath(path) if line is None else f"{fspath(path)}, line {line}"
        super().__init__(f"{where}: {problem}", argument=argument)


class OutputError(GraphRefineError, OSError):
    """A place that cannot be written."""


class DownloadError(GraphRefineError, OSError):
    """A file that cannot be fetched."""


class MissingExtraError(GraphRefineError, ImportError):
    """An optional package that this request needs and that is not installed."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f'install it with: pip install "graphrefine[{extra}]"'
        )
