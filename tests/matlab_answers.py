"""MATLAB files answered in the process of the test: starting another for each of hundreds of files takes minutes."""

from __future__ import annotations

from typing import IO

import pytest

from graphrefine.readers import matlab_child, matlab_process


def answer_here(patch: pytest.MonkeyPatch) -> None:
    """Let the code of the other process run in this one."""

    def run(file: IO[bytes], answer: IO[bytes], variable: str, seconds: float) -> None:
        matlab_child.answer(file, answer, variable)

    patch.setattr(matlab_process, "_run", run)
