"""The program ``graphrefine``: runs a command of `graphrefine.cli.commands` and sees to a proper end.

====  ==============================================================================================
0     done
2     a mistake of the user's: one message says what is wrong, where, and the way out
130   Ctrl-C; 128 + n for another signal n (143: ``kill``; 141: whoever was reading stdout has gone)
1     `graphrefine check`: an embedding is not as it should be; with a traceback: a bug
====  ==============================================================================================

Whatever the end, an output is the old one or the new one, never a part of it. Little is imported here, so that Ctrl-C
is in good hands from the first moment. With GRAPHREFINE_PARENT, the id of the process that started it, the program ends
when that process does. With GRAPHREFINE_LOG, a level such as info, the log goes to stderr.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from types import FrameType
from typing import Any, NoReturn

from graphrefine.display.console import StreamError, escape_controls, plain_streams
from graphrefine.errors import FormatError, GraphRefineError, mask_secrets

AT_A_LIMIT = "no more threads or processes can be started: a limit of them, or of memory, is reached; raise it"


def main() -> None:
    """Run the command that ``sys.argv`` asks for, and exit."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for work that no command gives them
    _fill_streams()
    parent = os.environ.pop("GRAPHREFINE_PARENT", None)
    if parent is not None:
        _end_with(int(parent))
    sys.exit(run(sys.argv[1:] or ["--help"]))


class ClosedInput:
    """Standard input that was closed before the program began: whoever asks for it is told."""

    def __getattr__(self, name: str) -> NoReturn:
        raise FormatError("standard input", "is closed; give a file, or pipe something into it")


def _fill_streams() -> None:
    """Let no file that is opened later take the place of a standard stream that is closed, and nobody find none."""
    if sys.stdin is None:
        sys.stdin = ClosedInput()
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _end_with(parent: int) -> None:
    """End this process soon after its parent, which started it with blocked signals (`evaluate.embed_subprocess`)."""
    if os.name != "posix":
        return
    from threading import Thread

    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def run(arguments: list[str]) -> int:
    """Run a command to its exit code."""
    with _stoppable():
        try:
            return _run_with_streams(arguments)
        except KeyboardInterrupt as stopped:
            from graphrefine.system.files import remove_unfinished

            remove_unfinished()
            _say("interrupted; no half-written output is left")
            return 128 + getattr(stopped, "number", signal.SIGINT)
        except StreamError as error:
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python's last flush complains
            if error.errno == errno.EPIPE:
                return 128 + 13  # as if SIGPIPE had ended it
            return _failed(f"{error.filename}: {error.strerror}")
        except OSError as error:  # of a file, or of the system, that nobody below has given a name
            if isinstance(error, BlockingIOError) and error.filename is None:  # as a fork says it
                return _failed(AT_A_LIMIT)
            place = f"{error.filename}: " if error.filename is not None else ""
            return _failed(f"{place}{error.strerror or error}")


def _run_with_streams(arguments: list[str]) -> int:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may not be valid text
    with plain_streams(arguments):
        code = _obey(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    return code


def _obey(arguments: list[str]) -> int:
    import click

    from graphrefine.cli.commands import cli

    if "_GRAPHREFINE_COMPLETE" in os.environ:  # a shell asks what could come next
        cli.main(arguments, prog_name="graphrefine")
    try:
        with (
            _showing_log(),
            warnings.catch_warnings(),
            cli.make_context("graphrefine", arguments) as context,
        ):
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            cli.invoke(context)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.UsageError as mistake:
        command = mistake.ctx.command_path if mistake.ctx else "graphrefine"
        return _failed(f"{mistake.format_message().rstrip('.')} (see {command} --help)")
    except click.ClickException as mistake:  # an error of the library, in the words of the command
        return _failed(mistake.message)
    except GraphRefineError as mistake:
        return _failed(str(mistake))
    except ImportError as error:
        if _is_ours(error):
            raise
        reason = (str(error).strip() or "no reason is given").splitlines()[0]
        way_out = "install it again, or raise the limit of memory if there is one"
        return _failed(f"a package that is installed cannot be loaded: {reason}; {way_out}")
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        return _failed(AT_A_LIMIT)
    except MemoryError:
        return _failed("not enough memory; a smaller --dim needs less, and graphrefine info says how much")
    return 0


def _is_ours(error: ImportError) -> bool:
    """Whether an import failed in this package, and not in one that it needs."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is None or "graphrefine" in str(place.tb_frame.f_globals.get("__name__"))


@contextmanager
def _showing_log() -> Iterator[None]:
    """A stretch in which the log is shown, if that was asked for."""
    if not (level := os.environ.get("GRAPHREFINE_LOG")):
        yield
        return
    from graphrefine.cli.log import showing_log

    with showing_log(level):
        yield


def _failed(message: str) -> int:
    _say(f"error: {message}")
    return 2


def _say(message: str) -> None:
    """Write a last line; the exit code says as much where it cannot be written."""
    with suppress(OSError):
        print(escape_controls(mask_secrets(message)), file=sys.stderr, flush=True)


def _show_warning(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """What is meant for the user as one line; what is meant for us with its place in the code."""
    if not issubclass(category, UserWarning):
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)
        return
    import click

    from graphrefine.cli.options import in_options

    context = click.get_current_context(silent=True)  # None in the threads of a server
    command = click.Command(None) if context is None else context.command
    text = in_options(str(message), getattr(message, "mentions", ()), command)
    print(f"warning: {escape_controls(text)}", file=sys.stderr)


class Stopped(KeyboardInterrupt):
    """A signal asked the program to end: Ctrl-C, ``kill``, or the terminal being closed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def _stoppable() -> Iterator[None]:
    """Signals that end a program raise `Stopped`, so that unfinished output goes; a second one kills at once."""
    before = {number: signal.getsignal(number) for number in _list_signals()}
    caught = [number for number in before if before[number] != signal.SIG_IGN]  # nohup stays in force
    complain, sys.unraisablehook = sys.unraisablehook, _stop_again
    try:
        for number in caught:
            signal.signal(number, _stop)
        yield
    finally:
        sys.unraisablehook = complain
        for number in caught:
            signal.signal(number, before[number])


def _list_signals() -> list[signal.Signals]:
    """The signals that end a program, of those that this system has."""
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _stop(number: int, _: Any) -> NoReturn:
    for each in _list_signals():
        if signal.getsignal(each) is _stop:
            signal.signal(each, signal.SIG_DFL)
    raise Stopped(number)


def _stop_again(ignored: sys.UnraisableHookArgs) -> None:
    """Stop a moment later, where the signal came while Python ran code whose errors it ignores (such as a __del__)."""
    stopped = ignored.exc_value
    if not isinstance(stopped, Stopped):
        sys.__unraisablehook__(ignored)
        return
    from threading import Thread

    signal.signal(stopped.number, _stop)
    Thread(target=_send_again, args=(stopped.number, get_ident()), daemon=True).start()


def _send_again(number: int, thread: int) -> None:
    """Send a signal once a thread has left the hook, whose errors Python ignores too."""
    while _is_in_hook(sys._current_frames().get(thread)):
        time.sleep(0.01)
    if os.name == "posix":
        os.kill(os.getpid(), number)
    else:
        signal.raise_signal(number)  # kill() ends a process of Windows at once


def _is_in_hook(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _stop_again.__code__:
        frame = frame.f_back
    return frame is not None


if __name__ == "__main__":
    main()
