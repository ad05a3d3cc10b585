r"""Output at a terminal: a progress bar, tables, notes. Results go to stdout, all else to stderr.

Control characters are written as ``\x1b`` in text for people; JSON has its own form, and files of data keep names as
they are.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphrefine.errors import mask_address
from graphrefine.progress import Watcher

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Names of nodes and files come from strangers, and terminals obey the control characters in them: one could overwrite
# or hide what is next to it, set the title of the window, or turn the direction of a line. These are C0 except tab and
# line feed, DEL, C1; separators of lines; characters that turn the direction of what follows.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LINES = re.compile(f"{_CONTROLS.pattern}|[\t\n]")


class Bar:
    """A `graphrefine.progress.Watcher` that draws one line for each stage.

    A stage of one step has no measure of how far it is: its bar moves to and fro until the stage is over.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._stage, self._steps = "", 0

    def start(self, stage: str, steps: int) -> None:
        """See `graphrefine.progress.Watcher.start`."""
        if stage == self._stage and steps == self._steps:  # the same one, taken up again
            return
        self.finish()
        self._stage, self._steps = stage, steps
        self._task = self._progress.add_task(stage, total=steps if steps > 1 else None)

    def advance(self) -> None:
        """See `graphrefine.progress.Watcher.advance`."""
        if self._task is not None:
            self._progress.advance(self._task)

    def finish(self) -> None:
        """End the last stage."""
        if self._task is not None:
            steps = max(self._steps, 1)
            self._progress.update(self._task, total=steps, completed=steps)


@contextmanager
def open_progress(before: str = "", after: str = "") -> Iterator[Progress | None]:
    """Open a bar of rich on stderr, with texts before and after it, if that is a terminal; otherwise nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    texts = [[TextColumn(text)] if text else [] for text in (before, after)]
    columns = (*texts[0], BarColumn(), TimeElapsedColumn(), *texts[1])
    # stdout is for results alone: rich would otherwise print through the bar what goes there.
    console = Console(file=unwrap(sys.stderr))
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
        yield progress


@contextmanager
def progress_bar() -> Iterator[Watcher | None]:
    """Open a progress bar on stderr if that is a terminal; otherwise nothing."""
    with open_progress("{task.description:>10}") as progress:
        bar = None if progress is None else Bar(progress)
        yield bar
        if bar is not None:
            bar.finish()


def note(text: str) -> None:
    """Write a line to stderr, for the person and not for the pipe."""
    print(escape_controls(text), file=sys.stderr, flush=True)


def show_json(values: dict[str, Any]) -> None:
    """Print one JSON object on stdout and nothing else."""
    print(json_text(values))


def json_text(values: dict[str, Any]) -> str:
    """Encode values as JSON that any program reads: NumPy's numbers as Python's, no NaN."""
    return json.dumps(values, indent=2, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


def show_table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> None:
    """Print a table."""
    print(format_table(rows, left=left))


def format_table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> str:
    r"""Format rows of text, the first one being the names of the columns; these columns to the left, the others right.

    Examples
    --------
    >>> print(format_table([("node", "score"), ("a\x1b[31m\nb", "1")]))
    node          score
    a\x1b[31m\nb      1
    """
    rows = [[escape_controls(cell, lines=True) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = (cell.ljust(w) if column in left else cell.rjust(w) for column, (cell, w) in enumerate(cells))
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def seconds(value: float) -> str:
    """Format a duration as a person would say it.

    Examples
    --------
    >>> seconds(0.01234), seconds(3.21), seconds(200)
    ('12 ms', '3.2 s', '3 min 20 s')
    """
    if value < 1:
        return f"{value * 1000:.0f} ms"
    minutes, rest = divmod(round(value), 60)
    return f"{value:.1f} s" if value < 100 else f"{minutes} min {rest} s"


def escape_controls(text: str, *, lines: bool = False) -> str:
    r"""Write out the control characters of a text; with ``lines``, its line feeds and tabs too.

    Examples
    --------
    >>> print(escape_controls("\x1b[2J\u202eab\n"), end="")
    \x1b[2J\u202eab
    >>> print(escape_controls("a\nb", lines=True))
    a\nb
    """
    return (_LINES if lines else _CONTROLS).sub(lambda match: repr(match[0])[1:-1], text)


class StreamError(OSError):
    """Standard output that cannot be written."""


class PlainStream:
    """A text stream for a person: what is written to it is plain, and failures are a `StreamError` with its name.

    Without a name failures are ignored: a note that cannot be written does not end the work that it is about. Words
    among the secrets are replaced.
    """

    def __init__(self, stream: Any, name: str | None, secrets: Sequence[tuple[str, str]] = ()) -> None:
        self.stream, self._name, self._secrets = stream, name, secrets

    def write(self, text: str) -> int:
        """Write plain text."""
        for word, mask in self._secrets:
            text = text.replace(word, mask)
        with self._errors():
            self.stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        """Write them one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what has been held back."""
        with self._errors():
            self.stream.flush()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._name is not None:
                raise StreamError(error.errno, error.strerror or str(error), self._name) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def unwrap(stream: Any) -> Any:
    """Return the stream that takes control characters, for a program that draws."""
    return stream.stream if isinstance(stream, PlainStream) else stream


@contextmanager
def plain_streams(words: Sequence[str]) -> Iterator[None]:
    """Make standard output and standard error plain in a block, without the passwords in these words."""
    secrets = [(word, mask_address(word)) for word in words if mask_address(word) != word]
    secrets += [(json.dumps(word)[1:-1], json.dumps(mask)[1:-1]) for word, mask in secrets]
    before = sys.stdout, sys.stderr
    if sys.stdout is not None:
        sys.stdout = PlainStream(sys.stdout, "standard output", secrets)
    if sys.stderr is not None:
        sys.stderr = PlainStream(sys.stderr, None, secrets)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
