"""A page to look at an embedding, and the API under it: ``graphrefine explore``."""

from graphrefine.errors import MissingExtraError


def check_installed() -> None:
    """Raise MissingExtraError unless the packages of the extra are installed."""
    for package in ("fastapi", "uvicorn"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtraError("graphrefine explore", package, "explore") from error
