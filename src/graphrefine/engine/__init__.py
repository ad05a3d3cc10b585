"""Tall matrices (n x k) and eight verbs on them: in memory, in blocks on disk, on a Dask cluster.

For others: the verbs `engine.Engine`; the engines `local.LocalEngine`, `dense.DenseEngine`, `blocks.BlockEngine`;
`dask_client.connect`.
"""
