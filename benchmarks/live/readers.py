"""One writer of live vectors and several readers, each a process: no torn read, flat memory, quick answers.

    python benchmarks/live/readers.py [--graph lastfm-asia] [--rate 5000] [--batch 1000] [--readers 4] [--seconds 180]
        [--dim 128] [--pause 0.005] [--seed 0] [--control]

The writer removes edges and adds as many, whose ends are drawn by degree, in groups of ``--batch`` changes, at most
``--rate`` a second; refreshes come by themselves. It writes a hash of the vectors of each moment to a file. Each reader
updates and reads a row at random, again and again with a pause between; that row must have the length 1, or be zeros,
and whenever an update brought groups, the hash of its vectors must be the one in the file. The latency is that of one
`update` and one row together, by the clock and, as other programs may run beside, by the time of
the processor. Memory is what no file backs (RssAnon), twice a second; it is flat if the median of the last quarter of
the time is at most 1.1 times that of the second, and 16 MB.
``--control`` has readers drop a row of some news, which must be seen as torn.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # this script is run by its path

import graphrefine
import graphrefine.live
from common import graph, machine
from graphrefine.errors import FormatError
from graphrefine.graph.graph import Graph
from graphrefine.live.change_log import Update
from graphrefine.live.reader import LiveReader
from graphrefine.live.vector_table import VectorTable
from graphrefine.live.writer import Live

HASHED = 1 << 14  # rows, at most, that a hash is made of
EVERY = 0.5  # seconds between two looks at the memory
ROOM = 16 << 20  # bytes of growth that are no growth
DROPS = 5  # updates, of which the control spoils one


def hash_of(table: VectorTable) -> int:
    """Of names, lengths and vectors, evenly chosen among the rows."""
    rows = table.present()
    rows = rows[:: -(-len(rows) // HASHED)]
    crc = zlib.crc32(repr(table.names(rows).tolist()).encode())
    return zlib.crc32(table.rows(rows).data, zlib.crc32(table.lengths[rows].data, crc))


def held() -> int:
    """Bytes of this process that no file backs."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) * 1024


class Memory:
    """Looks at the memory of this process."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self._next = 0.0

    def look(self) -> None:
        """Take a sample if it is time."""
        if time.monotonic() >= self._next:
            self.samples.append(held())
            self._next = time.monotonic() + EVERY


class TellingLive(Live):
    """A writer that notes the hash of each moment."""

    notes: Any = None

    def __enter__(self) -> TellingLive:
        return self

    def _open(self) -> None:
        super()._open()
        self.note()

    def _accept(self, update: Update) -> None:
        super()._accept(update)
        self.note()

    def note(self) -> None:
        """Write the hash of this moment."""
        if self.notes is not None:
            print(self._store.generation, self.group, hash_of(self._table), file=self.notes, flush=True)


def first_graph(name: str, seed: int) -> Graph:
    """A real graph, or one of 3,000 nodes whose degrees differ much."""
    if name != "generated":
        return graph(name)
    ends = (3000 * np.random.default_rng(seed).random((2, 15_000)) ** 2).astype(int)
    return graphrefine.read(ends.T[ends[0] != ends[1]])


class Stream:
    """Changes of a graph that keep its size: as many edges come as go, with ends drawn by degree."""

    def __init__(self, start: Graph, seed: int) -> None:
        sources, targets = np.repeat(np.arange(start.nodes), np.diff(start.indptr)), start.indices
        once = sources < targets
        names = start.names
        self._edges = list(zip(names[sources[once]].tolist(), names[targets[once]].tolist(), strict=True))
        self._present = {frozenset(edge) for edge in self._edges}
        self._rng = np.random.default_rng(seed)

    def give(self, live: Live, changes: int) -> None:
        """Collect some changes."""
        for _ in range(changes // 2):
            at = int(self._rng.integers(len(self._edges)))
            edge, self._edges[at] = self._edges[at], self._edges[-1]
            self._edges.pop()
            self._present.remove(frozenset(edge))
            live.remove(*edge)
            fresh = self._draw()
            self._edges.append(fresh)
            self._present.add(frozenset(fresh))
            live.add(*fresh)

    def _draw(self) -> tuple[Any, Any]:
        while True:
            one, two = (self._edges[int(at)] for at in self._rng.integers(len(self._edges), size=2))
            if one[0] != two[1] and frozenset((one[0], two[1])) not in self._present:
                return one[0], two[1]


def write(path: Path, notes: Path, start: Graph, given: argparse.Namespace, tell: Connection) -> None:
    """Commit groups at the rate that is asked for."""
    stream, memory, times = Stream(start, given.seed), Memory(), list[float]()
    with notes.open("a") as file, TellingLive(path, threads=1) as live:
        live.notes = file
        live.note()
        tell.send("ready")
        begun = due = time.monotonic()
        while (now := time.monotonic()) < begun + given.seconds:
            if now < due:
                time.sleep(due - now)
            due = max(due + given.batch / given.rate, time.monotonic() - 1)
            stream.give(live, given.batch)
            before = time.perf_counter()
            live.commit()
            times.append(time.perf_counter() - before)
            memory.look()
        wal = max((each.stat().st_size for each in path.glob("*-wal")), default=0)
        figures = {
            "groups": len(times),
            "seconds": time.monotonic() - begun,
            "wal": wal,
            "refreshes": len(live.drift()),
        }
    tell.send({**figures, "memory": memory.samples, "commit": np.quantile(times, [0.5, 0.99]).tolist()})


class Notes:
    """The hashes that the writer has noted, as far as they were read."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self._hashes: dict[tuple[int, int], int] = {}

    def wait_for(self, moment: tuple[int, int], seconds: float = 30) -> int | None:
        """Return the hash of a moment, which the writer may not have noted yet."""
        until = time.monotonic() + seconds
        while moment not in self._hashes and time.monotonic() < until:
            with self._path.open() as file:
                file.seek(self._at)
                lines = [line for line in file if line.endswith("\n")]
            self._at += sum(map(len, lines))
            for line in lines:
                generation, group, value = map(int, line.split())
                self._hashes[generation, group] = value
        return self._hashes.get(moment)


def drop_rows() -> None:
    """Lose a row of an update now and then: the control."""
    apply, count = VectorTable.apply, [0]

    def apply_less(self: VectorTable, update: Update) -> None:
        count[0] += 1
        apply(self, update._replace(moved=update.moved[:-1]) if count[0] % DROPS == 0 else update)

    VectorTable.apply = apply_less  # type: ignore[method-assign]


def read(path: Path, notes_path: Path, given: argparse.Namespace, seed: int, tell: Connection) -> None:
    """Ask for news and for rows until the time is over."""
    if given.control:
        drop_rows()
    rng, memory, notes = np.random.default_rng(seed), Memory(), Notes(notes_path)
    latencies, works, counts = (
        list[float](),
        list[float](),
        dict.fromkeys(("torn", "checked", "generations", "errors"), 0),
    )
    with LiveReader(path, threads=1) as reader:
        names = reader.names.tolist()
        tell.send("ready")
        end = time.monotonic() + given.seconds
        while time.monotonic() < end:
            name, generation = names[int(rng.integers(len(names)))], reader._generation
            begun, worked = time.perf_counter(), time.thread_time()
            try:
                groups = reader.update()
            except FormatError as error:
                print(error, file=sys.stderr)
                counts["errors"] += 1
                groups = 0
            row = reader[name]
            latencies.append(time.perf_counter() - begun)
            works.append(time.thread_time() - worked)
            length = float(np.linalg.norm(row.astype(np.float64)))
            torn = row.any() and abs(length - 1) > 1e-5
            if groups or generation != reader._generation:
                counts["checked"] += 1
                counts["generations"] += generation != reader._generation
                torn |= notes.wait_for((reader._generation, reader.group)) != hash_of(reader._table)
            counts["torn"] += bool(torn)
            memory.look()
            time.sleep(given.pause)
    quantiles = np.quantile(latencies, [0.5, 0.99, 1.0]).tolist()
    tell.send(
        {
            "reads": len(latencies),
            **counts,
            "latency": quantiles,
            "memory": memory.samples,
            "all": latencies,
            "work": works,
        }
    )


def run(given: argparse.Namespace, room: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Start all, and wait for their figures."""
    start, path, notes = first_graph(given.graph, given.seed), room / "graph.live", room / "notes"
    begun = time.perf_counter()
    graphrefine.live.create(start, path, dim=given.dim, seed=given.seed).close()
    print(
        f"{given.graph}: {start.nodes:,} nodes, {start.edges:,} edges, created in {time.perf_counter() - begun:.1f} s"
    )
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphrefine.live.writer", "scipy.sparse", "filelock"])
    pipes, children = list[Connection](), list[Any]()
    works: list[tuple[Any, tuple[Any, ...]]] = [(write, (path, notes, start, given))]
    works += [(read, (path, notes, given, given.seed + place)) for place in range(given.readers)]
    for function, arguments in works:
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=function, args=(*arguments, theirs), daemon=True)
        child.start()
        theirs.close()
        ours.recv()
        pipes.append(ours)
        children.append(child)
    figures = [pipe.recv() for pipe in pipes]
    for child in children:
        child.join()
    return figures[0], figures[1:]


def is_flat(samples: list[int]) -> tuple[float, float, bool]:
    """Medians of the second and the last quarter, in MB, and whether they are about the same."""
    quarter = max(len(samples) // 4, 1)
    early, late = np.median(samples[quarter : 2 * quarter] or samples), np.median(samples[-quarter:])
    return early / 1e6, late / 1e6, bool(late <= 1.1 * early + ROOM)


def show(given: argparse.Namespace, writer: dict[str, Any], readers: list[dict[str, Any]]) -> bool:
    """Print the figures; whether all bars are reached."""
    rate = writer["groups"] * given.batch / writer["seconds"]
    half, most = (1000 * each for each in writer["commit"])
    print(
        f"writer: {rate:,.0f} changes a second of {given.rate:,} asked for, {writer['groups']:,} groups, "
        f"{writer['refreshes']} refreshes; commit p50 {half:.1f} ms, p99 {most:.1f} ms; largest log at the end "
        f"{writer['wal'] / 1e6:.1f} MB"
    )
    flat = True
    for name, each in (("writer", writer), *((f"reader {place}", each) for place, each in enumerate(readers))):
        early, late, own = is_flat(each["memory"])
        flat &= own
        print(f"{name}: memory {early:.0f} MB, at the end {late:.0f} MB: {'flat' if own else 'GROWS'}")
    reads, torn, checked = (sum(each[key] for each in readers) for key in ("reads", "torn", "checked"))
    changes, errors = (sum(each[key] for each in readers) for key in ("generations", "errors"))
    half, most, worst = 1000 * np.quantile(np.concatenate([each["all"] for each in readers]), [0.5, 0.99, 1.0])
    work = 1000 * float(np.quantile(np.concatenate([each["work"] for each in readers]), 0.99))
    slow = max(1000 * each["latency"][1] for each in readers)
    print(f"readers: {reads:,} reads, {checked:,} states compared by hash, {changes} of them of a new generation")
    print(
        f"one update and one row: p50 {half:.2f} ms, p99 {most:.2f} ms (of the slowest reader {slow:.2f} ms), most "
        f"{worst:.0f} ms; p99 of the processor's time {work:.2f} ms; {os.getloadavg()[0]:.1f} processes ran or waited"
    )
    bars = {
        "torn reads": (torn, 0),
        "errors": (errors, 0),
        "p99 of one update and one row, ms": (most, 10),
        "processes whose memory grows": (int(not flat), 0),
    }
    for name, (value, bar) in bars.items():
        print(f"{name}: {value:.3g} (bar {bar}: {'reached' if value <= bar else 'MISSED'})")
    return all(value <= bar for value, bar in bars.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="lastfm-asia", help="or: generated")
    parser.add_argument("--rate", type=int, default=5000, help="changes a second")
    parser.add_argument("--batch", type=int, default=1000, help="changes in a group")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--pause", type=float, default=0.005, help="seconds between two reads of a reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--json", type=Path, help="a file for the raw figures")
    given = parser.parse_args()
    print(machine())
    with suppress(KeyboardInterrupt), tempfile.TemporaryDirectory() as room:
        writer, readers = run(given, Path(room))
        reached = show(given, writer, readers)
        if given.json is not None:
            given.json.write_text(json.dumps({"writer": writer, "readers": readers}))
        sys.exit(not reached)
    sys.exit(1)


if __name__ == "__main__":
    main()
