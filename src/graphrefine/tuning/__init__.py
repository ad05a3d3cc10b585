"""The best settings for a graph, found by trying: `tune`.

>>> from graphrefine.tuning import seconds_of
>>> seconds_of("1m30s")
90.0
"""

from __future__ import annotations

from graphrefine.tuning.clock import seconds_of
from graphrefine.tuning.results import Trial, Tuning
from graphrefine.tuning.search import tune

__all__ = ["Trial", "Tuning", "seconds_of", "tune"]
