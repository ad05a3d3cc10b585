"""Embedding: names, vectors, recipe; scores, new nodes, alignment; one module a file format.

For others: `embedding.Embedding`, `embedding.load`; `learn.learn_state`; `scores.PairScore`; the checks before a write
`formats.check_output`; the table of file formats `formats.FORMATS`.
"""
