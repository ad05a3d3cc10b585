"""Readers: files and objects to a `Graph`, one module a format; tables of labels.

For others: `read.read` (public); labels of nodes, `labels.as_labels` and `labels.read_labels`; the table of graph
formats `formats.FORMATS`.
"""
