"""Tables of pyarrow, written to and read from parquet and Arrow files by their suffix, as other programs do."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_table(table: Any, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def read_table(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    return parquet.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path.read_bytes()).read_all()


def change_metadata(path: Path, key: str, text: str) -> None:
    """Set one text of the schema's metadata, which must be there."""
    table = read_table(path)
    assert key.encode() in table.schema.metadata
    write_table(table.replace_schema_metadata({**table.schema.metadata, key.encode(): text.encode()}), path)
