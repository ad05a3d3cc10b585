"""One flipped bit, in any byte of any stored format: found, or what is read is the same to the last bit.

    python benchmarks/trust/flips.py [--count 1000] [--seed 0] [--only FORMAT ...] [--break]

A small graph is embedded (names of letters, state learned) and stored in every format. Each time one bit of one byte is
flipped: half of the bytes are drawn from the whole file, half from its first and last 512 bytes; of a folder, every
file is as likely. Then the program is asked:

* embeddings with a fingerprint: ``check`` and ``load``, both of which must refuse the file;
* those without (npy, csv, word2vec): ``check`` with the digits of names and vectors that are expected;
* a graph on disk: ``read`` and the use of all its arrays;
* the index and the map beside an embedding, which are made anew where they are damaged: the answer must be the one
  before, and the folder whole afterwards. "Found" counts those that were made anew;
* a live folder: the log and the frozen arrays are checked as ``graphrefine live check --quick`` does, then all vectors
  and figures are compared.

"No difference" counts flips after which everything that is read has the same bits, such as the case of a letter in an
escape of JSON, or the unused bytes of a page of a database. MISSED are other bits without a word; none is allowed.
``--break`` turns the verification off, as a control: that must show misses.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]  # this script is run by its path

import graphrefine  # noqa: E402
import graphrefine.live  # noqa: E402
from common import machine  # noqa: E402
from graphrefine.analysis.check import check  # noqa: E402
from graphrefine.display.maps.layout import obtain_layout  # noqa: E402
from graphrefine.embedding.embedding import Embedding  # noqa: E402
from graphrefine.embedding.formats import io  # noqa: E402
from graphrefine.errors import GraphRefineError  # noqa: E402
from graphrefine.graph import stored, stored_checks  # noqa: E402
from graphrefine.graph.stored_writer import OWN_CHECKSUM  # noqa: E402
from graphrefine.live.writer import Live  # noqa: E402
from graphrefine.search import companions  # noqa: E402
from graphrefine.search.searcher import Search  # noqa: E402
from live_states import bits as live_bits  # noqa: E402
from live_states import published_bits  # noqa: E402

FOUND, SAME, MISSED = "found", "no difference", "MISSED"
ENDS = 512  # bytes at either end of a file, from which half of all are drawn
NODES, DIM = 120, 8

Content = tuple[bytes, ...]
Question = Callable[[Path], str]  # the verdict on a place with a flipped bit


@dataclass(frozen=True)
class Kind:
    """A stored format: the function that writes one and the one that asks the program about it."""

    name: str
    write: Callable[[Path], Path]  # the place whose bytes are flipped
    ask: Callable[[Path], Question]  # given the whole place


def edges() -> list[tuple[str, str]]:
    """A small graph with names of letters, some beyond ASCII."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(NODES, size=(6 * NODES, 2)).tolist()
    return [(f"né{u}", f"né{v}") for u, v in pairs if u != v]


def make_embedding() -> Embedding:
    """The embedding that is stored in every format."""
    return graphrefine.embed(edges(), dim=DIM, quality="fast", threads=1)


def bits(embedding: Embedding) -> Content:
    """Everything that is read of an embedding."""
    state = embedding.state.arrays()
    pieces = [np.ascontiguousarray(state[name]).tobytes() for name in sorted(state)]
    names = "\n".join(map(str, embedding.names.tolist())).encode("utf-8", "surrogateescape")
    return names, np.ascontiguousarray(embedding.vectors).tobytes(), *pieces


def ask_saved(whole: Path) -> Question:
    """Whether ``check`` and ``load`` refuse a file; one that does not is a miss, or reads the same bits."""
    before = bits(graphrefine.load(whole))

    def ask(path: Path) -> str:
        told = [_refuses(lambda: _raise_problem(check(path))), _refuses(lambda: graphrefine.load(path))]
        if all(told):
            return FOUND
        return SAME if bits(graphrefine.load(path, verify=False)) == before else MISSED

    return ask


def ask_expected(whole: Path) -> Question:
    """The same of a format without a fingerprint, held to the digits of names and vectors that are expected."""
    embedding = graphrefine.load(whole)
    before, parts = bits(embedding), embedding.fingerprint

    def ask(path: Path) -> str:
        if _refuses(lambda: _raise_problem(check(path, expect=parts.vectors))):
            return FOUND
        if _refuses(lambda: _raise_problem(check(path, expect=parts.names))):
            return FOUND
        return SAME if bits(graphrefine.load(path)) == before else MISSED

    return ask


def ask_use(use: Callable[[Path], tuple[Any, ...]], whole: Path) -> Question:
    """Whether a use of what is stored is refused; one that is not is a miss, or gives the same content."""
    before = use(whole)

    def ask(path: Path) -> str:
        try:
            return SAME if use(path) == before else MISSED
        except GraphRefineError:
            return FOUND

    return ask


def ask_graph(whole: Path) -> Question:
    """Whether a graph on disk is refused when it is opened, or when its arrays are used."""

    def use(path: Path) -> Content:
        graph = graphrefine.read(path)
        sides = (graph, graph.transposed())
        arrays: list[Any] = [array for side in sides for array in (side.indptr, side.indices, side.weights)]
        arrays += [graph.degrees(), graph.context()]
        names = "\n".join(graph.names.tolist()).encode("utf-8", "surrogateescape")
        facts = f"{graph.directed} {graph.sources} {graph.reading}".encode()
        return names, facts, *(np.ascontiguousarray(array).tobytes() for array in arrays)

    return ask_use(use, whole)


def ask_companion(answer: Callable[[Embedding], tuple[bytes, bool]]) -> Callable[[Path], Question]:
    """Whether the answer with a companion is the one before; it tells whether the companion was made anew, too."""

    def prepare(whole: Path) -> Question:
        path = whole.parent / whole.name.split(".")[0]
        before, _ = answer(graphrefine.load(path))

        def ask(place: Path) -> str:
            given, is_new = answer(graphrefine.load(path))
            if given != before:
                return MISSED
            return FOUND if is_new else SAME

        return ask

    return prepare


def index_answer(embedding: Embedding) -> tuple[bytes, bool]:
    """Neighbors by the index, and whether it was made anew."""
    search = Search(embedding, index=True, threads=1)
    nearest = search.nearest(np.arange(len(embedding)), k=5)
    assert search.index is not None
    return nearest.rows.tobytes() + nearest.scores.tobytes(), search.index.is_new


def map_answer(embedding: Embedding) -> tuple[bytes, bool]:
    """Places in the plane, and whether they were computed anew."""
    layout = obtain_layout(embedding, "clusters", threads=1)
    return layout.coordinates.tobytes(), not layout.from_cache


def ask_live(whole: Path) -> Question:
    """Whether a live folder is refused when it is opened, or by its check."""

    def use(path: Path) -> tuple[Any, ...]:
        with Live(path, threads=1) as live:
            figures = live.check(deep=False)
            if figures["database"] != "ok":
                raise GraphRefineError(str(figures["database"]))
            return (repr(live.settings), repr(figures), *live_bits(live), *_published(path))

    return ask_use(use, whole)


def _published(path: Path) -> tuple[Any, ...]:
    with graphrefine.live.open(path, read_only=True, threads=1) as reader:
        return published_bits(reader)


def _refuses(ask: Callable[[], object]) -> bool:
    """Whether the program refuses; a warning is no refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ask()
        except GraphRefineError:
            return True
    return False


def _raise_problem(verdict: Any) -> None:
    if not verdict.ok:
        raise GraphRefineError(verdict.problems[0])


def _saved(name: str) -> Callable[[Path], Path]:
    def write(room: Path) -> Path:
        embedding = make_embedding()
        if name.endswith(".npy"):
            embedding = Embedding(None, embedding.vectors)
        embedding.save(room / name)
        return room / name

    return write


def _write_graph(room: Path) -> Path:
    weighted = [(u, v, 1 + at % 7) for at, (u, v) in enumerate(edges())]
    graphrefine.read(weighted, directed=True).save(room / "graph.grf")
    return room / "graph.grf"


def _write_index(room: Path) -> Path:
    make_embedding().save(room / "friends")
    index_answer(graphrefine.load(room / "friends"))
    return room / "friends.cosine.index"


def _write_map(room: Path) -> Path:
    make_embedding().save(room / "friends")
    map_answer(graphrefine.load(room / "friends"))
    return room / "friends.map"


def _write_live(room: Path) -> Path:
    path = room / "friends.live"
    with graphrefine.live.create(edges(), path, dim=DIM, threads=1) as live:
        for at in range(5):
            live.add(f"new{at}", f"né{at}")
    return path


KINDS = (
    Kind("folder", _saved("friends"), ask_saved),
    Kind("npz", _saved("friends.npz"), ask_saved),
    Kind("safetensors", _saved("friends.safetensors"), ask_saved),
    Kind("arrow", _saved("friends.arrow"), ask_saved),
    Kind("parquet", _saved("friends.parquet"), ask_saved),
    Kind("npy", _saved("friends.npy"), ask_expected),
    Kind("csv", _saved("friends.csv"), ask_expected),
    Kind("csv.gz", _saved("friends.csv.gz"), ask_expected),
    Kind("word2vec", _saved("friends.vec"), ask_expected),
    Kind("word2vec-binary", _saved("friends.bin"), ask_expected),
    Kind("grf", _write_graph, ask_graph),
    Kind("index", _write_index, ask_companion(index_answer)),
    Kind("map", _write_map, ask_companion(map_answer)),
    Kind("live", _write_live, ask_live),
)


def flip(place: Path, rng: Random) -> str:
    """Flip one bit of one byte of one file; its file, byte and bit in words."""
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
    file = rng.choice([each for each in files if each.stat().st_size])
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    if rng.random() < 0.5:
        at = rng.randrange(min(ENDS, len(content)))
        at = at if rng.random() < 0.5 else len(content) - 1 - at
    bit = rng.randrange(8)
    content[at] ^= 1 << bit
    file.write_bytes(content)
    return f"{file.name}, byte {at} of {len(content)}, bit {bit}"


def restore(place: Path, copy: Path) -> None:
    """Put the whole bytes back, with their times: what stands beside an embedding goes by these."""
    if place.is_dir():
        shutil.rmtree(place)
        shutil.copytree(copy, place)
    else:
        shutil.copy2(copy, place)


def run(kind: Kind, count: int, seed: int, room: Path) -> tuple[Counter[str], list[str]]:
    """Verdicts on so many flips, and the flips that were missed."""
    place = kind.write(room)
    copy = room.with_name(f"{room.name}.copy")
    shutil.copytree(place, copy) if place.is_dir() else shutil.copy2(place, copy)
    ask, rng = kind.ask(place), Random(f"{kind.name} {seed}")
    restore(place, copy)
    verdicts, missed = Counter[str](), []
    for _ in range(count):
        where = flip(place, rng)
        try:
            verdict = ask(place)
        except Exception as error:  # an error that is none of ours is no answer
            verdict, where = MISSED, f"{where}: {type(error).__name__}: {error}"
        verdicts[verdict] += 1
        if verdict == MISSED:
            missed.append(f"{verdict}: {where}")
        restore(place, copy)
    return verdicts, missed


@contextmanager
def without_verification() -> Iterator[None]:
    """Nothing is held to a checksum: the control, in which flips must be missed."""
    replaced: list[tuple[Any, str, Any]] = [
        (io, "find_changes", lambda *_: []),
        (sys.modules[check.__module__], "_find_difference", lambda *_: None),
        (sys.modules[check.__module__], "_check_expected", lambda *_: None),
        (stored_checks, "sum_manifest", lambda manifest: manifest.get(OWN_CHECKSUM)),
        (stored, "check_file", lambda *_: None),
        (stored, "check_block", lambda *_, **__: None),
        (companions, "is_whole", lambda *_: True),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, function in replaced:
        setattr(module, name, function)
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="flips for each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=[kind.name for kind in KINDS], metavar="FORMAT")
    parser.add_argument("--break", action="store_true", dest="broken", help="verify nothing: misses must show")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    kinds = [kind for kind in KINDS if not given.only or kind.name in given.only]
    print(f"{given.count:,} flips each, seed {given.seed}{', verification off' if given.broken else ''}")
    print(f"  {'format':16} {FOUND:>8} {SAME:>14} {MISSED:>8}  {'s':>6}   bar")
    failed = []
    for kind in kinds:
        start = perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            room = Path(folder, "room")
            room.mkdir()
            if given.broken:
                with without_verification():
                    verdicts, missed = run(kind, given.count, given.seed, room)
            else:
                verdicts, missed = run(kind, given.count, given.seed, room)
        bar = f"found {verdicts[FOUND]:,} of {given.count:,}"
        bar += f" and {verdicts[SAME]:,} without a difference" if verdicts[SAME] else ""
        bar += f": {'MISSED' if missed else 'reached'}"
        counts = f"{verdicts[FOUND]:8,} {verdicts[SAME]:14,} {verdicts[MISSED]:8,}"
        print(f"  {kind.name:16} {counts}  {perf_counter() - start:6.1f}   {bar}", flush=True)
        for line in missed[:3]:
            print(f"      {line}")
        failed += [kind.name] if missed else []
    print(f"formats with a miss: {', '.join(failed) or 'none'} (bar none: {'MISSED' if failed else 'reached'})")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
