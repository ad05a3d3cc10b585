"""How soon a person sees a million points: from a server that is up to the first frame in Chromium with all of them.

python benchmarks/explore_first_view.py [--nodes 1000000] [--dim 128] [--runs 3]

The embedding is that of explore_start.py; a run is a server and a browser of its own. Chromium is open, and goes to
the page the moment ``/healthz`` answers; "first view" is when every point is drawn and the frame is on its canvas. It
draws by software (SwiftShader), so a machine with a graphics card is faster. The best of the runs counts, and all are
shown. Needs chromium and the packages of the group "test".
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

from playwright.sync_api import Browser, sync_playwright

from common import machine
from explore_serving import Served, fetch, read_options
from explore_start import make_embedding

BAR = 3.0  # seconds
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def first_view(path: Path, nodes: int, browser: Browser) -> float:
    """Seconds from the server's first answer to the first frame with all points."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    try:
        with Served(path) as server:
            while fetch(server.port, "/healthz") is None:
                sleep(0.005)
            start = perf_counter()
            page.goto(f"http://127.0.0.1:{server.port}/", wait_until="commit")
            page.wait_for_selector(f'#map[data-drawn="{nodes}"]', timeout=60_000)
            return perf_counter() - start
    finally:
        page.close()


def measure(nodes: int, dim: int, runs: int) -> list[float]:
    """Seconds of each run."""
    chromium = shutil.which("chromium") or sys.exit("no chromium: install Debian's package of that name")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = make_embedding(Path(folder), nodes, dim)
        seconds = []
        for _ in range(runs):
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            seconds.append(first_view(path, nodes, browser))
            browser.close()
        return seconds


def main() -> None:
    options = read_options(__doc__)
    print(machine())
    seconds = measure(options.nodes, options.dim, options.runs)
    reached = min(seconds) < BAR
    every = ", ".join(f"{each:.2f}" for each in seconds)
    print(f"{options.nodes:,} nodes x {options.dim}, best of {options.runs}")
    verdict = "reached" if reached else "MISSED"
    print(f"  first view   {min(seconds):6.2f} s   bar {BAR:g} s: {verdict}   all runs: {every}")
    sys.exit(not reached)


if __name__ == "__main__":
    main()
