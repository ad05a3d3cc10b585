"""Addresses of PostgreSQL servers: their recognition, and their form in messages, without a password."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from graphrefine.errors import InputError

_SCHEMES = re.compile(r"(postgres|postgresql)://", re.IGNORECASE)


def is_address(place: str | os.PathLike[str]) -> bool:
    """Whether this is the address of a server rather than a path.

    Examples
    --------
    >>> is_address("postgresql://ada@localhost/graphs"), is_address("postgresql.parquet")
    (True, False)
    """
    return bool(_SCHEMES.match(os.fspath(place)))


def format_address(address: str | os.PathLike[str]) -> str:
    """The address as messages have it: without password and options.

    Examples
    --------
    >>> format_address("postgresql://ada:secret@localhost:5433/graphs?sslpassword=more")
    'postgresql://ada@localhost:5433/graphs'
    >>> format_address("postgresql://ada:se/cr@t@localhost/graphs")
    'postgresql://...'
    """
    text = os.fspath(address)
    if _is_torn(text):
        return f"{text.partition('://')[0]}://..."
    parts = urlsplit(text)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"


def format_place(place: str | os.PathLike[str]) -> str:
    """A path as it is, an address without its password."""
    return format_address(place) if is_address(place) else os.fspath(place)


def check_address(address: str | os.PathLike[str]) -> None:
    """Refuse an address that would be cut in the middle of its password, parts of which then stand in messages."""
    if _is_torn(os.fspath(address)):
        raise InputError(
            f"{format_address(address)}: the address cannot be taken apart; in a user or password, write @ as %40, / "
            "as %2F, ? as %3F, # as %23 and % as %25; or leave the password out and put it into ~/.pgpass or PGPASSWORD"
        )


def _is_torn(text: str) -> bool:
    """Whether an @ stands elsewhere than between user and host, or the port is no number."""
    place = text.partition("://")[2]
    login, _, rest = place.partition("@")
    if "@" not in place:
        login, rest = "", place
    hosts = re.split("[/?]", rest, maxsplit=1)[0]
    one = r"(\[[0-9a-fA-F:.]*\]|[^:\[\]@#]*)(:[0-9]*)?"
    torn = re.search("[/?#]", login) or "@" in rest.partition("?")[0]
    return bool(torn or not re.fullmatch(f"{one}(,{one})*", hosts))
