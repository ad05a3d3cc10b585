"""The store of finished work: one small file for each outcome, written at once, found again by all it depends on.

A name is a hash of the kind of work, of everything it was asked, and of the version of graphrefine. A file that was
damaged, or that holds something else than its name says, counts as absent: the work is done again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrefine import __version__
from graphrefine.errors import OutputError
from graphrefine.files import check_writable, replacing

Outcome = dict[str, Any]


def digest(value: Any) -> str:
    """A name for a value of JSON.

    Examples
    --------
    >>> digest({"b": 1, "a": [1, 2]}) == digest({"a": [1, 2], "b": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Finished:
    """An outcome, and how many seconds of work it stands for."""

    outcome: Outcome
    seconds: float


class Store:
    """Finished work in a folder.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.put("sum", {"of": [1, 2]}, Finished({"value": 3}, seconds=0.1))
    >>> store.get("sum", {"of": [1, 2]}).outcome
    {'value': 3}
    >>> store.get("sum", {"of": [1, 3]}) is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder, or say why it cannot be."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made a folder ({error.strerror}); choose another") from None
        check_writable(self.folder / "probe.json")

    def get(self, kind: str, asked: Mapping[str, Any]) -> Finished | None:
        """What was put in under this name; None where there is nothing, or nothing whole."""
        try:
            found = json.loads(self._path(kind, asked).read_text(encoding="utf-8"))
            whole = found["asked"] == _plain(self._key(kind, asked)) and found["check"] == digest(found["outcome"])
            return Finished(found["outcome"], float(found["seconds"])) if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, kind: str, asked: Mapping[str, Any], finished: Finished) -> None:
        """Keep an outcome: from now on it survives whatever happens to this process."""
        outcome = _plain(finished.outcome)
        content = {
            "asked": self._key(kind, asked),
            "outcome": outcome,
            "seconds": finished.seconds,
            "check": digest(outcome),
        }
        try:
            with replacing(self._path(kind, asked)) as hidden:
                hidden.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(
                f"{self.folder}: cannot keep what is finished ({error.strerror}); what was finished before is kept, "
                "and the same command goes on from there"
            ) from error

    def _path(self, kind: str, asked: Mapping[str, Any]) -> Path:
        return self.folder / f"{kind}-{digest(self._key(kind, asked))}.json"

    @staticmethod
    def _key(kind: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"kind": kind, "version": __version__, **asked}


def _plain(value: Any) -> Any:
    """The value as JSON gives it back: tuples are lists, NumPy's numbers Python's."""
    return json.loads(json.dumps(value, allow_nan=False, default=lambda number: number.item()))
