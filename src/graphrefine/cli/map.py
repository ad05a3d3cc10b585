"""``graphrefine map``: the nodes of an embedding in the plane, as a picture, a page or a table."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, refuse_options, take_labels
from graphrefine.display.console import note, progress_bar, seconds, show_json
from graphrefine.progress import Stages


@command(
    "map",
    first=("output", "labels", "method", "title"),
    short_help="The nodes in the plane: a picture, a page or a table.",
    params=[
        opt.EMBEDDING,
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="A picture (.png, .svg), a page to look around in (.html), or a table (.parquet)."),
        Option(["--labels"], metavar="LABELS",
               help="What to color by: a table (node, label), or a .mat file, as for graphrefine evaluate labels."),
        Option(["--method"], type=click.Choice(["auto", "clusters", "pca"]), default="auto", show_default=True,
               help="How nodes are arranged: near those that are like them, or on the principal plane."),
        Option(["--title"], metavar="TEXT", help="Of the picture.  [default: the embedding's name and size]"),
        Option(["--names"], default="40", show_default=True, metavar="N|none",
               help="How many nodes have their names on a picture: those with the most neighbors."),
        Option(["--dark"], is_flag=True, help="A picture for a dark page."),
        opt.VARIABLE, opt.FORMAT, opt.SEED, opt.THREADS, opt.JSON, *opt.LABEL_READING,
    ],
)  # fmt: skip
def map(
    embedding: str, output: str, labels: str | None, names: str, dark: bool, format: str | None, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Place the nodes of EMBEDDING in the plane, near those that are like them, and draw them.

    The layout is kept next to EMBEDDING, in the folder EMBEDDING.map, for the next time.
    """
    from graphrefine.display.maps import check_map_output, make_map
    from graphrefine.embedding.embedding import load

    check_not_input(output, [embedding, labels])
    if names != "none" and not names.isdecimal():
        raise click.BadParameter(f"{names!r} is not a number, nor 'none'", param_hint="--names")
    suffix = check_map_output(output)
    if suffix not in (".png", ".svg"):
        refuse_options("is for .png and .svg; leave it out", "names", "dark")
    if suffix == ".parquet":
        refuse_options("is for .png, .svg and .html; leave it out", "title")
    vectors = load(embedding, format=format)
    node_labels, readings = take_labels(labels, options, vectors.names)
    start = perf_counter()
    with progress_bar() as bar:
        node_map = make_map(vectors, node_labels, watcher=bar, **options)
        layout_seconds = perf_counter() - start
        with Stages(bar).stage("draw"):
            node_map.save(output, names=0 if names == "none" else int(names), dark=dark)
    spent = perf_counter() - start
    classes = node_map.classes
    labeled = 0 if classes is None else int((classes.codes >= 0).sum())
    if node_labels is not None and labeled < len(node_map):
        note(f"note: {labeled:,} of {len(node_map):,} nodes have a label in {labels}; the others are grey")
    if classes is not None and classes.missing:
        note(f"note: {classes.missing:,} nodes of {labels} are not in {embedding}")
    if as_json:
        return show_json({
            "output": output, "nodes": len(node_map), "method": node_map.method, "seed": options["seed"],
            "labeled": labeled, "classes": 0 if classes is None else len(classes.names), "seconds": spent,
            "layout_seconds": layout_seconds, **readings,
        })  # fmt: skip
    print(f"{output}: {len(node_map):,} nodes by {node_map.method} in {seconds(spent)}")
    return None
