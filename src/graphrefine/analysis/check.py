"""Checks of an embedding: is its file whole, would this machine make the same, is another one close enough to it.

The file is held to the checksum and the fingerprint that it was written with (`graphrefine.embedding.fingerprint`).
With a graph the recipe is run again, and the vectors are compared bit by bit. Against another embedding, the stats of
`graphrefine.measure_drift` are held to limits: a gate for releases.

A file that is damaged, or that holds nothing that a command could use, is a problem of the verdict. A path that is
missing, cannot be read, or is no file of an embedding is a mistake, and an error.
"""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from graphrefine.analysis.drift import SAMPLE, measure_drift
from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.fingerprint import GRAPH, NAME, Fingerprint, digest_graph
from graphrefine.embedding.formats import format_place, input_format, is_address
from graphrefine.embedding.formats.io import check_kind, load_data
from graphrefine.errors import FormatError, InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import SIDES
from graphrefine.kernels.numerics import NUMERICS_VERSION, compare_bits, version_of
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.embed_run import EmbedRun, Request
from graphrefine.pipeline.settings import RunSettings
from graphrefine.progress import Watcher
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read
from graphrefine.search.vectors import check_finite
from graphrefine.system.checks import check_number

PathLike = str | os.PathLike[str]
K = 10  # nearest nodes that are compared
BLOCK = 1 << 14  # rows compared at a time


@dataclass
class Verdict:
    """Result of `check`.

    Attributes
    ----------
    problems : list of str
        What is not as it should be; empty where all is well.
    notes : list of str
        What could not be checked.
    stats : dict
        All that was measured, as JSON can hold it.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and strings, for JSON."""
        return {"ok": self.ok, "problems": self.problems, "notes": self.notes, **self.stats}

    def __bool__(self) -> bool:
        return self.ok


def check(
    embedding: PathLike | Embedding,
    *,
    graph: Any = None,
    against: PathLike | Embedding | None = None,
    max_drift: float | None = None,
    min_neighbors: float | None = None,
    max_lost: float | None = None,
    expect: str | None = None,
    features: Any = None,
    reading: Mapping[str, Any] | None = None,
    k: int = K,
    sample: int | None = SAMPLE,
    seed: int = 0,
    format: str | None = None,
    table: str | None = None,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Verdict:
    """Check that an embedding is whole, can be made again, and is close to another one.

    Parameters
    ----------
    embedding : path, address or Embedding
        A file is read whole, and held to its checksum and its fingerprint.
    graph : optional
        Anything that `graphrefine.read` takes: the recipe is run again, and the bits are compared.
    against : path or Embedding, optional
        A newer embedding, of anybody's making, to be held to the limits.
    max_drift : float, optional
        Largest mean distance of the unit rows of shared nodes, after the best rotation: 0 to 2.
    min_neighbors : float, optional
        Smallest mean share of the k nearest nodes that a shared node keeps: 0 to 1. Of a directed or bipartite graph,
        also of the k targets with the highest scores that a source keeps.
    max_lost : float, optional
        Largest share of the nodes that are not in the newer embedding, or have zero vectors there: 0 to 1. Drift and
        neighbors are those of shared nodes, however few. Of a bipartite graph, each limit holds for each side.
    expect : str, optional
        The fingerprint that it must have, "grf1:...", or the 32 digits of one of its parts.
    features : optional
        Those that the vectors were made with, for `graph`; refused without one.
    reading : mapping, optional
        Options of `graphrefine.read` for `graph`. Unless they have one, the direction is that of the recipe.
    k, sample, seed
        See `graphrefine.measure_drift`; refused without `against`.
    format, table
        See `Embedding.load`.
    threads : int, optional
        One for each core if not given; no answer depends on it.
    watcher : Watcher, optional
        Receives the progress.

    Examples
    --------
    >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0, 1], [0.6, 0.8]])
    >>> moved = Embedding(["ada", "bob", "cy"], [[0.8, 0.6], [0, 1], [-0.6, 0.8]])
    >>> verdict = check(people, against=moved, max_drift=0.2, k=1)
    >>> verdict.ok, verdict.problems
    (False, ['mean drift 0.422 is above 0.2'])
    """
    limits = {"max_drift": max_drift, "min_neighbors": min_neighbors, "max_lost": max_lost}
    _check_limits(against, limits)
    if against is None and (k, sample, seed) != (K, SAMPLE, 0):
        text = "k=, sample= and seed= are for a comparison with another embedding; pass it as against="
        raise InputError(text, argument="against")
    options = {name: value for name, value in (reading or {}).items() if value is not None}
    if graph is None and (features is not None or ReadOptions(**options) != ReadOptions()):
        raise InputError(
            "features= and options of reading are for a run on a graph; pass it as graph=", argument="graph"
        )
    verdict = Verdict()
    whole = embedding if isinstance(embedding, Embedding) else _check_file(embedding, verdict, format, table)
    if against is None or isinstance(against, Embedding):
        other = against
    else:
        # Only its problems count. Its stats and notes would be taken for those of the embedding itself.
        second = Verdict()
        other = _check_file(against, second, format, None)
        verdict.problems += second.problems
    if whole is None:
        return verdict
    fingerprint = whole.fingerprint
    verdict.stats |= {"nodes": len(whole), "dim": whole.dim, "fingerprint": fingerprint.to_dict()}
    if expect is not None:
        _check_expected(expect, fingerprint, verdict)
    usable = _check_use(whole, "the embedding", verdict)
    if graph is not None:
        settings: dict[str, Any] = {"features": features, "threads": threads, "watcher": watcher}
        problem, verdict.stats["remade"] = remake(whole, graph, options=options, **settings)
        verdict.problems += [] if problem is None else [problem]
    if other is not None and _check_use(other, "the newer embedding", verdict) and usable:
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            drift = measure_drift(whole, other, k=k, sample=sample, seed=seed, threads=threads, watcher=watcher).stats
        verdict.notes += [str(warning.message) for warning in records]
        verdict.stats["drift"] = {**drift, **limits}
        verdict.problems += judge_drift(drift, **limits)
    return verdict


def judge_drift(
    drift: dict[str, Any], *, max_drift: float | None, min_neighbors: float | None, max_lost: float | None
) -> list[str]:
    """Return what is beyond the limits in the stats of `graphrefine.measure_drift`, of each side if there are two."""
    parts: list[tuple[str, dict[str, Any]]] = [("", drift)]
    if "sides" in drift:
        parts = [(f" of the {side} side", drift["sides"][side]) for side in SIDES if drift["sides"][side]["old_nodes"]]
    problems = []
    for part, stats in parts if max_drift is not None else []:
        moved = stats["moved"] and stats["moved"]["mean"]
        if moved is None:
            problems.append(f"no shared node{part} had a vector, so that no drift can be measured")
        elif moved > max_drift:
            problems.append(f"mean drift {moved:.3g}{part} is above {max_drift:g}")
    rankings = [(f"nearest nodes{part}", stats) for part, stats in parts if not part or stats["old_nodes"] > 1]
    if "targets" in drift:
        rankings.append(("nearest targets of a source", drift["targets"]))
    for words, stats in rankings if min_neighbors is not None else []:
        kept = stats["kept"]
        if kept is None:
            problems.append(f"no shared node had {words}, so that none can be compared")
        elif kept < min_neighbors:
            problems.append(f"{kept:.3g} of the {stats['k']} {words} are kept, fewer than {min_neighbors:g}")
    for part, stats in parts if max_lost is not None else []:
        lost, count = stats["lost"] + stats["vanished"], stats["old_nodes"]
        if lost > max_lost * count:
            zeros = f" ({stats['vanished']:,} have zero vectors)" if stats["vanished"] else ""
            share = lost / count
            problems.append(f"{lost:,} nodes of {count:,}{part} are lost{zeros}, {share:.3g}, above {max_lost:g}")
    return problems


def _check_limits(against: Any, limits: Mapping[str, float | None]) -> None:
    for name, value in limits.items():
        if value is None:
            continue
        check_number(name, value, least=0, most=2 if name == "max_drift" else 1)
        if against is None:
            raise InputError(f"{name}={value:g} is a limit for another embedding; pass it as against=", argument=name)
    if against is not None and all(value is None for value in limits.values()):
        raise InputError(f"against= needs a limit: {', '.join(limits)}", argument="against")


def _check_file(path: PathLike, verdict: Verdict, format: str | None, table: str | None) -> Embedding | None:
    """Hold a file to what it says of itself; None where it cannot be read."""
    file_format = input_format(path, format)
    verdict.stats |= {"embedding": format_place(path), "format": file_format.name, "whole": False, "stored": None}
    if not file_format.server:
        # Nothing there, or something else, is a mistake in the call and no damage.
        if not Path(path).exists():
            raise FormatError(path, "no such file or folder")
        check_kind(path, file_format)
        if file_format.folder and not any(Path(path, name).exists() for name in ("meta.json", "vectors.npy")):
            raise FormatError(path, "is a folder without meta.json and vectors.npy: not an embedding")
    try:
        # Not verified while it is loaded: a difference is a problem of the verdict, which names the part that differs.
        data = load_data(path, format=format, table=table, verify=False)
        embedding = Embedding.from_data(data)
        check_finite(embedding.vectors, embedding.names)  # mapped ones are not, so far
    except (FormatError, InputError) as error:
        if file_format.server:
            raise
        verdict.problems.append(_describe_damage(path, error))
        return None
    if not is_address(path):
        embedding.path = Path(path)
    stored = None if data.fingerprint is None else Fingerprint.parse(data.fingerprint)
    if data.fingerprint is None:
        verdict.stats["whole"] = None
        why = "another program wrote it" if file_format.state else f"the format {file_format.name} has none"
        verdict.notes.append(f"no fingerprint is stored ({why}): only an expected one can show whether it is whole")
    elif stored is None:
        verdict.problems.append(f"{format_place(path)}: its fingerprint is damaged")
    else:
        verdict.stats["stored"] = stored.to_dict()
        differing = ", ".join(stored.differences(embedding.fingerprint))
        verdict.stats["whole"] = not differing
        if differing:
            problem = f"other {differing} than it was written with: damaged, or changed since"
            verdict.problems.append(f"{format_place(path)}: {problem}")
    return embedding


def _describe_damage(path: PathLike, error: InputError) -> str:
    """Describe what is wrong with a file; raise the error again where it is about a path or an argument."""
    # A file that is missing in a folder (ENOENT) is damage: `_check_file` saw that the folder itself is there.
    cause = error.__cause__
    if error.argument is not None or (isinstance(cause, OSError) and cause.errno not in (None, errno.ENOENT)):
        raise error
    return str(error) if isinstance(error, FormatError) else f"{format_place(path)}: {error}"


def _check_use(embedding: Embedding, words: str, verdict: Verdict) -> bool:
    """Return whether an embedding has nodes, numbers and a name for each row; a problem of the verdict where not."""
    try:
        if not len(embedding):
            raise InputError("has no nodes")
        if not embedding.dim:
            raise InputError("has vectors of no numbers")
        embedding.lookup.check_distinct()
    except InputError as error:
        verdict.problems.append(f"{words if embedding.path is None else format_place(embedding.path)}: {error}")
        return False
    return True


def _check_expected(expect: str, fingerprint: Fingerprint, verdict: Verdict) -> None:
    known = {str(fingerprint), *filter(None, fingerprint._asdict().values())}
    digits = expect.removeprefix(NAME)
    if not re.fullmatch("[0-9a-f]{32}", digits):
        problem = f"expect={expect!r} is no fingerprint: {NAME} and 32 digits from 0 to f, or the digits of a part"
        raise InputError(problem, argument="expect")
    verdict.stats["expected"] = expect
    if expect not in known:
        verdict.problems.append(f"the fingerprint is {fingerprint}, and no part of it is {expect}, which is expected")


def remake(
    embedding: Embedding,
    graph: Any,
    *,
    options: dict[str, Any],
    features: Any,
    threads: int | None,
    watcher: Watcher | None,
) -> tuple[str | None, dict[str, Any]]:
    """Return why a graph has other vectors here than an embedding, None if it has the same; and stats."""
    recipe = embedding.recipe
    _check_origin(embedding, features)
    if isinstance(graph, Graph):
        whole = read(graph, **options) if options else graph
    else:
        whole = read(graph, **(options | _direction(embedding, options)), threads=threads)
    stats: dict[str, Any] = {"reading": whole.reading, "same_graph": None, "same_vectors": False}
    if GRAPH in recipe:
        stats["same_graph"] = digest_graph(whole) == recipe[GRAPH]
        if not stats["same_graph"]:
            then = f"then {recipe['reading']}; " if recipe.get("reading") else ""
            return f"the graph is not the one that the vectors were made from; {then}now {whole.reading}", stats
    version = version_of(recipe)
    if version is not None and version != NUMERICS_VERSION:
        ours = f"this graphrefine has version {NUMERICS_VERSION}"
        return f"the vectors are of numerics version {version!r}, and {ours}", stats
    again = _run(recipe, whole, features=features, threads=threads, watcher=watcher)
    stats |= _compare(embedding, again)
    if stats["same_vectors"]:
        return None, stats
    reason = compare_bits(recipe, again.recipe)
    why = f"; there and here: {reason}" if reason else "; nothing in the recipes tells why"
    if again.names.shape != embedding.names.shape or not np.array_equal(again.names, embedding.names):
        return f"the graph has other nodes than the embedding{why}", stats
    count, most = stats["differing_nodes"], stats["largest_difference"]
    return f"{count:,} of {len(again):,} vectors have other bits here, by {most:.2g} at most{why}", stats


def _check_origin(embedding: Embedding, features: Any) -> None:
    """Refuse vectors that a graph alone does not make again."""
    recipe, path = embedding.recipe, "" if embedding.path is None else f"{format_place(embedding.path)}: "
    derived = [name for name in ("aligned", "truncated") if name in recipe]
    if recipe.get("method") not in METHODS or derived:
        why = f"they were {derived[0]} afterwards" if derived else "no method is recorded"
        raise InputError(
            f"{path}a graph alone does not make these vectors ({why}); check the embedding that they come from",
            argument="graph",
        )
    if "features" in recipe and features is None:
        raise InputError(f"{path}the vectors were made with features; pass them as features=", argument="features")


def _direction(embedding: Embedding, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the direction of the recipe, unless the options have one."""
    if options.get("directed") is not None or options.get("bipartite"):
        return {}
    kind = embedding.sides.kind
    return {"bipartite": True} if kind == "rows" else {"directed": bool(embedding.recipe.get("directed"))}


def _run(
    recipe: dict[str, Any], graph: Graph, *, features: Any, threads: int | None, watcher: Watcher | None
) -> Embedding:
    method = find_method(recipe["method"])
    names = {each.name for each in fields(method.settings)}
    # JSON made lists of tuples, which settings are compared and hashed by.
    settings: dict[str, Any] = {name: value for name, value in recipe.items() if name in names}
    settings |= {name: tuple(value) for name, value in settings.items() if isinstance(value, list)}
    run = RunSettings(threads=threads, learn=False)
    request = Request(graph, make_settings(method.name, **settings), method=method, features=features, run=run)
    with EmbedRun(request) as again:
        again.read(watcher)
        again.make_plan()
        return again.embed()


def _compare(one: Embedding, other: Embedding) -> dict[str, Any]:
    if one.shape != other.shape or not np.array_equal(one.names, other.names):
        return {"same_vectors": False, "differing_nodes": None, "largest_difference": None}
    count, most = 0, 0.0
    for start in range(0, len(one), BLOCK):
        here, there = (np.ascontiguousarray(each.vectors[start : start + BLOCK]) for each in (one, other))
        # As integers: the bits decide, and -0.0 and 0.0 have other bits.
        differs = (here.view(np.uint32) != there.view(np.uint32)).any(axis=1)
        count += int(differs.sum())
        most = max(most, float(np.abs(here[differs] - there[differs]).max(initial=0.0)))
    return {"same_vectors": count == 0, "differing_nodes": count, "largest_difference": most}
