"""Vectors with names: rows by name, state, classes, checks, files beside them.

For others: `table.VectorTable`, `state.State`, `classes.Classes`;
`companions` for files that belong to an embedding, such as an index or a layout.
"""
