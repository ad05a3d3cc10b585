"""``graphrefine evaluate``: the quality of an embedding for a task."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.cli.options import method_options, reading_options
from graphrefine.display.console import note, progress_bar, show_json, show_table
from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import format_place
from graphrefine.evaluate import evaluate_clusters, evaluate_labels, evaluate_links, evaluate_reconstruction
from graphrefine.evaluate.link_scores import SCORES
from graphrefine.evaluate.results import Result
from graphrefine.evaluate.vector_maker import VectorMaker
from graphrefine.readers.read import read

LINK_PROTOCOL = ("held_out", "repeats", "corruptions", "ranked", "turned")  # options that are no settings of a method


def labels(embedding: str, labels: str, format: str | None, cluster: bool, as_json: bool, **protocol: Any) -> None:
    """Print Micro and Macro F1 of node classification, and NMI of clusters."""
    vectors = load(embedding, format=format)
    node_labels = take_labels(labels, protocol, vectors.names)
    with progress_bar() as bar:
        scores = evaluate_labels(vectors, node_labels, progress=bar, **protocol)
        clusters = evaluate_clusters(vectors, node_labels, seed=protocol["seed"], progress=bar) if cluster else None
    tell_labels(node_labels, vectors.names)
    if as_json:
        also = {} if clusters is None else {"clusters": clusters.to_dict()}
        show_json({"embedding": format_place(embedding), **scores.to_dict(), **also})
        return
    _show(scores, as_json)
    if clusters is not None:
        print()
        _show(clusters, as_json)


def links(graph: str, scores: tuple[str, ...] | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Print AUC, AP and ranks of held-out edges."""
    reading = reading_options(options)
    protocol = {name: options.pop(name) for name in LINK_PROTOCOL}
    protocol |= {"scores": tuple(SCORES) if scores is None else scores, "threads": threads}
    method, _, settings = method_options(options)
    with progress_bar() as bar:
        whole = read(graph, threads=threads, **reading)
        note(f"read: {whole.reading}")
        figures = evaluate_links(whole, method.name, progress=bar, **protocol, **settings)
    _show(figures, as_json, reading=whole.reading)


def reconstruction(
    graph: str, embedding: str | None, top: tuple[int, ...] | None, sample: int | None,
    embedding_format: str | None, threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Print the part of edges among the pairs whose vectors are closest, precision@K."""
    reading, seed = reading_options(options), options["seed"]
    if embedding is not None:
        _refuse_options("method", "dim", "assigned")
    elif embedding_format is not None:
        raise click.UsageError("--embedding-format is for an EMBEDDING, and none is given")
    with progress_bar() as bar:
        whole = read(graph, threads=threads, **reading)
        note(f"read: {whole.reading}")
        if embedding is not None:
            vectors: Any = load(embedding, format=embedding_format)
            origin: dict[str, Any] = {"embedding": format_place(embedding)}
        else:
            method, _, settings = method_options(options)
            maker = VectorMaker.of(method.name, whole, settings, threads=threads, progress=bar)
            vectors = maker.embedding(whole).vectors
            origin = {"method": maker.name, "settings": maker.settings}
        figures = evaluate_reconstruction(
            whole, vectors, top=top, sample=sample, seed=seed, threads=threads, progress=bar
        )
    _show(figures, as_json, reading=whole.reading, **origin)


def _show(result: Result, as_json: bool, **origin: Any) -> None:
    if as_json:
        show_json({**origin, **result.to_dict()})
    else:
        show_table(result.text_rows())
        print(result.protocol)


def _refuse_options(*names: str) -> None:
    """Refuse options that would have no effect."""
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} is for making vectors, and EMBEDDING has them; leave one out")
