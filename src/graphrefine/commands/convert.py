"""``graphrefine convert``: an embedding in another format."""

from __future__ import annotations

import click

from graphrefine.cli_options import JSON, Command, Option


@click.command(
    cls=Command,
    params=[
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        Option(["--from-format"], metavar="NAME", help="Format of FROM where its suffix does not say."),
        Option(["--to-format"], metavar="NAME", help="Format of TO where its suffix does not say."),
        JSON,
    ],
    short_help="An embedding in another format.",
)
def convert(source: str, target: str, from_format: str | None, to_format: str | None, as_json: bool) -> None:
    """Write an embedding in another format; the suffix of TO says which.

    None is the native folder; .npy .npz .parquet .arrow .feather .safetensors; .txt .vec .w2v are word2vec's text,
    .bin its binary form; .csv .csv.gz. An .npy file holds no names.
    """
    from graphrefine import conversion
    from graphrefine.console import show_json

    done = conversion.convert(source, target, source_format=from_format, target_format=to_format)
    if as_json:
        return show_json({"source": source, "target": target, **done._asdict()})
    print(f"{target}: {done.nodes:,} nodes x {done.dim}, {done.source_format} to {done.target_format}")
    return None
