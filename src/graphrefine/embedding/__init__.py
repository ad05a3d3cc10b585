"""Embedding: names, vectors, recipe; scores, new nodes, alignment; one module a file format."""
