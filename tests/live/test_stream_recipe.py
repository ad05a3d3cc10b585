"""The recipe of docs/guides/live.md, from a stream of Redis into live vectors: nothing lost, nothing counted twice."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_servers import write_folder

from graphrefine import live
from processes import start_process

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "live.md"
CRASH = """
import os, redis, runpy, sys
redis.Redis.xack = lambda *_: os._exit(9)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def recipe() -> str:
    """The program as the page has it."""
    (program,) = re.findall(r"^```python follow\.py\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return str(program)


def test_the_recipe_is_short() -> None:
    assert recipe().count("\n") <= 20
    compile(recipe(), "follow.py", "exec")


@contextmanager
def running() -> Iterator[str]:
    """Start a Redis that keeps nothing on the disk; gives its address. Skip where there is none, but fail in CI."""
    program = shutil.which("redis-server")
    if program is None:
        problem = "no redis-server: install Debian's package of that name to test the recipe of a stream"
        if os.environ.get("CI"):
            pytest.fail(problem)
        pytest.skip(problem)
    folder = Path(tempfile.mkdtemp(prefix="redis-"))  # short: a socket's path has at most 107 bytes
    place = folder / "socket"
    options = ["--port", "0", "--unixsocket", str(place), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    try:
        with start_process([program, *options], stdout=subprocess.DEVNULL) as process:
            until = time.monotonic() + 30
            while not place.exists():
                if process.poll() is not None or time.monotonic() > until:
                    pytest.fail("redis-server did not start")
                time.sleep(0.05)
            yield f"unix://{place}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def stream() -> Iterator[tuple[Any, str]]:
    redis = pytest.importorskip("redis", reason="the package redis is not installed")
    with running() as address:
        client = redis.Redis.from_url(address, decode_responses=True)
        yield client, address
        client.close()


def send(client: Any, count: int, seed: int) -> Counter[str]:
    """Put changes into the stream; the weights that they add to each edge of "hub"."""
    draw, weights = random.Random(seed), Counter[str]()
    pipe = client.pipeline()
    for _ in range(count):
        target, weight = f"n{draw.randrange(1, 60)}", draw.randrange(1, 5)
        weights[target] += weight
        pipe.xadd("changes", {"op": "+", "source": "hub", "target": target, "weight": str(weight)})
    pipe.execute()
    return weights


def pending(client: Any) -> int:
    """Entries that are not acknowledged, or not read yet."""
    for group in client.xinfo_groups("changes"):
        return int(group["pending"]) + int(group["lag"])
    return -1


def follow(program: Path, address: str, folder: Path, *before: str) -> Any:
    return start_process([sys.executable, *before, program, address, folder], stderr=subprocess.PIPE)


def wait_until_done(client: Any, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while pending(client) != 0:
        assert process.poll() is None and process.stderr is not None, process.stderr and process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.05)


def weights_of(folder: Path) -> dict[str, float]:
    with live.open(folder, read_only=False) as vectors:
        return dict(vectors.graph().neighbors("hub"))


@pytest.mark.slow
def test_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path, stream: tuple[Any, str]) -> None:
    (client, address), folder, program = stream, write_folder(tmp_path), tmp_path / "follow.py"
    program.write_text(recipe())
    weights = send(client, 2500, seed=0)
    for number in range(3):  # each commits a group, and ends before it acknowledges
        with follow(program, address, folder, "-c", CRASH) as process:
            assert process.wait(60) == 9
        weights += send(client, 300, seed=number + 1)
    draw = random.Random(4)
    for number in range(4):
        with follow(program, address, folder) as process:
            time.sleep(draw.uniform(0.3, 2.0))
            process.kill()
            process.wait()
        weights += send(client, 2000, seed=number + 10)
    with follow(program, address, folder) as process:
        wait_until_done(client, process)
    assert weights_of(folder) == dict(weights)


@pytest.mark.slow
def test_without_the_id_of_the_request_a_kill_counts_twice(tmp_path: Path, stream: tuple[Any, str]) -> None:
    (client, address), folder, program = stream, write_folder(tmp_path), tmp_path / "follow.py"
    program.write_text("import os\n" + recipe().replace("entries[-1][0]", "os.urandom(9).hex()"))
    weights = send(client, 500, seed=0)
    with follow(program, address, folder, "-c", CRASH) as process:
        assert process.wait(60) == 9
    with follow(program, address, folder) as process:
        wait_until_done(client, process)
    assert weights_of(folder) == {name: 2 * weight for name, weight in weights.items()}


@pytest.mark.slow
def test_an_entry_that_is_no_change_stops_it_and_stays(tmp_path: Path, stream: tuple[Any, str]) -> None:
    (client, address), folder, program = stream, write_folder(tmp_path), tmp_path / "follow.py"
    program.write_text(recipe())
    client.xadd("changes", {"op": "+", "source": "hub", "target": "n3"})
    client.xadd("changes", {"op": "+", "source": "ann", "target": ""})  # a node
    wrong = client.xadd("changes", {"op": "+", "source": "hub", "target": "n4", "weight": "-2"})
    with follow(program, address, folder) as process:
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 1 and b"change 3 of 3: weight '-2'" in messages
    assert pending(client) == 3
    client.xack("changes", "live", wrong)
    with follow(program, address, folder) as process:
        wait_until_done(client, process)
    assert weights_of(folder) == {"n3": 1.0}
    with live.open(folder, read_only=True) as vectors:
        assert "ann" in vectors
