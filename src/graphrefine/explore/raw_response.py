"""Responses of raw bytes: sent in parts, without a copy of the whole, and only to clients that do not have them yet."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

from starlette.responses import Response

CHUNK = 1 << 18  # bytes sent at a time, so that a slow reader is waited for


class Blob(NamedTuple):
    """Bytes that do not change, and the tag that tells them from others."""

    content: memoryview
    etag: str

    @classmethod
    def of(cls, content: bytes | memoryview) -> Blob:
        """The blob of some bytes."""
        return cls(memoryview(content), f'"{zlib.crc32(content):08x}-{len(content):x}"')


class RawResponse(Response):
    """A blob, or 304 for a client that has it."""

    def __init__(self, blob: Blob, media_type: str) -> None:
        super().__init__(b"", media_type=media_type)
        self._blob = blob

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        content, etag = self._blob
        is_current = etag in dict(scope["headers"]).get(b"if-none-match", b"").decode("latin-1")
        headers = [(b"etag", etag.encode()), (b"cache-control", b"no-cache")]
        if not is_current:
            headers.append((b"content-type", str(self.media_type).encode()))
            headers.append((b"content-length", str(len(content)).encode()))
        await send({"type": "http.response.start", "status": 304 if is_current else 200, "headers": headers})
        for start in range(0, 0 if is_current else len(content), CHUNK):
            part = bytes(content[start : start + CHUNK])
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
