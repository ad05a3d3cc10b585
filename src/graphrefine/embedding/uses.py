"""What vectors are for: scores of pairs, vectors of new nodes, and runs that can be compared.

`Embedding` is made of `Uses` and of what it takes to keep vectors in files.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding import align as aligning
from graphrefine.embedding import fold_in as folding
from graphrefine.embedding import scores as scoring
from graphrefine.errors import InputError
from graphrefine.vectors.lookup import Lookup, is_name, shown
from graphrefine.vectors.source_target import SIDES, Side, Sides

Weight = float | Callable[[], float]  # of the degrees: learnt, or how to learn it
FoldMap = NDArray[np.float32] | Callable[[], NDArray[np.float32]]  # learnt, or how to learn it


class Uses:
    """Vectors with names, and what can be done with them; `graphrefine.embedding.embedding.Embedding` is the whole."""

    names: NDArray[Any]  # (n,)
    vectors: NDArray[np.float32]  # (n, k)
    recipe: dict[str, Any]
    degrees: NDArray[np.float32] | None  # (n,)
    _fold_map: FoldMap | None
    _weight: Weight | None
    lookup: Lookup

    def __init__(
        self,
        names: Any,
        vectors: Any,
        recipe: Any = None,
        *,
        degrees: Any = None,
        fold_map: Any = None,
        degree_weight: Any = None,
    ) -> None:
        raise NotImplementedError

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    @property
    def sides(self) -> Sides:
        """Where source and target vectors lie; see `graphrefine.vectors.source_target`."""
        return Sides.of(self.recipe, (len(self.vectors), self.dim))

    @property
    def source(self) -> NDArray[np.float32]:
        """Vectors of nodes as sources: of directed graphs half of the columns, of bipartite ones the first rows.

        Where edges have no direction, source and target are both `vectors`. The score of an edge from u to v is
        ``source[u] @ target[v]``. A view, not a copy.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> both = Embedding(["ada", "bob"], [[1, 2, 3, 4], [5, 6, 7, 8]], {"sides": "columns"})
        >>> both.source[0].tolist(), both.target[1].tolist()
        ([1.0, 2.0], [7.0, 8.0])
        """
        return self.sides.vectors(self.vectors, "source")

    @property
    def target(self) -> NDArray[np.float32]:
        """Vectors of nodes as targets; see `source`."""
        return self.sides.vectors(self.vectors, "target")

    @property
    def source_names(self) -> NDArray[Any]:
        """The node of each row of `source`."""
        return self.sides.names(self.names, "source")

    @property
    def target_names(self) -> NDArray[Any]:
        """The node of each row of `target`."""
        return self.sides.names(self.names, "target")

    def _checked_map(self, fold_map: NDArray[Any]) -> NDArray[np.float32]:
        shape = (folding.BLOCKS * self.dim, self.dim)
        if np.shape(fold_map) != shape or self.degrees is None:
            raise InputError(f"fold_map has the shape {np.shape(fold_map)}; it must be {shape}, and degrees be given")
        return np.asarray(fold_map, np.float32)

    @property
    def fold_map(self) -> NDArray[np.float32] | None:
        """What `fold_in` has learnt from the graph (learnt now, if it was not asked for before); or None."""
        if callable(self._fold_map):
            self._fold_map = self._checked_map(self._fold_map())
        return self._fold_map

    @property
    def degree_weight(self) -> float:
        """How much degrees count in `score`: learnt from the graph (now, if not asked for before), or 0.1."""
        if callable(self._weight):
            self._weight = self._weight()
        return scoring.DEGREE_WEIGHT if self._weight is None else self._weight

    @property
    def score_name(self) -> str:
        """Which score `score` gives, as `graphrefine evaluate links` calls it: by the cosine alone without degrees."""
        if self.sides.kind is not None:
            return "dot"
        return "cosine" if self.degrees is None else "cosine-degree"

    @cached_property
    def _scoring(self) -> scoring.PairScore:
        if self.sides.kind is not None:
            return scoring.PairScore(self.source, second=scoring.PairScore(self.target))
        if self.degrees is None:
            return scoring.cosine(self.vectors)
        return scoring.cosine_degree(self.vectors, self.degrees, self.degree_weight)

    def score(self, u: Any, v: Any = None) -> Any:
        """How likely an edge between nodes is: the higher, the likelier.

        ``cos(x_u, x_v) + w (ln d_u + ln d_v)`` with w the `degree_weight`; the cosine alone where `degrees` is None;
        ``source_u . target_v`` of directed and bipartite graphs, with u among the sources and v among the targets.
        `score_name` tells which.

        Parameters
        ----------
        u : name, or sequence of names
            One end, or one of each pair.
        v : name, or sequence of as many names, optional
            One name against several is scored with each of them. None means every node.

        Returns
        -------
        float
            For two names.
        ndarray of float32
            (m,) for m pairs; (n,) for a name and every node, in the order of the rows; (m, n) for m names and every
            node.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 1])
        >>> round(people.score("ada", "bob"), 3)  # 0.6 + 0.1 ln 2
        0.669
        >>> people.score("ada", ["bob", "cy"]).round(3).tolist()
        [0.6690000295639038, 0.0]
        >>> people.score("ada").shape
        (3,)
        """
        sides: tuple[Side | None, Side | None] = SIDES if self.sides.kind else (None, None)
        first = self.lookup.rows([u] if is_name(u) else u, sides[0])
        if v is None:
            found = self._scoring.against(first, slice(None))
            return found[0] if is_name(u) else found
        second = self.lookup.rows([v] if is_name(v) else v, sides[1])
        if len(first) != len(second) and not (is_name(u) or is_name(v)):
            raise InputError(f"{len(first)} nodes cannot be paired with {len(second)}; give as many, or one name")
        pairs = scoring.Pairs(*np.broadcast_arrays(first, second))
        scores = self._scoring.of_pairs(pairs)
        return float(scores[0]) if is_name(u) and is_name(v) else scores

    def fold_in(self, edges: Any) -> Self:
        """Vectors for new nodes from their edges alone, in milliseconds; formula: `graphrefine.embedding.fold_in`.

        Parameters
        ----------
        edges
            Pairs (new node, known node) or triples with a weight, in anything that `graphrefine.read` takes: a list,
            an array, a table, a file. New nodes may also be neighbours of each other. An edge that is listed again
            adds its weight.

        Returns
        -------
        Embedding
            Of the new nodes alone. A node without known neighbours has a zero vector, with a warning. Where the graph
            was not there to learn from (`fold_map` is None), the vector is the mean of the neighbours' vectors.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.fold_in([("eve", "ada"), ("eve", "bob")])["eve"].round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
        """
        from graphrefine.embedding.new_nodes import read_new_nodes

        if self.recipe.get("directed") or self.sides.kind:
            kind = "bipartite" if self.sides.kind == "rows" else "directed"
            raise InputError(
                f"the vectors are of a {kind} graph; fold_in knows undirected edges of one set of nodes: embed it anew "
                "instead"
            )
        found = read_new_nodes(edges, self.lookup)
        vectors = folding.Folder(self.vectors, self.degrees, self.fold_map).fold(found.known, found.new)
        found.warn_of_zeros(vectors)
        recipe = {"method": "fold-in", "learnt": self.fold_map is not None, "into": self.recipe}
        counts = np.diff(found.known.indptr) + np.diff(found.new.indptr)
        return type(self)(found.names, vectors, recipe, degrees=counts)

    def extended(self, new: Self) -> Self:
        """The rows of another embedding below its own, such as those of `fold_in`.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.extended(people.fold_in([("eve", "ada")]))
        Embedding(3 nodes x 2, names 'ada' ... 'eve')
        """
        self._check_dim(new)
        names = (
            np.concatenate([self.names, new.names])
            if self.names.dtype == new.names.dtype
            else [*self.names.tolist(), *new.names.tolist()]
        )
        degrees = None if self.degrees is None or new.degrees is None else np.append(self.degrees, new.degrees)
        learnt = {} if degrees is None else {"fold_map": self._fold_map, "degree_weight": self._weight}
        vectors = np.concatenate([self.vectors, new.vectors])
        whole = type(self)(names, vectors, self.recipe, degrees=degrees, **learnt)
        whole.lookup.check_distinct()
        return whole

    def align_to(self, old: Self) -> Self:
        """The same vectors, rotated onto older ones as well as can be (orthogonal Procrustes on the shared nodes).

        Scores and distances among the vectors stay as they are; those to the old vectors become meaningful.

        Parameters
        ----------
        old : Embedding
            With vectors of the same length, and some of the same nodes.

        Returns
        -------
        Embedding
            Its ``recipe["aligned"]`` tells the drift: the number of ``shared`` nodes, and the mean distance of their
            unit rows ``before`` and ``after`` the rotation. Zero vectors do not count.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> old = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> turned = Embedding(["ada", "bob", "cy"], [[0, 1], [-1, 0], [0, 1]])
        >>> {name: round(value, 3) for name, value in turned.align_to(old).recipe["aligned"].items()}
        {'shared': 2, 'before': 1.414, 'after': 0.0}
        """
        self._check_dim(old)
        shared = self.lookup.shared(old.lookup)
        if not len(shared[0]):
            first, other = (shown(each.names[0]) if len(each.names) else "no node" for each in (self, old))
            raise InputError(
                f"no node is in both embeddings, so there is nothing to align by; the names begin with {first} here "
                f"and {other} there"
            )
        ours, theirs = self._turnable(), old._turnable()
        if self.sides.kind == "columns":  # one rotation for source and target, so that their products stay
            here, there = (np.concatenate([2 * rows, 2 * rows + 1]) for rows in shared)
            shared = (here, there)
        R = aligning.rotation(ours, theirs, shared)
        drift = aligning.drift(ours, theirs, shared, R)
        if drift.shared < self.dim:
            warnings.warn(
                f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {self.dim} numbers: the nodes "
                "that are not shared may still be turned against the old ones",
                stacklevel=2,
            )
        fold_map = None if self.fold_map is None else folding.turned(self.fold_map, R)
        recipe = {**self.recipe, "aligned": drift._asdict()}
        vectors = aligning.rotated(ours, R).reshape(self.vectors.shape)
        return type(self)(
            self.names, vectors, recipe, degrees=self.degrees, fold_map=fold_map, degree_weight=self._weight
        )

    def _turnable(self) -> NDArray[np.float32]:
        """The vectors as rows to be rotated alike: of directed graphs, the source and then the target of a node."""
        return self.vectors.reshape(-1, self.dim // 2) if self.sides.kind == "columns" else self.vectors

    def _check_dim(self, other: Self) -> None:
        if other.sides.kind != self.sides.kind:
            raise InputError(
                "one embedding has source and target vectors, and the other has none, or has them in another way; make "
                "both from the same kind of graph"
            )
        if other.dim != self.dim:
            raise InputError(
                f"vectors of {self.dim} and of {other.dim} numbers do not go together; choose one dim for both"
            )
