"""Names of bipartite live graphs: a folder keeps them as text with the side before it, so that all names differ.

An edge joins a source (a user) and a target (an item). A name may stand once on each side.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.live.naming import integer_name
from graphrefine.live.published import Published

Side = Literal["source", "target"]
LETTERS: dict[str, Side] = {"s": "source", "t": "target"}


class SideKey(str):
    """A key, which messages show as the name that it stands for."""

    def __repr__(self) -> str:
        return repr(str(self)[1:])


class SideNames:
    """Names of two sides, and the keys that a folder has in their place.

    Parameters
    ----------
    integers
        Whether all names are integers.

    Examples
    --------
    >>> names = SideNames(integers=True)
    >>> str(names.key(7, "target")), names.name("t7"), names.side("t7")
    ('t7', 7, 'target')
    """

    def __init__(self, *, integers: bool) -> None:
        self.integers = integers

    def key(self, name: Any, side: Side) -> str:
        """The key of a name on a side."""
        if self.integers:
            name = integer_name(name)
        elif isinstance(name, np.integer | int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str | int):
            raise InputError(f"the name {name!r} is neither an integer nor a string")
        return SideKey(f"{side[0]}{name}")

    def keys_of(self, name: Any) -> list[str]:
        """The keys that a name can have, one for each side; none for what cannot be a name."""
        try:
            return [self.key(name, side) for side in LETTERS.values()]
        except InputError:
            return []

    def row(self, published: Published, name: Any, side: Side | None) -> int:
        """The row of a name; on the side that is given, or the one on which it stands."""
        keys = [key for key in self.keys_of(name) if side is None or key[0] == side[0]]
        rows = [row for key in keys if (row := published.row_of(key)) is not None]
        if len(rows) == 1:
            return rows[0]
        if rows:
            problem = f"{name!r} stands on both sides; say which: side='source' or side='target'"
            raise InputError(problem, argument="side")
        where = "" if side is None else f" on the {side} side"
        raise UnknownNameError(f"no node is called {name!r}{where}")

    @staticmethod
    def mask(published: Published, first: int) -> NDArray[np.bool_]:
        """Whether the rows from one on are targets; those of removed nodes are not."""
        return np.array([name is not None and name[0] == "t" for name in published.names_from(first)], bool)

    def name(self, key: str) -> Any:
        """The name of a key."""
        return int(key[1:]) if self.integers else key[1:]

    @staticmethod
    def side(key: str) -> Side:
        """The side of a key."""
        return LETTERS[key[0]]

    def keys(self, names: Names, sources: int) -> Names:
        """The keys of all names, of which the first are sources."""
        listed = enumerate(names.tolist())
        return object_array([f"{'s' if row < sources else 't'}{name}" for row, name in listed])

    def names(self, keys: NDArray[Any]) -> Names:
        """The names of keys."""
        names = [self.name(key) for key in keys.tolist()]
        return as_names(names, len(names)) if self.integers else object_array(names)
