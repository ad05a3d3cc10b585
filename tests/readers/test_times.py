"""Times of edges: which count, and how much; the same in memory, from a table and on disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import describe
from graphrefine.errors import FormatError, InputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.readers.read import read
from graphrefine.tables.kinds import read_days
from strategies import PATIENT

DAYS = ["2024-01-01", "2024-01-31", "2024-03-01T12:00", "2024-03-02 00:00:00.5Z", "2024-03-02T01:30:00+01:30"]
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]


def seconds(text: str) -> float:
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def written(folder: Path, times: list[Any], *, name: str = "edges.csv") -> Path:
    path = folder / name
    rows = [f"{u},{v},{time}" for (u, v), time in zip(EDGES, times, strict=True)]
    path.write_text("\n".join(["source,target,when", *rows, ""]))
    return path


UNITS = {"dates": None, "seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}


@pytest.mark.parametrize("unit", UNITS)
def test_edges_within_the_times_count_and_halve(tmp_path: Path, unit: str) -> None:
    factor = UNITS[unit]
    times = DAYS if factor is None else [round(seconds(day) * factor) for day in DAYS]
    graph = read(written(tmp_path, times), time="when", since="2024-01-15", until="2024-03-02", half_life="30d")
    now = seconds("2024-03-02")
    expected = {
        pair: 2 ** ((seconds(day) - now) / (30 * 86400)) for pair, day in zip(EDGES[1:3], DAYS[1:3], strict=True)
    }
    assert describe(graph).edges == pytest.approx(expected, rel=1e-5)
    assert graph.names.tolist() == ["b", "c", "d"]  # nodes of other edges alone are none
    assert "times 'when' from 2024-01-31 to 2024-03-01 12:00, 3 other records left out, weights halve" in graph.reading


@pytest.mark.parametrize(
    ("moment", "edges"),
    [
        ("2024-03-01", 3),
        (date(2024, 3, 1), 3),
        (datetime(2024, 3, 1, 12), 3),
        (datetime(2024, 3, 1, 13, 30, tzinfo=timezone(timedelta(hours=1))), 2),
        (seconds("2024-03-01T12:00") + 1, 2),
        ("2024/03/02", 2),
    ],
)
def test_moments_in_every_form(tmp_path: Path, moment: Any, edges: int) -> None:
    assert read(written(tmp_path, DAYS), time="when", since=moment).edges == edges


@PATIENT
@given(
    st.lists(st.integers(1_000_000_000, 1_000_100_000), min_size=5, max_size=5),
    st.none() | st.integers(1_000_000_000, 1_000_100_000),
    st.none() | st.integers(1_000_000_000, 1_000_100_000),
    st.sampled_from([None, "1h", "2 days", 5000.0]),
)
def test_text_tables_and_graphs_on_disk_agree(
    tmp_path: Path, times: list[int], since: int | None, until: int | None, half_life: Any
) -> None:
    options: dict[str, Any] = {"time": "when", "since": since, "until": until, "half_life": half_life}
    path = written(tmp_path, times)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "edges.parquet")
    frame.to_json(tmp_path / "edges.jsonl", orient="records", lines=True)
    with closing(sqlite3.connect(tmp_path / "edges.sqlite")) as database:
        frame.to_sql("edges", database, index=False, if_exists="replace")
    others = [frame, *(tmp_path / f"edges.{suffix}" for suffix in ("parquet", "jsonl", "sqlite"))]
    try:
        expected = read(path, **options)
    except InputError as error:
        for other in others:
            with pytest.raises(InputError) as caught:
                read(other, **options)
            assert caught.value.argument == error.argument
        return
    graphs = [read(other, **options) for other in others]
    if half_life is None or until is not None:
        graphs += [ingest(source, tmp_path / "g.grf", **options) for source in (path, tmp_path / "edges.parquet")]
    for graph in graphs:
        assert graph.names.tolist() == expected.names.tolist()
        np.testing.assert_array_equal(graph.indices, expected.indices)
        np.testing.assert_array_equal(graph.to_scipy().data, expected.to_scipy().data)


NUMBERS = [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("times", "options", "argument", "problem"),
    [
        (DAYS, {"time": None, "since": "2024-01-01"}, "since", "needs the column of the times"),
        (DAYS, {"time": None, "half_life": "30d"}, "half_life", "needs the column of the times"),
        (DAYS, {"time": "wann"}, "time", "there is no column 'wann'"),
        (DAYS, {"since": "yesterday"}, "since", "no date such as 2024-01-31"),
        (DAYS, {"since": "2024-02-01", "until": "2024-01-01"}, "since", "is not before"),
        (DAYS, {"half_life": "soon"}, "half_life", "is not a time such as 30d"),
        (DAYS, {"half_life": -3}, "half_life", "is not a time such as 30d"),
        (DAYS, {"since": "2030-01-01"}, "since", "no edge lies within the times; they go from 2024-01-01 to"),
        (DAYS, {"weights": "when"}, "weights", "that is an end of the edges, or their time"),
        (NUMBERS, {"since": "2024-01-01"}, "since", "is a date, and the times are mere numbers"),
        (NUMBERS, {"half_life": "30d"}, "half_life", "has a unit, and the times are mere numbers"),
        ([*DAYS[:2], "2024-02-30", *DAYS[3:]], {}, "time", "line 4: time '2024-02-30' is not a date such as"),
        ([1, "", 3, 4, 5], {}, "time", "line 3: time '' is not a number"),
    ],
)
def test_times_that_make_no_sense_are_refused(
    tmp_path: Path, times: list[Any], options: dict[str, Any], argument: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read(written(tmp_path, times), **{"time": "when", **options})
    assert caught.value.argument == argument


def test_days_written_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("1 2 20190101\n2 3 20200101\n3 4 20200102\n")
    with pytest.raises(FormatError, match=r"column 2 holds dates.*time=2.*weights=2.*weights=False"):
        read(path)
    assert read(path, weights=2).weights is not None
    assert read(path, weights=False).weights is None
    graph = read(path, time=2, half_life="1d", until="2020-01-03")
    assert graph.to_scipy()[[2, 1], [3, 2]].tolist() == pytest.approx([0.5, 0.25])
    ingested = ingest(path, tmp_path / "graph.grf", time=2, half_life="1d", until="2020-01-03")
    assert ingested.to_scipy().toarray().tolist() == graph.to_scipy().toarray().tolist()
    with pytest.raises(InputError, match="looks like a time"):
        read([(1, 2, 20190101), (2, 3, 20200101)])
    path.write_text("source,target,weight\na,b,2024-01-01\nb,c,2024-01-02\n")
    with pytest.raises(FormatError, match=r"time='weight'.* or weights=False"):
        read(path)


@pytest.mark.parametrize(
    "times", [["2019-01-01", "2020-01-01"], ["20190101", "20200101"], ["1546300800", "1577836800"]]
)
@pytest.mark.parametrize("since", ["20190601", 20190601, "2019-06-01"])
def test_a_day_in_numbers_is_a_bound(tmp_path: Path, times: list[str], since: Any) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target,when\na,b,{times[0]}\nb,c,{times[1]}\n")
    assert read(path, time="when", since=since).names.tolist() == ["b", "c"]


@given(st.lists(st.dates(date(1900, 1, 1), date(2100, 12, 31)), min_size=1))
def test_days_in_numbers_are_those_of_the_calendar(days: list[date]) -> None:
    stamps = [datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() for day in days]
    seconds = read_days([float(f"{day:%Y%m%d}".zfill(8)) for day in days])
    assert seconds is not None
    assert seconds.tolist() == stamps
