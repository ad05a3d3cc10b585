"""A page to look at an embedding, and the API under it: ``graphrefine explore``; for live vectors, ``live serve``.

Raises MissingExtraError unless the packages of the extra are installed.
"""

from importlib.util import find_spec

from graphrefine.errors import MissingExtraError

for _package in ("fastapi", "uvicorn", "matplotlib"):
    if find_spec(_package) is None:
        raise MissingExtraError("a server (graphrefine explore, graphrefine live serve)", _package, "explore")
