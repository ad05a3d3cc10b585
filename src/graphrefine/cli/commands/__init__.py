"""Declarations of the commands: options and help, one module for each command.

The work of a command is the module of the same name in `graphrefine.cli`, imported when the command runs: ``--help``
answers at once. Figures go to stdout, all else to stderr; `graphrefine.cli.main` has the ends of a run.
"""

from __future__ import annotations

import click

from graphrefine.cli.commands.compare import COMPARE
from graphrefine.cli.commands.convert import CONVERT
from graphrefine.cli.commands.demo import DEMO
from graphrefine.cli.commands.embed import EMBED
from graphrefine.cli.commands.evaluate import EVALUATE
from graphrefine.cli.commands.explore import EXPLORE
from graphrefine.cli.commands.fold_in import FOLD_IN
from graphrefine.cli.commands.info import INFO
from graphrefine.cli.commands.ingest import INGEST
from graphrefine.cli.commands.map import MAP
from graphrefine.cli.commands.methods import METHODS
from graphrefine.cli.commands.neighbors import NEIGHBORS
from graphrefine.cli.commands.reproduce import REPRODUCE
from graphrefine.cli.commands.tune import TUNE
from graphrefine.cli.options import Group
from graphrefine.system.version import __version__

COMMANDS = (
    EMBED,
    INFO,
    INGEST,
    EVALUATE,
    COMPARE,
    TUNE,
    NEIGHBORS,
    MAP,
    EXPLORE,
    FOLD_IN,
    CONVERT,
    METHODS,
    REPRODUCE,
    DEMO,
)


@click.group(
    cls=Group,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
