"""What an installed wheel must do: embed a file from the command line, keep names, have its pages and templates.

Run by `check_wheels.py` with the Python of a clean environment: ``python -I smoke.py FOLDER``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np

RINGS, SIZE = 4, 12


def edges() -> list[tuple[str, str]]:
    """Rings of nodes with chords, each joined to the next by one edge."""
    within = [(r, i, r, i + step) for r in range(RINGS) for i in range(SIZE) for step in (1, 2, 5)]
    between = [(r, 0, r + 1, 6) for r in range(RINGS)]
    return [(node(r, i), node(s, j)) for r, i, s, j in within + between]


def node(ring: int, place: int) -> str:
    """A name with a space in it."""
    return f"r{ring % RINGS} n{place % SIZE:02}"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command of this environment."""
    program = Path(sysconfig.get_path("scripts")) / "graphrefine"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True)


def main(folder: Path) -> None:
    """Raise AssertionError unless everything is as it must be."""
    folder.mkdir(parents=True, exist_ok=True)
    graph, plain = folder / "edges.csv", folder / "vectors"
    graph.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in edges()))

    figures = json.loads(run("embed", str(graph), "-o", str(plain), "--dim", "16", "--json").stdout)
    assert figures["nodes"] == RINGS * SIZE, figures

    import graphrefine

    assert "site-packages" in graphrefine.__file__, graphrefine.__file__
    page = Path(graphrefine.__file__).parent / "explore" / "page"
    assert (page / "index.html").is_file() and (page / "assets" / "app.js").is_file(), "the page of explore is missing"
    embedding = graphrefine.load(plain)
    assert "48 nodes" in embedding._repr_html_(), "a template is missing"
    embedding.map().save(folder / "map.html")
    assert embedding.names.tolist() == sorted({end for edge in edges() for end in edge})
    np.testing.assert_allclose(np.linalg.norm(embedding.vectors, axis=1), 1, atol=1e-5)
    near, far = embedding["r0 n03"] @ embedding["r0 n04"], embedding["r0 n03"] @ embedding["r2 n04"]
    assert near > far + 0.3, f"a neighbor is at {near:.2f}, a node of another ring at {far:.2f}"
    print(f"graphrefine {graphrefine.__version__}, near {near:.2f}, far {far:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
