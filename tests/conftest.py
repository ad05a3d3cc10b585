"""Fixtures that several test modules share, and the time that a test may take."""

from __future__ import annotations

import signal

import hypothesis
import pytest

SLOW = 1800  # seconds for a test that is marked slow

hypothesis.settings.register_profile("quick", max_examples=15, deadline=None)  # of `make quick`
hypothesis.settings.register_profile("patient", deadline=None)  # a test says nothing about the speed of a busy machine
hypothesis.settings.load_profile("patient")


def pytest_configure() -> None:
    """Let the programs that tests start be interrupted, though this one runs in the background (``make test &``).

    There SIGINT is ignored, which children inherit; a function that does nothing is as deaf, and not inherited.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests more time; that of the others stands in pyproject.toml."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW))
