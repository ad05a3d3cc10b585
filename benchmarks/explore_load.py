"""Neighbors through the API of ``graphrefine explore`` under steady load: how long requests wait.

python benchmarks/explore_load.py EMBEDDING [--rate 300] [--seconds 300] [--connections 16] [--exact] [--poisson]

Open loop: when each request arrives is fixed in advance, and its time counts from then, also while it waits for a
connection to come free; a server that stalls is not asked less for that. Each asks for the 10 nearest of a random
node, by the index unless ``--exact``. The server is a process of its own on the same machine, and is first left to
finish what it makes in the background. The bars are for web-google, k = 128:

graphrefine embed $GRAPHREFINE_DATA/web-google.mat -o web-google
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

import numpy as np

from common import machine
from explore_serving import Served

P99, GROWTH = 0.020, 16 << 20  # seconds and bytes: the bars


class Outcome(NamedTuple):
    """How requests went."""

    latencies: list[float]  # seconds from when a request was to arrive
    errors: list[str]


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, row: int) -> str | None:
    """The neighbors of a row; what went wrong, if anything did."""
    writer.write(b"GET /api/neighbors?row=%d&k=10 HTTP/1.1\r\nHost: localhost\r\n\r\n" % row)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    if not head.startswith(b"HTTP/1.1 200 "):
        return head.decode().partition("\r\n")[0]
    return None if body.startswith(b'{"results":[{"node":') and b'"row":%d,' % row in body else "another node's answer"


def arrivals(count: int, rate: float, *, poisson: bool) -> list[float]:
    """When requests arrive, in seconds from the start: evenly, or by chance as those of many people do."""
    gaps = np.random.default_rng(1).exponential(1 / rate, count) if poisson else np.full(count, 1 / rate)
    times: list[float] = np.cumsum(gaps).tolist()
    return times


async def load(port: int, rows: list[int], times: list[float], *, connections: int) -> Outcome:
    """Send one request after the other, each when it is due, on the first connection that is free."""
    found = Outcome([], [])
    start = perf_counter() + 0.1
    due = iter(zip(times, rows, strict=True))

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for offset, row in due:
            arrival = start + offset
            await asyncio.sleep(max(0.0, arrival - perf_counter()))
            try:
                problem = await ask(reader, writer, row)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                problem = repr(error)
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            found.latencies.append(perf_counter() - arrival)
            if problem is not None:
                found.errors.append(problem)
        writer.close()

    await asyncio.gather(*(work() for _ in range(connections)))
    return found


def wait_until_made(server: Served, *, index: bool) -> None:
    """Until nothing is made in the background any more."""
    while True:
        told = server.info()
        states = [each["state"] for kind in ("layouts", "columns", "scores") for each in told[kind]]
        if "working" not in states and (told["search"] == "index") == index:
            return
        sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embedding", type=Path)
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--poisson", action="store_true", help="requests arrive by chance rather than evenly")
    chosen = parser.parse_args()
    print(machine())
    with Served(chosen.embedding, "--exact" if chosen.exact else "--index") as server:
        wait_until_made(server, index=not chosen.exact)
        nodes = server.info()["nodes"]
        rows = np.random.default_rng(0).integers(0, nodes, round(chosen.rate * chosen.seconds)).tolist()
        times = arrivals(len(rows), chosen.rate, poisson=chosen.poisson)
        warm = round(5 * chosen.rate)
        asyncio.run(load(server.port, rows[:warm], times[:warm], connections=chosen.connections))
        before = server.memory()
        found = asyncio.run(load(server.port, rows, times, connections=chosen.connections))
        after = server.memory()
    sys.exit(not show(found, after - before, chosen, nodes))


def show(found: Outcome, growth: int, chosen: argparse.Namespace, nodes: int) -> bool:
    """The figures beside their bars; whether all were reached."""
    half, most, top = np.quantile(found.latencies, [0.5, 0.99, 1.0])
    how = "exact" if chosen.exact else "index"
    print(
        f"{nodes:,} nodes, {how}: {len(found.latencies):,} requests, {chosen.rate:g} a second over "
        f"{chosen.connections} connections\n  p50 {1e3 * half:.1f} ms   p99 {1e3 * most:.1f} ms   "
        f"max {1e3 * top:.1f} ms   errors {len(found.errors)}   memory {growth / 2**20:+.1f} MB"
    )
    reached = {
        f"p99 under {1e3 * P99:g} ms": most < P99,
        "no error": not found.errors,
        f"memory within {GROWTH >> 20} MB": growth < GROWTH,
    }
    print("  " + "   ".join(f"{name}: {'reached' if good else 'MISSED'}" for name, good in reached.items()))
    for problem in found.errors[:3]:
        print(f"  {problem}")
    return all(reached.values())


if __name__ == "__main__":
    main()
