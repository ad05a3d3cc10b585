"""The way of a call through the house: which modules and functions it enters, and how often it turns.

Six ways are walked, each in a fresh interpreter: a file embedded by the command, by REFINE alone and by the default
with its three views, a NetworkX graph embedded in Python, a graph embedded within a budget of memory, one request to
the running page, one table of the paper.

A **layer** is a line of the drawing (``LAYERS`` in ``tests/drawing.py``); a module belongs to the layer of its box,
which is its folder or, at the top of the package, itself. The walk of a thread is the sequence of the layers of all
Python functions of graphrefine that it calls, in the order of the calls; a lambda and the resumption of a generator
are calls, a return is none, and calls while a module is imported do not count. Steps within a layer are left out. A
**turn** is a step up that follows a step down, or a step down that follows a step up. Turns are summed over threads. A
way that goes straight down has none.

**Modules** are those of graphrefine that are loaded at the end; **functions** those with a name that were called, and
**entered** the modules that they stand in.

    python scripts/walk.py                               all ways of this checkout
    python scripts/walk.py file --steps                  one of them, with every step to another layer
    python scripts/walk.py --tree ../before --layers old another checkout, by the list in its docs/architecture.md
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from time import process_time
from types import CodeType, FrameType
from typing import Any

HERE = Path(__file__).resolve().parent.parent
FRIENDS = "person,friend,letters\nann,bob,4\nann,cleo,2\nbob,cleo,3\ncleo,dan,1\ndan,eve,5\ndan,finn,2\neve,finn,4\n"
EMBED = ["embed", "friends.csv", "-o", "friends", "--weights", "letters"]
ALONE = ["--quality", "fast"]
WAYS = {
    "file": "graphrefine " + " ".join([*EMBED, *ALONE]),
    "views": "graphrefine " + " ".join(EMBED),
    "networkx": "graphrefine.embed(networkx.karate_club_graph(), dim=16)",
    "memory": "graphrefine embed large.txt -o large --memory 135MB, 100,000 nodes: vectors go to disk",
    "neighbors": "GET /api/neighbors?node=ann of graphrefine explore",
}
BARS = {"file": {"turns": 60, "modules": 61}, "views": {"turns": 130, "modules": 72}}


class Recorder:
    """Follows the calls of all threads of this process, while it is on."""

    def __init__(self, package: Path, levels: dict[str, int]) -> None:
        self.on = False
        self.steps: dict[int, list[tuple[int, CodeType]]] = defaultdict(list)  # of a thread: to another layer
        self.codes: set[CodeType] = set()
        self._package, self._levels = f"{package}{os.sep}", levels
        self._importing: dict[int, int] = defaultdict(int)  # of a thread: modules that are being imported

    def start(self) -> None:
        """Follow this thread, and those that start from now on."""
        threading.setprofile(self.follow)
        sys.setprofile(self.follow)
        self.on = True

    def follow(self, frame: FrameType, event: str, _: object) -> None:
        """Take one event of ``sys.setprofile``."""
        code = frame.f_code
        if not self.on or event not in ("call", "return") or not code.co_filename.startswith(self._package):
            return
        thread = threading.get_ident()
        if code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
            self._importing[thread] += 1 if event == "call" else -1
        elif event == "call" and not self._importing[thread]:
            self.codes.add(code)
            level, steps = self._levels[self.box(code)], self.steps[thread]
            if not steps or steps[-1][0] != level:
                steps.append((level, code))

    def box(self, code: CodeType) -> str:
        """The folder, or the module at the top."""
        return self.module(code).split("/")[0]

    def module(self, code: CodeType) -> str:
        """The path of a function's module in the package, without its suffix."""
        return Path(code.co_filename.removeprefix(self._package)).with_suffix("").as_posix()

    def figures(self) -> dict[str, Any]:
        """Figures of the walk."""
        self.on = False
        functions = {(self.module(code), code.co_qualname) for code in self.codes if not code.co_name.startswith("<")}
        return {
            "turns": sum(turns([level for level, _ in steps]) for steps in self.steps.values()),
            "modules": sum(name.split(".")[0] == "graphrefine" for name in sys.modules),
            "functions": len(functions),
            "entered": len({module for module, _ in functions}),
            "steps": [
                [(level, self.module(code), code.co_qualname) for level, code in steps] for steps in self.steps.values()
            ],
        }


def turns(steps: list[int]) -> int:
    """Changes of direction along a sequence in which no two neighbors are equal.

    Examples
    --------
    >>> turns([5, 3, 1]), turns([5, 3, 4, 1, 5])
    (0, 3)
    """
    upward = [after > before for before, after in pairwise(steps)]
    return sum(before != after for before, after in pairwise(upward))


def turning_places(steps: list[tuple[int, str, str]]) -> list[str]:
    """The functions at which the walk of a thread turns.

    Examples
    --------
    >>> turning_places([(5, "cli/embed", "embed"), (1, "graph/graph", "Graph.nodes"), (3, "refine/svd", "svd")])
    ['graph/graph: Graph.nodes']
    """
    return [
        f"{module}: {function}"
        for (before, _, _), (level, module, function), (after, _, _) in zip(steps, steps[1:], steps[2:], strict=False)
        if (level > before) != (after > level)
    ]


# In the fresh interpreter.


def walk(way: str, levels: dict[str, int]) -> dict[str, Any]:
    """Go one way in this process, in a folder that has what it needs."""
    import graphrefine

    recorder = Recorder(Path(graphrefine.__file__).resolve().parent, levels)
    if way == "networkx":
        import networkx

        club = networkx.karate_club_graph()
        recorder.start()
        graphrefine.embed(club, dim=16)
    elif way == "neighbors":
        answer_instead_of_serving(recorder)
        command(["explore", "friends", "--no-browser"])
    else:
        typed = {
            "file": [*EMBED, *ALONE],
            "views": EMBED,
            "memory": ["embed", "large.txt", "-o", "large", "--memory", "135MB"],
        }
        recorder.start()
        command(typed[way])
    if not recorder.codes:
        raise SystemExit(f"{way}: nothing of graphrefine was called")
    return recorder.figures()


def command(typed: list[str]) -> None:
    """Run a command of the program as if it was typed."""
    import runpy

    sys.argv = ["graphrefine", *typed]
    try:
        runpy.run_module("graphrefine.__main__", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise


def answer_instead_of_serving(recorder: Recorder) -> None:
    """Put one request to the page in the place of uvicorn's serving."""
    import asyncio

    import httpx
    import uvicorn

    async def serve(server: uvicorn.Server, *_: Any, **__: Any) -> None:
        before = -1.0
        while process_time() - before > 0.05:  # what is made in the background is not of the request
            before = process_time()
            await asyncio.sleep(0.5)
        app: Any = server.config.app
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            recorder.start()
            answer = await client.get("/api/neighbors", params={"node": "ann", "k": 3})
            recorder.on = False
        answer.raise_for_status()

    setattr(uvicorn.Server, "serve", serve)  # noqa: B010 - its type is another


# In the process that asks.


def measure(way: str, *, tree: Path, levels: dict[str, int]) -> dict[str, Any]:
    """Go one way in a fresh interpreter that runs the code of a checkout."""
    boxes = {path.stem for path in (tree / "src" / "graphrefine").iterdir() if path.suffix in ("", ".py")}
    if lost := sorted(boxes - set(levels) - {"__pycache__"}):
        raise SystemExit(f"no layer has {', '.join(lost)}; --layers says where layers are read")
    python = tree / ".venv" / "bin" / "python"
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GRAPHREFINE_")}
    environment["PYTHONPATH"] = str(tree / "src")
    program = [str(python) if python.exists() else sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        prepare(way, Path(folder), program, environment)
        typed = [*program, str(Path(__file__).resolve()), "--walk", way, "--levels", json.dumps(levels)]
        done = subprocess.run(typed, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise SystemExit(f"{way}: exit code {done.returncode}\n{done.stderr}")
        if way == "memory" and "disk" not in done.stderr:
            raise SystemExit(f"memory: the vectors did not go to disk\n{done.stderr}")
        figures: dict[str, Any] = json.loads(Path(folder, "walk.json").read_text(encoding="utf-8"))
    return figures


def prepare(way: str, folder: Path, program: list[str], environment: dict[str, str]) -> None:
    """Write what a way starts from."""
    (folder / "friends.csv").write_text(FRIENDS, encoding="utf-8")
    if way == "memory":
        import numpy as np

        np.savetxt(folder / "large.txt", np.random.default_rng(0).integers(100_000, size=(300_000, 2)), fmt="%d")
    if way == "neighbors":
        typed = [*program, "-m", "graphrefine", *EMBED]
        subprocess.run(typed, cwd=folder, env=environment, capture_output=True, check=True, timeout=600)


def old_levels(page: Path) -> dict[str, int]:
    """Layers from the list at the top of ``docs/architecture.md``: a line a layer, the topmost first."""
    listing = page.read_text(encoding="utf-8").split("```")[1]
    boxes = re.findall(r"^(\w+)(?:\.py|/) ", listing, re.MULTILINE)
    return {box: level for level, box in enumerate(reversed(boxes))}


def drawn_levels() -> dict[str, int]:
    """Layers of the drawing."""
    sys.path.insert(0, str(HERE / "tests"))
    from drawing import LEVELS

    return LEVELS


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"{', '.join(WAYS)}; all of them if none is named")
    parser.add_argument("--tree", type=Path, default=HERE, help="a checkout; this one by default")
    parser.add_argument("--layers", choices=["new", "old"], default="new", help="by the drawing, or by the long list")
    parser.add_argument("--steps", action="store_true", help="print every step to another layer too")
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument("--walk", help=argparse.SUPPRESS)  # what the fresh interpreter is started with
    parser.add_argument("--levels", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.walk:
        figures = walk(options.walk, json.loads(options.levels))
        Path("walk.json").write_text(json.dumps(figures), encoding="utf-8")
        return
    if wrong := [way for way in options.ways if way not in WAYS]:
        parser.error(f"there is no way {wrong[0]!r}; the ways are {', '.join(WAYS)}")
    tree = options.tree.resolve()
    levels = drawn_levels() if options.layers == "new" else old_levels(tree / "docs" / "architecture.md")
    figures = {way: measure(way, tree=tree, levels=levels) for way in options.ways or WAYS}
    steps = {way: row.pop("steps") for way, row in figures.items()}
    if options.as_json:
        print(json.dumps(figures, indent=2))
        return
    if options.steps:
        for way, threads in steps.items():
            for number, thread in enumerate(threads):
                print(f"{way}, thread {number}")
                print("\n".join(f"{'  ' * level}{module}: {function}" for level, module, function in thread))
            places = Counter(place for thread in threads for place in turning_places(thread))
            print(f"{way}, turns at:", ", ".join(f"{place} {count}" for place, count in places.most_common(20)), "\n")
    print(f"{'':12}{'turns':>8}{'modules':>10}{'functions':>12}{'entered':>10}")
    for way, row in figures.items():
        print(f"{way:12}{row['turns']:8}{row['modules']:10}{row['functions']:12}{row['entered']:10}   {WAYS[way]}")
    for way in figures.keys() & BARS.keys():
        print(f"{way}, at most: " + ", ".join(f"{bar} {name}" for name, bar in BARS[way].items()))


if __name__ == "__main__":
    main()
