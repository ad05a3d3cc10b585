"""A run: settings, graph, memory plan, engine, method, learning, `Embedding`.

For others: `embed.embed` (public), `embed_run.EmbedRun` with its `embed_run.Request`, `embed_run.embed_graph`; the
settings of a run `settings.RunSettings`, files of settings `settings.read_config`; `memory_plan.MemoryPlan`;
`forecast`.
"""
