"""A page to look at an embedding, and the API under it: ``graphrefine explore``.

Raises MissingExtraError unless the packages of the extra are installed.
"""

from importlib import import_module

from graphrefine.errors import MissingExtraError

for _package in ("fastapi", "uvicorn"):
    try:
        import_module(_package)
    except ImportError as error:
        raise MissingExtraError("graphrefine explore", _package, "explore") from error
