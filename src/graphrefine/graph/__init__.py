"""Graph: node ids and rows, in memory and on disk.

For others: `graph.Graph`; the graph on disk `stored.StoredGraph`, `stored.open_stored` and
`stored_writer.StoredWriter`; node names and numbers `node_ids`; rows by name `lookup.Lookup`, `lookup.Sides`.
"""
