"""Matrix Market files, by SciPy."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, cast

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.limits import check_stated, check_unpacked, wrap_errors
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

_LINE = re.compile(r"Line (\d+): (.*)", re.DOTALL)  # in errors of SciPy


def load(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a Matrix Market file."""
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    data = source.data
    source.release()
    with wrap_errors(source, "Matrix Market file"):
        try:
            rows, columns, entries, layout, field, _ = mminfo(cast("Any", BytesIO(data)))
            if field == "complex":
                raise source.error("an adjacency matrix must hold real numbers, not complex ones")
            check_stated(rows + columns, len(data), "rows and columns")
            # An entry takes four bytes at the least ("1 2\n"), and a value of an array two.
            check_stated(entries, len(data), "entries")
            check_unpacked(source.name, 16 * entries, "the matrix")
            matrix: Any = mmread(cast("Any", BytesIO(data)))
        except ValueError as error:
            if located := _LINE.fullmatch(str(error)):
                problem = f"this is not a readable Matrix Market file: {located[2]}"
                raise source.error(problem, line=int(located[1])) from None
            raise
    return MatrixTable(coo_array(matrix) if layout == "coordinate" else matrix)
