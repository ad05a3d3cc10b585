"""The commands of ``graphrefine``: one module each, in the order in which ``--help`` lists them.

Heavy parts are imported inside them, so that ``--help`` answers at once. What was asked for goes to stdout, all else to
stderr; `graphrefine.cli.main` says how a run ends.
"""

from __future__ import annotations

import click

from graphrefine.cli.compare import compare
from graphrefine.cli.convert import convert
from graphrefine.cli.demo import demo
from graphrefine.cli.embed import embed
from graphrefine.cli.evaluate import evaluate
from graphrefine.cli.explore import explore
from graphrefine.cli.fold_in import fold_in
from graphrefine.cli.info import info
from graphrefine.cli.ingest import ingest
from graphrefine.cli.map import map
from graphrefine.cli.methods import methods
from graphrefine.cli.neighbors import neighbors
from graphrefine.cli.options import Group
from graphrefine.cli.reproduce import reproduce
from graphrefine.cli.tune import tune
from graphrefine.system.version import __version__


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
