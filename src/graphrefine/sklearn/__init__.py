"""scikit-learn: `refine.REFINE` for adjacency matrices, `node_vectors.NodeVectors` for columns of names."""
