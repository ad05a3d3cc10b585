"""Run of the experiments: measurements that are not in the cache are made, and the report is written."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from graphrefine.datasets import DATASETS, Dataset
from graphrefine.display.report import check_report_folder, save_results, write_report
from reproduction.cache import Cache, Unfinished, prepare_folder
from reproduction.experiments import EXPERIMENTS, Experiment, estimate_seconds, select_experiments
from reproduction.findings import Findings
from reproduction.markdown import render_markdown
from reproduction.progress import show_progress
from reproduction.report import KIND, make_report, make_title, summarize
from reproduction.setup import OTHERS, Setup, Source

CELLS = "cells"  # folder of the cache in that of the report
LOADED_GRAPHS = 3  # graphs in memory at a time


@dataclass(frozen=True)
class Reproduction:
    """Results of a run."""

    results: dict[str, Any]  # as in results.json
    headlines: list[tuple[str, str, str]]  # name, verdict, reason


class Outlook(NamedTuple):
    """Work of an experiment: its number of measurements, how many are finished, and seconds for the rest."""

    measurements: int
    finished: int
    seconds_left: float


def reproduce(
    folder: str | os.PathLike[str], setup: Setup, *, only: Sequence[str] | None = None, progress: bool = False
) -> Reproduction:
    """Run experiments, and write the report.

    Parameters
    ----------
    folder
        Folder of the report: new, empty, or with an earlier version of the same report, whose measurements are reused.
    setup
        `full` or `quick`.
    only
        Names of experiments; the report also has others whose measurements are finished already.
    progress
        Whether to show the progress on stderr.
    """
    experiments, title = select_experiments(only), make_title(setup.name)
    check_report_folder(folder, kind=KIND, identity=title, keep=(CELLS,))
    if not (Path(folder) / "results.json").exists():  # it marks the folder as that of a report
        save_results(folder, {"experiments": {}}, kind=KIND, title=title, keep=(CELLS,))
    cells = Path(folder) / CELLS
    prepare_folder(cells)

    @lru_cache(maxsize=LOADED_GRAPHS)
    def load(source: Source) -> Dataset:
        return source.load(setup.threads)

    start = perf_counter()
    with show_progress(estimate_seconds(experiments, setup)) if progress else nullcontext() as display:
        cache = Cache(cells, load, display)
        studies = {}
        for experiment in experiments:
            studies[experiment.name] = (experiment, experiment.run(setup, cache))
            if display:
                display.finish_experiment(cache.seconds)
    studies |= _find_finished(setup, cells, [one for one in EXPERIMENTS if one.name not in studies])
    ordered = [studies[experiment.name] for experiment in EXPERIMENTS if experiment.name in studies]
    results = _collect_results(setup, ordered, cache, seconds=perf_counter() - start)
    report = make_report(ordered, setup_name=setup.name, preface=_write_preface(setup, cache))
    write_report(folder, report, results, keep=(CELLS,))
    facts = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))
    (cells / "report.md").write_text(render_markdown(report, facts), encoding="utf-8")
    return Reproduction(results, [(experiment.name, *summarize(findings)) for experiment, findings in ordered])


def survey(experiment: Experiment, setup: Setup, folder: str | os.PathLike[str] | None) -> Outlook:
    """Count the measurements of an experiment, and those of them that the report's folder has."""
    cache = Cache(Path(folder) / CELLS if folder else None)
    experiment.run(setup, cache)
    count = cache.reused + cache.planned
    usual = estimate_seconds([experiment], setup)[experiment.name]
    return Outlook(count, cache.reused, usual * cache.planned / max(1, count))


def _find_finished(
    setup: Setup, cells: Path, experiments: Sequence[Experiment]
) -> dict[str, tuple[Experiment, Findings]]:
    """Experiments all of whose measurements are there."""
    studies = {}
    for experiment in experiments:
        cache = Cache(cells, gaps=False)
        with suppress(Unfinished):
            findings = experiment.run(setup, cache)
            if cache.reused:
                studies[experiment.name] = (experiment, findings)
    return studies


def _collect_results(
    setup: Setup, studies: Sequence[tuple[Experiment, Findings]], cache: Cache, *, seconds: float
) -> dict[str, Any]:
    experiments: dict[str, Any] = {}
    for experiment, findings in studies:
        verdict = findings.verdict
        experiments[experiment.name] = {
            "title": experiment.title,
            "says": experiment.text,
            **({"verdict": verdict.word, "because": verdict.reason} if verdict else {}),
            "notes": list(findings.notes),
            "cells": [cell.to_dict() for cell in findings.cells],
        }
    work = {"computed": cache.computed, "reused": cache.reused, "failed": cache.failed}
    run = {"run": setup.name, "seed": setup.seed, "threads": setup.threads, "dim": setup.dim, "seconds": seconds}
    return {**run, "work": work, "experiments": experiments}


def _write_preface(setup: Setup, cache: Cache) -> str:
    work = f"{cache.computed} measurements were made for this report, {cache.reused} were there from earlier runs"
    failed = f", {cache.failed} failed" if cache.failed else ""
    graphs = [name for name in (*DATASETS, *OTHERS) if isinstance(setup.graphs.find_real(name), Source)]
    data = f"Real graphs: {', '.join(graphs)}." if graphs else "No real graph is here: all figures are of stand-ins."
    return (
        f"Our figures beside those of Zhu and Koniusz, 2021; a {setup.name} run, seed {setup.seed}, {setup.threads} "
        f"threads, k = {setup.dim}. {data} {work}{failed}."
    )
