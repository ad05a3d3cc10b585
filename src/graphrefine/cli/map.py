"""``graphrefine map``: the nodes of an embedding in the plane, as a picture, a page or a table."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.display.console import note, progress_bar, seconds, show_json
from graphrefine.display.maps import check_map_output, map_of
from graphrefine.embedding.embedding import load
from graphrefine.progress import Stages


def map(
    embedding: str, output: str, labels: str | None, method: str, seed: int,
    title: str | None, names: int, dark: bool, format: str | None, threads: int | None, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Place the nodes of an embedding in the plane, and draw them."""
    suffix = check_map_output(output)
    _check_options(suffix)
    vectors = load(embedding, format=format)
    node_labels = take_labels(labels, reading, vectors.names)
    start = perf_counter()
    with progress_bar() as bar:
        node_map = map_of(vectors, node_labels, method=method, seed=seed, title=title, threads=threads, watch=bar)
        layout_seconds = perf_counter() - start
        with Stages(bar).stage("draw"):
            node_map.save(output, names=names, dark=dark, threads=threads)
    spent = perf_counter() - start
    readings = tell_labels(node_labels, vectors.names)
    classes = node_map.classes
    labeled = 0 if classes is None else int((classes.codes >= 0).sum())
    if node_labels is not None and labeled < len(node_map):
        note(f"note: {labeled:,} of {len(node_map):,} nodes have a label in {labels}; the others are grey")
    if classes is not None and classes.missing:
        note(f"note: {classes.missing:,} nodes of {labels} are not in {embedding}")
    if as_json:
        return show_json({
            "output": output, "nodes": len(node_map), "method": node_map.method, "seed": seed, "labeled": labeled,
            "classes": 0 if classes is None else len(classes.names), "seconds": spent, "layout_seconds": layout_seconds,
            **readings,
        })  # fmt: skip
    print(f"{output}: {len(node_map):,} nodes by {node_map.method} in {seconds(spent)}")
    return None


def _check_options(suffix: str) -> None:
    """Refuse options that the output would not show."""
    context = click.get_current_context()
    only = {"names": (".png", ".svg"), "dark": (".png", ".svg"), "title": (".png", ".svg", ".html")}
    for name, suffixes in only.items():
        typed = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if typed and suffix not in suffixes:
            raise click.UsageError(f"--{name} is for {', '.join(suffixes)}; leave it out")
