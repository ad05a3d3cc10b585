"""Vocabulary of tables: every usual name of a column, and every usual text for no value, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WEIGHTS = ("weight", "weights", "w")
"""Columns, in lower case, that hold weights without an option that says so."""

ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
"""Pairs of columns that are the ends of edges and nothing else, also in a table with a column of nodes."""

PAIRS = (
    *ENDS,
    ("start", "end"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
    ("parent", "child"),
    ("subject", "object"),
    ("user", "item"),
    ("sender", "receiver"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("caller", "callee"),
    ("dependent", "dependency"),
)
"""Usual names of the two columns of an edge list, as `fold_name` spells them: which of several columns they are."""

THINGS = {
    name: kind
    for kind, names in {
        "person": "user customer person people member author coauthor friend actor player follower followee reader "
        "reviewer student employee patient viewer listener buyer seller",
        "item": "item product article sku asin",
        "film": "movie film show series video",
        "text": "paper book document doc publication",
        "music": "artist song track album band",
        "tag": "tag keyword topic category genre",
        "group": "group team company organization organisation club venue",
        "event": "event session meeting",
        "page": "page url site website",
        "gene": "gene protein",
        "disease": "disease symptom",
        "drug": "drug compound",
        "city": "city town",
        "country": "country",
        "word": "word term",
    }.items()
    for name in names.split()
}
"""Nouns for what nodes are, by kind: two columns with nouns of two kinds hold two sets of nodes."""

NODES = frozenset({"node", "nodes", "node_id", "nodeid", "id", "name", "vertex"})
"""Columns, in lower case, that hold the nodes of a table with a node in each row."""

LABELS = frozenset({"label", "labels", "class", "classes", "group", "groups", "category", "target"})
"""Columns, in lower case, that hold the labels of nodes."""

ROW_NUMBERS = frozenset({"", "id", "index", "row", "rownumber", "no", "nr", "key", "unnamed: 0", "edgeid", "edge_id"})
"""Columns, in lower case, that number the rows of an edge list, if their values are all different."""

COUNTS = frozenset({"", "unnamed: 0"})
"""Columns, in lower case, in which pandas writes and reads an index that has no name."""

TIMES = frozenset({"time", "times", "timestamp", "date", "datetime", "t", "ts", "createdat", "created", "year", "when"})
"""Columns of times, as `fold_name` spells them."""

CHANGES = ("op", "source", "target", "weight")
"""Columns of a stream of changes."""

EMPTY_WORDS = ("", "#N/A", "#REF!", "#VALUE!", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "\\N", "nan", "null")
"""Texts that programs write for no value."""

NO_VALUES = frozenset({"", "nan", "NaN", "<NA>"})
"""Texts that are no value in a column of labels, as pandas writes one that is missing; the others may be meant."""


def fold_name(name: str) -> str:
    """Return a column name in lower case, without "_", "-", blanks and a last "id"."""
    letters = name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    return letters.removesuffix("id") if letters.endswith("id") and len(letters) > 2 else letters


HEADERS = frozenset(
    {fold_name(name) for pair in PAIRS for name in pair}
    | {"node", "vertex", "name", "id", "key", "person", "friend", "author", "coauthor", "package", "dependson", "word"}
    | {"label", "type", "title", "country", "city", "page", "link", "url", "product", "customer", "movie", "company"}
)
"""Usual names of columns: they decide on a header only where nothing else does."""


def find_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of the first usual pair of names."""
    folded = [fold_name(name) for name in names]
    for first, second in PAIRS:
        if fold_name(first) in folded and fold_name(second) in folded:
            return folded.index(fold_name(first)), folded.index(fold_name(second))
    return None


def name_two_kinds(labels: Sequence[Any]) -> bool:
    """Return whether two columns are called as two kinds of things; one without a name is labeled by its position."""
    kinds = [THINGS.get(fold_name(label).removesuffix("s")) for label in labels if isinstance(label, str)]
    return len(kinds) == 2 and None not in kinds and kinds[0] != kinds[1]


def are_counted(names: Sequence[str]) -> bool:
    """Return whether names are those of pandas without names of columns: none for its index, then 0, 1, 2, ..."""
    return len(names) > 2 and list(names) == ["", *map(str, range(len(names) - 1))]
