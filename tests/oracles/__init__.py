"""Kernels once more, in NumPy: slow, readable, and what the compiled ones are compared with."""
