"""A page to look at an embedding, and the API under it: ``graphrefine explore``."""
