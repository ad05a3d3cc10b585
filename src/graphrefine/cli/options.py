"""Options that commands share, the parsers of their values, and their order in ``--help``."""

from __future__ import annotations

import re
import sys
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import click

from graphrefine.errors import OutputError
from graphrefine.readers.formats import BY_NAME
from graphrefine.readers.options import ReadOptions

DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


class Option(click.Option):
    """An option that ``--help`` lists under a heading."""

    heading = "Options"


class Command(click.Command):
    """A command whose help lists its options under their headings, in order."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help text."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "heading", Option.heading), []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class Group(click.Group):
    """Commands in the order of their use, not of the alphabet."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self.commands)


Group.group_class = Group


def _parse_weights(_: Any, __: Any, value: str | None) -> str | bool | None:
    return False if value == "none" else value


def _parse_delimiter(_: Any, __: Any, value: str | None) -> str | None:
    return value if value is None else DELIMITERS.get(value, value)


def _parse_nodes(_: Any, __: Any, value: str | None) -> str | int | None:
    return int(value) if value is not None and value.isdecimal() else value


def _parse_filter(_: Any, __: Any, value: str | None) -> str | tuple[float, ...] | None:
    return value if value is None or "," not in value else parse_numbers(None, None, value)


def parse_numbers(_: Any, __: Any, value: str) -> tuple[float, ...]:
    """Numbers with commas between."""
    try:
        return tuple(float(number) for number in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not numbers with commas between, as in 0.1,0.5") from None


def parse_names(_: Any, __: Any, value: str | None) -> tuple[str, ...] | None:
    """Names with commas between."""
    return None if value is None else tuple(name.strip() for name in value.split(","))


def parse_counts(_: Any, __: Any, value: str | None) -> tuple[int, ...] | None:
    """Whole numbers with commas between."""
    try:
        return None if value is None else tuple(int(number) for number in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not whole numbers with commas between, as in 100,1000") from None


def parse_penalty(_: Any, __: Any, value: str) -> str | float | tuple[float, ...]:
    """A number, several, or ``cv``."""
    if value == "cv":
        return value
    numbers = parse_numbers(None, None, value)
    return numbers[0] if len(numbers) == 1 else numbers


def under(heading: str, *options: Option) -> tuple[Option, ...]:
    """The options, with their heading."""
    for option in options:
        option.heading = heading
    return options


_METAVARS = {
    "weights": "COLUMN",
    "column": "COLUMN",
    "nodes": "FILE",
    "format": "NAME",
    "delimiter": "CHAR",
    "characters": "CHARS",
    "name": "NAME",
    "count": "N",
}
_PARSERS = {"weights": _parse_weights, "delimiter": _parse_delimiter, "nodes": _parse_nodes}


def _reading_option(field: Field[Any]) -> Option:
    """The command-line option of a field of `ReadOptions`."""
    kind, help, name = field.metadata["kind"], field.metadata["help"], field.name
    if kind == "flag":
        return Option([f"--{name}"], is_flag=True, help=help)
    if kind == "format":
        help = f"{help.removesuffix('.')}: {', '.join(BY_NAME)}, grf."
    if field.metadata["otherwise"]:
        help = f"{help}  [default: {field.metadata['otherwise']}]"
    if kind == "switch":
        return Option([f"--{name}/--no-{name}"], default=None, help=help)
    return Option(
        [f"--{name}"],
        type=int if kind == "count" else None,
        metavar=_METAVARS[kind],
        callback=_PARSERS.get(kind),
        default=field.default,
        show_default=field.default is not None,
        help=help,
    )


_READING = {field.name: _reading_option(field) for field in fields(ReadOptions)}
THREADS = _READING.pop("threads")
READING = under("Reading the graph", *_READING.values())

REFINING = under(
    "The method's settings (all methods: dim and seed; the others are REFINE's)",
    Option(["--dim"], type=int, metavar="K",
           help="Length of the vectors.  [default: 128, or the number of nodes if that is less]"),
    Option(["--preset"], metavar="NAME",
           help="'paper' computes what the paper's authors' code does; options beside it override it."),
    Option(["--quality"], metavar="NAME",
           help="'high' for better vectors at many times the time.  [default: default]"),
    Option(["--block"], type=int, metavar="B",
           help="Columns orthonormalised at a time: for memory and speed, not quality.  [default: 16]"),
    Option(["--power"], type=int, metavar="Q", help="Products with the proximity matrix.  [default: 5]"),
    Option(["--negative"], type=float, metavar="LAMBDA", help="Weight of negative samples.  [default: 1]"),
    Option(["--exponent"], type=float, metavar="A", help="Of the context distribution.  [default: 0.75]"),
    Option(["--filter"], metavar="NAME", callback=_parse_filter,
           help="Smoothing over the graph: reach, taylor (the authors'), heat, markov, pagerank, none, or its "
                "coefficients, as in 0,-1,-2,1.  [default: reach]"),
    Option(["--order"], type=int, metavar="K", help="Order of the filter.  [default: the filter's own]"),
    Option(["--scale"], type=float, metavar="X",
           help="Of the filter: reach's weight of the far steps, heat's time, pagerank's restart, markov's share of "
                "the node itself."),
    Option(["--log-weights/--no-log-weights"], default=None,
           help="Whether ln(weight) is part of the proximity.  [default: yes]"),
    Option(["--two-sided/--one-sided"], default=None,
           help="Whether products alternate with the transpose.  [default: yes]"),
    Option(["--bfloat16/--no-bfloat16"], default=None,
           help="Whether products gather in bfloat16.  [default: yes]"),
    Option(["--seed"], type=int, metavar="N", help="Of the random sketch.  [default: 0]"),
)  # fmt: skip

GRAPH = click.Argument(["graph"], metavar="GRAPH")
MEMORY = Option(["--memory"], metavar="SIZE",
                help="Memory to do with, such as 8GB: where it is too little, vectors, and the graph if need be, stay "
                     "on disk and are worked in blocks.  [default: what is free]")  # fmt: skip
PLACING = under(
    "Memory and machines",
    MEMORY,
    Option(["--work"], metavar="DIR",
           help="Where such work is kept until it is done; an interrupted run goes on from there.  "
                "[default: OUT.work, beside the output]"),
    Option(["--executor"], type=click.Choice(["local", "dask"]), default="local", show_default=True,
           help="Who does the work: this process, or the workers of a Dask cluster, which share the graph and --work."),
    Option(["--scheduler"], metavar="ADDRESS", help="Of a Dask cluster that runs, such as tcp://host:8786."),
    Option(["--workers"], type=int, metavar="N",
           help="Dask workers to start on this machine, where no scheduler is given.  [default: one for each thread]"),
)  # fmt: skip
METHOD = Option(["--method"], default="refine", show_default=True, metavar="NAME",
                help="Which one; graphrefine methods lists them.")  # fmt: skip
SET = Option(["--set", "assigned"], multiple=True, metavar="SETTING=VALUE",
             help="A setting of the method, as graphrefine methods NAME lists them; can be given again.")  # fmt: skip
CONFIG = Option(["--config"], metavar="FILE",
                help="The method and its settings from a JSON file, as graphrefine tune writes it; options override "
                     "it.")  # fmt: skip
JSON = Option(["--json", "as_json"], is_flag=True, help="Print one JSON object on stdout and nothing else.")


def check_not_input(output: str, *inputs: str | int | None) -> None:
    """Refuse to replace what is about to be read."""
    for path in inputs:
        if isinstance(path, str) and Path(path).exists() and Path(output).exists() and Path(path).samefile(output):
            raise OutputError(f"{output}: is an input, and would be replaced; choose another --output")


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options for `graphrefine.read` out of a command's."""
    return {str(option.name): options.pop(str(option.name)) for option in READING}


def method_options(options: dict[str, Any]) -> tuple[str, str | None, dict[str, Any]]:
    """Take the method, its preset and its settings out of a command's options."""
    from graphrefine.methods.registry import find
    from graphrefine.refine.method_settings import parse

    path = options.pop("config", None)
    configured = {} if path is None else _config(path, options)
    method, preset = options.pop("method"), options.pop("preset", None)
    kind = find(method).settings
    for assignment in options.pop("assigned"):
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{assignment!r} is not SETTING=VALUE, as in window=5", param_hint="--set")
        if options.get(name) is not None:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--set")
        options[name] = parse(kind, name, text, of=f"method {method!r}")
    for name, value in configured.items():
        if options.get(name) is None:
            options[name] = value
    return method, preset, options


def _config(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """The settings in a file; its method becomes that of the options."""
    from graphrefine.run.config import read_config

    if options.get("preset") is not None:
        raise click.BadParameter("cannot stand beside --preset; leave one of them out", param_hint="--config")
    config = read_config(path)
    typed = click.get_current_context().get_parameter_source("method") is not click.core.ParameterSource.DEFAULT
    if typed and options["method"] != config.method:
        raise click.BadParameter(f"{path} has settings of {config.method}", param_hint="--method")
    options["method"] = config.method
    return config.settings


_ARGUMENTS = "|".join(
    [
        *(str(option.name) for option in (*READING, *REFINING, METHOD, THREADS)),
        *("ratios", "repeats", "C", "held_out", "scores", "corruptions", "ranked", "turned", "top", "sample"),
        *("methods", "dims", "time_limit", "memory_limit"),
        *("only", "data", "features"),
        *("memory", "budget", "train", "split_seed", "task"),
        *("table", "index", "replace"),
        *("host", "port"),
    ]
)


def in_options(message: str) -> str:
    """A message of the library in the words of the command line; what the user typed stays as it is.

    Examples
    --------
    >>> in_options("dim=9 is larger than the graph; say source=, or weights=False")
    '--dim 9 is larger than the graph; say --source, or --weights none'
    """
    typed = "|".join(re.escape(word) for word in sys.argv[1:] if "=" in word) or "(?!)"
    argument = rf"(?<![\w./'\"-])(?P<name>{_ARGUMENTS})=(?P<false>False)?(?P<true>True)?(?P<value>(?=[^\s,;.)]))?"

    def option(found: re.Match[str]) -> str:
        if found["typed"]:
            return found["typed"]
        value = " none" if found["false"] else " " if found["value"] is not None and not found["true"] else ""
        return f"--{found['name'].replace('_', '-')}{value}"

    return re.sub(f"(?P<typed>{typed})|{argument}", option, message)
