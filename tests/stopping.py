"""Runs of the block engine that end too early."""

from __future__ import annotations

from typing import Any

from graphrefine.engine.blocks import BlockEngine


class StoppedError(Exception):
    """The power went."""


def stop_after(engine: BlockEngine, count: int) -> BlockEngine:
    """Let so many tasks be done, and no more."""
    run, left = engine.executor.run, [count]

    def stopping(tasks: Any) -> Any:
        for found in run(tasks):
            if left[0] == 0:
                raise StoppedError
            left[0] -= 1
            yield found

    engine.executor.run = stopping  # type: ignore[method-assign]
    return engine
