"""Options and help of ``graphrefine embed``."""

from __future__ import annotations

from graphrefine.cli.options import (
    CONFIG,
    GRAPH,
    JSON,
    METHOD,
    READING,
    REFINING,
    RUNNING,
    SET,
    SUFFIXES,
    Command,
    Option,
)

EMBED = Command(
    "embed",
    work="embed:embed",
    first=("output", "dim", "weights", "quality"),
    short_help="Vectors for every node of a graph.",
    help="""Vectors for every node of GRAPH, with the node names kept.

    GRAPH is a file: an edge list (txt, csv, tsv ...), parquet, arrow, mat, mtx, npz, METIS, GraphML, GEXF, GML, Pajek,
    JSON, JSON Lines or an adjacency list, also compressed (gz, zst, bz2, xz); a database of SQLite or DuckDB; a folder
    of OGB; or '-', standard input.
    """,
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help=f"File or folder for the vectors. The suffix names the format: {SUFFIXES}."),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not name it."),
        Option(["--features"], metavar="FILE",
               help="Further knowledge of the nodes beside the edges: a table with a node's name and its numbers in "
                    "each line (.csv, .tsv, .parquet ...), or .npy or SciPy's .npz with row i for node i."),
        Option(["--align-to"], metavar="OLD",
               help="Rotate the vectors onto those of OLD, an embedding of some of the same nodes, and print the "
                    "drift. --dim is that of OLD if not given."),
        METHOD, JSON, SET, CONFIG, *RUNNING, *REFINING, *READING,
    ],
)  # fmt: skip
