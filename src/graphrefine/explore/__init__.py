"""A page to look at an embedding, and the API under it: ``graphrefine explore``."""

from importlib.util import find_spec

from graphrefine.errors import MissingExtraError


def check_installed() -> None:
    """Raise MissingExtraError unless the packages of the extra are installed."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtraError("graphrefine explore", package, "explore")
