"""Text tables read by `graphrefine.read` and by two other readers: the same edges, or a refusal.

Every option is given, so that nothing is left to be found out; what is, is compared in `test_read_sniffing`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from text_oracles import ORACLES, Columns, truth

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import object_array
from graphrefine.readers.read import read
from text_tables import BLANKS, Row, TextTable, draw_table, is_integer

AGREE = "agree"
TRIMMED = "agree, and tell of blanks"
EMPTY = "refuse a table without an edge"
DOCUMENTED = "refuse what the documentation says"
ALONE = "read it as it was written, oracles disagree"
AGAINST = "read it as it was written, both oracles do not"
REFUSED = "refuse, oracles agree"
UNSURE = "refuse, oracles disagree"
DIFFER = "DIFFER SILENTLY"
MISCOUNT = "DIFFER IN THE REPORT"
COUNTS = ("missing", "self_loops", "duplicates", "reciprocal", "zero_weights")


class Outcome(NamedTuple):
    """The class of a comparison, and what there is to say about it."""

    name: str
    detail: str = ""


def compare(table: TextTable, path: Path, second: str) -> Outcome:
    """Read a table by ours, by pandas and by another reader."""
    path.write_bytes(table.encode())
    written = _clean(table, truth(table))
    expected = None if table.refusable else build(written)
    ours: Graph | str
    try:
        ours = read(path, threads=1, **table.options)
    except InputError as error:
        ours = str(error)
    if isinstance(ours, str) and (expected is None or not expected.edges):
        return Outcome(DOCUMENTED if expected is None else EMPTY)
    votes = [_ask(name, table, path) for name in ("pandas", second)]
    agreed = votes[0] is not None and votes[0] == votes[1]
    if isinstance(ours, str):
        return Outcome(REFUSED if agreed else UNSURE, ours)
    if expected is None or not same(ours, expected):
        return Outcome(DIFFER, f"{ours.names.tolist()}, {ours.report}")
    problem = _check_report(table, ours, expected)
    if problem:
        return Outcome(MISCOUNT, problem)
    if agreed and votes[0] == written:
        return Outcome(TRIMMED if table.trimmed else AGREE)
    return Outcome(AGAINST if agreed else ALONE)


def _ask(name: str, table: TextTable, path: Path) -> Columns | None:
    """The columns that a reader finds; None if it refuses the text, in whatever way."""
    try:
        return _clean(table, ORACLES[name](table, path))
    except Exception:
        return None


def _clean(table: TextTable, columns: Columns) -> Columns:
    """Columns without what is told: blanks around unquoted names, and ends that are only blanks."""
    source, target, weights = columns
    if table.padded:
        source, target = ([name.strip(BLANKS) for name in side] for side in (source, target))
    source, target = (["" if not name.strip(BLANKS) else name for name in side] for side in (source, target))
    return source, target, [weight.strip(BLANKS) for weight in weights]


def build(columns: Columns) -> Graph:
    """The graph of columns of strings, by the documented rules; an empty string names no node."""
    source, target, spelled = columns
    weights = [float(weight) for weight in spelled] if spelled else None
    return Graph.from_edges(*_as_ids(source, target), weights=weights, threads=1)


def _as_ids(source: list[str], target: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ids: integers if every one is written as an integer is, else strings; None for no node."""
    integers = all(is_integer(name) for side in (source, target) for name in side if name)
    as_id = int if integers else str
    first, second = (object_array([as_id(name) if name else None for name in side]) for side in (source, target))
    return first, second


def same(one: Graph, other: Graph) -> bool:
    """Whether two graphs have the same names, edges and weights."""
    if one.names.dtype != other.names.dtype or one.names.tolist() != other.names.tolist():
        return False
    if not np.array_equal(one.indptr, other.indptr) or not np.array_equal(one.indices, other.indices):
        return False
    if one.weights is None or other.weights is None:
        return one.weights is other.weights
    return np.array_equal(one.weights, other.weights)


def _check_report(table: TextTable, ours: Graph, expected: Graph) -> str:
    """What is wrong in the counts of a reading; empty if all is well."""
    if any(not "".join(row).strip(BLANKS) for row in table.rows):
        return ""  # such a record may be a blank line, which is none
    for name in COUNTS:
        if ours.report[name] != expected.report[name]:
            return f"{name}: {ours.report[name]}, where there are {expected.report[name]}"
    trimmed = ours.report.get("trimmed", 0)
    if ours.names.dtype == object and trimmed != table.trimmed:
        return f"trimmed: {trimmed}, where there are {table.trimmed}"
    return ""


def compare_many(seeds: range, folder: Path) -> Counter[str]:
    """Count the outcomes of many tables, print them with the rate, and show the first of each that needs a look."""
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    start = perf_counter()
    for seed in seeds:
        table = draw_table(Random(seed))
        outcome = compare(table, folder / "edges", _second(table, seed))
        counts[outcome.name] += 1
        if outcome.detail and shown[outcome.name] < 5:
            shown[outcome.name] += 1
            print(f"{outcome.name}: seed {seed}, {table.options}\n  {table.text!r:.600}\n  {outcome.detail:.300}")
    print(f"{len(seeds):,} tables, {len(seeds) / (perf_counter() - start):,.0f} a second")
    for name, count in counts.most_common():
        print(f"{count:9,}  {name}")
    return counts


def _second(table: TextTable, seed: int) -> str:
    """The reader beside pandas; runs of blanks are known to the csv module only."""
    if table.delimiter == " ":
        return "csv"
    return "polars" if seed % 2 else "DuckDB"


def check_counts(counts: Counter[str]) -> None:
    assert counts[DIFFER] == counts[MISCOUNT] == 0
    agreed = sum(counts[name] for name in (AGREE, TRIMMED, AGAINST, REFUSED))
    assert counts[REFUSED] <= agreed / 100
    assert agreed > counts.total() * 0.75  # the comparison would say little otherwise
    assert min(counts[name] for name in (AGREE, TRIMMED, DOCUMENTED, EMPTY)) > 0


def test_some_tables_are_read_as_others_read_them(tmp_path: Path) -> None:
    check_counts(compare_many(range(400), tmp_path))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_tables_are_read_as_others_read_them(tmp_path: Path) -> None:
    check_counts(compare_many(range(1_000, 101_000), tmp_path))


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(st.randoms(use_true_random=False))
def test_the_smallest_table_that_is_misread(tmp_path_factory: pytest.TempPathFactory, random: Random) -> None:
    table = draw_table(random, most=4)
    outcome = compare(table, tmp_path_factory.getbasetemp() / "edges", "csv")
    assert outcome.name not in (DIFFER, MISCOUNT), (table, outcome.detail)


def test_the_comparison_sees_differences(tmp_path: Path) -> None:
    """A table that says other things than its text must be found out."""
    plain = TextTable(
        text="a,b,1\nb,c,2\n",
        bare="a,b,1\nb,c,2\n",
        rows=[("a", "b", "1"), ("b", "c", "2")],
        header=None,
        delimiter=",",
        quote='"',
        comments="",
        columns=(0, 1, 2),
    )
    assert compare(plain, tmp_path / "edges", "polars").name == AGREE
    lies: list[list[Row]] = [
        [("a", "b", "1"), ("b", "c", "3")],
        [("a", "b", "1"), ("b", "d", "2")],
        [("a", "b", "1")],
    ]
    for lie in lies:
        assert compare(replace(plain, rows=lie), tmp_path / "edges", "polars").name == DIFFER
