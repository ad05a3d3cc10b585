"""Rules that turn figures into the verdict on a claim. Nothing here measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Word = Literal["holds", "partly", "does not hold", "not measured"]


class Verdict(NamedTuple):
    """A word, and the figures that it rests on."""

    word: Word
    reason: str


NOT_MEASURED = Verdict(
    "not measured",
    "no figure that it could rest on: only F1 on real graphs, with nothing shortened, counts; see the cells",
)


def at_least(figures: Mapping[str, float], least: float, *, unit: str = "x", digits: int = 1) -> Verdict:
    """Holds if every figure is at least the smallest allowed; partly if some are.

    Examples
    --------
    >>> at_least({"ppi": 12.0, "wiki": 9.0}, 10)
    Verdict(word='partly', reason='ppi 12.0x, wiki 9.0x; at least 10x is claimed')
    """
    reason = f"{list_figures(figures, unit, digits)}; at least {least:g}{unit} is claimed"
    return Verdict(judge(figure >= least for figure in figures.values()), reason) if figures else NOT_MEASURED


def at_most(figures: Mapping[str, float], most: float, *, unit: str = "x", digits: int = 1) -> Verdict:
    """Holds if every figure is at most the largest allowed; partly if some are.

    Examples
    --------
    >>> at_most({"ppi": 0.05, "wiki": 0.09}, 0.1, unit="", digits=2).word
    'holds'
    """
    reason = f"{list_figures(figures, unit, digits)}; at most {most:g}{unit} is claimed"
    return Verdict(judge(figure <= most for figure in figures.values()), reason) if figures else NOT_MEASURED


def between(figures: Mapping[str, float], low: float, high: float, *, unit: str = "x") -> Verdict:
    """Holds if every figure lies between; partly if some do.

    Examples
    --------
    >>> between({"line": 30.0, "deepwalk": 900.0}, 10, 400).word
    'partly'
    """
    reason = f"{list_figures(figures, unit, 1)}; {low:g} to {high:g}{unit} is claimed"
    return Verdict(judge(low <= f <= high for f in figures.values()), reason) if figures else NOT_MEASURED


def near(figures: Mapping[str, float], claimed: Mapping[str, float], *, within: float) -> Verdict:
    """Holds if every figure is that near to the claimed one; partly if some are.

    Examples
    --------
    >>> near({"n": 1.02}, {"n": 1.0}, within=0.15)
    Verdict(word='holds', reason='n 1.02 (claimed 1)')
    """
    if not figures:
        return NOT_MEASURED
    reason = ", ".join(f"{name} {figure:.2f} (claimed {claimed[name]:g})" for name, figure in figures.items())
    return Verdict(judge(abs(figure - claimed[name]) <= within for name, figure in figures.items()), reason)


def harmless(losses: Mapping[str, float], *, within: float, label: str = "lost") -> Verdict:
    """Holds if every loss is at most the noise; partly if some are.

    Examples
    --------
    >>> harmless({"ppi": 0.1, "wiki": -0.2}, within=0.3).word, harmless({"ppi": 2.0}, within=0.3).word
    ('holds', 'does not hold')
    """
    reason = f"{label}: {list_figures(losses, '', 2, sign=True)}; up to {within:g} F1 counts as noise"
    return Verdict(judge(loss <= within for loss in losses.values()), reason) if losses else NOT_MEASURED


def everywhere(losses: Mapping[str, float], *, noise: float, margin: float, label: str) -> Verdict:
    """Verdict on a claim about all graphs: one loss above the margin refutes it; one above the noise weakens it.

    Examples
    --------
    >>> everywhere({"ppi": 0.1, "pubmed": 5.0}, noise=0.5, margin=1.0, label="lost").word
    'does not hold'
    """
    if not losses:
        return NOT_MEASURED
    worst = max(losses.values())
    word: Word = "holds" if worst <= noise else "partly" if worst <= margin else "does not hold"
    return Verdict(word, f"{label}: {list_figures(losses, '', 2, sign=True)}; up to {noise:g} F1 counts as noise")


def rising(steps: Mapping[str, Sequence[float]], *, noise: float) -> Verdict:
    """Holds if every series goes up, or stays within the noise, at every step; partly if some do.

    Examples
    --------
    >>> rising({"ppi": [10.0, 12.0, 11.9]}, noise=0.3).word, rising({"ppi": [10.0, 9.0]}, noise=0.3).word
    ('holds', 'does not hold')
    """
    if not steps:
        return NOT_MEASURED
    reason = "; ".join(f"{name}: {', '.join(f'{value:.2f}' for value in series)}" for name, series in steps.items())
    ups = (all(b - a >= -noise for a, b in pairwise(s)) for s in steps.values())
    return Verdict(judge(ups), reason)


def all_of(parts: Mapping[str, Verdict]) -> Verdict:
    """Holds if all parts that were measured hold; does not hold if none does; partly otherwise.

    Examples
    --------
    >>> all_of({"time": Verdict("holds", "2x"), "error": Verdict("does not hold", "3 > 2")})
    Verdict(word='partly', reason='time: holds (2x); error: does not hold (3 > 2)')
    """
    words = {part.word for part in parts.values()} - {"not measured"}
    word: Word = "not measured" if not words else words.pop() if len(words) == 1 else "partly"
    return Verdict(word, "; ".join(f"{name}: {part.word} ({part.reason})" for name, part in parts.items()))


def judge(truths: Iterable[bool]) -> Word:
    """The word for all, some or none being true."""
    values = list(truths)
    return "not measured" if not values else "holds" if all(values) else "partly" if any(values) else "does not hold"


def list_figures(figures: Mapping[str, float], unit: str, digits: int, *, sign: bool = False) -> str:
    """Names and figures in one line."""
    return ", ".join(f"{name} {figure:{'+' if sign else ''}.{digits}f}{unit}" for name, figure in figures.items())
