"""System calls that touch files: their numbers on x86-64 Linux, and which of their arguments name a file."""

from __future__ import annotations

import os
from typing import NamedTuple

WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")  # these may write a part of what they are given


class Call(NamedTuple):
    """A system call: ``at`` are the places of pairs (folder, path), ``paths`` of paths, ``files`` of open files."""

    name: str
    number: int
    paths: tuple[int, ...] = ()
    at: tuple[int, ...] = ()
    files: tuple[int, ...] = ()
    changes: bool = True  # something on the disk, or what is known of it


CALLS = (
    Call("open", 2, paths=(0,)),
    Call("creat", 85, paths=(0,)),
    Call("openat", 257, at=(0,)),
    Call("openat2", 437, at=(0,)),
    Call("write", 1, files=(0,)),
    Call("pwrite64", 18, files=(0,)),
    Call("writev", 20, files=(0,)),
    Call("pwritev", 296, files=(0,)),
    Call("pwritev2", 328, files=(0,)),
    Call("sendfile", 40, files=(0, 1)),
    Call("copy_file_range", 326, files=(0, 2)),
    Call("fsync", 74, files=(0,)),
    Call("fdatasync", 75, files=(0,)),
    Call("sync_file_range", 277, files=(0,)),
    Call("truncate", 76, paths=(0,)),
    Call("ftruncate", 77, files=(0,)),
    Call("fallocate", 285, files=(0,)),
    Call("mmap", 9, files=(4,)),
    Call("close", 3, files=(0,)),
    Call("flock", 73, files=(0,)),
    Call("fcntl", 72, files=(0,)),
    Call("rename", 82, paths=(0, 1)),
    Call("renameat", 264, at=(0, 2)),
    Call("renameat2", 316, at=(0, 2)),
    Call("link", 86, paths=(0, 1)),
    Call("linkat", 265, at=(0, 2)),
    Call("symlink", 88, paths=(1,)),
    Call("symlinkat", 266, at=(1,)),
    Call("unlink", 87, paths=(0,)),
    Call("unlinkat", 263, at=(0,)),
    Call("mkdir", 83, paths=(0,)),
    Call("mkdirat", 258, at=(0,)),
    Call("rmdir", 84, paths=(0,)),
    Call("chmod", 90, paths=(0,)),
    Call("fchmod", 91, files=(0,)),
    Call("fchmodat", 268, at=(0,)),
    Call("utimensat", 280, at=(0,)),
    Call("setxattr", 188, paths=(0,)),
    Call("fsetxattr", 190, files=(0,)),
    Call("read", 0, files=(0,), changes=False),
    Call("pread64", 17, files=(0,), changes=False),
    Call("readv", 19, files=(0,), changes=False),
    Call("preadv", 295, files=(0,), changes=False),
    Call("preadv2", 327, files=(0,), changes=False),
    Call("getdents64", 217, files=(0,), changes=False),
    Call("stat", 4, paths=(0,), changes=False),
    Call("lstat", 6, paths=(0,), changes=False),
    Call("fstat", 5, files=(0,), changes=False),
    Call("newfstatat", 262, at=(0,), changes=False),
    Call("statx", 332, at=(0,), changes=False),
    Call("access", 21, paths=(0,), changes=False),
    Call("faccessat", 269, at=(0,), changes=False),
    Call("faccessat2", 439, at=(0,), changes=False),
    Call("statfs", 137, paths=(0,), changes=False),
)
BY_NUMBER = {call.number: call for call in CALLS}
LOCKS = (5, 6, 7, 36, 37, 38)  # commands of fcntl that deal with locks
SPACE = {*WRITES, "creat", "sendfile", "copy_file_range", "fallocate", "link", "linkat", "symlink", "symlinkat"}
SPACE |= {"mkdir", "mkdirat", "ftruncate", "setxattr", "fsetxattr"}  # what a full disk refuses


def takes_space(call: Call, flags: int) -> bool:
    """Whether a full disk refuses a call; ``flags`` are those of an opened file."""
    return call.name in SPACE or (call.name in ("open", "openat") and bool(flags & os.O_CREAT))
