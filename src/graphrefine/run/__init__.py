"""A run: settings, graph, memory plan, engine, method, learning, `Embedding`."""
