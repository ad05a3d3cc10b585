"""What the text claims about time, and what we measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphrefine.paper import published, verdicts
from graphrefine.paper.cache import Outcome
from graphrefine.paper.findings import Findings
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap, Job
from graphrefine.paper.label_scores import Cell, gap_cell, guess_embedding, known
from graphrefine.paper.setup import Setup
from graphrefine.paper.tables import ask_runtimes
from graphrefine.paper.verdicts import Verdict

SVD_ITERATIONS = 5  # ProNE's
WALKERS = ("line", "deepwalk", "node2vec", "grarep", "hope")


def timing_graph(setup: Setup) -> str:
    """The graph on which times are compared."""
    return "blogcatalog" if setup.name == "full" else "ppi"


def ask_on_graph(setup: Setup, ask: Ask, kind: str, guess: float, **asked: Any) -> Outcome | Gap:
    """Ask for a timing on the graph for it."""
    source = setup.graphs.find(timing_graph(setup))
    if not isinstance(source, Source):
        return source
    shape = {"dim": setup.dim, "block": 16, "power": 3, "seed": setup.seed, "rounds": setup.rounds}
    found = ask(Job(kind, {"graph": source.asked, "machine": setup.machine, **shape, **asked}, guess))
    return found if isinstance(found, Gap) else {**found, "note": source.note, "graph": source.name}


def claim_faster_than_prone(setup: Setup, ask: Ask) -> Findings:
    """REFINE is 8 to 20 times faster than ProNE, with input and output, on one thread."""
    cells: list[Cell] = []
    ratios: dict[str, float] = {}
    for graph, theirs in published.TABLE5.items():
        found = ask_runtimes(setup, ask, graph)
        what, claimed = {"graph": graph, "ratio": "prone / refine"}, theirs["prone"] / theirs["refine"]
        gap = found if isinstance(found, Gap) else known("prone")
        if isinstance(found, Gap) or gap is not None:
            cells.append(gap_cell(what, gap, claimed, "x"))  # type: ignore[arg-type]
            continue
        ratios[graph] = found["seconds"]["prone"] / found["seconds"]["refine"]
        cells.append(Cell(what, ratios[graph], claimed, "x", "measured", found["note"], found["comparable"]))
    return Findings(cells, verdict=verdicts.between(ratios, 8, 20))


def claim_small_graphs(setup: Setup, ask: Ask) -> Findings:
    """REFINE takes at most 0.15 s on PPI and Wikipedia."""
    return _under(setup, ask, {("ppi", "refine"): 0.15, ("wikipedia", "refine"): 0.15})


def claim_million_nodes(setup: Setup, ask: Ask) -> Findings:
    """A million nodes (YouTube) in 30 s (abstract) or 40 s (Table 5), and 26 s without the filter, on one thread."""
    return _under(setup, ask, {("youtube", "refine"): 30.0, ("youtube", "rbqr"): 26.0})


def _under(setup: Setup, ask: Ask, limits: Mapping[tuple[str, str], float]) -> Findings:
    cells: list[Cell] = []
    parts: dict[str, Verdict] = {}
    for (graph, method), limit in limits.items():
        found, what = ask_runtimes(setup, ask, graph), {"graph": graph, "method": method}
        if isinstance(found, Gap):
            cells.append(gap_cell(what, found, limit, "s"))
            continue
        seconds, source = found["seconds"][method], setup.graphs.find(graph)
        cells.append(Cell(what, seconds, limit, "s", "measured", found["note"], found["comparable"]))
        whole = isinstance(source, Source) and source.scale == 1
        name = f"{method} on {graph}"
        fits = Verdict(verdicts.share([seconds <= limit]), f"{seconds:.2f} s; at most {limit:g} s is claimed")
        parts[name] = fits if whole else Verdict("not measured", f"{seconds:.2f} s on a smaller stand-in")
    return Findings(cells, verdict=verdicts.all_of(parts))


def claim_walks_slower(setup: Setup, ask: Ask) -> Findings:
    """ProNE on one thread is 10 to 400 times faster than LINE, DeepWalk, Node2Vec (and GraRep, HOPE) on all threads."""
    source = setup.graphs.find(timing_graph(setup))
    if not isinstance(source, Source):
        return Findings([gap_cell({"graph": timing_graph(setup)}, source)], verdict=verdicts.NOT_MEASURED)
    base = _seconds_of(setup, ask, source, "prone", threads=1)
    cells: list[Cell] = []
    ratios: dict[str, float] = {}
    for method in WALKERS:
        gap = known(method) or known("prone")
        found = gap or _seconds_of(setup, ask, source, method, threads=setup.threads)
        what = {"graph": source.name, "ratio": f"{method} / prone"}
        if isinstance(found, Gap) or isinstance(base, Gap):
            cells.append(gap_cell(what, found if isinstance(found, Gap) else base, None, "x"))  # type: ignore[arg-type]
            continue
        factor = _cut(setup, method)
        ratios[method] = found["best"][method] * factor / base["best"]["prone"]
        cut = f"measured with 1/{factor} of the work and multiplied" if factor > 1 else ""
        note = "; ".join(filter(None, (source.note, cut, f"{setup.threads} threads against one")))
        seconds = {"seconds": found["best"][method], "prone": base["best"]["prone"]}
        cells.append(Cell(what, ratios[method], None, "x", "measured", note, details=seconds))
    return Findings(cells, verdict=verdicts.between(ratios, 10, 400))


def _cut(setup: Setup, method: str) -> int:
    """How many times less work a shortened method does."""
    return setup.shorter if setup.shortened(method) else 1


def _seconds_of(setup: Setup, ask: Ask, source: Source, method: str, *, threads: int) -> Outcome | Gap:
    gap = known(method)
    if gap is not None:
        return gap
    settings = {"dim": setup.dim, "seed": setup.seed, **setup.shortened(method)}
    rounds = 1 if method in WALKERS else setup.rounds
    asked = {"graph": source.asked, "methods": [method], "settings": {method: settings}, "threads": threads}
    guess = rounds * guess_embedding(source, method)
    return ask(Job("time_embedding", {**asked, "rounds": rounds, "machine": setup.machine}, guess))


def claim_range_finder_faster(setup: Setup, ask: Ask) -> Findings:
    """RBQR is faster than a truncated SVD and than one QR of all columns; all in NumPy, on the same M, one thread."""
    rounds = max(1, setup.rounds // 2)  # the SVD of ARPACK takes its time
    found = ask_on_graph(setup, ask, "time_decompositions", 30.0, svd_iterations=SVD_ITERATIONS, rounds=rounds)
    if isinstance(found, Gap):
        return Findings([gap_cell({"graph": timing_graph(setup)}, found)], verdict=verdicts.NOT_MEASURED)
    cells = [
        Cell(
            {"graph": found["graph"], "way": way},
            seconds,
            None,
            "s",
            "measured",
            found["note"],
            details={"share of M found": found["share"][way]},
        )
        for way, seconds in found["best"].items()
    ]
    ratios = {way: seconds / found["best"]["rbqr"] for way, seconds in found["best"].items() if way != "rbqr"}
    return Findings(cells, verdict=faster_verdict(ratios))


def faster_verdict(ratios: Mapping[str, float]) -> Verdict:
    """What seconds of the others, in those of RBQR, say.

    Examples
    --------
    >>> faster_verdict({"truncated svd": 5.0, "unblocked qr": 0.9}).word
    'partly'
    """
    return verdicts.all_of(
        {f"faster than {way}": Verdict(verdicts.share([r >= 1]), f"{r:.2f}x") for way, r in ratios.items()}
    )


def claim_threads(setup: Setup, ask: Ask) -> Findings:
    """QR gains more from threads than SVD."""
    if setup.threads < 2:
        gap = Gap("left out", "one thread is all there is: nothing to compare")
        return Findings([gap_cell({"threads": 2}, gap)], verdict=verdicts.NOT_MEASURED)
    counts = [1, setup.threads]
    found = ask_on_graph(setup, ask, "time_threads", 30.0, threads=counts, svd_iterations=SVD_ITERATIONS)
    if isinstance(found, Gap):
        return Findings([gap_cell({"threads": setup.threads}, found)], verdict=verdicts.NOT_MEASURED)
    best = found["best"]
    names = dict.fromkeys(name.rsplit(", ", 1)[0] for name in best)
    gains = {name: best[f"{name}, 1"] / best[f"{name}, {setup.threads}"] for name in names}
    cells = [
        Cell({"graph": found["graph"], "task": name, "threads": setup.threads}, gain, None, "x", "measured",
             found["note"], details={"one": best[f"{name}, 1"], "several": best[f"{name}, {setup.threads}"]})
        for name, gain in gains.items()
    ]  # fmt: skip
    return Findings(cells, verdict=threads_verdict(gains))


def threads_verdict(gains: Mapping[str, float]) -> Verdict:
    """What gains by threads say.

    Examples
    --------
    >>> threads_verdict({"qr": 1.8, "svd": 1.2, "blocked qr": 1.0, "range finder": 1.0, "randomized svd": 1.3}).word
    'partly'
    """
    if max(gains.values()) < 1.1:
        return Verdict("not measured", f"nothing gained: is the machine busy? {verdicts.listed(gains, 'x', 2)}")
    pairs = {"qr": "svd", "blocked qr": "svd", "range finder": "randomized svd"}
    parts = {}
    for one, other in pairs.items():
        shown = f"{one} {gains[one]:.2f}x, {other} {gains[other]:.2f}x"
        word = verdicts.share([gains[one] > gains[other]])
        parts[f"{one} gains more than {other}"] = Verdict(word, shown)
    return verdicts.all_of(parts)
