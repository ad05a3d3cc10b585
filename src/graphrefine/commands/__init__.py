"""The commands of ``graphrefine``: one module each, in the order in which ``--help`` lists them.

Heavy parts are imported inside them, so that ``--help`` answers at once. What was asked for goes to stdout, all else to
stderr; `graphrefine.cli` says how a run ends.
"""

from __future__ import annotations

import click

from graphrefine import __version__
from graphrefine.cli_options import Group
from graphrefine.commands.compare import compare
from graphrefine.commands.convert import convert
from graphrefine.commands.demo import demo
from graphrefine.commands.embed import embed
from graphrefine.commands.evaluate import evaluate
from graphrefine.commands.explore import explore
from graphrefine.commands.fold_in import fold_in
from graphrefine.commands.info import info
from graphrefine.commands.ingest import ingest
from graphrefine.commands.map import map
from graphrefine.commands.methods import methods
from graphrefine.commands.neighbors import neighbors
from graphrefine.commands.reproduce import reproduce
from graphrefine.commands.tune import tune


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="graphrefine")
def cli() -> None:
    """Turn a graph into node vectors, in seconds.

    \b
    graphrefine embed friends.csv -o friends        vectors, with the node names kept
    graphrefine info friends.csv                    what is in the graph, what embedding it will cost
    graphrefine evaluate labels friends labels.csv  how well the vectors tell the labels
    graphrefine compare friends.csv                 which method is best on it, and what each costs
    graphrefine tune friends.csv -o settings.json   which settings are best on it
    graphrefine neighbors friends ada               who is most like her
    graphrefine map friends -o friends.png          a picture of all of them
    graphrefine explore friends --graph friends.csv a page to look around in
    graphrefine convert friends friends.parquet     any format to any other
    """  # noqa: D301  click wants the character itself, not its name


for command in (
    embed,
    info,
    ingest,
    evaluate,
    compare,
    tune,
    neighbors,
    map,
    explore,
    fold_in,
    convert,
    methods,
    reproduce,
    demo,
):
    cli.add_command(command)
