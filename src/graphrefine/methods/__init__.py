"""Embedding methods: one contract, one file a method.

For others: `registry.METHODS`, `registry.find_method`, `registry.make_settings`; the contract `contract.Method` with
its `contract.Resources`, `contract.EngineFactory` and `contract.Shape`; `coarsening`.
"""
