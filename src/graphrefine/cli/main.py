"""The program ``graphrefine``: runs a command and turns its end into an exit code.

====  ==============================================================================================
0     done
2     a mistake of the user's: one message says what is wrong, where, and what to do about it
130   Ctrl-C; 128 + n for another signal n (143: ``kill``; 141: whoever was reading stdout has gone)
1     `graphrefine check`: an embedding is not as it should be; with a traceback: a bug
====  ==============================================================================================

However it ends, an output is the old one or the new one, never a part of it. Little is imported here, so that Ctrl-C
is handled from the first moment. With GRAPHREFINE_LOG, a level such as info, the log goes to stderr.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from graphrefine.display.console import StreamError, escape_controls, plain_streams
from graphrefine.errors import GraphRefineError, InputError, mask_secrets


def main() -> None:
    """Run the command that ``sys.argv`` asks for, and exit."""
    # OpenBLAS would start a thread for each core at import, and no command gives them work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_missing_streams()
    sys.exit(run(sys.argv[1:] or ["--help"]))


def _open_missing_streams() -> None:
    """Open the null device for each standard stream that is closed."""
    # Otherwise the first file that is opened gets the number of that stream, and messages are written into it: the
    # output of a run below a shell's `2>&-` would begin with its own warnings.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # uses the lowest number that is free
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def run(arguments: list[str]) -> int:
    """Run a command, and return its exit code."""
    try:
        with _stop_on_signals():
            return _run_with_streams(arguments)
    except KeyboardInterrupt as stopped:
        _print_error("interrupted; no half-written output is left")
        return 128 + getattr(stopped, "number", signal.SIGINT)
    except StreamError as error:
        # Python flushes stdout once more at its end, and would print an error of its own if that fails again.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return 128 + 13  # as if SIGPIPE had ended it
        return _fail(f"{error.filename}: {error.strerror}")
    except OSError as error:  # of a file or of the system, which no function below has turned into an error of ours
        path = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{path}{error.strerror or error}")


def _run_with_streams(arguments: list[str]) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the name of a file may not be valid text
    with plain_streams(arguments):
        code = _dispatch(arguments)
        # Here, where a failure is an error with an exit code: Python's own flush at the end only complains.
        sys.stdout.flush()
    return code


def _dispatch(arguments: list[str]) -> int:
    """Call the command, and turn the errors that a user can cause into one line."""
    import click

    from graphrefine.cli.commands import cli

    if "_GRAPHREFINE_COMPLETE" in os.environ:  # a shell asks what could come next
        cli.main(arguments, prog_name="graphrefine")
    try:
        _show_log()
        with warnings.catch_warnings(), cli.make_context("graphrefine", arguments) as context:
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            cli.invoke(context)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.UsageError as mistake:
        command = mistake.ctx.command_path if mistake.ctx else "graphrefine"
        return _fail(f"{mistake.format_message().rstrip('.')} (see {command} --help)")
    except click.ClickException as mistake:  # an error of the library, with the name of the option
        return _fail(mistake.message)
    except GraphRefineError as mistake:
        return _fail(str(mistake))
    except ImportError as error:
        # Most often a package that was compiled for another NumPy. A module of ours that is missing is a bug.
        if (error.name or "").startswith("graphrefine"):
            raise
        reason = str(error).strip().partition("\n")[0]
        return _fail(f"a package that is installed cannot be loaded: {reason}; install it again")
    except MemoryError:
        return _fail("not enough memory; a smaller --dim needs less, and graphrefine info says how much")
    return 0


def _show_log() -> None:
    """Write the log of the library to stderr, from the level in GRAPHREFINE_LOG on."""
    level = os.environ.get("GRAPHREFINE_LOG", "").upper()
    if not level:
        return
    if level not in logging.getLevelNamesMapping():
        raise InputError(f"GRAPHREFINE_LOG is {level.lower()!r}, but must be debug, info, warning or error")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("graphrefine")
    logger.addHandler(handler)
    logger.setLevel(level)


def _fail(message: str) -> int:
    _print_error(f"error: {message}")
    return 2


def _print_error(message: str) -> None:
    """Write a last line; where that is not possible, the exit code says as much."""
    with suppress(OSError):
        print(escape_controls(mask_secrets(message)), file=sys.stderr, flush=True)


def _show_warning(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """Print a warning for the user as one line, and one for developers with its line of code."""
    if not issubclass(category, UserWarning):
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)
        return
    import click

    from graphrefine.cli.options import name_option

    context = click.get_current_context(silent=True)  # None in the threads of a server
    text = str(message) if context is None else name_option(message, context.command)
    print(f"warning: {escape_controls(text)}", file=sys.stderr)


class Stopped(KeyboardInterrupt):
    """A signal asked the program to end: Ctrl-C, ``kill``, or the terminal being closed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def _stop_on_signals() -> Iterator[None]:
    """Raise `Stopped` on signals that end a program, so that unfinished output is removed; a second one kills."""
    # The default of SIGTERM and SIGHUP ends a process at once, and would leave hidden folders next to the output. An
    # exception passes through the `with` of each unfinished file instead. Whoever is impatient, signals again.
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    # A signal that is ignored stays so: `nohup graphrefine ...` must survive the end of its terminal.
    caught = [number for number in numbers if before[number] != signal.SIG_IGN]

    def stop(number: int, _: Any) -> NoReturn:
        for each in caught:
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number)

    try:
        for number in caught:
            signal.signal(number, stop)
        yield
    finally:
        for number in caught:
            signal.signal(number, before[number])


if __name__ == "__main__":
    main()
