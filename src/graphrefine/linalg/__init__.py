"""Linear algebra: operators on a graph, sketches, small matrices, joint axes."""
