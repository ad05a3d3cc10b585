"""Vectors with names: rows by name, state, classes, clusters, checks, files beside them.

For others: `table.VectorTable`, `state.State`, `classes.Classes`; `clusters.find_clusters`;
`companions` for files that belong to an embedding, such as an index or a layout.
"""
