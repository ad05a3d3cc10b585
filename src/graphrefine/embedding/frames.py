"""Frames: an embedding as tables of pandas, polars and Arrow, which share its memory where they can.

Of pandas the names are the index and each axis is a column, ``v0``, ``v1`` and on, as in csv files. Of polars and Arrow
the columns are those of our parquet files: ``node``, ``vector`` (a list of fixed size), and ``degree`` where it is
known. An Arrow table has recipe and state in its schema, so that pyarrow writes the whole embedding as parquet.
"""

from __future__ import annotations

from typing import Any

from graphrefine.embedding.formats import names_as_text
from graphrefine.embedding.table import Parts, VectorTable
from graphrefine.errors import MissingExtraError


class Frames:
    """The frames of one table of vectors."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table

    def pandas(self) -> Any:
        """A DataFrame, one column for each axis."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise MissingExtraError("to_pandas()", "pandas") from None
        table = self._table
        index = pd.Index(table.names, name="node", tupleize_cols=False)
        return pd.DataFrame(table.vectors, index=index, columns=[f"v{axis}" for axis in range(table.dim)], copy=False)

    def polars(self) -> Any:
        """A DataFrame with the columns of the Arrow table."""
        try:
            import polars as pl
        except ModuleNotFoundError:
            raise MissingExtraError("to_polars()", "polars") from None
        return pl.DataFrame(self.arrow(stacklevel=5))

    def arrow(self, *, stacklevel: int = 4) -> Any:
        """A table with the columns and the schema of our parquet files."""
        try:
            import pyarrow  # noqa: F401  of the module below, which does not say whose need it is
        except ModuleNotFoundError:
            raise MissingExtraError("to_arrow()", "pyarrow", "io") from None
        from graphrefine.embedding.formats.arrow_files import arrow_table

        table = self._table
        parts = Parts(table.names, table.vectors, table.recipe, state=table.state)
        return arrow_table(names_as_text(parts, "an Arrow table", stacklevel=stacklevel))

    def arrow_stream(self, requested_schema: Any = None) -> Any:
        """The Arrow table by the PyCapsule interface."""
        return self.arrow(stacklevel=5).__arrow_c_stream__(requested_schema)
