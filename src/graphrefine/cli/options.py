"""What commands share: options, in the order of ``--help``; reading what they name; showing tables and notes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphrefine.display.console import note, show_json
from graphrefine.embedding.formats import FORMATS
from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError, suggest
from graphrefine.pipeline.settings import RunSettings, read_config
from graphrefine.readers.formats import BY_NAME
from graphrefine.readers.options import ReadOptions
from graphrefine.refine.settings import RefineSettings, parse_setting
from graphrefine.system.files import durable_outputs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.display.table import Table
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.evaluate import Labels
    from graphrefine.graph.graph import Graph
    from graphrefine.methods.contract import Method

FIRST, FURTHER = "Main options", "Further options"  # headings of the options that matter most, and of those below
# An empty path would be the current folder: a variable of a shell script that is not set must not become that.
PATHS = ("output", "work", "graph", "labels", "features", "columns", "align_to", "config")
# Characters that shells and people do not type well.
DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
JSON_ROWS = 1000  # of a table that is not written to a file: a million rows as JSON are of no use at a terminal
TOKEN_LENGTH = 4096  # characters that are read of a file
REFINE_HEADING = "The method's settings (all methods: dim and seed; the others are REFINE's)"


class Option(click.Option):
    """An option that ``--help`` lists under a heading."""

    heading = "Options"


class Command(click.Command):
    """A command whose help lists the options in ``first`` first, then the others under their headings, in order."""

    # The help of the program lists every command, and so imports the module of each. Functions of commands import NumPy
    # and all that is slow inside their bodies: ``graphrefine --help`` must answer within 0.2 s (benchmarks/start.py).

    def __init__(self, name: str | None, *, first: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(name, **settings)
        self.first = first

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the option that it is about."""
        for each in self.params:
            value, is_argument = ctx.params.get(str(each.name)), isinstance(each, click.Argument)
            if value == "" and (is_argument or each.name in PATHS):
                raise click.BadParameter("the name is empty; give one", param=each)
            if value == "-" and each.name in ("output", "target"):
                raise click.BadParameter("standard output takes no vectors and no tables; name a file", param=each)
        try:
            # A script may delete the inputs of a command that has ended well: what it wrote must be on the disk by
            # then, and survive a power cut. The library leaves that to its caller.
            with durable_outputs():
                return super().invoke(ctx)
        except GraphRefineError as error:
            raise click.ClickException(name_option(error, self)) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help text."""
        for heading, records in self.option_records(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def option_records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options as ``--help`` shows them: heading -> (option, help), those of `first` at the head."""
        options = {str(each.name): each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in (*self.first, *(name for name in options if name not in self.first)):
            option = options[name]
            heading = FIRST if name in self.first else getattr(option, "heading", Option.heading)
            if self.first and heading == Option.heading:
                heading = FURTHER
            record = option.get_help_record(ctx)
            if record is not None:
                groups.setdefault(heading, []).append(record)
        return groups


command = partial(click.command, cls=Command)


class Group(click.Group):
    """Commands in the order of their use, not of the alphabet; a wrong name is answered with a near one."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is typed."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = suggest(name, self.commands)
            ctx.fail(f"No such command {name!r}{near}; the commands are {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return list(self.commands)


def parse_filter(_: Any, __: Any, value: str | None) -> Any:
    """Parse the name of a filter, or its coefficients with commas between."""
    return value if value is None or "," not in value else parse_numbers(None, None, value)


def _split_by_commas(kind: Callable[[str], Any], expected: str) -> Callable[[Any, Any, str | None], Any]:
    """Return the callback of an option that takes values with commas between; None stays None."""

    def parse(_: Any, __: Any, value: str | None) -> tuple[Any, ...] | None:
        try:
            return None if value is None else tuple(map(kind, value.split(",")))
        except ValueError:
            raise click.BadParameter(f"{value!r} is not {expected}") from None

    return parse


parse_names = _split_by_commas(str.strip, "names with commas between")
parse_numbers = _split_by_commas(float, "numbers with commas between, as in 0.1,0.5")
parse_counts = _split_by_commas(int, "whole numbers with commas between, as in 100,1000")


def parse_penalty(_: Any, __: Any, value: str) -> str | float | tuple[float, ...]:
    """Parse a number, several, or ``cv``."""
    if value == "cv":
        return value
    numbers: tuple[float, ...] = parse_numbers(None, None, value)
    return numbers[0] if len(numbers) == 1 else numbers


def penalty_option(default: str) -> Option:
    """Return the option of the penalty of a logistic regression."""
    text = (
        "Weight of the data in the logistic regression: a number, several with commas between, or 'cv': the best one."
    )
    return Option(["--C", "C"], default=default, show_default=True, metavar="C", callback=parse_penalty, help=text)


def under(heading: str, *options: Option) -> tuple[Option, ...]:
    """Set the heading of options, and return them."""
    for option in options:
        option.heading = heading
    return options


METAVARS = {  # by the kind of an option of reading
    "weights": "COLUMN", "column": "COLUMN", "nodes": "FILE", "format": "NAME", "delimiter": "CHAR",
    "characters": "CHARS", "name": "NAME", "moment": "TIME", "count": "N",
}  # fmt: skip
PARSERS: dict[str, Callable[[str], Any]] = {
    # Messages say weights=False, as the keyword of Python has it.
    "weights": lambda value: False if value in ("none", "False") else value,
    "delimiter": lambda value: DELIMITERS.get(value, value),
    "nodes": lambda value: int(value) if value.isdecimal() else value,
}


def _reading_option(field: Field[Any]) -> Option:
    """Return the command-line option of a field of `ReadOptions`."""
    kind, help, name = field.metadata["kind"], field.metadata["help"], field.name.replace("_", "-")
    if kind == "format":
        help = f"{help.removesuffix('.')}: {', '.join(BY_NAME)}, grf."
    if field.metadata["otherwise"]:
        help = f"{help}  [default: {field.metadata['otherwise']}]"
    if kind in ("switch", "direction"):
        return Option([f"--{name}/--{'un' if kind == 'direction' else 'no-'}{name}"], default=None, help=help)
    parse = PARSERS.get(kind)
    return Option(
        ["--comments", "--comment"] if name == "comments" else [f"--{name}"],
        type=int if kind == "count" else None,
        metavar=METAVARS[kind],
        callback=None if parse is None else lambda _, __, value: None if value is None else parse(value),
        default=field.default,
        show_default=field.default is not None,
        help=help,
    )


_READING = {field.name: _reading_option(field) for field in fields(ReadOptions)}
THREADS = _READING.pop("threads")
READING = under("Reading the graph", *_READING.values())


class IntegerOrAuto(click.ParamType):  # type: ignore[type-arg]  # generic in the newest versions only
    """A whole number, or "auto"."""

    name = "dim"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number, or the word."""
        try:
            return "auto" if value == "auto" else int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor 'auto'", param, ctx)


# The type of an option by the type of its field, which `from __future__ import annotations` leaves as text.
TYPES = {"int": int, "int | None": int, "float": float, "float | None": float}


def setting_options(kind: type, heading: str) -> tuple[Option, ...]:
    """Return one option for each field of a dataclass of settings, with its help text and its default.

    An option that is not given is None, whichever the default: presets and files come before defaults.
    """
    return under(heading, *map(_setting_option, fields(kind)))


def _setting_option(each: Field[Any]) -> Option:
    name, about, default = each.name.replace("_", "-"), each.metadata, each.default
    if isinstance(default, bool):
        default = "yes" if default else "no"
    elif isinstance(default, float):
        default = f"{default:g}"
    default = about["default"] or default
    text = about["help"] if default is None else f"{about['help']}  [default: {default}]"
    if about["flag"]:
        return Option([f"--{name}/--{about['flag']}"], default=None, help=text)
    type: Any = IntegerOrAuto() if name == "dim" else TYPES.get(str(each.type), str)
    callback = parse_filter if name == "filter" else None
    return Option([f"--{name}"], type=type, metavar=about["metavar"], help=text, callback=callback)


REFINING = (
    *setting_options(RefineSettings, REFINE_HEADING),
    *under(
        REFINE_HEADING,
        Option(["--preset"], metavar="NAME",
               help="'paper' computes what the paper's authors' code does; further options override it."),
    ),
)  # fmt: skip
RUNNING = setting_options(RunSettings, "Memory and machines")
MEMORY = next(option for option in RUNNING if option.name == "memory")
GRAPH = click.Argument(["graph"], metavar="GRAPH")
EMBEDDING = click.Argument(["embedding"], metavar="EMBEDDING")
FORMAT = Option(["--format"], metavar="NAME", help="Format of EMBEDDING if its suffix does not say.")
EMBEDDING_FORMAT = Option(["--embedding-format"], metavar="NAME",
                          help="Format of EMBEDDING if its suffix does not say.")  # fmt: skip
OUTPUT_FORMAT = Option(["--output-format"], metavar="NAME", help="Format of OUT if its suffix does not say.")
SEED = Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of all random numbers.")
METHOD = Option(["--method"], default="refine", show_default=True, metavar="NAME",
                help="Which one; graphrefine methods lists them.")  # fmt: skip
SET = Option(["--set", "assigned"], multiple=True, metavar="SETTING=VALUE",
             help="A setting of the method, as graphrefine methods NAME lists them; can be given again.")  # fmt: skip
SUFFIXES = ", ".join(  # of the formats of embeddings, with their names where the suffixes have other words
    " ".join(each.suffixes or ["none"]) + (f" ({each.name})" if f".{each.name}" not in each.suffixes else "")
    for each in FORMATS
)
SKIP = Option(["--skip-unknown", "skip"], is_flag=True,
              help="Go on without names that no node has, and print how many they are.")  # fmt: skip
INDEX = Option(["--index/--exact"], default=None,
               help="Search by an index, kept next to EMBEDDING.  [default: from a million nodes on]")  # fmt: skip
EVERY = Option(["--all", "every"], is_flag=True,
               help="Compare the neighbors of all shared nodes, not of a sample of 10,000 (of each side).")  # fmt: skip
LABEL_READING = under(
    "Reading the labels",
    Option(["--label-column"], metavar="COLUMN",
           help="Column of the labels, by name or position from 0.  [default: a usual name, or the only other column]"),
    Option(["--node-column"], metavar="COLUMN",
           help="Column of their nodes.  [default: a usual name, the column with names of the graph, or the first]"),
    Option(["--labels-header/--no-labels-header"], default=None,
           help="Names of the columns in the first line of text.  [default: detected]"),
)  # fmt: skip
VARIABLE, LABELS_VARIABLE = (
    Option([spelling, "labels_variable"], default="group", show_default=True, metavar="NAME",
           help="Matrix in a .mat file of labels.")
    for spelling in ("--variable", "--labels-variable")
)  # fmt: skip
under("Reading the labels", LABELS_VARIABLE)
REPEATS = Option(["--repeats"], type=int, metavar="N",
                 help="Random splits for each ratio.  [default: 10, and 50 at ratios up to 0.05]")  # fmt: skip
TABLE = Option(["-o", "--output"], metavar="TABLE",
               help="Write all rows to a file: .csv, .tsv, .jsonl, .parquet or .arrow.")  # fmt: skip
TOKEN = (
    Option(["--token-file"], metavar="FILE",
           help="File whose first line is the token that every request must send; - for stdin.  "
                "[default: GRAPHREFINE_TOKEN, or a new one where a token is needed]"),
    Option(["--token"], metavar="TEXT", help="The token itself; others can see a command line."),
)  # fmt: skip
SERVER = (
    Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS",
           help="Address to listen on; beyond this machine a token is needed, and made if none is given."),
    Option(["--port"], type=int, default=0, metavar="N", help="Port to listen on.  [default: any that is free]"),
    *TOKEN,
    Option(["--no-browser"], is_flag=True, help="Do not open the page in a browser."),
    Option(["--json", "as_json"], is_flag=True, help="Print one line of JSON with the address, then serve."),
)  # fmt: skip
JSON = Option(["--json", "as_json"], is_flag=True, help="Print one JSON object on stdout and nothing else.")
# Options of labels have other names than the arguments of the library where a command also reads a graph.
LABEL_ARGUMENTS = {"labels_header": "header", "labels_variable": "variable"}
LABEL_OPTIONS = (*(str(option.name) for option in LABEL_READING), "labels_variable")


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options for `graphrefine.read` out of a command's."""
    return {str(option.name): options.pop(str(option.name)) for option in READING}


def method_options(options: dict[str, Any]) -> tuple[Method[Any], str | None, dict[str, Any]]:
    """Take the method, its preset and its settings out of a command's options."""
    from graphrefine.methods.registry import find_method  # too slow for --help

    path, preset = options.pop("config", None), options.pop("preset", None)
    configured: dict[str, Any] = {}
    if path is not None:
        if preset is not None:
            raise click.BadParameter("cannot be used with --preset; leave one of them out", param_hint="--config")
        named, configured = read_config(path)
        source = click.get_current_context().get_parameter_source("method")
        if source is not click.core.ParameterSource.DEFAULT and options["method"] != named:
            raise click.BadParameter(f"{path} has settings of {named}", param_hint="--method")
        options["method"] = named
    method = find_method(options.pop("method"))
    for assignment in options.pop("assigned"):
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{assignment!r} is not SETTING=VALUE, as in window=5", param_hint="--set")
        if options.get(name) is not None:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--set")
        options[name] = parse_setting(method.settings, name, text, of=f"method {method.name!r}")
    given = {name: value for name, value in options.items() if value is not None}
    return method, preset, {**options, **configured, **given}


# An argument with its value as messages of the library have them, such as weights=False or delimiter=';'.
_ARGUMENT = re.compile(r"\b([a-z_]+)=(True\b|False\b|None\b|'[^']*'|(?=[\s,;:]|$))")
_FLAGS = {"unknown": "skip"}  # an argument whose option is a flag of another name


def name_option(problem: GraphRefineError | Warning, command: click.Command) -> str:
    """Return the message of an error or a warning, with options in place of the arguments of Python.

    The option of the problem's argument is named at the end, if nothing before has named it.
    """
    argument, message = getattr(problem, "argument", None), str(problem)
    options = {str(each.name): each for each in command.params if isinstance(each, click.Option)}
    option = options.get(str(argument))
    if option is not None and message.startswith(f"{argument}="):
        message = f"{max(option.opts, key=len)} {message.removeprefix(f'{argument}=').lstrip()}"
    message = _ARGUMENT.sub(lambda found: _spell_option(found, options), message)
    if option is None or any(name in message for name in (max(option.opts, key=len), *option.secondary_opts)):
        return message
    name = "/".join([max(option.opts, key=len), *option.secondary_opts])
    return f"{message} ({name})" if isinstance(problem, FormatError) else f"{name}: {message}"


def _spell_option(found: re.Match[str], options: Mapping[str, click.Option]) -> str:
    """Return an argument as the option of a command; as it is if the command has no such option."""
    option, value = options.get(_FLAGS.get(found[1], found[1])), found[2]
    if option is None:
        return found[0]
    name = max(option.opts, key=len)
    if option.is_flag:
        return option.secondary_opts[0] if value == "False" and option.secondary_opts else name
    words = {"False": "none", "None": "none"}
    return f"{name} {words.get(value, value)}".rstrip()


def check_not_input(output: str | None, inputs: Iterable[Any]) -> None:
    """Raise OutputError where an output would replace an input: the same file, or one inside the other.

    Links are followed. An input that is no path or does not exist is left to its reader, which has a better error.
    """
    if output is None or not os.path.exists(output):  # noqa: PTH110  Path.exists raises for names that are too long
        return
    target = Path(output).resolve()
    for each in inputs:
        if not isinstance(each, str) or not os.path.exists(each):  # noqa: PTH110
            continue
        path = Path(each).resolve()
        if path.samefile(target):
            problem = "is an input"
        # A folder that is above the current one is no embedding: `check_output` refuses it with a better reason.
        elif path.is_relative_to(target) and not Path().resolve().is_relative_to(target):
            problem = f"contains {each}, an input"
        elif target.is_file() and target.is_relative_to(path):
            problem = f"is a part of {each}, an input"
        else:
            continue
        raise OutputError(f"{output}: {problem}, and would be replaced; choose another name")


def is_same(one: str, other: str) -> bool:
    """Return whether two paths are of one file or folder."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)  # noqa: PTH110, PTH121


def read_token(token: str | None, file: str | None) -> str | None:
    """Return the token of a server: from the option, the first line of a file, or GRAPHREFINE_TOKEN."""
    # Other users of the machine can see a command line, but neither a file nor the environment.
    if token is not None and file is not None:
        raise click.BadParameter("cannot be used with --token; leave one of them out", param_hint="--token-file")
    source = "--token"
    if file is not None:
        source = "standard input" if file == "-" else file
        try:
            # One line, and never more than a token can have: a wrong name may be that of a large file, or of a device.
            with contextlib.nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8") as lines:
                token = lines.readline(TOKEN_LENGTH)
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(source, f"no token can be read: {getattr(error, 'strerror', None) or error}") from None
    elif token is None:
        source, token = "GRAPHREFINE_TOKEN", os.environ.get("GRAPHREFINE_TOKEN")
    if token is not None and not token.strip():
        # As of a variable that was never set: a server with a token that protects nothing is never meant.
        raise FormatError(source, "the token is empty; leave it out, and one is made where it is needed")
    return None if token is None else token.strip()


def print_address(as_json: bool, url: str, port: int, **stats: Any) -> None:
    """Print the address of a server, or one line of JSON."""
    if as_json:
        # Flushed, as a program that has started the server waits for this line.
        print(json.dumps({"url": url, "port": port, **stats}), flush=True)
    else:
        note(f"{url}  (Ctrl-C ends it)")


def check_table_output(output: str | None, *inputs: str | None) -> None:
    """Raise OutputError before the work if a table cannot be written, or would replace one of the inputs."""
    from graphrefine.display.table import check_table_path

    if output is not None:
        check_not_input(output, inputs)
        check_table_path(output)


def read_graph(path: str, **reading: Any) -> Graph:
    """Read a graph, and print how."""
    from graphrefine.readers.read import read

    graph = read(path, **reading)
    note(f"read: {graph.reading}")
    return graph


def load_with_graph(
    path: str, graph: str | None, options: dict[str, Any], *, format: str | None, threads: int | None = None
) -> tuple[Embedding, Graph | None, dict[str, Any]]:
    """Load an embedding, and its graph where one is given; return both, and what they are for JSON.

    The options of reading are taken out of a command's.
    """
    from graphrefine.embedding.embedding import load

    embedding, reading = load(path, format=format), reading_options(options)
    origin = {"embedding": path, "graph": graph}
    if graph is None:
        return embedding, None, origin
    # The recipe says how the graph was read. Read in another way, its nodes would have other neighbors, or other names.
    kind = embedding.sides.kind
    if reading["directed"] is None or kind == "columns":
        reading["directed"] = kind == "columns"
    reading["bipartite"] = reading["bipartite"] or kind == "rows" or None
    links = read_graph(graph, threads=threads, **reading)
    return embedding, links, {**origin, "reading": links.reading}


def take_labels(
    labels: str | None, options: dict[str, Any], names: NDArray[Any], *, graph: Graph | None = None
) -> tuple[Labels | None, dict[str, str]]:
    """Read the labels of nodes called ``names``; print how, and return the same for JSON.

    The options of reading them are taken out of a command's.
    """
    from graphrefine.evaluate import as_labels, read_labels
    from graphrefine.readers.labels import is_attribute

    keywords = {LABEL_ARGUMENTS.get(name, name): options.pop(name) for name in LABEL_OPTIONS}
    if labels is None:
        refuse_options("is for --labels, and there are none", *LABEL_OPTIONS)
        return None, {}
    try:
        if graph is not None and is_attribute(labels, graph):
            refuse_options("is for a file, and --labels names an attribute of the graph's nodes", *LABEL_OPTIONS)
            found = as_labels((graph, labels), names=names)
        else:
            found = read_labels(labels, names=names, **keywords)
    except InputError as error:
        if error.argument in LABEL_ARGUMENTS.values():
            error.argument = f"labels_{error.argument}"
        raise
    reading = found.describe(names)
    note(f"labels: {reading}")
    return found, {"labels_reading": reading}


def refuse_options(reason: str, *names: str) -> None:
    """Raise UsageError where one of these options was typed, as it would have no effect."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name in names and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} {reason}")


def show_table_or_json(
    table: Table, *, output: str | None, as_json: bool, lines: Sequence[str] = (), **origin: Any
) -> None:
    """Write a table to its file, or print its first rows, and lines about it; or stats and rows as JSON."""
    from graphrefine.display.table import SHOWN

    if output is not None:
        table.save(output)
    if as_json:
        rows = {} if output is not None else {"rows": table[:JSON_ROWS].records()}
        return show_json({**origin, **table.stats, "output": output, "count": len(table), **rows})
    for line in lines:
        note(line)
    if output is not None:
        print(f"{output}: {len(table):,} rows")
    elif len(table):
        print(table)
        if len(table) > SHOWN:
            note(f"the first {SHOWN} of {len(table):,} rows; -o FILE writes all")
    return None


def show_notes(graph: Graph, *, zero_vectors: int = 0, features: dict[str, Any] | None = None) -> None:
    """Print what a user may not expect of the reading of a graph, and how many vectors are zero.

    ``features`` is the entry of that name in the recipe.
    """
    from graphrefine.graph.adjacency import list_notes
    from graphrefine.kernels.edge_lists import SYMMETRIC, inspect_rows

    counts = {"isolated": graph.isolated, "zero_vectors": max(zero_vectors - graph.isolated, 0)}
    if features:
        # With features, a node without edges may have a vector, and one without features an incomplete one.
        bare = graph.nodes - features["nodes"]
        counts = {"alone": graph.isolated, "bare": bare, "unknown": features["unknown"]}
    lines = list_notes(counts, edges=graph.edges)
    if graph.directed and inspect_rows(graph.indptr, graph.indices, graph.weights) & SYMMETRIC:
        lines.append("every edge is there in both directions, so that directed says nothing; leave it out")
    for line in lines:
        note(f"note: {line}")


def count_zero_rows(vectors: NDArray[np.float32]) -> int:
    """Count the rows that are zero."""
    from graphrefine.system.arrays import row_blocks

    return sum(int((~block.any(axis=1)).sum()) for block in row_blocks(vectors))


def describe_dimension(auto_dim: dict[str, Any]) -> str:
    """Describe what numbers of axes lose, as `graphrefine.refine.dimension.Dimension` has it."""
    if not auto_dim["axes"]:
        return "no axis is above the noise: there are too few edges for that"
    losses = ", ".join(f"{axes} {lost:.1%}" for axes, lost in auto_dim["lost"].items())
    return f"{auto_dim['axes']} axes are above the noise; lost of their energy at {losses}"
