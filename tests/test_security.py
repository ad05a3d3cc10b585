"""SECURITY.md says what is so: its numbers are those of the code, and what it says is closed is closed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphrefine.errors import InputError
from graphrefine.pipeline.settings import MOST_BYTES, RunSettings

PAGE = " ".join((Path(__file__).resolve().parents[1] / "SECURITY.md").read_text(encoding="utf-8").split())


def test_the_limits_of_the_api() -> None:
    from graphrefine.explore import app, request_params
    from graphrefine.explore.server import SETTINGS

    stated = (
        f"{request_params.BODY >> 20} MB and {app.BODY_SECONDS:g} s for a body, {SETTINGS['limit_concurrency']} "
        f"connections at once, {SETTINGS['timeout_keep_alive']} s between two requests of one, {request_params.K:,} "
        f"neighbors, {request_params.BATCH:,} items of a batch, {request_params.ROWS:,} rows of a list"
    )
    assert stated in PAGE


def test_what_is_closed_by_default_and_where_servers_listen() -> None:
    assert "`--scheduler tcp://...` is **refused** unless you add `--trusted-network`" in PAGE
    with pytest.raises(InputError, match="trusted_network=True"):
        RunSettings(executor="dask", scheduler="tcp://head:8786")
    assert RunSettings(executor="dask", scheduler="tcp://head:8786", trusted_network=True).new_workers is None
    assert f"{MOST_BYTES >> 20} MB at most for settings" in PAGE
    assert "refused unless you say `unverified=True`" in PAGE
    from graphrefine.datasets import DATASETS

    assert [entry.title for entry in DATASETS.values() if entry.sha256 is None] == ["Flickr", "YouTube"]
    from graphrefine.cli.commands import cli

    live = cli.commands["live"]
    commands = (cli.commands["explore"], live.commands["serve"])  # type: ignore[attr-defined]
    hosts = [each.default for command in commands for each in command.params if each.name == "host"]
    assert hosts == ["127.0.0.1", "127.0.0.1"]
    assert re.search(r"on 127\.0\.0\.1 alone, unless you name another address", PAGE)
