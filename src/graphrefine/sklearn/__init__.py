"""scikit-learn: `refine_estimator.REFINE` for adjacency matrices, `node_vectors.NodeVectors` for columns of names."""
