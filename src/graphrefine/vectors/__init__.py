"""Vectors with names: lookup by name, source and target, classes, checks, files beside them.

For others: `table.VectorTable`, `state.State`, `lookup.Lookup`, `lookup.Sides`, `classes.Classes`;
`companions` for files that belong to an embedding, such as an index or a layout.
"""
