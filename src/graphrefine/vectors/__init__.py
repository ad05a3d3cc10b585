"""Vectors with names: lookup by name, source and target, checks, files beside them."""
