"""Tall matrices (n x k) and nine verbs on them: in memory, in blocks on disk, on a Dask cluster."""
