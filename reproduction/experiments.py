"""List of the experiments: every table, every figure and every claim of the paper that can be measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from graphrefine.errors import InputError, suggest
from reproduction import claims_quality, claims_theory, claims_time, published, tables, verdicts
from reproduction.cache import Cache
from reproduction.findings import Findings
from reproduction.setup import Setup


@dataclass(frozen=True)
class Experiment:
    """A table, a figure or a claim of the paper."""

    name: str  # for ``--only``
    title: str
    text: str  # the claim, quoted, and its place in the paper; the content of a table or figure
    run: Callable[[Setup, Cache], Findings] = field(repr=False)  # measures
    seconds: tuple[float, float] = (0.0, 0.0)  # of its own measurements, in a full run and in a quick one on two cores
    based_on: tuple[str, ...] = ()  # experiments whose measurements it uses


EXPERIMENTS = (
    Experiment("table1", "Table 1: F1 on BlogCatalog and PPI",
               "Micro and Macro F1 by method and share of nodes for training.",
               partial(tables.fill_f1_table, graphs=published.TABLE1_GRAPHS), seconds=(456, 8)),
    Experiment("table2", "Table 2: F1 on Wikipedia and Flickr",
               "Micro and Macro F1 by method and share of nodes for training.",
               partial(tables.fill_f1_table, graphs=published.TABLE2_GRAPHS), seconds=(249, 3)),
    Experiment("table3", "Table 3: the graphs",
               "Nodes, edges and labels.", tables.fill_table3, seconds=(2, 0.1)),
    Experiment("table4", "Table 4: fast methods",
               "Micro F1 with 80% for training.", tables.fill_table4, seconds=(211, 6)),
    Experiment("table5", "Table 5: runtime",
               "Seconds from file to file on one thread, REFINE against ProNE.", tables.fill_table5, seconds=(452, 3)),
    Experiment("figure1", "Figure 1: F1 against runtime",
               "On YouTube, 90% for training.", tables.draw_figure1, seconds=(1142, 9)),
    Experiment("figure2", "Figure 2: power iterations",
               "F1 on BlogCatalog for q = 1 to 4.", partial(tables.draw_variants, setting="power"), seconds=(177, 3)),
    Experiment("figure3", "Figure 3: block size",
               "F1 on BlogCatalog for b = 8 to 64.", partial(tables.draw_variants, setting="block"), seconds=(133, 2)),
    Experiment("faster-than-prone", "Claim: 8 to 20 times faster than ProNE",
               '"the single-threaded REFINE is about 8-20x faster than the ProNE" (Experiments; the abstract: 10x).',
               claims_time.check_faster_than_prone, based_on=("table5",)),
    Experiment("walks-slower", "Claim: ProNE is 10 to 400 times faster than walks",
               '"ProNE, which is 10-400x faster than the 16-threaded LINE, DeepWalk, and Node2Vec" (the abstract adds '
               "GraRep and Hope).", claims_time.check_walks_slower, seconds=(268, 9)),
    Experiment("small-graphs", "Claim: under 0.15 s on PPI and Wikipedia",
               '"for PPI and Wiki ..., REFINE requires less than 0.15 seconds" (Computational Efficiency).',
               partial(claims_time.check_limits, limits={("ppi", "refine"): 0.15, ("wikipedia", "refine"): 0.15}),
               based_on=("table5",)),
    Experiment("million-nodes", "Claim: a million nodes in 30 s on one thread",
               '"embedding on one million of nodes (YouTube) within 30 seconds in a single thread" (abstract; Table 5 '
               "has 40 s); RBQR alone 26 s.",
               partial(claims_time.check_limits, limits={("youtube", "refine"): 30.0, ("youtube", "rbqr"): 26.0}),
               based_on=("table5",)),
    Experiment("range-finder-faster", "Claim: RBQR is faster than truncated SVD and than one QR",
               '"a computationally more efficient than tSVD range finder" (Introduction); "blocked QR is faster if '
               'n/b >= 2" (Computational Complexity).', claims_time.check_range_finder_faster, seconds=(30, 3)),
    Experiment("threads", "Claim: QR gains more from threads than SVD",
               '"QR scales gracefully for multi-threading compared with SVD" (Computational Efficiency).',
               claims_time.check_threads, seconds=(30, 3)),
    Experiment("blocked-qr", "Claim: blocks make the QR cheaper, small ones most",
               '"the smaller the block size is, the lesser the computational cost is" (Parameter Analysis).',
               claims_time.check_blocked_qr, seconds=(8, 1)),
    Experiment("qr-share", "Claim: the QR takes less than 10% of the time",
               '"the QR decomposition may account for less than 10% of runtime of the whole algorithm" (Parameter '
               "Analysis).",
               partial(claims_time.check_share, stage="qr", rule=verdicts.at_most, claimed=10.0), seconds=(10, 0.4)),
    Experiment("random-share", "Claim: random numbers take at least 15% of the time",
               '"the random generation costs >= 15% of the total time" (Computational Efficiency).',
               partial(claims_time.check_share, stage="random", rule=verdicts.at_least, claimed=15.0),
               based_on=("qr-share",)),
    Experiment("complexity", "Claim: the complexity formulas",
               "(q+1) C_spmm |E| k + C_mm n k^2 + 2 C_qr n k b for Algorithm 1, 3 |E| k + 3 n k for Eq. 7 "
               "(Computational Complexity).", claims_time.check_complexity, seconds=(200, 25)),
    Experiment("theorem1", "Claim: Theorem 1",
               "The expected error of one product with a Gaussian sketch is below the bound.",
               claims_theory.check_theorem1, seconds=(20, 14)),
    Experiment("power-factor", "Claim: q products are within c'^(1/q) of the best",
               '"the power scheme yields an approximation error within c\'^(1/q) of the optimum" (Randomized Range '
               "Finder).", claims_theory.check_power_factor, based_on=("theorem1",)),
    Experiment("residual", "Claim: dropping the residual is harmless",
               '"Empirically, we found that removing this term does not influence the final performance" (of '
               "M - R C^T, Randomized Range Finder).", claims_quality.check_residual, seconds=(67, 2)),
    Experiment("order", "Claim: K = 2 is sufficient",
               '"We set K=2 for all datasets, as empirically we observe it is sufficient" (Spectral Graph Filter).',
               claims_quality.check_order, seconds=(78, 3)),
    Experiment("power", "Claim: more power iterations are better, and saturate at 3",
               '"q >= 2 significantly improves ... q=3 saturates, whereas q=4 does not offer any further significant '
               'gain" (Figure 2).', claims_quality.check_power, based_on=("figure2",)),
    Experiment("block", "Claim: the block size makes no difference",
               '"there are no significant differences between these variants" (Figure 3); "requires ... q b >= k" '
               "(Algorithm 1), which the defaults violate.", claims_quality.check_block, based_on=("figure3",)),
    Experiment("filter-helps", "Claim: REFINE beats RBQR by a large margin",
               '"REFINE also outperforms the initial RBQR by a large margin" (Performance).',
               claims_quality.check_filter_helps, based_on=("table1", "table2")),
    Experiment("beats-deepwalk", "Claim: 8% above DeepWalk on Wikipedia",
               '"outperforming DeepWalk by ~8% on Wikipedia" in Micro F1 (Performance).',
               claims_quality.check_beats_deepwalk, based_on=("table2",)),
    Experiment("beats-line", "Claim: above LINE in Macro F1 at 10% and 30%",
               '"outperforming LINE for training ratios of 10% and 30% on Macro-F1" on Wikipedia (Performance).',
               claims_quality.check_beats_line, based_on=("table2",)),
    Experiment("macro", "Claim: alike in Macro F1, DeepWalk ahead",
               '"REFINE, RBQR, LINE, and ProNE have all similar performance in Macro-F1 ... DeepWalk performs well" '
               "(Performance).", claims_quality.check_macro, based_on=("table1", "table2")),
    Experiment("fast-methods", "Claim: far above other fast methods",
               '"our method outperforms other methods significantly" (Table 4).',
               claims_quality.check_fast_methods, based_on=("table4",)),
    Experiment("youtube-best", "Claim: best and fastest on YouTube",
               '"REFINE enjoys the best Micro-F1 score and the best runtime", also Macro; "REFINE without spectral '
               'filtering outperforms ... DeepWalk" (Figure 1).',
               claims_quality.check_youtube_best, based_on=("figure1",)),
)  # fmt: skip

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}


def select_experiments(names: Sequence[str] | None) -> list[Experiment]:
    """Experiments with these names, in the order of the list; all if no names are given.

    Examples
    --------
    >>> [experiment.name for experiment in select_experiments(["figure2", "table3"])]
    ['table3', 'figure2']
    >>> select_experiments(["tabel1"])
    Traceback (most recent call last):
    graphrefine.errors.InputError: only='tabel1' is not known (did you mean 'table1'?); reproduce --list has the names
    """
    if not names:
        return list(EXPERIMENTS)
    for name in names:
        if name not in BY_NAME:
            near = suggest(name, BY_NAME)
            raise InputError(f"only={name!r} is not known{near}; reproduce --list has the names", argument="only")
    return [experiment for experiment in EXPERIMENTS if experiment.name in names]


def estimate_seconds(experiments: Sequence[Experiment], setup: Setup) -> dict[str, float]:
    """Usual duration of each experiment; measurements that several of them use count for the first.

    Examples
    --------
    >>> from reproduction.setup import quick
    >>> seconds = estimate_seconds(select_experiments(["figure2", "power"]), quick(threads=1, data=None))
    >>> seconds["figure2"] > seconds["power"] == 0
    True
    """
    counted: set[str] = set()
    seconds = {}
    for experiment in experiments:
        names = {experiment.name, *experiment.based_on} - counted
        seconds[experiment.name] = sum(BY_NAME[name].seconds[not setup.full] for name in names)
        counted |= names
    return seconds
