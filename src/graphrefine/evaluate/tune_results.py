"""What a search returns: the best settings, and the trail that led there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from graphrefine.refine.settings import RefineSettings
from graphrefine.run.settings import write_config

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.graph.graph import Graph


@dataclass(frozen=True)
class Trial:
    """Settings that were tried.

    Attributes
    ----------
    settings : Settings
    changes : dict
        Those that differ from the default, with their values.
    scores : tuple of float
        One for each split that it was judged on: fewer than there are where it was given up.
    stopped : bool
        Whether it was given up as hopeless after some of the splits.
    leads : bool
        Whether it was clearly better than all before it.
    seconds : float
        To make the vectors and to judge them.
    """

    settings: RefineSettings
    changes: dict[str, Any]
    scores: tuple[float, ...]
    stopped: bool
    leads: bool
    seconds: float

    @property
    def score(self) -> float:
        """Mean over its splits."""
        return float(np.mean(self.scores))

    @property
    def name(self) -> str:
        """The changes in words.

        Examples
        --------
        >>> Trial(Settings(), {"filter": "heat", "scale": 4.0}, (50.0,), False, False, 0.1).name
        'filter=heat scale=4'
        """
        return " ".join(f"{name}={_shown(value)}" for name, value in self.changes.items()) or "default"


@dataclass(frozen=True)
class Tuning:
    """What `graphrefine.tune` found.

    Attributes
    ----------
    best : Settings
        For ``graphrefine.run.embed.embed_graph``, or `embed`, or a file for ``graphrefine embed
        --config``: `save`.
    score, default_score : float
        Of the best settings and of the default, in the `measure`; both on the training part.
    trail : tuple of Trial
        In the order in which they were tried; the first is the default.
    complete : bool
        Whether the search ended by itself, and not because the budget did.
    measure, protocol : str
        What was measured, and how.
    budget, seconds : float
        Allowed and spent.
    """

    best: RefineSettings
    score: float
    default_score: float
    trail: tuple[Trial, ...]
    complete: bool
    measure: str
    protocol: str
    budget: float
    seconds: float

    @property
    def changes(self) -> dict[str, Any]:
        """The best settings where they differ from the default."""
        return changes(self.best, self.trail[0].settings)

    def embed(self, graph: Graph, *, threads: int | None = None) -> Embedding:
        """Vectors of a graph by the best settings."""
        from graphrefine.run.embed import embed_graph

        return embed_graph(graph, self.best, threads=threads)[0]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best settings, for ``graphrefine embed --config``."""
        write_config(path, "refine", self.best)

    def table(self) -> list[list[str]]:
        """The trail as rows of text, the first being the names of the columns."""
        rows = [["trial", "settings", self.measure, "gain", "splits", "time", ""]]
        digits = 2 if self.default_score > 1 else 4
        for number, trial in enumerate(self.trail, 1):
            gain = trial.score - float(np.mean(self.trail[0].scores[: len(trial.scores)]))
            score = "" if trial.stopped else f"{trial.score:.{digits}f}"  # a mean of fewer splits is no match
            mark = "best" if trial.settings == self.best else "given up" if trial.stopped else ""
            cells = [str(number), trial.name, score, f"{gain:+.{digits}f}" if trial.changes else ""]
            rows.append([*cells, str(len(trial.scores)), f"{trial.seconds:.2f} s", mark])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        trail = [
            {"changes": trial.changes, "score": trial.score, "scores": list(trial.scores),
             "stopped": trial.stopped, "leads": trial.leads, "seconds": trial.seconds}
            for trial in self.trail
        ]  # fmt: skip
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("best", "trail")}
        return {"best": asdict(self.best), "changes": self.changes, **plain, "trail": trail}


def changes(settings: RefineSettings, default: RefineSettings) -> dict[str, Any]:
    """The settings that differ from another's.

    Examples
    --------
    >>> changes(Settings(dim=64), Settings())
    {'dim': 64}
    """
    before = asdict(default)
    return {name: value for name, value in asdict(settings).items() if value != before[name]}


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ",".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)
