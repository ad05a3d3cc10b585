"""Kernels that read graphs give the arrays of their oracles, bit for bit, for any number of threads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrefine.kernels import edge_lists, native
from oracles import edges as edges_oracle
from oracles import text as text_oracle
from strategies import PATIENT

INTEGER_LIKE = ["0", "7", "-3", "-0", "007", "+7", "1.0", "2147483647", "2147483648", "-2147483648", "--1", "1_0"]
LARGE = ["-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808"]
WORDS = ["a", "é", " a b ", '"q"', '"a""b"', '"open', 'mid"dle', "", " ", "#x", "e5", ".", "#", "% y", '"7"']
QUOTED = ['" b "', '"a,b;c\td e"', '"two\nlines"', '"two\r\nlines" ', ' "late"', '"a"b', '""', '"""x"', "a\rb", "'q'"]
DATES = ["2024-01-31", "1969/12/31", "2023-02-29", "2000-02-29T23:59:59.25Z", "2024-01-31 12:30+01:30",
         "2024-01-31T12:30-0500", "1e9", "2024-1-1", "0000-01-01", "2024-01-31T24:00", "-5.5"]  # fmt: skip
WEIGHTS = ["0.5", "1e-3", ".5", "5.", "1e400", "1e-400", "-1", "nan", "inf", "-inf", "0x1", "+2.5", "1e", "3.4e38"]
FINE = ["3.5e38", "1e-46", "0.1234567890123456789"]
FIELDS = st.sampled_from([*INTEGER_LIKE, *LARGE, *WORDS, *WEIGHTS, *FINE, *QUOTED, *DATES])
LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n# note\n", "\n  % note\n", '\n#,"note\n', "\r\r\n"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[bytes, str]:
    delimiter = draw(st.sampled_from(["\t", ",", ";", " "]))
    simple = draw(st.booleans())
    field = st.integers(-5, 40).map(str) if simple else FIELDS
    glue = st.sampled_from([" ", "  ", "\t", " \t "]) if delimiter == " " else st.just(delimiter)
    out = ""
    for _ in range(draw(st.integers(0, 12))):
        fields = draw(st.lists(field, min_size=2 if simple else 1, max_size=3 if simple else 4))
        out += draw(glue).join(fields) + draw(LINE_ENDS)
    return out.removesuffix("\n" * draw(st.integers(0, 1))).encode(), delimiter


def assert_same(first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
    for one, other in zip(first, second, strict=True):
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        else:
            assert one == other


MARKS = st.sampled_from(
    [('"', "", ""), ('"', "#%", ""), ('"', "", "#%"), ("", "", "#%"), ("", "#%", ""), ("'", "", "#"), ('"', "#", "%")]
)


def parse_both(
    name: str, text: bytes, columns: edge_lists.Columns, marks: tuple[str, ...], **options: bool
) -> tuple[Any, ...]:
    """Parse a text by a kernel, and hold what it returns to the oracle."""
    arguments: Any = (np.frombuffer(text, dtype=np.uint8), columns, marks)
    result, expected = (getattr(module, name)(*arguments, **options, threads=1) for module in (native, text_oracle))
    if expected[0]:  # what was parsed before an error is of no use, and the oracle does not keep it
        assert result[:2] == expected[:2]
    else:
        assert_same(result, expected)
    return tuple(result)


@PATIENT
@given(texts(), st.booleans(), st.sampled_from([-1, 2]), st.integers(1, 3), MARKS)
def test_integer_parsers_agree(
    text: tuple[bytes, str], wide: bool, weight: int, most: int, marks: tuple[str, str, str]
) -> None:
    columns = (0, 1, weight, -1, max(most, 3 if weight == 2 else 2))
    parse_both("parse_integers", text[0], columns, (text[1], *marks), dates=False, wide=wide)


@PATIENT
@given(texts(), st.sampled_from([(0, 1, -1, -1, 4), (1, 0, 2, -1, 4), (2, 0, 1, -1, 3), (0, 1, -1, 2, 3)]), MARKS,
       st.booleans())  # fmt: skip
def test_string_parsers_agree(
    text: tuple[bytes, str], columns: edge_lists.Columns, marks: tuple[str, str, str], dates: bool
) -> None:
    parse_both("parse_strings", text[0], columns, (text[1], *marks), dates=dates)


@PATIENT
@given(st.sampled_from(DATES) | st.datetimes().map(str) | st.datetimes(timezones=st.timezones()).map(str))
def test_dates_agree_with_the_oracle_and_with_python(text: str) -> None:
    record = f"0,1,{text}".encode()
    result = parse_both("parse_integers", record, (0, 1, -1, 2, 3), (",", "", "", ""), dates=True, wide=False)
    if result[0] == edge_lists.Status.OK:
        moment = datetime.fromisoformat(text.replace("/", "-").replace("Z", "+00:00"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        assert result[5][0] == pytest.approx((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds(), abs=1e-5)


NOTES = ['"one\n2,3\n4,5"', '""', "plain", '"he said ""4,4""\n\n"', '5" pipe', '"#,\n#,"']


@pytest.mark.parametrize("comments", ["#", ""])
@pytest.mark.parametrize("quoted", [False, True])
def test_threads_cut_the_text_without_a_trace(quoted: bool, comments: str) -> None:
    """Neither within a quoted field, nor between a comment and its line; each of the threads has many lines."""
    pairs = np.random.default_rng(5).integers(0, 3000, (30_000, 2))
    if quoted:
        lines = [f"{u},{v},{NOTES[i % 6]}" for i, (u, v) in enumerate(pairs.tolist())]
    else:
        comment = "# a, b\n\n" if comments else "\n"
        lines = [f"{u} {v}" if i % 97 else f"{comment}{u}\t{v}\r" for i, (u, v) in enumerate(pairs.tolist())]
    data = np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)
    arguments: Any = (data, (0, 1, -1, -1, 3), ("," if quoted else " ", '"', comments, ""))
    for threads in (1, 2, 3, 5, 8):
        parsed = edge_lists.parse_integers(*arguments, dates=False, wide=False, threads=threads)
        assert parsed.status == edge_lists.Status.OK
        np.testing.assert_array_equal(np.stack([parsed.source, parsed.target], axis=1), pairs)
        assert parsed.comments == (0 if quoted or not comments else -(-len(pairs) // 97))
        named = edge_lists.Parsed(*native.parse_strings(*arguments, dates=False, threads=threads))
        names = named.names.split(b"\n")
        np.testing.assert_array_equal(np.array([int(name) for name in names])[named.source], pairs[:, 0])
        assert names == sorted(names)


@PATIENT
@given(texts(), MARKS)
@example((b'"a"b\t"open\n', "\t"), ('"', "", ""))  # text after a quote, and then a quote that is not closed
def test_whole_records_end_where_the_oracle_says(text: tuple[bytes, str], marks: tuple[str, str, str]) -> None:
    data = np.frombuffer(text[0], dtype=np.uint8)
    everything = (text[1], *marks)
    at = native.whole_records(data, everything)
    assert at == text_oracle.whole_records(data, everything)
    assert at == 0 or text[0][at - 1 : at] == b"\n"


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_line_of_an_error_is_the_first_for_any_number_of_threads(threads: int) -> None:
    lines = [f"{i} {i + 1} {-1 if i in (3, 21_000, 39_999) else 1}" for i in range(40_000)]
    data = np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)
    arguments: Any = (data, (0, 1, 2, -1, 3), (" ", '"', "#", ""))
    bad_weight = (edge_lists.Status.BAD_WEIGHT, 4)
    assert native.parse_integers(*arguments, dates=False, wide=False, threads=threads)[:2] == bad_weight
    assert native.parse_strings(*arguments, dates=False, threads=threads)[:2] == bad_weight


IDS = st.integers(0, 20) | st.integers(-(2**63), 2**63 - 1)


@PATIENT
@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=40), st.integers(1, 3))
def test_numberings_agree(pairs: list[tuple[int, int]], threads: int) -> None:
    source, target = np.array(pairs, dtype=np.int64).T.copy()
    expected = edges_oracle.number_ids(source, target, threads=1)
    assert_same(native.number_ids(source, target, threads=threads), expected)
    np.testing.assert_array_equal(expected[2][expected[0]], source)


@st.composite
def numbered_edges(draw: st.DrawFn) -> tuple[int, Any, Any, Any]:
    nodes = draw(st.integers(1, 8))
    node = st.integers(-1, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=60))
    source, target = np.array(pairs, dtype=np.int32).reshape(-1, 2).T.copy()
    values = st.floats(0, 100, width=32) | st.just(1.0)
    weights = draw(st.none() | st.lists(values, min_size=len(pairs), max_size=len(pairs)))
    return nodes, source, target, None if weights is None else np.array(weights, dtype=np.float32)


@PATIENT
@given(numbered_edges(), st.booleans())
def test_rows_agree(edges: tuple[int, Any, Any, Any], directed: bool) -> None:
    nodes, source, target, weights = edges
    arguments: Any = (nodes, source, target)
    expected = edges_oracle.build_rows(*arguments, weights=weights, directed=directed, threads=1)
    assert_same(native.build_rows(*arguments, weights=weights, directed=directed, threads=1), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_rows_do_not_depend_on_threads_or_on_the_order_of_the_edges(weighted: bool, directed: bool) -> None:
    rng = np.random.default_rng(2)
    source, target = (rng.integers(0, 500, 150_000, dtype=np.int32) for _ in range(2))
    weights = rng.random(150_000, dtype=np.float32) if weighted else None
    expected = edges_oracle.build_rows(500, source, target, weights=weights, directed=directed, threads=1)
    for threads in (1, 2, 3, 8):
        order = rng.permutation(len(source))
        shuffled = None if weights is None else weights[order]
        ends = source[order], target[order]
        assert_same(native.build_rows(500, *ends, weights=shuffled, directed=directed, threads=threads), expected)


@PATIENT
@given(numbered_edges(), st.booleans(), st.integers(0, 3))
def test_inspections_agree(edges: tuple[int, Any, Any, Any], directed: bool, damage: int) -> None:
    nodes, source, target, weights = edges
    options: dict[str, Any] = {"weights": weights, "directed": directed, "threads": 1}
    indptr, indices, values, _ = edges_oracle.build_rows(nodes, source, target, **options)
    if damage and len(indices):
        indices = indices.copy()
        indices[damage % len(indices)] = (indices[damage % len(indices)] + damage - 1) % (nodes + 1)
    found = native.inspect_rows(indptr, indices, values)
    assert found == edges_oracle.inspect_rows(indptr, indices, values)
    if not damage:
        assert found & 3 == 3
        assert directed or found == 7


@PATIENT
@given(st.lists(st.text(max_size=20) | st.sampled_from(["a", "b", "ab", ""]), max_size=30), st.integers(0, 3))
def test_strings_are_numbered_as_by_the_oracle(strings: list[str], before: int) -> None:
    texts = [string.encode() for string in ["x" * before, *strings]]
    offsets = np.cumsum([0, *map(len, texts)])[1:]
    data = np.frombuffer(b"".join(texts), np.uint8)
    numbers, firsts = native.number_strings(data, offsets)
    assert_same((numbers, firsts.view(np.int64)), text_oracle.number_strings(data, offsets))
    names = sorted(set(texts[1:]))
    assert [names[each] for each in numbers] == texts[1:]
    assert [texts[1:].index(name) for name in names] == firsts.tolist()
