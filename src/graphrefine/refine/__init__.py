"""REFINE, the paper: range finder, filters, directed and bipartite graphs, high quality, features."""
