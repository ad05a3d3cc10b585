"""Trials: a command in a forked child, with a fault in one of its system calls, and the judgment on what it left.

A child of a process that has all packages loaded takes milliseconds where a program takes half a second, so that every
call of a writer can fail in every way.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from faults import filter
from faults.supervisor import Fault, Seen, Supervisor

Tree = dict[str, bytes | None]  # contents of files by their paths; None: a folder
State = dict[str, object]  # what a tree holds, without what differs between two runs
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a folder in memory


@dataclass(frozen=True)
class Writer:
    """A command that writes ``outputs``: ``before`` makes the old ones, ``command`` is the one whose calls fail."""

    name: str
    command: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    outputs: Sequence[str] = ("out",)
    extras: Sequence[str] = ()  # may be there or not: caches beside an output
    work: Sequence[str] = ()  # folders that a failed run may leave, for the next to go on
    read: Callable[[Tree], State] = lambda tree: dict(tree)  # of the outputs, whole or not at all
    again: Sequence[str] | None = None  # the command after a fault, if it is another
    same: bool = True  # whether the command after a fault makes what it makes without one
    patch: Callable[[], None] = lambda: None  # of the program that runs the command
    seconds: float = 30


@dataclass(frozen=True)
class Ended:
    """The end of a run: exit code, 128 + n for a signal, what was printed, the calls seen."""

    code: int
    text: str
    calls: list[Seen]
    hit: Seen | None
    in_time: bool


@dataclass
class Trial:
    """A writer with its inputs, and folders of its own below ``place``."""

    writer: Writer
    place: Path
    start: Tree = field(default_factory=dict)
    old: State = field(default_factory=dict)
    new: State = field(default_factory=dict)
    calls: list[Seen] = field(default_factory=list)

    @property
    def folders(self) -> list[str]:
        """The folders whose calls are watched: of the outputs, and for temporary files."""
        return [f"{self.place}/to", f"{self.place}/tmp"]

    def prepare(self) -> None:
        """Make the old outputs, and the new ones once, with the list of calls."""
        self.restore()
        for command in self.writer.before:
            done = self.run(command)
            assert done.code == 0, done.text
        self.start = read_tree(self.place / "to")
        self.old = self._read(self.start)
        done = self.run(self.writer.command)  # imports what it needs, and takes the calls of that
        self.restore()
        done = self.run(self.writer.command)
        assert done.code == 0, done.text
        self.calls, after = done.calls, read_tree(self.place / "to")
        self.new = self._read(after)
        assert self.old != self.new, "the writer wrote nothing new"
        assert not self._strays(after), self._strays(after)

    def _read(self, tree: Tree) -> State:
        """Return the outputs, without what differs between two runs."""
        kept = [*self.writer.outputs, *self.writer.extras]
        whole = {name: tree[name] for name in tree if any(_below(name, each) for each in kept)}
        return self.writer.read({name: data for name, data in whole.items() if not _is_hidden(name)})

    def restore(self) -> None:
        """Make the folders as they are before a run."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
            Path(folder).mkdir(parents=True)
        write_tree(self.place / "to", self.start)

    def faults(self) -> Iterator[Fault]:
        """Yield every fault of every call."""
        for number, seen in enumerate(self.calls):
            yield from (Fault(number, kind) for kind in seen.kinds)

    def judge(self, fault: Fault) -> list[str]:
        """Return the problems of what a run with a fault leaves; none is as it should be."""
        self.restore()
        done = self.run(self.writer.command, fault)
        after = read_tree(self.place / "to")
        problems = [*self._judge_end(done, killed=fault.kind == "kill"), *self._judge_outputs(done, after)]
        # A process that is killed, or refused a removal, leaves its hidden folder, which the next run lets be.
        left = fault.kind == "kill" or (done.hit is not None and _removes(done.hit))
        strays = [] if left else self._strays(after, failed=done.code != 0)
        problems += [f"stray file: {name}" for name in strays]
        if done.code != 0:
            problems += self._judge_next(left=left)
        where = f"{fault.kind} at call {fault.number}, {done.hit}: "
        return [f"{where}{problem}; exit {done.code}, {done.text.strip()[-300:]!r}" for problem in problems]

    def _judge_end(self, done: Ended, *, killed: bool) -> list[str]:
        wrong = {
            "does not end": not done.in_time,
            "traceback": "Traceback" in done.text or "Exception ignored" in done.text,
            "exit code": done.in_time and done.code not in ((0, 137) if killed else (0, 2)),
            "no message": done.code == 2 and "error: " not in done.text,
            "standard output is blamed": "standard output" in done.text,
        }
        return [problem for problem, holds in wrong.items() if holds]

    def _judge_outputs(self, done: Ended, after: Tree) -> list[str]:
        try:
            state = self._read(after)
        except Exception as error:  # any: it cannot be read
            return [f"half a file: {error!r}"]
        is_old, is_new = self._is(state, self.old), self._is(state, self.new)
        if not is_old and not is_new:
            return ["half a file, or the old one lost"]
        if done.code == 0 and not is_new:
            return ["success, and the new output is not there"]
        if done.code == 2 and not is_old:
            return ["failure, after the output was replaced"]
        return []

    def _is(self, state: State, expected: State) -> bool:
        """Return whether outputs are these; extras may be missing, or the others, and are whole."""

        def below(one: State, paths: Sequence[str], *, inside: bool = True) -> State:
            return {key: value for key, value in one.items() if any(_below(key, path) for path in paths) == inside}

        extras = self.writer.extras
        found = [[below(one, [extra]) for one in (state, self.old, self.new)] for extra in extras]
        are_whole = all(not now or now in (old, new) for now, old, new in found)
        return are_whole and below(state, extras, inside=False) == below(expected, extras, inside=False)

    def _judge_next(self, *, left: bool) -> list[str]:
        """Return the problems of the next run, which finds what a failed one has left."""
        done = self.run(self.writer.again or self.writer.command)
        if done.code != 0:
            return [f"the next run fails: {done.text.strip()[-200:]!r}"]
        after = read_tree(self.place / "to")
        strays = [name for name in self._strays(after) if not (left and "graphrefine-" in name)]
        problems = [f"stray after the next run: {name}" for name in strays]
        state = self._read(after)
        if self.writer.same and not self._is(state, self.new):
            problems.append("the next run makes something else")
        return problems

    def _strays(self, after: Tree, *, failed: bool = False) -> list[str]:
        work = self.writer.work if failed else ()
        allowed = [*self.writer.outputs, *self.writer.extras, *work, *self.start]
        strays = {name for name in after if not any(_below(name, each) for each in allowed)}
        strays |= {name for name in after if _is_hidden(name) and not any(_below(name, each) for each in work)}
        return sorted({*strays, *(f"tmp/{name}" for name in read_tree(self.place / "tmp"))})

    def run(self, command: Sequence[str], fault: Fault | None = None) -> Ended:
        """Run a command in a child, and load the modules that it loaded, for the next one."""
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as modules, ours, theirs:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _run_child(self.writer, command, self.place, theirs, printed.fileno(), modules.fileno())
            theirs.close()
            _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)
            supervisor = Supervisor(child, listener, self.folders, fault)
            in_time = supervisor.watch(seconds=self.writer.seconds)
            os.close(listener)
            _, status = os.waitpid(child, 0)
            code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            printed.seek(0)
            text = printed.read().decode(errors="replace")
            modules.seek(0)
            if fault is None:
                _load(modules.read().decode().split())
        return Ended(code, text, supervisor.seen, supervisor.hit, in_time)


def _run_child(
    writer: Writer, command: Sequence[str], place: Path, channel: socket.socket, printed: int, modules: int
) -> NoReturn:
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout, sys.stderr = (os.fdopen(handle, "w", closefd=False) for handle in (1, 2))
        os.chdir(place)
        os.environ["TMPDIR"] = tempfile.tempdir = f"{place}/tmp"
        from graphrefine.cli.main import run

        if command not in writer.before:
            writer.patch()
        listener = filter.install()
        socket.send_fds(channel, [b"x"], [listener])
        code = run([word.replace("TO", f"{place}/to").replace("FROM", f"{place}/from") for word in command])
        atexit._run_exitfuncs()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(modules, "\n".join(sys.modules).encode())
        os._exit(code)


def _load(names: Sequence[str]) -> None:
    for name in names:
        if name not in sys.modules and not name.startswith(("__", "_pytest")):
            try:
                import_module(name)
            except Exception:  # a module that is no file, or that only another makes
                continue


def _removes(seen: Seen) -> bool:
    """Return whether a call is part of a removal; a hidden folder is opened for nothing else, to list what is in it."""
    opens = seen.call.name in ("open", "openat") and seen.paths[-1].endswith(".tmp")
    return opens or seen.call.name in ("unlink", "unlinkat", "rmdir")


def _is_hidden(name: str) -> bool:
    """Return whether a name is one of an unfinished file, which is a stray, and no part of an output."""
    return "graphrefine-" in name or name.endswith((".new", ".part"))


def _below(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}/")


def read_tree(folder: Path) -> Tree:
    """Return all files and folders below a folder."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def write_tree(folder: Path, tree: Tree) -> None:
    """Write files and folders as they were read."""
    for name, content in tree.items():
        if content is None:
            (folder / name).mkdir(parents=True, exist_ok=True)
        else:
            (folder / name).write_bytes(content)
