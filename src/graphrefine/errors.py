"""The one error tree: every error that a user can cause or must know of.

::

    GraphRefineError
    ├── InputError (ValueError)      an argument, a table or a matrix that cannot be used
    │   ├── FormatError              a file that cannot be read; names the file, and the line where there is one
    │   ├── AmbiguousTable           a table with two readings; names both, and the option for each
    │   │   └── AmbiguousFile (FormatError)   the same, of a file
    │   ├── KeywordError (TypeError) a keyword that a function or a method does not have; names one that is near
    │   └── UnknownNameError (KeyError)   a name that no node has; names those that are near
    ├── OutputError (OSError)        an output that cannot be written
    ├── DownloadError (OSError)      a file that cannot be fetched; says where it can be put by hand
    ├── MissingExtraError (ImportError)   an optional package is needed; says which extra installs it
    └── KernelError (ImportError)    the compiled kernels cannot be loaded
    ArgumentWarning (UserWarning)    an argument that was understood, and may have been meant otherwise

Each message says what is wrong, where, and what to do about it. The command line prints the message and exits with 2;
Python callers can catch the base class or the built-in parent. No message has the password of an address
(`mask_secrets`).
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from os import PathLike, fspath

_LOGIN = re.compile(r"([a-zA-Z][\w+.-]*:/+[^\s:/@]*):\S*@")  # of an address with a password, up to the last @
_OPTION = re.compile(r"([?&]\w*passw\w*=)[^\s&]*", re.IGNORECASE)
_KEYWORD = re.compile(r"\b((?:ssl)?password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s'&]+)", re.IGNORECASE)  # of libpq
_ADDRESS = re.compile(r"([a-zA-Z][\w+.-]*:/+)(.*)@(.*)", re.DOTALL)
MASK = "***"


class GraphRefineError(Exception):
    """Anything graphrefine refuses to do, with the reason and what to do about it.

    Parameters
    ----------
    message : str
        What is wrong. Passwords of addresses in it are masked.
    argument : str, optional
        The argument that the error is about, by its name in Python. The command line adds the option that sets it.

    Examples
    --------
    >>> InputError("dim must be at least 1, not 0", argument="dim").argument
    'dim'
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(mask_secrets(message))
        self.argument = argument


class InputError(GraphRefineError, ValueError):
    """An argument or in-memory input that cannot be used."""


class FormatError(InputError):
    """A file that cannot be read: ``edges.csv, line 3: non-numeric weight 'x'``."""

    def __init__(
        self, path: str | PathLike[str], problem: str, *, line: int | None = None, argument: str | None = None
    ) -> None:
        name = mask_address(fspath(path))
        where = name if line is None else f"{name}, line {line}"
        super().__init__(f"{where}: {problem}", argument=argument)


class AmbiguousTable(InputError):  # noqa: N818 (a state of a table, as the message says)
    """A table that can be read in two ways: ``readings`` has the option for each, and the reading in words.

    Examples
    --------
    >>> str(AmbiguousTable("the first line", {"header=True": "names", "header=False": "an edge"}, argument="header"))
    'the first line: pass header=True for names, or header=False for an edge'
    """

    def __init__(self, problem: str, readings: Mapping[str, str] | None = None, *, argument: str | None = None) -> None:
        self.readings = dict(readings or {})
        ways = [f"{option} for {reading}" for option, reading in self.readings.items()]
        super().__init__(f"{problem}: pass {', or '.join(ways)}" if ways else problem, argument=argument)


class AmbiguousFile(FormatError, AmbiguousTable):  # noqa: N818 (as above)
    """A file of a table that can be read in two ways."""


class KeywordError(InputError, TypeError):
    """A keyword that a function or a method does not have."""


class UnknownNameError(InputError, KeyError):
    """A name that no node has."""

    def __str__(self) -> str:  # a KeyError puts quotes around its message
        return str(self.args[0])


class OutputError(GraphRefineError, OSError):
    """An output that cannot be written."""


class DownloadError(GraphRefineError, OSError):
    """A file that cannot be fetched."""


class KernelError(GraphRefineError, ImportError):
    """The compiled kernels cannot be loaded: they were built for another system, or lack a library."""


class MissingExtraError(GraphRefineError, ImportError):
    """An optional package that this request needs and that is not installed; from an extra, or by its own name."""

    def __init__(self, purpose: str, package: str, extra: str | None = None) -> None:
        command = f"pip install {package}" if extra is None else f'pip install "graphrefine[{extra}]"'
        super().__init__(f"{purpose} needs the package {package!r}, which is not installed; install it with: {command}")


def require(package: str, purpose: str, extra: str | None = None) -> None:
    """Raise MissingExtraError, without an import, if a package that this purpose needs is not installed."""
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(purpose, package, extra)


class ArgumentWarning(UserWarning):
    """A note on an argument that was understood, and may have been meant otherwise; ``argument`` is its name."""

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(mask_secrets(message))
        self.argument = argument


def mask_secrets(text: str) -> str:
    """Return a text without the passwords of addresses in it.

    Examples
    --------
    >>> mask_secrets("postgresql+psycopg://ada:se/cr@t@localhost/graphs?sslpassword=x: no such file")
    'postgresql+psycopg://ada:***@localhost/graphs?sslpassword=*** no such file'
    >>> mask_secrets("host=head user=ada password='two words' dbname=graphs: no such file")
    'host=head user=ada password=*** dbname=graphs: no such file'
    """
    if ":/" in text:
        text = _OPTION.sub(rf"\1{MASK}", _LOGIN.sub(rf"\1:{MASK}@", text))
    return _KEYWORD.sub(rf"\1{MASK}", text) if "=" in text else text


def mask_address(address: str) -> str:
    """Return an address or a path without its password, which may have blanks."""
    if (parts := _ADDRESS.fullmatch(address)) and ":" in parts[2]:
        address = f"{parts[1]}{parts[2].partition(':')[0]}:{MASK}@{parts[3]}"
    return mask_secrets(address)


def suggest(word: object, choices: Iterable[object]) -> str:
    """Return what may have been meant by an unknown word, for a message; nothing if no choice is near."""
    from difflib import get_close_matches

    near = get_close_matches(str(word).lower(), list(map(str, choices)), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
