"""Tables: bytes or a data frame in, typed columns with roles out; or an error that names both readings.

Edges, labels, features, vectors, lists of nodes and changes are all tables, and all come in by this door. Its driver,
`sniff`, takes five steps, one module each, and `roles` says what the columns are for:

========  ===========  ============================================================================================
step      module       what it decides
========  ===========  ============================================================================================
1         `decode`     which text the bytes are: encoding, byte order marks, line ends; no binary file, no web page
2         `dialect`    how it is cut into records: delimiter, quotes, comment lines
3         `kinds`      what a column holds: integers, numbers, texts, dates, times or row numbers
4         `header`     whether the first record names the columns: `detect_header` for edges, `detect_label_header`
                       for labels
5         `origin`     which program wrote it: Neo4j, Neptune, Gephi, Cytoscape, KONECT
roles     `roles`      which columns are used, by `assign_edges`, `_nodes`, `_labels`, `_changes` and `_vectors`
========  ===========  ============================================================================================

What two readings fit is refused where it is decided, as an `AmbiguousTable` with the option for each reading. So
``ann,bob,2024-01-05`` as csv edges is refused by `roles._find_weight`: a date is hardly a weight, and may be a time.

Data frames, parquet, Arrow, JSON records and databases have typed columns with names: they enter at the third step, by
`sniff.find_edges`. Small tables of text (labels, features, lists of nodes) are read whole, by `sniff.read_rows`; edges
are parsed by the compiled kernel, in the dialect and roles that were found, and so is every piece of `ingest`.
"""
