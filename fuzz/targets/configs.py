"""Files of settings, as ``embed --config`` takes them: every method, embedding a small graph where it is soon done."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutations import mutate
from fuzz.target import Target

VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e-320, 1e308, -1e308, 1e300, 1e-30, 10**400, 2**31, 2**31 - 1, 2**63, -(2**63),
    2**64, 2**64 - 1, float("nan"), float("inf"), True, False, None, "", "none", "auto", "taylor", "refine", "reach",
    "\x00", [], [0], [1], [0, 0], [1e308, 1e308], [1e-320], [0.5, [1]], [1] * 2000, {}, {"a": 1}, [[]], "é",
    {"window": 10**400},
)  # fmt: skip
EDGES = [(node, (node + step) % 12) for node in range(12) for step in (1, 3)]
MOST = 40  # of a setting that counts rounds: more take longer than a fuzzer waits, and are allowed


def make_seeds() -> list[bytes]:
    """The defaults of each method, each preset, and one with a base."""
    from dataclasses import asdict

    from graphrefine.methods.registry import METHODS, find_method, make_settings

    seeds: list[dict[str, Any]] = [{}, {"dim": 64}, {"method": "harp", "base": "line", "base_settings": "samples=0.01"}]
    for name in METHODS:
        seeds.append({"method": name, **asdict(make_settings(name, dim=4))})
        seeds += [{"method": name, **preset} for preset in find_method(name).presets.values()]
    return [json.dumps(seed).encode() for seed in seeds]


def change(rng: Random, data: bytes) -> bytes:
    """Another value of a setting, or another setting, mostly; changed bytes else."""
    if rng.random() < 0.3:
        return mutate(rng, data)
    try:
        config = json.loads(data)
        names = [*config, "method", "dim", "seed", "power", "filter", "order", "scale"]
        for _ in range(rng.choice((1, 1, 2, 3))):
            name = rng.choice(names)
            config[name] = like(rng, config.get(name)) if rng.random() < 0.7 else rng.choice(VALUES)
        return json.dumps(config).encode()
    except (ValueError, TypeError, RecursionError):
        return mutate(rng, data)


def like(rng: Random, value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((0, 1, 2, 3, 5, 8, 11, 12, 13, 40, rng.getrandbits(62)))
    if isinstance(value, float):
        return rng.choice((rng.random(), 10 ** rng.uniform(-45, 40), -rng.random(), rng.uniform(-120, 120)))
    if isinstance(value, list):
        return [rng.choice((0, 1.0, 10 ** rng.uniform(-40, 40), -rng.random())) for _ in range(rng.randrange(6))]
    return rng.choice(VALUES)


def read(data: bytes, folder: Path) -> None:
    """Read a file, make the settings, and embed where that is soon done; vectors are finite."""
    import numpy as np

    import graphrefine
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.settings import read_config

    path = folder / "config.json"
    path.write_bytes(data)
    method, chosen = read_config(path)
    settings = make_settings(method, **chosen)
    if not is_quick(method, vars(settings)):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedding = graphrefine.embed(EDGES, method=method, threads=1, **chosen)
    assert np.isfinite(embedding.vectors).all(), "vectors that are no numbers"


def is_quick(method: str, settings: dict[str, Any]) -> bool:
    """Whether these settings mean few rounds."""
    if method in ("deepwalk", "node2vec", "harp", "mile", "line", "pte", "netsmf"):
        return False  # these train, for a tenth of a second and more
    counts = ("power", "iterations", "window", "steps", "order", "rank")
    return all((settings.get(name) or 0) <= MOST for name in counts)


TARGETS = [Target("configs", "tables", make_seeds, read, mutate=change)]
