"""Rankings: the nodes that answer one question, or many, the best first; lists that are tables too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphrefine.display.table import Table, Tabular


class Neighbor(NamedTuple):
    """A node near another, and the score of the two."""

    node: Any
    score: float


class Recommendation(Neighbor):
    """A target for a source, and the score of the two."""


A = TypeVar("A", bound=Neighbor)


class Ranking(Tabular, list[A]):
    """The nodes that answer one question, with their scores, the best first: a list, and a table by `table`.

    Examples
    --------
    >>> near = Ranking([Neighbor("bob", 0.5), Neighbor("cy", 0.25)])
    >>> near[0], near == [("bob", 0.5), ("cy", 0.25)]
    (Neighbor(node='bob', score=0.5), True)
    >>> near.table()
    node  score
    bob     0.5
    cy     0.25
    """

    def table(self) -> Table:
        """Return a table with the columns ``node`` and ``score``."""
        scores = np.array([answer.score for answer in self], np.float64)
        return Table({"node": [answer.node for answer in self], "score": scores})


class Rankings(Tabular, list[Ranking[A]]):
    """The answers to questions (names, or rows of vectors): a list of lists, and one table with these ``columns``.

    Examples
    --------
    >>> lists = [Ranking([Neighbor("bob", 0.5), Neighbor("cy", 0.25)]), Ranking([])]
    >>> rankings = Rankings(lists, ["ann", "dan"], ("node", "neighbor"))
    >>> rankings == lists, rankings.questions
    (True, ['ann', 'dan'])
    >>> rankings.table()
    node  neighbor  rank  score
    ann   bob          1    0.5
    ann   cy           2   0.25
    """

    def __init__(
        self, rankings: Iterable[Ranking[A]] = (), questions: Sequence[Any] = (), columns: tuple[str, str] = ("", "")
    ) -> None:
        super().__init__(rankings)
        self.questions, self.columns = list(questions), columns

    def table(self) -> Table:
        """Return a table of question, answer, rank (from 1) and score; a question without answers has no row."""
        if len(self.questions) != len(self):  # the list was changed
            raise ValueError(f"{len(self)} lists do not fit {len(self.questions)} questions; ask again, or take parts")
        rows = [
            (question, answer.node, rank, answer.score)
            for question, ranking in zip(self.questions, self, strict=True)
            for rank, answer in enumerate(ranking, 1)
        ]
        questions, answers, ranks, scores = zip(*rows, strict=True) if rows else ((), (), (), ())
        numbers = {"rank": np.array(ranks, np.int64), "score": np.array(scores, np.float64)}
        return Table({self.columns[0]: questions, self.columns[1]: answers, **numbers})
