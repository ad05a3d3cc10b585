"""The documentation's pictures of ``graphrefine explore``, at a thousand, a hundred thousand and a million points.

python scripts/screenshots.py [1k] [100k] [1m] [live] [--work FOLDER]

The digits of scikit-learn (real, 1,797 images, each joined to those that look like it) and graphs of groups in groups
(generated), embedded, laid out and looked at in Chromium; ``live`` is the page of ``graphrefine live serve`` while a
fifth of the digits' edges come. The pictures go to docs/images/. FOLDER keeps the graphs and
embeddings for the next time. The million takes about five minutes on two cores. Needs chromium and the
packages of the group "test".
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Literal, NamedTuple
from urllib.request import urlopen

import numpy as np
import scipy.sparse as sp
from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

import graphrefine
import graphrefine.live
from graphrefine.datasets.digits import digits_graph
from graphrefine.graph.graph import Graph

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
LARGEST = 400_000  # bytes of a picture
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Shot(NamedTuple):
    """A picture: what is shown, how, and what is done before it is taken."""

    make: Callable[[Path], list[str]]  # writes files into a folder; gives the arguments of the command
    act: Callable[[Page], None]
    scheme: Literal["light", "dark"]
    command: tuple[str, ...] = ("explore",)
    ready: str = "html[data-state=ready]"


def digits(folder: Path) -> list[str]:
    """A real graph, with names that can be read."""
    graph, digit = digits_graph()
    name = [f"{WORDS[value]} no. {i}" for i, value in enumerate(digit)]
    pairs = sp.triu(graph.to_scipy()).tocoo()
    _write(folder / "graph.csv", ["source", "target"], ([name[i], name[j]] for i, j in zip(*pairs.coords, strict=True)))
    _write(folder / "labels.csv", ["node", "label"], ([name[i], WORDS[value]] for i, value in enumerate(digit)))
    graphrefine.embed(graphrefine.read(folder / "graph.csv"), dim=64, seed=0).save(folder / "digits")
    return [str(folder / "digits"), f"--graph={folder / 'graph.csv'}", f"--labels={folder / 'labels.csv'}"]


def nested(nodes: int, edges: int, *, groups: int, parts: int) -> Callable[[Path], list[str]]:
    """A generated graph of groups in parts, each part with more edges to those beside it in its group."""

    def make(folder: Path) -> list[str]:
        rng = np.random.default_rng(0)
        part = np.sort(rng.choice(groups * parts, nodes, p=rng.dirichlet(np.full(groups * parts, 1.2))))
        begin = np.searchsorted(part, np.arange(groups * parts + 1))
        source = rng.integers(nodes, size=edges)
        own, group = part[source], part[source] // parts * parts
        kind = rng.choice(4, edges, p=(0.35, 0.3, 0.2, 0.15))  # in the part, to parts beside it, in the group, anywhere
        first = np.choose(kind, (own, np.maximum(own - 2, group), group, np.zeros_like(own)))
        last = np.choose(kind, (own + 1, np.minimum(own + 3, group + parts), group + parts, groups * parts + 0 * own))
        span = begin[last] - begin[first]
        target = begin[first] + (span * rng.random(edges) ** 1.6).astype(np.int64)  # some are more popular
        arcs = sp.coo_array((np.ones(edges, np.float32), (source, target)), shape=(nodes, nodes)).tocsr()
        graph = Graph.from_matrix((arcs + arcs.T).sign())
        sp.save_npz(folder / "graph.npz", sp.csr_matrix(graph.to_scipy()), compressed=False)
        label = np.array([f"group {name + 1:02}" for name in range(groups)])[part // parts]
        _write(folder / "labels.csv", ["node", "label"], zip(range(nodes), label, strict=True))
        graphrefine.embed(graph, dim=64, seed=0).save(folder / "generated")
        return [str(folder / "generated"), f"--graph={folder / 'graph.npz'}", f"--labels={folder / 'labels.csv'}"]

    return make


def _write(path: Path, header: list[str], rows: Iterator[list[str]] | zip[tuple[object, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def followed(folder: Path) -> list[str]:
    """The real graph without a fifth of its edges, as a live folder, and a file of those to come."""
    graph, digit = digits_graph()
    name = [f"{WORDS[value]} no. {i}" for i, value in enumerate(digit)]
    pairs = sp.triu(graph.to_scipy()).tocoo()
    edges = [[name[i], name[j]] for i, j in zip(*pairs.coords, strict=True)]
    later = set(np.random.default_rng(0).choice(len(edges), len(edges) // 5, replace=False).tolist())
    first = [edge for at, edge in enumerate(edges) if at not in later]
    graphrefine.live.create(graphrefine.read(first), folder / "digits.live", dim=64).close()
    (folder / "later.json").write_text(json.dumps([["+", *edges[at]] for at in sorted(later)]))
    return [str(folder / "digits.live")]


def follow(page: Page) -> None:
    """Changes by the page's own requests, some each second; then the card of a node that moved."""
    changes = json.loads((WORK["live"] / "later.json").read_text())
    send = """async ([request, changes]) => {
      const body = JSON.stringify({ request, changes });
      const headers = { "Content-Type": "application/json" };
      return (await fetch("/api/edges", { method: "POST", headers, body })).status;
    }"""
    for second in range(6):
        status = page.evaluate(send, [f"{second}", changes[second * 60 : second * 60 + 60]])
        assert status == 200, f"the changes were answered with {status}"
        page.wait_for_timeout(1000)
    page.locator("#moved button").first.click()
    page.wait_for_selector("#card-near li")


def open_card(page: Page) -> None:
    """A node's card, found by name."""
    page.keyboard.press("/")
    page.keyboard.type("seven no. 36")
    page.wait_for_selector("#completion-0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ego svg")
    page.keyboard.press("0")


def draw_lasso(page: Page) -> None:
    """A lasso around a part of the map, and the list of what is in it."""
    box = page.locator("#map").bounding_box()
    assert box is not None
    x, y, size = box["x"] + box["width"] * 0.62, box["y"] + box["height"] * 0.42, box["height"] * 0.17
    turns = np.linspace(0, 2 * np.pi, 24)
    page.keyboard.down("Shift")
    page.mouse.move(x + size, y)
    page.mouse.down()
    for turn in turns:
        page.mouse.move(x + size * float(np.cos(turn)), y + size * float(np.sin(turn)))
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_selector(".nodes .line")


def look(page: Page) -> None:
    """The map as it opens."""


SHOTS = {
    "1k": Shot(digits, open_card, "light"),
    "100k": Shot(nested(100_000, 1_000_000, groups=14, parts=24), draw_lasso, "light"),
    "1m": Shot(nested(1_000_000, 8_000_000, groups=20, parts=40), look, "dark"),
    "live": Shot(followed, follow, "light", ("live", "serve"), "#card"),
}
WORK: dict[str, Path] = {}  # folders of the pictures


@contextmanager
def serving(command: tuple[str, ...], arguments: list[str]) -> Iterator[str]:
    """The address of a server, until the end of the block."""
    command = (sys.executable, "-m", "graphrefine", *command, *arguments, "--no-browser", "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield str(json.loads(process.stdout.readline())["url"])
        finally:
            process.terminate()


def take(shot: Shot, url: str, path: Path) -> None:
    """Look at the page, act, and keep what is seen."""
    chromium = shutil.which("chromium") or sys.exit("no chromium: install Debian's package of that name")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        size: ViewportSize = {"width": 1440, "height": 860}
        page = browser.new_page(viewport=size, color_scheme=shot.scheme, reduced_motion="reduce")
        page.set_default_timeout(120_000)
        page.goto(url)
        page.wait_for_selector(shot.ready, state="attached")
        shot.act(page)
        page.mouse.move(5, 5)
        page.wait_for_timeout(2500)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")
    assert path.stat().st_size < LARGEST, "too large for the documentation"


def wait(url: str) -> None:
    """Until all that is made in the background is there."""
    while True:
        sleep(1)
        with suppress(OSError), urlopen(f"{url}api/info") as answer:
            told = json.load(answer)
            parts = [part for kind in ("layouts", "columns", "scores") for part in told[kind]]
            if all(part["state"] != "working" for part in parts):
                return


def main() -> None:
    """Take the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*SHOTS, []], default=list(SHOTS))
    parser.add_argument("--work", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name in chosen.names:
            folder = (chosen.work or Path(scratch)) / name
            done = folder / "arguments.json"
            if not done.exists():
                folder.mkdir(parents=True, exist_ok=True)
                done.write_text(json.dumps(SHOTS[name].make(folder)))
            WORK[name] = folder
            with serving(SHOTS[name].command, json.loads(done.read_text())) as url:
                if name != "live":
                    wait(url)
                take(SHOTS[name], url, IMAGES / ("live.png" if name == "live" else f"explore-{name}.png"))


if __name__ == "__main__":
    main()
