"""Answers to questions about a graph and its vectors: one module a question, each answer a `visuals.table.Table`.

Nothing is imported here: `graphrefine` lists the public names, and a command loads only the module of its own question.
"""
