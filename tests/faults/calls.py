"""System calls that touch files: their numbers on x86-64 Linux, and which of their arguments name a file."""

from __future__ import annotations

import os
from typing import NamedTuple

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
