"""A page to look at an embedding, and the API under it: ``graphrefine explore``; for live vectors, ``live serve``.

Raises MissingExtraError unless the packages of the extra are installed.
"""

from graphrefine.errors import require

for _package in ("fastapi", "uvicorn", "matplotlib"):
    require(_package, "a server (graphrefine explore, graphrefine live serve)", "explore")
