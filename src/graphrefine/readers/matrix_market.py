"""Matrix Market files, by SciPy."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, cast

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.limits import check_stated, check_unpacked
from graphrefine.tables.source import Source, wrap_errors

_LINE = re.compile(r"Line (\d+): (.*)", re.DOTALL)  # in errors of SciPy


def load(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a Matrix Market file."""
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    # SciPy's parser writes and reads beyond its memory where a file has no line end, where it has zero bytes, and where
    # an array has no rows or is symmetric and not square.
    data = source.data + b"\n"
    source.release()
    with wrap_errors(source, "Matrix Market file"):
        if b"\0" in data:
            raise ValueError("it has zero bytes, which no text has")
        try:
            rows, columns, entries, layout, field, symmetry = mminfo(cast("Any", BytesIO(data)))
            if field == "complex":
                raise source.error("an adjacency matrix must hold real numbers, not complex ones")
            check_stated(rows + columns, len(data), "rows and columns")
            if min(rows, columns) < 1 or (symmetry != "general" and rows != columns):
                raise ValueError(f"a {symmetry} matrix has no {rows} rows and {columns} columns")
            # An entry takes four bytes at the least ("1 2\n"), and a value of an array two.
            check_stated(entries, len(data), "entries")
            check_unpacked(source.name, 16 * entries, "the matrix")
            matrix: Any = mmread(cast("Any", BytesIO(data)))
        except (ValueError, OverflowError) as error:
            if located := _LINE.fullmatch(str(error)):
                problem = f"this is not a readable Matrix Market file: {located[2]}"
                raise source.error(problem, line=int(located[1])) from None
            raise
    return MatrixTable(coo_array(matrix) if layout == "coordinate" else matrix)
