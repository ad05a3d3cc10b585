"""Measure the figures of the documentation anew: each benchmark that writes a file of docs/results, one after another.

    GRAPHREFINE_DATA=... python scripts/measure.py [--only speed,tiers] [--peers peers/bin/python]

Takes about an hour on two cores that do nothing else. ``--peers`` is the interpreter that has the packages which
``benchmarks/peers.py`` compares with; without it, that one is left out. A benchmark fails if it does not write its
file; one that misses a bar writes it and is named as well. ``scripts/figures.py`` puts the results into the pages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter, time

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
BENCHMARKS = {  # name of the result: benchmark, options
    "speed": "speed.py --graphs web-google --rounds 3",
    "command": "command.py --qualities fast,default",
    "memory": "memory.py --formats npy,parquet",
    "tiers": "tiers.py --methods fast,default,best,prone",
    "tiers-time": "tiers.py --methods fast,default,best --time-only --rounds 3 "
    "--graphs ppi,wikipedia-pos,blogcatalog,coauthor-cs,planetoid-pubmed,youtube-77k-groups,web-google",
    "methods": "methods.py",
    "dimension": "dimension.py --graphs ppi,lastfm-asia,wikipedia-pos,amazon-photo,coauthor-cs",
    "links": "link_scores.py --graphs ppi,wikipedia-pos,blogcatalog,coauthor-cs,planetoid-pubmed,web-google",
    "neighbors": "neighbors.py --only index",
    "predict-labels": "predict_labels.py",
    "predict-links": "predict_links.py --graphs ppi.mat,wikipedia-pos.mat,blogcatalog.mat --seeds 0",
    "fold-in": "fold_in.py --graphs ppi,wikipedia-pos,coauthor-cs,planetoid-pubmed,lastfm-asia --splits 3",
    "align": "align.py",
    "directed": "directed.py --threads 2",
    "features": "features.py --no-debian",
    "map-time": "map.py --only time",
    "live-f1": "live/labels_f1.py",
    "live-latency": "live/latency.py",
    "live-size": "live/size.py",
    "scale-model": "scale/model.py",
    "peers": "peers.py",
}


def measure(name: str, options: list[str]) -> bool:
    """Run a benchmark; whether it has written its result."""
    script, *usual = BENCHMARKS[name].split()
    command = [sys.executable, f"benchmarks/{script}", *usual, *options, "--save"]
    print(f"\n== {name}: python {' '.join(command[1:])}", flush=True)
    began, start, result = time(), perf_counter(), RESULTS / f"{name}.json"
    code = subprocess.run(command, cwd=ROOT).returncode
    written = result.exists() and result.stat().st_mtime >= began
    verdict = f"FAILED with {code}" if not written else "done" if code == 0 else "done, but a bar was missed"
    print(f"== {name}: {verdict} in {perf_counter() - start:.0f} s", flush=True)
    return written


def main() -> None:
    """Run all benchmarks, or some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(BENCHMARKS), help="names of results, with commas between")
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter that has the other packages")
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"{', '.join(unknown)}: choose of {', '.join(BENCHMARKS)}")
    options = {"peers": ["--python", given.peers]}
    chosen = [name for name in names if name != "peers" or given.peers]
    if chosen != names:
        print("peers is left out: --peers names the interpreter that has the other packages")
    failed = [name for name in chosen if not measure(name, options.get(name, []))]
    if failed:
        sys.exit(f"\nfailed: {', '.join(failed)}")
    print("\nall results were written; python scripts/figures.py puts them into the pages")


if __name__ == "__main__":
    main()
