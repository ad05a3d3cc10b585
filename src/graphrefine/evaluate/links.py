"""Link prediction: edges that are held out, found by vectors of the rest of the graph.

A random part of the edges is held out, the vectors are made from the rest, and pairs of nodes are scored
(`link_scores`). Two protocols:

* **A.** The held-out edges against as many pairs that are no edges: AUC and average precision (`judges.LinkJudge`).
* **B.** Each held-out edge against corruptions: one of its ends, drawn at random, is replaced by each of 1,000 random
  nodes, and pairs that are edges of the whole graph do not count. Mean rank, mean of 1/rank, hits.

Pairs without an edge are mostly pairs of nodes with few edges, so d_u d_v alone scores high in both. It is always part
of the result: the value of vectors is their gain over it.

In a **directed** graph arcs are held out, pairs are ordered, and scores are ``source_u . target_v``. Half of the pairs
without an arc (``turned``) are held-out arcs the other way round, as far as those are no arcs: a score that is the same
for u -> v and v -> u gets half of them wrong. In protocol B the target is replaced, as it is in a **bipartite** graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.scores import Pairs, PairScore
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import HeldOut, hold_out, order_by_name
from graphrefine.evaluate.judges import LinkJudge
from graphrefine.evaluate.link_scores import SCORES, ScoreInputs, make_pair_score, select_scores
from graphrefine.evaluate.metrics import LINK_METRICS, middle_ranks, rank_stats
from graphrefine.evaluate.results import LinkScores, ScoreStats
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.options import list_options, split_reading
from graphrefine.readers.read import read
from graphrefine.system.checks import check_integer, check_number
from graphrefine.system.threads import map_tasks, usable_threads

SHARING = 64  # held-out edges that are ranked against the same nodes
# Part of the largest possible sum of terms: scores that differ by less are equal. A product of matrices and a sum over
# pairs round the same terms differently, and without this vectors that are all the same would rank first or last by
# the last bit instead of in the middle.
ROUNDING = 2e-6

Ranks = NDArray[np.float64]
MakeVectors = Callable[[Graph], "NDArray[Any] | Embedding"]


@list_options
def evaluate_links(
    graph: Any,
    method: str | MakeVectors = "refine",
    *,
    held_out: float = 0.3,
    repeats: int = 1,
    scores: Sequence[str] = tuple(SCORES),
    corruptions: int = 1000,
    ranked: int | None = 100_000,
    turned: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
    **settings: Any,
) -> LinkScores:
    """Score held-out edges of a graph by vectors that were made from the other edges.

    Parameters
    ----------
    graph : Graph, or anything that `graphrefine.read` takes
        A graph that is read as directed or as bipartite is judged as such.
    method : str or callable
        A name in `graphrefine.methods.registry.METHODS`; or a function that makes vectors (n, k), or an
        `Embedding`, from a `Graph`.
    held_out : float
        Part of the edges to hold out, above 0 and below 1.
    repeats : int
        Number of repeats, each with other edges held out.
    scores : sequence of str
        Names in `graphrefine.evaluate.link_scores.SCORES`; the degree product is always added.
    corruptions : int
        Nodes to rank each held-out edge against; all nodes if the graph has fewer.
    ranked : int, optional
        Largest number of held-out edges that are ranked; None for all of them.
    turned : float, optional
        Directed graphs: part of the pairs without an arc that are held-out arcs turned round; 0.5 if not given.
    seed : int
        Seed of the held-out edges, the pairs drawn, and the method.
    threads : int, optional
        The number of processors if not given. The same vectors have the same scores on any number.
    watcher : Watcher, optional
        Watcher of the stages of the method, and of the stage "score".
    settings
        Settings of the method: ``dim``, ``preset`` and others. ``dim`` is 128, or the number of nodes if that is less.
        Also options of `graphrefine.read`, such as ``directed``, ``weights`` or ``header``.

    Examples
    --------
    Two cliques of twelve nodes, joined by an edge: their held-out edges are found by vectors, and not by degrees.

    >>> pairs = [(i, j) for i in range(24) for j in range(i) if i // 12 == j // 12] + [(0, 12)]
    >>> result = evaluate_links(pairs, dim=2, scores=["cosine"], held_out=0.2)
    >>> result["cosine"].mean("auc") > 0.9, result["degree"].mean("auc") < 0.7
    (True, True)
    """
    reading, settings = split_reading(settings)
    whole = read(graph, threads=threads, **reading)
    names = select_scores(scores, directed=whole.directed)
    check_number("held_out", held_out, above=0, most=1)
    for name, value in (("repeats", repeats), ("corruptions", corruptions), ("ranked", ranked)):
        if value is not None:
            check_integer(name, value, least=1)
    check_integer("seed", seed, least=0)
    if turned is not None:
        check_number("turned", turned, least=0, most=1)
        if not whole.directed:
            problem = f"turned={turned:g}: {whole.source} is not directed, so that no edge can be turned round"
            raise InputError(problem, argument="turned")
    back = (0.5 if turned is None else turned) if whole.directed else 0.0
    threads = usable_threads(threads)
    maker = VectorMaker.from_method(method, whole, {**settings, "seed": seed}, threads=threads, watcher=watcher)
    stages = Stages(watcher)
    rows: list[dict[str, dict[str, float]]] = []
    for repeat in range(repeats):
        held = hold_out(whole, held_out, repeat=repeat, seed=seed, turned=back)
        inputs = ScoreInputs.from_embedding(held.rest, maker.embedding(held.rest), seed, threads)
        trial = _Trial.from_held_out(whole, held, corruptions=corruptions, ranked=ranked)
        with stages.stage("score", steps=trial.blocks):
            rows.append(trial.judge({name: make_pair_score(name, inputs) for name in names}, threads, stages))
    stats = (
        ScoreStats(name, {metric: tuple(row[name][metric] for row in rows) for metric in LINK_METRICS})
        for name in names
    )
    return LinkScores(
        scores=tuple(stats),
        method=maker.name,
        settings=maker.settings,
        nodes=whole.nodes,
        edges=whole.edges,
        held_out=held_out,
        held_out_edges=len(held.edges.first),
        ranked_edges=len(trial.fixed),
        corruptions=trial.corruptions,
        turned_arcs=held.turned if whole.directed else None,
        repeats=repeats,
        seed=seed,
        source=whole.source,
    )


@dataclass(frozen=True)
class _Trial:
    """One repeat: the pairs that all scores are judged by."""

    adjacency: csr_array  # of the whole graph
    held: HeldOut
    fixed: NDArray[np.int64]  # (ranked,): the end of a held-out edge that stays
    true: NDArray[np.int64]  # (ranked,): the end that is replaced
    candidates: NDArray[np.int64]  # possible replacements
    corruptions: int

    @classmethod
    def from_held_out(cls, graph: Graph, held: HeldOut, *, corruptions: int, ranked: int | None) -> _Trial:
        fixed, true = (side[:ranked] for side in held.edges)  # they are in random order
        order = order_by_name(graph)
        if not graph.directed and graph.sources is None:
            turned = np.random.default_rng((*held.key, 1)).random(len(fixed)) < 0.5
            fixed, true = np.where(turned, true, fixed), np.where(turned, fixed, true)
        candidates = order[graph.sources or 0 :]
        return cls(graph.to_scipy(), held, fixed, true, candidates, min(corruptions, len(candidates)))

    @property
    def blocks(self) -> int:
        """Number of groups of held-out edges that are ranked together."""
        return -(-len(self.fixed) // SHARING)

    def judge(self, scores: dict[str, PairScore], threads: int, stages: Stages) -> dict[str, dict[str, float]]:
        """Return all measures of all scores."""
        ranks: dict[str, list[Ranks]] = {name: [] for name in scores}
        # Closed at once on Ctrl-C: what is still in the queue is not worked through.
        with closing(map_tasks(range(self.blocks), partial(self._ranks, scores), threads)) as blocks:
            for block in blocks:
                for name, block_ranks in block.items():
                    ranks[name].append(block_ranks)
                stages.advance()
        judge = LinkJudge(self.held.rest, self.held.edges, self.held.others)
        stats = list(map_tasks([score.of_pairs for score in scores.values()], judge.stats, threads))
        return {
            name: {**of_pairs, **rank_stats(np.concatenate(ranks[name]))}
            for name, of_pairs in zip(scores, stats, strict=True)
        }

    # The replacements are drawn once for `SHARING` edges together, so that their scores are one product of matrices.
    def _ranks(self, scores: dict[str, PairScore], block: int) -> dict[str, Ranks]:
        """Rank a block of held-out edges among their corruptions."""
        part = slice(block * SHARING, (block + 1) * SHARING)
        pairs = Pairs(self.fixed[part], self.true[part])
        rng = np.random.default_rng((*self.held.key, 2, block))
        replacements = self.candidates[rng.choice(len(self.candidates), self.corruptions, replace=False)]
        # What does not count: edges of the whole graph, and a node with itself.
        edges, itself = self.adjacency[pairs.first][:, replacements].nonzero(), pairs.first[:, None] == replacements
        ranks = {}
        for name, score in scores.items():
            others = score.against(pairs.first, replacements)
            others[edges] = others[itself] = -np.inf
            ranks[name] = middle_ranks(others, score.of_pairs(pairs), tolerance=ROUNDING * score.sizes(pairs))
        return ranks


@dataclass(frozen=True)
class VectorMaker:
    """A function that makes vectors from a graph, with its name and its settings."""

    name: str
    settings: dict[str, Any]
    make: MakeVectors

    @classmethod
    def from_method(
        cls,
        method: str | MakeVectors,
        graph: Graph,
        options: dict[str, Any],
        *,
        threads: int | None = None,
        watcher: Watcher | None = None,
    ) -> VectorMaker:
        """Prepare a method with its settings, for this graph or a part of it; or a function, which has none."""
        options = {name: value for name, value in options.items() if value is not None}
        if not isinstance(method, str):
            foreign = sorted(set(options) - {"seed"})
            if foreign:
                raise InputError(
                    f"{foreign[0]}={options[foreign[0]]!r} is a setting of a named method, and a function was given",
                    argument=foreign[0],
                )
            return cls(getattr(method, "__name__", "a function"), {}, method)
        preset = options.pop("preset", None)
        if "dim" not in options:
            default = make_settings(method, preset, **options)
            options["dim"] = min(default.dim, find_method(method).most_columns(graph, default))
        settings = make_settings(method, preset, **options)
        find_method(method).check(graph, settings)  # before any work
        settings = find_method(method).resolve(Shape.of(graph), settings)

        def make(part: Graph) -> Embedding:
            return embed_graph(part, settings, method=method, threads=threads, watcher=watcher)[0]

        return cls(method, asdict(settings), make)

    def embedding(self, graph: Graph) -> Embedding:
        """Make vectors as an embedding; checked to be a row of finite numbers for each node."""
        output = self.make(graph)
        vectors = output.vectors if isinstance(output, Embedding) else np.asarray(output, np.float32)
        if vectors.ndim != 2 or len(vectors) != graph.nodes or not np.isfinite(vectors).all():
            raise InputError(
                f"{self.name} made an array of shape {vectors.shape}; {graph.nodes} rows of finite numbers are expected"
            )
        return output if isinstance(output, Embedding) else Embedding(graph.names, vectors)
