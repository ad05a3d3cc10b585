"""Tall matrices (n x k) and nine verbs on them: in memory, in blocks on disk, on a Dask cluster.

For others: the verbs `engine.Engine`, with the algebra of small matrices; the engines `local.LocalEngine`,
`blocks.BlockEngine`; `dense.dense_product`; `sketches`; `dask_client.connect`.
"""
