"""Faults: system calls of every writer that fail, one at a time, and what is on the disk afterwards."""
