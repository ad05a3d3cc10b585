"""A filter of system calls (seccomp) whose verdicts another process gives: Linux on x86-64, from 5.6 on.

`install` is called by the process to be watched, and gives a file that its supervisor reads calls from. All calls are
seen, those of the C library and of compiled packages too, and those of programs that it starts.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from functools import cache
from typing import NamedTuple

# Calls that touch files: their numbers on x86-64 Linux, and which of their arguments name a file.

WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")  # these may write a part of what they are given


class Call(NamedTuple):
    """A system call; ``at``, ``paths`` and ``files`` are the indices of arguments."""

    name: str
    number: int
    paths: tuple[int, ...] = ()
    at: tuple[int, ...] = ()  # of pairs: an open folder, and a path below it
    files: tuple[int, ...] = ()  # that are open
    changes: bool = True  # something on the disk, or what is known of it


def _calls(numbers: dict[str, int], **where: tuple[int, ...]) -> list[Call]:
    """Return the calls that change something and name files by the same arguments."""
    return [Call(name, number, **where) for name, number in numbers.items()]  # type: ignore[arg-type]


CHANGES = [
    *_calls({"open": 2, "creat": 85, "truncate": 76, "unlink": 87, "mkdir": 83, "rmdir": 84}, paths=(0,)),
    *_calls({"chmod": 90, "setxattr": 188}, paths=(0,)),
    *_calls(
        {"openat": 257, "openat2": 437, "unlinkat": 263, "mkdirat": 258, "fchmodat": 268, "utimensat": 280}, at=(0,)
    ),
    *_calls({"write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "pwritev2": 328}, files=(0,)),
    *_calls({"fsync": 74, "fdatasync": 75, "sync_file_range": 277, "ftruncate": 77, "fallocate": 285}, files=(0,)),
    *_calls({"close": 3, "flock": 73, "fcntl": 72, "fchmod": 91, "fsetxattr": 190}, files=(0,)),
    *_calls({"sendfile": 40}, files=(0, 1)),
    *_calls({"copy_file_range": 326}, files=(0, 2)),
    *_calls({"mmap": 9}, files=(4,)),
    *_calls({"rename": 82, "link": 86}, paths=(0, 1)),
    *_calls({"renameat": 264, "renameat2": 316, "linkat": 265}, at=(0, 2)),
    *_calls({"symlink": 88}, paths=(1,)),
    *_calls({"symlinkat": 266}, at=(1,)),
]
LOOKS = [
    *_calls({"read": 0, "pread64": 17, "readv": 19, "preadv": 295, "preadv2": 327, "getdents64": 217}, files=(0,)),
    *_calls({"fstat": 5}, files=(0,)),
    *_calls({"stat": 4, "lstat": 6, "access": 21, "statfs": 137}, paths=(0,)),
    *_calls({"newfstatat": 262, "statx": 332, "faccessat": 269, "faccessat2": 439}, at=(0,)),
]
CALLS = (*CHANGES, *(call._replace(changes=False) for call in LOOKS))
BY_NUMBER = {call.number: call for call in CALLS}
LOCKS = (5, 6, 7, 36, 37, 38)  # commands of fcntl that deal with locks
SPACE = {*WRITES, "creat", "sendfile", "copy_file_range", "fallocate", "link", "linkat", "symlink", "symlinkat"}
SPACE |= {"mkdir", "mkdirat", "ftruncate", "setxattr", "fsetxattr"}  # what a full disk refuses


def takes_space(call: Call, flags: int) -> bool:
    """Return whether a full disk refuses a call; ``flags`` are those of an opened file."""
    return call.name in SPACE or (call.name in ("open", "openat") and bool(flags & os.O_CREAT))


_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_ARCH = 0xC000003E  # x86-64
_SECCOMP, _PRCTL_NO_NEW_PRIVILEGES, _SET_FILTER, _NEW_LISTENER = 317, 38, 1, 8


@cache
def problem() -> str | None:
    """Why calls cannot be filtered here; None if they can."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return "system calls are filtered on Linux and x86-64 alone"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            install()
        except OSError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return f"the system does not let calls be filtered: {text}" if text else None


def install() -> int:
    """Have the calls of this process, and of all that it starts, wait for a supervisor; the file it reads them from."""
    library = ctypes.CDLL(None, use_errno=True)
    program = b"".join(struct.pack("HBBI", *line) for line in _program())
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)))
    if library.prctl(_PRCTL_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    listener: int = library.syscall(_SECCOMP, _SET_FILTER, _NEW_LISTENER, head)
    if listener < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return listener


def _program() -> list[tuple[int, int, int, int]]:
    """Lines (code, jump if true, jump if false, value): what is not listed, and memory that is no file, is let go."""
    (mmap,) = (call.number for call in CALLS if call.name == "mmap")
    numbers = [call.number for call in CALLS if call.name != "mmap"]
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCH), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    left = len(numbers)
    lines.append((_EQUAL, left + 1, 0, mmap))
    for place, number in enumerate(numbers):
        lines.append((_EQUAL, left - place + 3, 0, number))
    lines.append((_RETURN, 0, 0, _ALLOW))
    lines += [(_LOAD, 0, 0, 48), (_EQUAL, 0, 1, 0xFFFFFFFF), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
    return lines
