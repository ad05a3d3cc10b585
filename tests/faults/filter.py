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

from faults.calls import CALLS

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
