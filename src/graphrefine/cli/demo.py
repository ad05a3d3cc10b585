"""``graphrefine demo``: see it work on a real graph."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, THREADS, Command, Option


@click.command(
    cls=Command,
    params=[
        Option(["-o", "--output"], default="demo-output", show_default=True, metavar="FOLDER",
               help="For the map."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the sketch, the splits and the map."),
        THREADS, JSON,
    ],
    short_help="See it work on a real graph.",
)  # fmt: skip
def demo(output: str, seed: int, threads: int | None, as_json: bool) -> None:
    """Embed a real graph that every installation has, score the vectors, and draw a map of them.

    The graph: 1,797 handwritten digits from scikit-learn, each joined to its ten nearest. The labels: which digit
    it is.
    """
    from graphrefine.cli.demo_digits import run_demo
    from graphrefine.visuals.console import note, progress_bar, seconds, show_json, show_table

    with progress_bar() as bar:
        figures = run_demo(output, seed=seed, threads=threads, watcher=bar)
    if figures["map"] is None:
        note('note: no map was drawn, for want of matplotlib: pip install "graphrefine[plot]"')
    if as_json:
        return show_json(figures)
    print(f"{figures['nodes']:,} nodes, {figures['edges']:,} edges, embedded in {seconds(figures['seconds'])}.")
    print("Which digit is it, with 10% of the labels known?\n")
    rows = [("vectors", "Micro F1", "Macro F1")]
    rows += [(name, f"{s['micro_f1']:.1f}", f"{s['macro_f1']:.1f}") for name, s in figures["scores"].items()]
    show_table(rows)
    if figures["map"] is not None:
        print(f"\nmap: {figures['map']}")
    return None
