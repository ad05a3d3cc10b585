"""Graph: node ids and rows, in memory and on disk.

For others: `graph.Graph`; the graph on disk `stored.StoredGraph`, `stored.open_stored` and
`stored_writer.StoredWriter`; node names `node_names.Names` and `node_names.as_names`; `node_ids`.
"""
