"""Linear algebra: operators on a graph, sketches, small matrices, joint axes.

For others: `operators.Operator` and the functions that describe one (`operators.proximity`, `operators.transition`
...); `small` for matrices of k x k and unit rows; `sketches`; `joint_axes`.
"""
