"""The nodes nearest to a node: exact, or by an index.

For others: `searcher.Search` answers for rows and vectors of one embedding, again and again; `neighbors.find_neighbors`
for names, once; `neighbors.all_neighbors` for every node, in blocks. Answers are `rankings.Ranking`, lists that are
tables too. `scores.SCORES` are the kinds of likeness, and beyond `index.INDEX_BEYOND` nodes an index is made.

Nothing is imported here, as scores are needed where nothing is searched.
"""
