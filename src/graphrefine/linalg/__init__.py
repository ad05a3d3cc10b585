"""Linear algebra on a graph: operators, lengths of rows.

For others: `operators.Operator` and the functions that describe one (`operators.proximity`, `operators.transition`
...); `small` for unit rows.
"""
