"""Supervisor of a process: sees each system call on files below some folders, and fails one of them."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import select
import signal
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from faults.filter import BY_NUMBER, LOCKS, WRITES, Call, takes_space

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_CONTINUE, _HERE = 1, -100  # let it go; AT_FDCWD
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_LIBRARY = ctypes.CDLL(None, use_errno=True)
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES, "EINTR": errno.EINTR}


@dataclass(frozen=True)
class Fault:
    """What happens to the call with a number, counted from 0: an error, ``short``, ``kill``, or ``full`` from it on."""

    number: int
    kind: str


@dataclass(frozen=True)
class Seen:
    """A call that was seen: its name, the paths, and whether it changes something or reads."""

    call: Call
    paths: tuple[str, ...]
    flags: int = 0  # of a file that was opened
    size: int = 0  # bytes to write

    @property
    def kinds(self) -> list[str]:
        """The faults that can happen to it."""
        writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
        if not self.call.changes or (self.call.name in ("open", "openat") and not self.flags & writing):
            looks = "stat" in self.call.name or "access" in self.call.name
            return ["EIO", "EACCES"] if looks else ["EIO", "EACCES", "EINTR"]
        short = ["short"] if self.call.name in WRITES and self.size > 1 else []
        full = ["full"] if takes_space(self.call, self.flags) else []
        return [*ERRORS, *short, *full, "kill"]

    def __str__(self) -> str:
        return f"{self.call.name} {' '.join(self.paths)}"


@dataclass
class Supervisor:
    """Calls of a process on files below ``folders``, in order, one of which meets a fault."""

    pid: int
    listener: int
    folders: Sequence[str]
    fault: Fault | None = None
    seen: list[Seen] = field(default_factory=list)
    hit: Seen | None = None

    def watch(self, *, seconds: float) -> bool:
        """Answer calls until all processes with the filter have ended; False if they were killed for their time."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        until, in_time = time.monotonic() + seconds, True
        notice = ctypes.create_string_buffer(80)
        while True:
            ready = poll.poll(max(until - time.monotonic(), 0) * 1000)
            if not ready and in_time:
                in_time, until = False, time.monotonic() + 5
                os.kill(self.pid, signal.SIGKILL)
                continue
            if not ready or not ready[0][1] & select.POLLIN:
                return in_time
            ctypes.memset(notice, 0, 80)
            try:
                fcntl.ioctl(self.listener, _RECEIVE, notice)
            except OSError:  # it died meanwhile
                continue
            token, thread, _, number, _, _, *arguments = struct.unpack("QIIiIQ6Q", notice.raw)
            value, error, flags = self._judge(thread, number, arguments)
            with suppress(OSError):
                fcntl.ioctl(self.listener, _SEND, struct.pack("QqiI", token, value, error, flags))

    def _judge(self, thread: int, number: int, arguments: list[int]) -> tuple[int, int, int]:
        """Return value, error and flags of the answer to a call."""
        seen = self._describe(thread, BY_NUMBER[number], arguments)
        if seen is None:
            return 0, 0, _CONTINUE
        self.seen.append(seen)
        fault, number = self.fault, len(self.seen) - 1
        if fault is None or number < fault.number:
            return 0, 0, _CONTINUE
        if number == fault.number:
            self.hit = seen
        elif fault.kind != "full" or not takes_space(seen.call, seen.flags):
            return 0, 0, _CONTINUE
        if fault.kind == "kill":
            os.kill(self.pid, signal.SIGKILL)
            return 0, -errno.EIO, 0
        if fault.kind == "short":
            written = _write_a_part(thread, seen.call, arguments)
            return (0, 0, _CONTINUE) if written is None else (written, 0, 0)
        return 0, -(errno.ENOSPC if fault.kind == "full" else ERRORS[fault.kind]), 0

    def _describe(self, thread: int, call: Call, arguments: list[int]) -> Seen | None:
        """Return a call on files below the folders; None for any other."""
        if call.name == "fcntl" and arguments[1] not in LOCKS:
            return None
        paths = [_opened(thread, arguments[at]) for at in call.files]
        paths += [_path(thread, _HERE, arguments[at]) for at in call.paths]
        paths += [_path(thread, arguments[at], arguments[at + 1]) for at in call.at]
        if not any(path.startswith(folder) for path in paths for folder in self.folders):
            return None
        flags = {"open": 1, "openat": 2}.get(call.name)
        size = arguments[2] if call.name in ("write", "pwrite64") else 2 if call.name in WRITES else 0
        return Seen(call, tuple(map(_plain, paths)), arguments[flags] if flags else 0, size)


def _plain(path: str) -> str:
    """Return a path without what differs between two runs: process ids and random names."""
    path = re.sub(r"[0-9a-f]{8}-\d+-[0-9a-f]{8}", "*", path)
    return re.sub(r"tmp[a-z0-9_]{8}|(?<=graphrefine-)[a-z0-9_]{8,16}|[0-9a-f]{16,}", "*", path)


def _opened(thread: int, handle: int) -> str:
    with suppress(OSError):
        return str(Path(f"/proc/{thread}/fd/{handle & 0xFFFFFFFF}").readlink())
    return ""


def _path(thread: int, folder: int, address: int) -> str:
    text = os.fsdecode(_memory(thread, address, 4096).split(b"\0", 1)[0])
    if text.startswith("/"):
        return text
    handle = ctypes.c_int32(folder & 0xFFFFFFFF).value
    with suppress(OSError):
        base = str(Path(f"/proc/{thread}/cwd").readlink()) if handle == _HERE else _opened(thread, handle)
        return f"{base}/{text}" if text else base
    return text


def _memory(thread: int, address: int, size: int) -> bytes:
    try:
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(size)
    except (OSError, OverflowError, ValueError):
        return b""


def _write_a_part(thread: int, call: Call, arguments: list[int]) -> int | None:
    """Write half of the bytes of a call instead of it; return their number, None if it has too few."""
    handle, address, size = arguments[:3]
    if call.name not in ("write", "pwrite64"):
        address, size = struct.unpack("PN", _memory(thread, address, 16))
    if size < 2:
        return None
    process = int(re.search(r"Tgid:\s*(\d+)", Path(f"/proc/{thread}/status").read_text())[1])  # type: ignore[index]
    pidfd = _LIBRARY.syscall(_PIDFD_OPEN, process, 0)
    file = _LIBRARY.syscall(_PIDFD_GETFD, pidfd, handle, 0)
    os.close(pidfd)
    if file < 0:
        return None
    data = _memory(thread, address, size // 2)
    try:
        return os.pwrite(file, data, arguments[3]) if call.name.startswith("pwrite") else os.write(file, data)
    finally:
        os.close(file)
