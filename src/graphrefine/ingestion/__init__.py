"""Ingestion: any number of edges to a graph on disk, within a budget of memory.

::

    read      inputs -> pieces of records, their ids as they are (`input_table`, `pieces`, `spool`)
    number    ids -> node numbers in the order of the ids (`numbering`)
    deal      arcs, both ways if undirected, -> files of consecutive rows (`sorting`)
    merge     each file sorted and merged in memory, its rows appended to the graph (`sorting`)
    finish    sums of rows and columns, checksums, the manifest (`graphrefine.graph.stored_writer`)

`ingest` runs the stages; `job` has the files, the options and the budget. All work is in a folder next to the output
until it is done, and a run that was killed goes on from there.
"""
