"""The constants of the cost model, measured on this machine: disk, gathers, dense algebra, network.

    python benchmarks/scale/constants.py [--threads 2] [--most 1e9] [--save FILE]

`model.py` computes with what is saved as `benchmarks/scale/constants.json`. Gathers are those of the real kernel: rows
of a bfloat16 matrix, drawn in proportion to power-law degrees, for matrices up to `--most` bytes. The disk is told to
forget what it is asked for; the network is a TCP connection of this machine to itself.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.system.threads import usable_threads
from measuring import machine, size

WIDTHS = (32, 64, 128)  # columns
SIZES = (1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32)  # bytes of a gathered matrix
ENTRIES = 1 << 22
DEGREE = 16  # entries of a row
FILE = 1 << 28  # bytes written to and read from the disk
SENT = 1 << 29  # bytes sent to itself


def best(run: Callable[[], object], *, rounds: int = 5) -> float:
    """Seconds of the fastest of some runs, after one that is not counted."""
    run()
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return min(seconds)


def gathers(columns: int, total: int, *, threads: int) -> float:
    """Entries per second of a product, where the matrix it gathers from has so many bytes."""
    rng = np.random.default_rng(0)
    nodes, rows = total // (2 * columns), ENTRIES // DEGREE
    drawn = (nodes * rng.random(ENTRIES) ** 3).astype(np.int64)  # degrees with the exponent 2.5
    step = next(step for step in range(int(nodes * 0.618), 2 * nodes) if np.gcd(step, nodes) == 1)
    indices = (drawn * step % nodes).astype(np.int32)  # hubs lie anywhere
    indptr = np.arange(0, ENTRIES + 1, DEGREE, dtype=np.int64)
    product = native.Product(
        indptr,
        indices,
        columns=nodes,
        value=None,
        row_shift=np.ones(rows, np.float32),
        column_shift=np.ones(nodes, np.float32),
        row_scale=None,
        column_scale=None,
        constant=0.0,
    )
    x = np.full((nodes, columns), 0x3F80, np.uint16)  # ones
    out = np.empty((rows, columns), np.uint16)
    return ENTRIES / best(lambda: product.apply(x, out=out, threads=threads))


def dense(columns: int, *, threads: int) -> float:
    """Operations per second of `x^T x`, multiplications and additions."""
    x = np.ones((1 << 17, columns), np.float32)
    gram = np.zeros((2, columns, columns))
    return 2 * x.size * columns / best(lambda: native.rotate(x, None, out=None, gram=gram, threads=threads))


def ordering(*, threads: int) -> float:
    """Entries per second of what is done once: rows in breadth-first order, and the graph renumbered."""
    rng = np.random.default_rng(0)
    nodes = ENTRIES // DEGREE
    graph = Graph.from_edges(*(nodes * rng.random((2, ENTRIES // 2)) ** 3).astype(np.int64), threads=threads)

    return len(graph.indices) / best(lambda: native.reorder(graph.indptr, graph.indices, None), rounds=2)


def disk(folder: str) -> tuple[float, float]:
    """Bytes per second written, until the disk has them, and read, with nothing kept in memory."""
    path, block = Path(folder) / "file", np.random.default_rng(0).bytes(1 << 24)
    start = perf_counter()
    with path.open("wb", buffering=0) as file:
        for _ in range(FILE // len(block)):
            file.write(block)
        os.fsync(file.fileno())
        written = FILE / (perf_counter() - start)
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = perf_counter()
        while file.read(1 << 24):
            pass
    return written, FILE / (perf_counter() - start)


def network() -> float:
    """Bytes per second through a TCP connection of this machine with itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def receive() -> None:
            with server.accept()[0] as peer:
                while peer.recv(1 << 20):
                    pass

        receiver = threading.Thread(target=receive)
        receiver.start()
        block = bytes(1 << 20)
        start = perf_counter()
        with socket.create_connection(server.getsockname()) as sender:
            for _ in range(SENT // len(block)):
                sender.sendall(block)
        receiver.join()
        return SENT / (perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--most", type=size, default=10**9, help="bytes of the largest matrix that is gathered from")
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    threads = usable_threads(given.threads)
    found: dict[str, Any] = {"machine": machine(), "threads": threads}
    print(found["machine"])
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found["disk_write"], found["disk_read"] = disk(folder)
    found["network"] = network()
    for name in ("disk_write", "disk_read", "network"):
        print(f"{name:10} {found[name] / 1e9:8.2f} GB/s")
    found["dense"] = {str(columns): dense(columns, threads=threads) for columns in WIDTHS}
    for columns, rate in found["dense"].items():
        print(f"dense, {columns:>3} columns {rate / 1e9:8.1f} Gflop/s, {threads} threads")
    found["ordering"] = ordering(threads=threads)
    print(f"ordering {found['ordering'] / 1e6:.1f} million entries/s")
    found["gather"] = {}
    print(f"\nmillion entries/s gathered, {threads} threads\n  columns " + "".join(f"{s >> 10:>10,} K" for s in SIZES))
    for columns in WIDTHS:
        rates = {total: gathers(columns, total, threads=threads) for total in SIZES if total <= given.most}
        found["gather"][str(columns)] = {str(total): rate for total, rate in rates.items()}
        print(f"  {columns:7} " + "".join(f"{rate / 1e6:12.1f}" for rate in rates.values()), flush=True)
    if given.save:
        given.save.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
