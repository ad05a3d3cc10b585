"""Live vectors behind a server: ``graphrefine live serve``, with the API of explore, changes by POST, and a page."""
