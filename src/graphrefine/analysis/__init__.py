"""Questions about a graph and its vectors: one module for each, with a `graphrefine.display.table.Table` as the answer.

Nothing is imported here: `graphrefine` lists the public names, and a command loads only the module that it needs.
"""
