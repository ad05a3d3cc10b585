"""Each check and each hash of a run happens once, by the command and by Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import works
from graphrefine.embedding import fingerprint, formats
from graphrefine.embedding.formats import io

EDGES = [(f"n{node}", f"n{(node * 7 + 1) % 40}") for node in range(40)]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls by name; digests of arrays of vectors only."""
    counted: Counter[str] = Counter()

    def count(module: Any, name: str, which: Callable[..., bool] = lambda *_: True) -> None:
        original = getattr(module, name)

        def counting(*arguments: Any, **options: Any) -> Any:
            counted[name] += which(*arguments)
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    count(fingerprint, "digest_array", lambda array, dtype: np.ndim(array) == 2 and np.shape(array) == (40, 4))
    count(fingerprint, "digest_names")
    count(formats, "choose_format")
    count(io, "choose_format")
    count(formats, "check_writable")
    count(formats, "check_names")
    count(io, "check_names")
    count(formats.Format, "check_package")
    return counted


@pytest.mark.parametrize("name", ["out", "out.parquet"])
def test_the_command_checks_and_hashes_once(name: str, counts: Counter[str], tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"{first} {second}\n" for first, second in EDGES))
    works("embed", tmp_path / "edges.txt", "-o", tmp_path / name, "--dim", "4", "--json")
    # The names are hashed with the graph and with the embedding.
    once = ("digest_array", "choose_format", "check_writable", "check_names", "check_package")
    assert counts == {**dict.fromkeys(once, 1), "digest_names": 2}


def test_save_checks_and_hashes_once(counts: Counter[str], tmp_path: Path) -> None:
    embedding = graphrefine.embed(EDGES, dim=4)
    counts.clear()
    embedding.save(tmp_path / "out")
    once = ("digest_array", "digest_names", "choose_format", "check_names", "check_package")
    assert counts == dict.fromkeys(once, 1)
    counts.clear()
    graphrefine.load(tmp_path / "out")
    assert counts == dict.fromkeys(("digest_array", "digest_names", "choose_format", "check_package"), 1)
