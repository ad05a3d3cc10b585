"""The paper reproduced: `reproduce` runs its experiments, and sets our figures beside the paper's.

Tables 1 to 5, Figures 1 to 3, and every claim of the text that can be measured. What is finished is kept in ``cells/``
in the report's folder; a second run takes it from there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine.datasets import DATASETS
from graphrefine.paper.cache import Store
from graphrefine.paper.experiments import EXPERIMENTS, chosen
from graphrefine.paper.findings import Experiment, Findings
from graphrefine.paper.graphs import OTHERS, Source
from graphrefine.paper.jobs import Job, Planning, Reading
from graphrefine.paper.loaded_graphs import Bench
from graphrefine.paper.report import KIND, as_report, headline, title_of
from graphrefine.paper.runner import Runner, Teller
from graphrefine.paper.setup import Setup, full, quick
from graphrefine.reports import check_report_folder, save_results, write_report

__all__ = ["EXPERIMENTS", "Reproduction", "full", "plan", "quick", "reproduce"]

CELLS = "cells"


@dataclass(frozen=True)
class Reproduction:
    """What a run found."""

    results: dict[str, Any]  # as in results.json
    headlines: list[tuple[str, str, str]]  # name, verdict, because


def plan(experiment: Experiment, setup: Setup) -> list[Job]:
    """The work that an experiment needs."""
    planning = Planning()
    experiment.find(setup, planning)
    return planning.jobs


def reproduce(
    folder: str | os.PathLike[str],
    setup: Setup,
    *,
    only: Sequence[str] | None = None,
    teller: Teller | None = None,
) -> Reproduction:
    """Run experiments, and write the report.

    Parameters
    ----------
    folder
        For the report: new, empty, or with an earlier version of the same one, whose finished cells are reused.
    setup
        `full` or `quick`.
    only
        Names of experiments; the report also has others whose cells are finished already.
    teller
        Who is told how far it is.
    """
    wanted, title = chosen(only), title_of(setup.name)
    check_report_folder(folder, kind=KIND, identity=title, beside=(CELLS,))
    save = {"kind": KIND, "title": title, "beside": (CELLS,)}
    if not (Path(folder) / "results.json").exists():
        save_results(folder, {"experiments": {}}, **save)  # type: ignore[arg-type]  # what tells the folder as ours
    store = Store(Path(folder) / CELLS)
    store.prepare()
    runner = Runner(Bench(setup.graphs, setup.threads), store, teller)
    start = perf_counter()
    plans = {experiment.name: plan(experiment, setup) for experiment in wanted}
    jobs = {job.key: job for planned in plans.values() for job in planned}
    runner.run(runner.reuse(list(jobs.values())))
    found = {e.name: (e, e.find(setup, Reading(runner.results))) for e in wanted}
    found |= _finished_before(setup, store, found)
    ordered = {e.name: found[e.name] for e in EXPERIMENTS if e.name in found}
    results = _results(setup, ordered, runner, seconds=perf_counter() - start)
    report = as_report(ordered, setup_name=setup.name, preface=_preface(setup, runner))
    write_report(folder, report, results, beside=(CELLS,))
    return Reproduction(results, [(name, *headline(findings)) for name, (_, findings) in ordered.items()])


def _finished_before(setup: Setup, store: Store, but: Any) -> dict[str, tuple[Experiment, Findings]]:
    """Experiments that were not asked for now, and whose work is all there."""
    found = {}
    for experiment in EXPERIMENTS:
        if experiment.name in but:
            continue
        jobs = plan(experiment, setup)
        earlier = Runner(Bench(setup.graphs, setup.threads), store)
        if jobs and not earlier.reuse(jobs):
            found[experiment.name] = (experiment, experiment.find(setup, Reading(earlier.results)))
    return found


def _results(
    setup: Setup, found: dict[str, tuple[Experiment, Findings]], runner: Runner, *, seconds: float
) -> dict[str, Any]:
    experiments: dict[str, Any] = {}
    for name, (experiment, findings) in found.items():
        verdict = findings.verdict._asdict() if findings.verdict else None
        experiments[name] = {
            "title": experiment.title,
            "says": experiment.says,
            **({"verdict": verdict["word"], "because": verdict["because"]} if verdict else {}),
            "notes": list(findings.notes),
            "cells": [cell.to_dict() for cell in findings.cells],
        }
    work = {"computed": runner.computed, "reused": runner.reused, "failed": runner.failed}
    run = {"run": setup.name, "seed": setup.seed, "threads": setup.threads, "dim": setup.dim, "seconds": seconds}
    return {**run, "work": work, "experiments": experiments}


def _preface(setup: Setup, runner: Runner) -> str:
    work = f"{runner.computed} outcomes were computed for this report, {runner.reused} were there from earlier runs"
    failed = f", {runner.failed} failed" if runner.failed else ""
    here = [name for name in (*DATASETS, *OTHERS) if isinstance(setup.graphs.real(name), Source)]
    data = f"Real graphs: {', '.join(here)}." if here else "No real graph was found: all figures are of stand-ins."
    return (
        f"Our figures beside those of Zhu and Koniusz, 2021; a {setup.name} run, seed {setup.seed}, {setup.threads} "
        f"threads, k = {setup.dim}. {data} {work}{failed}."
    )
