"""The token of a server, from where other users of the machine do not see it: a file, or the environment."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import click

from graphrefine.errors import FormatError, InputError

MOST_TOKEN = 4096  # characters that are read of a file


def take_token(token: str | None, file: str | None) -> str | None:
    """The token of a server: that of the option, of the first line of a file, or of the environment."""
    if token is not None and file is not None:
        raise click.BadParameter("cannot stand beside --token; leave one of them out", param_hint="--token-file")
    if file is not None:
        place = "standard input" if file == "-" else file
        try:
            with contextlib.nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8") as lines:
                token = lines.readline(MOST_TOKEN).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(place, f"no token can be read: {getattr(error, 'strerror', None) or error}") from None
        if not token:
            raise FormatError(place, "the first line is empty; a token is expected there")
    if token is None:
        token = os.environ.get("GRAPHREFINE_TOKEN")
        if token is not None and not token.strip():
            raise InputError("GRAPHREFINE_TOKEN is empty; unset it, or put a token there")
    if token is not None and not token.strip():
        raise InputError("token='' is empty; leave it out, and one is made where it is needed", argument="token")
    return token
