"""Parquet and Arrow files: a column ``node`` and a column ``vector``, a fixed-size list of float32.

Pieces of the state with a number for each node are further columns (float32), such as ``degree``. The recipe is in the
schema's metadata under ``graphrefine``, the rest of the state under ``graphrefine.NAME``. Files made elsewhere are read
where it is clear which column is which.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.decimals import plain_array
from graphrefine.embedding.formats.io import check_memory, join_data, metadata_texts
from graphrefine.embedding.state import COLUMNS, EmbeddingData, names_of
from graphrefine.errors import ArgumentWarning, FormatError, InputError
from graphrefine.graph.node_ids import Names, pack
from graphrefine.readers.arrow import gather_batches, iterate_batches, parquet_batches, sound

_NAMES = ("node", "name", "id")  # of columns that are meant to name the nodes
_KEY = b"graphrefine"
_METADATA = ("version", "fingerprint", *names_of("array", "number"))  # under graphrefine.NAME
_PARQUET_VALUES = 1 << 23  # numbers in a row group: 32 MB
_CHUNK_VALUES = 1 << 17  # numbers that are laid out at a time: 0.5 MB, and as much of levels
_WRITER_ROWS = 1024  # in a step of pyarrow's writer, which ends pages between steps only
_ARROW_VALUES = 1 << 30
_FOOTER_BYTES = (1 << 31) - 1  # at most in one text of the schema; pyarrow's own limit is below a fold map of 1,600
_ROWS_READ = 8192  # at a time: three times as fast as whole row groups


def check(names: Names) -> None:
    """Refuse names that are not Unicode: Arrow's strings must be."""
    try:
        for name in names:
            name.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name {error.object!r} was not valid UTF-8 in its file, which Arrow cannot keep; save as .npz, .csv "
            "or a folder instead"
        ) from error


def write_parquet(path: Path, data: EmbeddingData) -> None:
    """Write names, vectors and recipe."""
    from pyarrow import parquet

    # Bytes of equal significance next to each other, and the fastest zstd: random float32 shrink by a sixth. The usual
    # dictionary only costs time, as hardly two numbers are equal.
    schema = _schema(data)
    with parquet.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
        use_byte_stream_split=["vector.list.element"],
        write_statistics=["node"],
    ) as writer:
        for batch in _batches(data, schema, _PARQUET_VALUES):
            writer.write_table(_chunked(batch), row_group_size=max(len(batch), 1))


def write_arrow(path: Path, data: EmbeddingData) -> None:
    """Write names, vectors and recipe."""
    from pyarrow import ipc

    # One batch, not compressed, so that loading maps it.
    schema = _schema(data)
    with ipc.new_file(str(path), schema) as writer:
        for batch in _batches(data, schema, _ARROW_VALUES):
            writer.write_batch(batch)


def arrow_table(data: EmbeddingData) -> Any:
    """Return names, vectors and recipe as a table of Arrow that shares their memory."""
    import pyarrow as pa

    if data.names.dtype == object:
        check(data.names)
    schema = _schema(data)
    return pa.Table.from_batches(_batches(data, schema, _ARROW_VALUES), schema)


def _schema(data: EmbeddingData) -> Any:
    import pyarrow as pa

    node = pa.large_string() if data.names.dtype == object else pa.int64()
    element = pa.field("element", pa.float32(), nullable=False)
    dim = data.vectors.shape[1]
    vector = pa.list_(element, dim) if dim else pa.list_(element)  # pyarrow divides by a fixed size of 0
    types = {"node": node, "vector": vector, **dict.fromkeys(data.state.columns(), pa.float32())}
    fields = [pa.field(name, kind, nullable=False) for name, kind in types.items()]
    metadata = {_KEY + f".{name}".encode(): text for name, text in metadata_texts(data, "array", "number").items()}
    metadata[_KEY] = metadata.pop(_KEY + b".recipe")
    return pa.schema(fields, metadata=metadata)


def _chunked(batch: Any) -> Any:
    """Return the batch as a table of short chunks."""
    # The writer lays out one chunk of a column at a time, which takes as much memory as the chunk. The bytes of the
    # file do not depend on the chunks, as long as these are whole steps of the writer.
    import pyarrow as pa

    dim = _dim(batch.schema.field("vector").type) or 1
    rows = max(_CHUNK_VALUES // dim // _WRITER_ROWS, 1) * _WRITER_ROWS
    return pa.Table.from_batches([batch.slice(start, rows) for start in range(0, len(batch), rows)], batch.schema)


def _batches(data: EmbeddingData, schema: Any, values: int) -> Iterator[Any]:
    """Cut an embedding into record batches that share its memory."""
    import pyarrow as pa

    step = max(1, values // max(data.vectors.shape[1], 1))
    for start in range(0, len(data.vectors), step):
        rows = slice(start, start + step)
        if data.names.dtype == object:
            text, offsets = pack(data.names[rows])
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
            nodes = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
        else:
            nodes = plain_array(data.names[rows].astype(np.int64, copy=False))
        numbers = plain_array(data.vectors[rows].reshape(-1))
        kind = schema.field("vector").type
        if data.vectors.shape[1]:
            vectors = pa.FixedSizeListArray.from_arrays(numbers, type=kind)
        else:
            vectors = pa.array([[]] * len(nodes), type=kind)
        columns = data.state.columns().values()
        further = [plain_array(column[rows].astype(np.float32, copy=False)) for column in columns]
        yield pa.record_batch([nodes, vectors, *further], schema=schema)


def is_embedding(path: Path) -> bool:
    """Return whether a parquet or arrow file has a column of vectors, as no list of edges has."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if path.suffix.lower() == ".parquet":
            schema = parquet.read_schema(path)
        else:
            with pa.memory_map(str(path)) as file:
                schema = pa.ipc.open_file(file).schema
        _columns(path, schema)
    except (pa.ArrowException, FormatError, OSError):
        return False
    return True


def read_parquet(path: Path) -> EmbeddingData:
    """Read names, vectors and recipe, some rows at a time."""
    from pyarrow import parquet

    with parquet.ParquetFile(path, thrift_string_size_limit=_FOOTER_BYTES) as file:
        schema, metadata = file.schema_arrow, _metadata(file.metadata.metadata)  # the property builds a new schema
        used = [column for column in (*_columns(path, schema), *_state_columns(metadata, schema)) if column is not None]
        batches = parquet_batches(file, batch_size=_ROWS_READ, columns=used)
        return _join_batches(path, schema, metadata, batches, rows=file.metadata.num_rows)


def read_arrow(path: Path) -> EmbeddingData:
    """Map names, vectors and recipe if they are in one batch, else read them."""
    import pyarrow as pa

    file = pa.ipc.open_file(pa.memory_map(str(path)))
    # What is mapped takes no memory, however much it is; batches of more bytes than the file were packed.
    whole = gather_batches(
        str(path), file.schema, iterate_batches(file), "it", free=path.stat().st_size, hint="pass a larger memory="
    )
    batches = whole.to_batches()
    data = _join_batches(path, file.schema, _metadata(file.schema.metadata), iter(batches), rows=len(whole))
    return data._replace(mapped=len(batches) == 1)


def _columns(path: Path, schema: Any) -> tuple[str | None, str]:
    """Find the column of names (None if there is none) and that of vectors."""
    import pyarrow as pa

    def is_vector(kind: Any) -> bool:
        lists = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(lists and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)))

    def is_name(kind: Any) -> bool:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
        return bool(pa.types.is_integer(kind) or text)

    listed = ", ".join(f"{field.name} ({field.type})" for field in schema)
    lists = [field for field in schema if is_vector(field.type)]
    # Lists of integers may be lists of neighbors: they are the vectors only where nothing else can be.
    floating = [field for field in lists if pa.types.is_floating(field.type.value_type)]
    vectors = [field.name for field in lists if field.name == "vector" or not floating or field in floating]
    names = [field.name for field in schema if is_name(field.type)]
    vector = "vector" if "vector" in vectors else vectors[0] if len(vectors) == 1 else None
    if vector is None or schema.names.count(vector) > 1:
        raise FormatError(path, f"needs one column of lists of numbers, or one called 'vector'; its columns: {listed}")
    odd = [field for field in schema if field.name.lower() in _NAMES and field.name not in (vector, *names)]
    if odd and not names:
        problem = f"its column {odd[0].name!r} holds {odd[0].type}, and names are integers or strings"
        raise FormatError(path, f"{problem}: cast it, or rename it")
    if "node" in names:
        return "node", vector
    if len(names) > 1:
        raise FormatError(path, f"has several columns that could name the nodes, none called 'node': {listed}")
    return (names[0] if names else None), vector


def _join_batches(
    path: Path, schema: Any, metadata: dict[str, str], batches: Iterator[Any], *, rows: int
) -> EmbeddingData:
    """Join batches to an embedding; one that has all rows is not copied."""
    node, vector = _columns(path, schema)
    nodes = number_rows(path, rows, schema.metadata) if node is None else node
    names: list[Names] = [np.arange(0)]
    numbers = {name: [np.empty(0, np.float32)] for name in _state_columns(metadata, schema)}
    out: NDArray[np.float32] | None = None
    done = 0
    for batch in batches:
        sound(batch)  # offsets that point outside of a damaged batch would end the process
        vectors = _vectors(path, batch.column(vector))
        if out is None:
            # Before any memory is taken, as a file may announce rows that it does not have.
            check_memory(path, 4 * rows * vectors.shape[1])
            out = vectors if len(vectors) == rows else np.empty((rows, vectors.shape[1]), np.float32)
        if vectors.shape[1] != out.shape[1]:
            raise FormatError(path, f"has vectors of {out.shape[1]} and of {vectors.shape[1]} numbers")
        if vectors is not out:
            out[done : done + len(vectors)] = vectors
        if any(batch.column(name).null_count for name in numbers):
            raise FormatError(path, f"has missing numbers in a column of {', '.join(numbers)}")
        names.append(_names(path, batch, nodes, done))
        for name, parts in numbers.items():
            parts.append(batch.column(name).to_numpy(zero_copy_only=False))
        done += len(vectors)
    if done != rows:
        raise FormatError(path, f"announces {rows:,} vectors, and has {done:,}: damaged")
    if out is None:
        out = np.empty((0, _dim(schema.field(vector).type) or 0), np.float32)
    state = {name: np.concatenate(parts) for name, parts in numbers.items()}
    return join_data(path, np.concatenate(names[1:] or names), out, metadata, state=state)


def _state_columns(metadata: dict[str, str], schema: Any) -> list[str]:
    """Return the columns of the state, in files of our own: elsewhere their names may mean anything."""
    return [name for name in COLUMNS if "recipe" in metadata and name in schema.names]


def _dim(kind: Any) -> int | None:
    """Return the length of the lists of a type, if it fixes one."""
    import pyarrow as pa

    return int(kind.list_size) if pa.types.is_fixed_size_list(kind) else None


def _vectors(path: Path, column: Any) -> NDArray[np.float32]:
    """Return the lists of a column as the rows of an array, sharing its memory where they are float32."""
    dim = _dim(column.type)
    if dim == 0:
        return np.zeros((len(column), 0), dtype=np.float32)
    numbers = column.flatten()
    if column.null_count or numbers.null_count:
        raise FormatError(path, "has missing vectors or numbers; every node needs a whole vector")
    if dim is None:
        lengths = set(column.value_lengths().to_pylist())
        if len(lengths) > 1:
            raise FormatError(path, f"has vectors of {min(lengths)} and of {max(lengths)} numbers")
        dim = lengths.pop() if lengths else 0
    array: NDArray[np.float32] = numbers.to_numpy(zero_copy_only=False)
    return array.astype(np.float32, copy=False).reshape(len(column), dim)


def _names(path: Path, batch: Any, node: str | range, start: int) -> Names:
    """Return the names of a batch from its column, or from the numbers of all rows, of which it begins at ``start``."""
    import pyarrow as pa

    if isinstance(node, range):
        rows = node[start : start + len(batch)]
        return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
    column = batch.column(node)
    if column.null_count:
        raise FormatError(path, f"has missing names in its column {node!r}")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == pa.string_view():
        column = column.cast(pa.large_string())
    names: Names = column.to_numpy(zero_copy_only=False)
    return names


def _metadata(stored: Any) -> dict[str, str]:
    """Return our metadata of a schema, or of a footer, as `join_data` takes it."""
    keys = {name: _KEY + f".{name}".encode() for name in _METADATA} | {"recipe": _KEY}
    return {name: stored[key].decode() for name, key in keys.items() if key in (stored or {})}


def number_rows(path: Path, rows: int, metadata: Mapping[bytes, bytes] | None) -> range:
    """Return numbers of rows, as names: those of a RangeIndex that pandas noted in the metadata, else from 0."""
    try:
        (index,) = json.loads((metadata or {})[b"pandas"])["index_columns"]
        numbers = range(index["start"], index["stop"], index["step"])
    except (LookupError, TypeError, ValueError, RecursionError):
        return range(rows)
    if len(numbers) == rows:
        return numbers
    note = f"names of its rows are 0, 1, ...: the index that pandas noted, {numbers}, is not that of {rows:,} rows"
    warnings.warn(ArgumentWarning(f"{path}: {note}"), stacklevel=7)
    return range(rows)
