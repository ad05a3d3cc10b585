"""Readers: files and objects to a `Graph`, one module a format; tables of labels."""
