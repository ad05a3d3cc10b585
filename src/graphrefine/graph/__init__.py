"""Graph: node ids and rows, in memory and on disk."""
