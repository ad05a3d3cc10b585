"""REFINE, the paper: range finder, filters, directed and bipartite graphs, high quality, features.

For others: `refine.refine`, `settings.RefineSettings` with `settings.refine_settings`; `range_finder`, `svd` and
`filters` for other methods; `settings.MethodSettings`, the base of every method's settings; `reference.refine`, the
whole method on one page of NumPy.
"""
