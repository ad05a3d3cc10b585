"""Results of a search: the best settings, and the trail that led there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any

import numpy as np

from graphrefine.display.table import Table, Tabular, table_of, text_html
from graphrefine.embedding.embedding import Embedding
from graphrefine.graph.graph import Graph
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.pipeline.settings import write_config
from graphrefine.refine.settings import RefineSettings


@dataclass(frozen=True)
class Trial:
    """Settings that were tried.

    Attributes
    ----------
    settings : RefineSettings
    changes : dict
        RefineSettings that differ from the default, with their values.
    scores : tuple of float
        One for each split; fewer for a trial that was given up.
    stopped : bool
        True if the trial was given up as hopeless before the last splits.
    leads : bool
        True if the trial was clearly better than all before it.
    seconds : float
        Time to make the vectors and to judge them.
    """

    settings: RefineSettings
    changes: dict[str, Any]
    scores: tuple[float, ...]
    stopped: bool
    leads: bool
    seconds: float

    @property
    def score(self) -> float:
        """Mean over the splits."""
        return float(np.mean(self.scores))

    @property
    def name(self) -> str:
        """The changes as text.

        Examples
        --------
        >>> Trial(RefineSettings(), {"filter": "heat", "scale": 4.0}, (50.0,), False, False, 0.1).name
        'filter=heat scale=4'
        """
        return " ".join(f"{name}={_text(value)}" for name, value in self.changes.items()) or "default"


@dataclass(frozen=True)
class Tuning(Tabular):
    """Result of `graphrefine.tune`; in a notebook it is the trail as a table.

    Attributes
    ----------
    best : RefineSettings
        The best settings, for `embed`; `save` writes them for ``graphrefine embed --config``.
    score, default_score : float
        Scores of the best settings and of the default, in the `measure`; both on the training part.
    trail : tuple of Trial
        All trials in their order; the first is the default.
    complete : bool
        True if the search ended by itself, False if the budget ended it.
    measure, protocol : str
        Name of the score, and the way it is measured.
    budget, seconds : float
        Time allowed and time spent.
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
        """The best settings that differ from the default."""
        return find_changes(self.best, self.trail[0].settings)

    def embed(self, graph: Graph, *, threads: int | None = None) -> Embedding:
        """Vectors of a graph by the best settings."""
        return embed_graph(graph, self.best, threads=threads)[0]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best settings, for ``graphrefine embed --config``."""
        write_config(path, "refine", self.best)

    def table(self) -> Table:
        """A row for each trial: settings, score, gain over the default on the same splits, time, outcome."""
        rows = [
            {"trial": number, "settings": trial.name, "score": trial.score, "gain": self._gain(trial),
             "splits": len(trial.scores), "seconds": trial.seconds, "outcome": self._outcome(trial)}
            for number, trial in enumerate(self.trail, 1)
        ]  # fmt: skip
        return table_of(rows, {"measure": self.measure, "score": self.score, "default_score": self.default_score})

    def text_rows(self) -> list[list[str]]:
        """The trail as rows of text, the column titles first."""
        rows = [["trial", "settings", self.measure, "gain", "splits", "time", ""]]
        digits = 2 if self.default_score > 1 else 4
        for number, trial in enumerate(self.trail, 1):
            score = "" if trial.stopped else f"{trial.score:.{digits}f}"  # a mean of fewer splits is no match
            gain = f"{self._gain(trial):+.{digits}f}" if trial.changes else ""
            cells = [str(number), trial.name, score, gain, str(len(trial.scores))]
            rows.append([*cells, f"{trial.seconds:.2f} s", self._outcome(trial)])
        return rows

    def _gain(self, trial: Trial) -> float:
        return trial.score - float(np.mean(self.trail[0].scores[: len(trial.scores)]))

    def _outcome(self, trial: Trial) -> str:
        return "best" if trial.settings == self.best else "given up" if trial.stopped else ""

    def _repr_html_(self) -> str:
        """The trail in a notebook."""
        digits = 2 if self.default_score > 1 else 4
        best = " ".join(f"{name}={_text(value)}" for name, value in self.changes.items()) or "the default"
        line = f"{self.measure}: {self.score:.{digits}f} by {best}; {self.default_score:.{digits}f} by the default"
        return text_html(self.text_rows(), f"{len(self.trail)} settings tried", [line, self.protocol])

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        trail = [
            {"changes": trial.changes, "score": trial.score, "scores": list(trial.scores),
             "stopped": trial.stopped, "leads": trial.leads, "seconds": trial.seconds}
            for trial in self.trail
        ]  # fmt: skip
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("best", "trail")}
        return {"best": asdict(self.best), "changes": self.changes, **plain, "trail": trail}


def find_changes(settings: RefineSettings, default: RefineSettings) -> dict[str, Any]:
    """The settings that differ from a default.

    Examples
    --------
    >>> find_changes(RefineSettings(dim=64), RefineSettings())
    {'dim': 64}
    """
    before = asdict(default)
    return {name: value for name, value in asdict(settings).items() if value != before[name]}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ",".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)
