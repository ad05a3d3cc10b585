"""Programs that a test starts beside itself, and ends; and waiting for what they do."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def start_process(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program until the end of the block; however that ends, the program is killed if it still runs."""
    with subprocess.Popen([str(word) for word in command], **options) as process:
        try:
            yield process
        finally:
            process.kill()


def eventually(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first true value of a condition; a failure if there is none in time."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.005)
    return value
