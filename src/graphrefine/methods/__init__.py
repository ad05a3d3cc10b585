"""Embedding methods: one contract, one file a method."""
