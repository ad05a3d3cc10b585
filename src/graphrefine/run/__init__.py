"""A run: settings, graph, memory plan, engine, method, learning, `Embedding`.

For others: `embed.embed` (public), `embed.EmbedRun` with its `embed.Request`, `embed.embed_graph`; the settings of a
run `settings.RunSettings`, files of settings `settings.read_config`; `memory_plan.MemoryPlan`; `forecast`.
"""
