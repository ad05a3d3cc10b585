"""Sizes of Arrow data before it is read: what its buffers unpack to, as their own first bytes say.

A file or stream is a row of messages, each with metadata (a flatbuffer) and a body of buffers. Where a batch is
compressed, the first eight bytes of a buffer are its size unpacked (-1: it is not packed), for which pyarrow takes
memory without a limit. The footer of a file says where its batches are; a batch may stand there more than once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FILE, _CONTINUED = b"ARROW1", b"\xff\xff\xff\xff"
_DICTIONARIES, _BATCHES = 2, 3  # fields of the footer
_KIND, _HEADER, _BODY = 1, 2, 3  # fields of a message
_BUFFERS, _COMPRESSION = 2, 3  # fields of a batch
_DICTIONARY = 2  # kinds of messages
_BATCH = 3
_DATA = 1  # field of a dictionary


@dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer: fields by number, each perhaps missing."""

    data: memoryview
    place: int

    @classmethod
    def root(cls, data: memoryview) -> _Table:
        return cls(data, *struct.unpack_from("<I", data))

    def at(self, field: int) -> int | None:
        """The place of a field; None if the table has none."""
        table = self.place - int(struct.unpack_from("<i", self.data, self.place)[0])
        size = int(struct.unpack_from("<H", self.data, table)[0])
        if 4 + 2 * field >= size:
            return None
        offset = int(struct.unpack_from("<H", self.data, table + 4 + 2 * field)[0])
        return self.place + offset if offset else None

    def number(self, field: int, form: str) -> int:
        """A number; 0 if it is missing."""
        place = self.at(field)
        return 0 if place is None else int(struct.unpack_from(form, self.data, place)[0])

    def table(self, field: int) -> _Table | None:
        """A table within this one."""
        place = self.at(field)
        if place is None:
            return None
        return _Table(self.data, place + int(struct.unpack_from("<I", self.data, place)[0]))

    def structs(self, field: int, form: str) -> Iterator[tuple[Any, ...]]:
        """A list of structures."""
        place = self.at(field)
        if place is None:
            return iter(())
        start = place + int(struct.unpack_from("<I", self.data, place)[0])
        count = int(struct.unpack_from("<I", self.data, start)[0])
        return struct.iter_unpack(form, self.data[start + 4 : start + 4 + count * struct.calcsize(form)])


def batch_sizes(data: memoryview) -> Iterator[int]:
    """The bytes of each batch and dictionary in memory, unpacked, 0 of other messages; ValueError if it is damaged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table, sink = pa.table({"a": pa.array([7] * 1000, pa.int64())}), pa.BufferOutputStream()
    >>> with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
    ...     writer.write_table(table)
    >>> list(batch_sizes(memoryview(sink.getvalue())))  # the schema, and the batch
    [0, 8000]
    """
    data = data.cast("B")
    try:
        places = _listed(data) if data[:6] == _FILE else _in_a_row(data)
        for place in places:
            metadata, body = _message(data, place)
            yield _unpacked(metadata, data[body:])
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"its messages are damaged: {error}") from None


def _listed(data: memoryview) -> Iterator[int]:
    """Places of the messages that the footer of a file lists."""
    (size,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = _Table.root(data[len(data) - 10 - size : len(data) - 10])
    for field in (_DICTIONARIES, _BATCHES):
        for place, _, _ in footer.structs(field, "<qi4xq"):
            yield int(place)


def _in_a_row(data: memoryview) -> Iterator[int]:
    """Places of the messages of a stream, up to the one that ends it."""
    place = 0
    while place + 4 <= len(data) and data[place : place + 8] not in (_CONTINUED + bytes(4), _CONTINUED):
        metadata, body = _message(data, place)
        if metadata is None:
            return
        yield place
        place = body + max(metadata.number(_BODY, "<q"), 0)


def _message(data: memoryview, place: int) -> tuple[_Table | None, int]:
    """The metadata of a message, None at the end, and the place of its body."""
    start = place + 4 if data[place : place + 4] == _CONTINUED else place  # older files have no such mark
    (size,) = struct.unpack_from("<i", data, start)
    if size <= 0 or place < 0:
        return None, start + 4
    return _Table.root(data[start + 4 : start + 4 + size]), start + 4 + size


def _unpacked(message: _Table | None, body: memoryview) -> int:
    """The bytes of the buffers of a batch, unpacked."""
    if message is None or message.number(_KIND, "<B") not in (_DICTIONARY, _BATCH):
        return 0
    batch = message.table(_HEADER)
    if batch is not None and message.number(_KIND, "<B") == _DICTIONARY:
        batch = batch.table(_DATA)
    if batch is None:
        return 0
    buffers = list(batch.structs(_BUFFERS, "<qq"))
    if batch.at(_COMPRESSION) is None:
        return sum(max(size, 0) for _, size in buffers)
    stated = (int(struct.unpack_from("<q", body, at)[0]) if size >= 8 else 0 for at, size in buffers)
    return sum(size if each < 0 else each for each, (_, size) in zip(stated, buffers, strict=True))


def text_bytes(column: Any) -> int:
    """The bytes of the texts of a column that may name one text more than once: codes of a dictionary, views.

    Examples
    --------
    >>> import pyarrow as pa
    >>> text_bytes(pa.chunked_array([pa.array(["ann", "bob", "ann"]).dictionary_encode()]))
    9
    >>> text_bytes(pa.chunked_array([pa.array(["ann", "bob", "ann"], pa.string_view())]))
    9
    """
    import pyarrow as pa

    kind, chunks = column.type, getattr(column, "chunks", [column])
    if kind in (pa.string_view(), pa.binary_view()):
        return sum(int(_view_lengths(chunk).sum(dtype=np.int64)) for chunk in chunks)
    if not pa.types.is_dictionary(kind) or not (_is_text(kind.value_type)):
        return 0
    return sum(map(_coded_bytes, chunks))


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return any(
        test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    ) or str(kind).endswith("_view")


def _view_lengths(views: Any) -> NDArray[np.int32]:
    """The lengths of texts that are views: the first of the four numbers of each."""
    structures = np.frombuffer(views.buffers()[1] or b"", np.int32).reshape(-1, 4)
    return structures[views.offset : views.offset + len(views), 0]


def _coded_bytes(chunk: Any) -> int:
    values = chunk.dictionary
    if str(values.type).endswith("_view"):
        lengths = _view_lengths(values)
    else:
        width = np.int64 if str(values.type).startswith("large") else np.int32
        ends = np.frombuffer(values.buffers()[1] or bytes(8), width)
        lengths = np.diff(ends[values.offset : values.offset + len(values) + 1]).astype(np.int32)
    codes = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
    return int(np.bincount(codes, minlength=len(lengths)) @ lengths.astype(np.int64))
