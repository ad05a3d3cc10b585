"""Tables: bytes or a data frame in, typed columns with roles out; or an error that names both readings.

Edges, labels, features, vectors, lists of nodes and changes are all tables, and all come in by this door::

    sniff            the driver of the five steps, and the rows of small tables
      1 decode       bytes to text
      2 dialect      delimiter, quotes, comments: records
      3 kinds        integers, numbers, texts, dates, times or row numbers in each column
      4 header       whether the first record names the columns
      5 origin       the program that wrote it: Neo4j, Neptune, Gephi, Cytoscape, KONECT
    roles            which columns hold the ends, the weights, the nodes, the labels, the numbers
    vocabulary       every usual name of a column, once

Data frames, parquet, Arrow, JSON records and databases have typed columns with names: they enter at the third step.
"""
