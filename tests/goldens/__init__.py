"""Goldens: the vectors and the errors that a change of the tree must keep."""
