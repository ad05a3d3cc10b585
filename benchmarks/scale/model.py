"""The cost model of the page "Internet scale": bytes, operations and seconds of an embedding, from measured constants.

    python benchmarks/scale/model.py [--constants FILE] [--nodes 1e9 --edges 1e11 --dim 128] [--save]

Prints the page's tables. Without a size: those that were measured, then a billion nodes on 10, 100 and 1,000 machines.
With one: what that graph takes on this machine and on those. ``--save`` writes the table of those machines to
docs/results/scale-model.json.

For n nodes, m edges (e = 2m entries) and k columns, REFINE's default takes

* p = power + 1 + order of the filter = 15 products, each with 2 e k operations: it gathers e rows of 2k bytes
  (bfloat16) and reads 4e bytes of the graph;
* D = 8 dense passes (four Gram matrices, four rotations), each with 2 n k^2 operations.

In memory that is all. Out of core every product first reads the panel of columns that it gathers from; then the graph
(where it is on disk) is read, rows are computed and the last ones written at the same time, so that the slowest of the
three counts. Dense passes read a matrix, and every other one writes one. Nothing is assumed to stay in the page cache.

On a cluster a machine has a share of the rows and, for each product, reads the whole matrix from shared storage: once
for each of its tasks. Those are two, so that none waits long for another, or more where its rows of the graph and its
results in float32 are larger than half of its memory. Machines in groups, with one task each if memory allows, would
read the columns of their group alone, once. A machine is one worker that uses all of its cores.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from measuring import results, size

PRODUCTS, DENSE = 15, 8
TASKS = 2  # of a product, for a machine of a cluster
PANEL = 32  # columns: kernels work on whole multiples of it
CONSTANTS = Path(__file__).with_name("constants.json")


@dataclass(frozen=True)
class Work:
    """A graph to be embedded."""

    edges: float
    nodes: float
    dim: int

    @property
    def entries(self) -> float:
        """Of the adjacency matrix: each edge has two."""
        return 2 * self.edges

    @property
    def graph(self) -> float:
        """Bytes of the graph: an int32 for each entry, an int64 for each row."""
        return 4 * self.entries + 8 * self.nodes

    def matrix(self, columns: int | None = None) -> float:
        """Bytes of a gathered matrix, or of some columns of it."""
        return 2 * self.nodes * (columns or self.dim)


@dataclass(frozen=True)
class Machine:
    """Rates of one machine: bytes, entries and operations per second."""

    disk_read: float
    disk_write: float
    network: float
    ordering: float
    dense: dict[int, float]  # by columns
    gather: dict[int, dict[float, float]]  # by columns, by bytes of the matrix
    memory: float = 24e9

    @classmethod
    def of(cls, found: dict[str, Any]) -> Machine:
        """From what `constants.py` saved."""
        return cls(
            **{name: found[name] for name in ("disk_read", "disk_write", "network", "ordering")},
            dense={int(columns): rate for columns, rate in found["dense"].items()},
            gather={
                int(columns): {float(total): rate for total, rate in rates.items()}
                for columns, rates in found["gather"].items()
            },
        )

    def times(self, cores: float, *, network: float, memory: float) -> Machine:
        """A machine with so many times the cores, behind a network that also leads to its storage."""
        return replace(
            self,
            dense={columns: cores * rate for columns, rate in self.dense.items()},
            gather={c: {total: cores * rate for total, rate in rates.items()} for c, rates in self.gather.items()},
            ordering=cores * self.ordering,
            network=network,
            memory=memory,
        )

    def gathered(self, columns: int, total: float) -> float:
        """Entries per second from a matrix of so many bytes: between those that were measured, and flat beyond."""
        width = min(self.gather, key=lambda known: abs(known - columns))
        known = sorted(self.gather[width].items())
        rates = np.interp(np.log(total), [np.log(each) for each, _ in known], [np.log(rate) for _, rate in known])
        return float(np.exp(rates)) * width / columns

    def multiplied(self, columns: int) -> float:
        """Dense operations per second at this width."""
        return self.dense[min(self.dense, key=lambda known: abs(known - columns))]


@dataclass(frozen=True)
class Cost:
    """What an embedding takes; bytes and seconds are those of one machine."""

    operations: float
    moved: float  # bytes through memory
    disk: float  # bytes
    network: float  # bytes
    seconds: dict[str, float]

    @property
    def total(self) -> float:
        """Seconds, if nothing happens at the same time."""
        return sum(self.seconds.values())


def operations(work: Work) -> float:
    """Multiplications and additions, all machines together."""
    return 2 * work.dim * (PRODUCTS * work.entries + DENSE * work.nodes * work.dim)


def in_memory(work: Work, machine: Machine) -> Cost:
    """Graph and matrices in memory."""
    moved = PRODUCTS * (work.entries * 2 * work.dim + work.graph + work.matrix()) + DENSE * work.matrix()
    seconds = {
        "ordering": work.entries / machine.ordering,
        "gathers": PRODUCTS * work.entries / machine.gathered(work.dim, work.matrix()),
        "dense": DENSE * 2 * work.nodes * work.dim**2 / machine.multiplied(work.dim),
        "vectors written": 4 * work.nodes * work.dim / machine.disk_write,
    }
    return Cost(operations(work), moved, 4 * work.nodes * work.dim, 0.0, seconds)


def out_of_core(work: Work, machine: Machine, *, columns: int, streamed: bool) -> Cost:
    """Matrices on disk, so many of their columns in memory at a time; the graph on disk as well if it is streamed."""
    panels, vectors = -(-work.dim // columns), 4 * work.nodes * work.dim
    graph = panels * work.graph if streamed else 0.0
    product = {
        "gathers": panels * work.entries / machine.gathered(columns, work.matrix(columns)),
        "reading": graph / machine.disk_read,
        "writing": work.matrix() / machine.disk_write,
    }
    dense = {
        "arithmetic": 2 * work.nodes * work.dim**2 / machine.multiplied(work.dim),
        "reading": work.matrix() / machine.disk_read,
        "writing": work.matrix() / 2 / machine.disk_write,
    }
    seconds = {
        "panels read": PRODUCTS * work.matrix() / machine.disk_read,
        f"products ({_slowest(product)})": PRODUCTS * max(product.values()),
        f"dense ({_slowest(dense)})": DENSE * max(dense.values()),
        "vectors written": vectors / machine.disk_write,
    }
    disk = (2 * PRODUCTS + 1.5 * DENSE) * work.matrix() + PRODUCTS * graph + vectors
    moved = PRODUCTS * (work.entries * 2 * work.dim + panels * work.graph) + 2 * disk
    return Cost(operations(work), moved, disk, 0.0, seconds)


def _slowest(parts: dict[str, float]) -> str:
    return max(parts, key=lambda part: parts[part])


def cluster(work: Work, machine: Machine, *, machines: int, groups: int = 1, least: int = TASKS) -> Cost:
    """Storage shared by machines, each with a share of the rows, in groups with a share of the columns."""
    rows, columns = groups / machines, work.dim // groups
    tasks = max(-(-rows * (work.graph + 4 * work.nodes * columns) // (machine.memory / 2)), least)
    read = PRODUCTS * (tasks * work.matrix(columns) + rows * work.graph) + DENSE * work.matrix() / machines
    written = (PRODUCTS + DENSE / 2) * work.matrix() / machines
    gathered = PRODUCTS * rows * work.entries
    seconds = {
        "gathers": gathered / machine.gathered(columns, machine.memory / 4),
        "dense": DENSE * 2 * work.nodes * work.dim**2 / machine.multiplied(work.dim) / machines,
        "network": (read + written) / machine.network,
    }
    moved = gathered * 2 * columns + 2 * (read + written)
    return Cost(operations(work), moved, 0.0, read + written, seconds)


def beside(figures: dict[str, Any]) -> str:
    """What the model says of a finished run of `embed` beside what it took, reading the graph aside."""
    machine = Machine.of(json.loads(CONSTANTS.read_text()))
    work = Work(figures["edges"], figures["nodes"], figures["dim"])
    plan, spent = figures["plan"], figures["seconds"]
    if plan["mode"] == "memory":
        cost = in_memory(work, machine)
    else:
        cost = out_of_core(work, machine, columns=plan["panel"], streamed=plan["mode"] == "streamed")
    took = spent["compute"] + spent["write"]
    return f"model: {duration(cost.total)} predicted, {duration(took)} measured ({took / cost.total:.2f}x)"


def duration(seconds: float) -> str:
    """In the unit that suits.

    >>> duration(90), duration(7200)
    ('1.5 min', '2.0 h')
    """
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"


def amount(number: float) -> str:
    """Bytes or operations in the unit that suits: 5.1 G."""
    for unit, length in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if number >= length:
            return f"{number / length:.1f} {unit}"
    return f"{number:.0f}"


def row(name: str, cost: Cost) -> list[str]:
    """A line of a table."""
    parts = ", ".join(f"{part} {duration(seconds)}" for part, seconds in cost.seconds.items())
    cells = (amount(cost.operations), *(f"{amount(b)}B" if b else "-" for b in (cost.moved, cost.disk, cost.network)))
    return [name, *cells, duration(cost.total), parts]


def show(table: results.Table) -> None:
    for cells in (table.columns, ["---"] * len(table.columns), *table.rows):
        print(f"| {' | '.join(cells)} |")


COLUMNS = ("operations", "moved in memory", "disk", "network", "predicted", "of it")
MEASURED = (
    (Work(1e6, 1e5, 128), None),
    (Work(1e8, 1e7, 128), None),
    (Work(1e8, 1e7, 128), 128),
    (Work(1e9, 4e7, 64), 64),
)
CORES, NETWORK, MEMORY = 16, 1.25e9, 128e9  # of a machine in a cluster
CLUSTERS, GROUPS = (10, 100, 1000), 4


def constants(found: dict[str, Any]) -> None:
    print("| | |\n|---|---|")
    for name, title in (
        ("disk_write", "disk, written"),
        ("disk_read", "disk, read"),
        ("network", "network, this machine to itself"),
    ):
        print(f"| {title} | {found[name] / 1e9:.2f} GB/s |")
    for columns, rate in found["dense"].items():
        print(f"| dense algebra, {columns} columns | {rate / 1e9:.0f} Gflop/s |")
    print(f"| ordering, done once | {found['ordering'] / 1e6:.0f} million entries/s |\n")
    sizes = next(iter(found["gather"].values()))
    print("| columns | " + " | ".join(f"{int(total) / 2**20:g} MB" for total in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    for columns, rates in found["gather"].items():
        print(f"| {columns} | " + " | ".join(f"{rate / 1e6:.0f}" for rate in rates.values()) + " |")
    print()


def on_this_machine(works: tuple[tuple[Work, int | None], ...], machine: Machine) -> None:
    rows = []
    for work, columns in works:
        name = f"{work.edges:.0e} edges, {work.nodes:.0e} nodes, k = {work.dim}".replace("e+0", "e").replace("e+", "e")
        if columns is None:
            rows.append(row(f"{name}, in memory", in_memory(work, machine)))
        else:
            cost = out_of_core(work, machine, columns=columns, streamed=True)
            rows.append(row(f"{name}, {columns} columns at a time, graph from disk", cost))
    show(results.Table(["graph", *COLUMNS], rows))


def on_clusters(work: Work, machine: Machine, threads: int) -> results.Table:
    large = machine.times(CORES / threads, network=NETWORK, memory=MEMORY)
    rows = []
    for groups, least in ((1, TASKS), (GROUPS, 1)):
        for machines in CLUSTERS:
            name = f"{machines:,}" if groups == 1 else f"{machines:,}, if in {groups} groups"
            rows.append(row(name, cluster(work, large, machines=machines, groups=groups, least=least)))
    return results.Table(["machines", *COLUMNS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", type=Path, default=CONSTANTS)
    parser.add_argument("--edges", type=size)
    parser.add_argument("--nodes", type=size)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--save", action="store_true", help="write docs/results/scale-model.json")
    given = parser.parse_args()
    if (given.edges is None) != (given.nodes is None):
        parser.error("give both --edges and --nodes, or neither")
    found = json.loads(given.constants.read_text())
    machine = Machine.of(found)
    own = None if given.edges is None else Work(given.edges, given.nodes, given.dim)
    print(f"constants: {found['machine']}, {found['threads']} threads\n")
    constants(found)
    on_this_machine(MEASURED if own is None else ((own, None), (own, own.dim), (own, PANEL)), machine)
    work = own or Work(1e11, 1e9, 128)
    print(
        f"\n{work.edges:.0e} edges, {work.nodes:.0e} nodes on machines of {CORES} cores, {MEMORY / 1e9:g} GB and "
        f"{NETWORK * 8 / 1e9:g} Gbit/s; the matrix is {amount(work.matrix())}B, the graph {amount(work.graph)}B\n"
    )
    large = on_clusters(work, machine, found["threads"])
    show(large)
    if given.save:
        shown = (0, 1, 2, 4, 5)  # columns; rows of machines that are not in groups
        columns = [f"machines, for {work.edges:g} edges", *(COLUMNS[at - 1] for at in shown[1:])]
        rows = [[row[at] for at in shown] for row in large.rows[: len(CLUSTERS)]]
        results.save("scale-model", machines=results.Table(columns, rows))


if __name__ == "__main__":
    main()
