"""Options that commands share, their order in ``--help``, and the arguments of the library that they become."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import Field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphrefine.embedding.formats import FORMATS
from graphrefine.errors import FormatError, GraphRefineError, suggest
from graphrefine.pipeline.settings import RunSettings, read_config
from graphrefine.readers.formats import BY_NAME
from graphrefine.readers.options import ReadOptions
from graphrefine.refine.settings import RefineSettings, parse_setting
from graphrefine.system.files import durable_outputs

if TYPE_CHECKING:
    from graphrefine.methods.contract import Method

FIRST, FURTHER = "Main options", "Further options"  # headings of the options that matter most, and of those below
PATHS = ("output", "work", "graph", "labels", "features", "columns", "align_to", "config")  # "" would be the folder
DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


Item = TypeVar("Item")


class Option(click.Option):
    """An option that ``--help`` lists under a heading."""

    heading = "Options"


class Command(click.Command):
    """A command whose help lists the options that matter most first, then the others under their headings, in order.

    ``first`` has the names of at most four options, those that most people need. The function imports what is slow
    itself, so that ``--help`` need not wait for it.
    """

    def __init__(self, name: str | None, *, first: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(name, **settings)
        self.first = first

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the option to blame."""
        for each in self.params:
            value, is_argument = ctx.params.get(str(each.name)), isinstance(each, click.Argument)
            if value == "" and (is_argument or each.name in PATHS):
                raise click.BadParameter("the name is empty; give one", param=each)
            if value == "-" and each.name in ("output", "target"):
                raise click.BadParameter("standard output takes no vectors and no tables; name a file", param=each)
        try:
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
        """Return the options as ``--help`` shows them: heading -> (option, help), those of `first` at the head.

        Examples
        --------
        >>> params = [Option(["--graph"]), Option(["-k"]), *under("Labels", Option(["--label"]))]
        >>> command = Command("near", first=("k", "label"), params=params)
        >>> records = command.option_records(click.Context(command))
        >>> [(heading, [option for option, help in group]) for heading, group in records.items()]
        [('Main options', ['-k TEXT', '--label TEXT']), ('Further options', ['--graph TEXT', '--help'])]
        """
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


def _parse_weights(_: Any, __: Any, value: str | None) -> str | bool | None:
    return False if value == "none" else value


def _parse_delimiter(_: Any, __: Any, value: str | None) -> str | None:
    return value if value is None else DELIMITERS.get(value, value)


def _parse_nodes(_: Any, __: Any, value: str | None) -> str | int | None:
    return int(value) if value is not None and value.isdecimal() else value


def _parse_filter(_: Any, __: Any, value: str | None) -> Any:
    return value if value is None or "," not in value else parse_numbers(None, None, value)


def _split_by_commas(kind: Callable[[str], Item], expected: str) -> Callable[[Any, Any, str | None], Any]:
    """Return the callback of an option that takes values with commas between; None stays None."""

    def parse(_: Any, __: Any, value: str | None) -> tuple[Item, ...] | None:
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


def choose_word(on: str, off: str) -> Callable[[Any, Any, bool], str]:
    """Return the callback of a flag for one of two words: click before 8.3 takes no default beside a flag_value.

    Examples
    --------
    >>> choose_word("skip", "error")(None, None, False)
    'error'
    """
    return lambda _, __, value: on if value else off


def under(heading: str, *options: Option) -> tuple[Option, ...]:
    """Set the heading of options, and return them."""
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
    "moment": "TIME",
    "count": "N",
}
_PARSERS = {"weights": _parse_weights, "delimiter": _parse_delimiter, "nodes": _parse_nodes}


def _reading_option(field: Field[Any]) -> Option:
    """Return the command-line option of a field of `ReadOptions`."""
    kind, help, name = field.metadata["kind"], field.metadata["help"], field.name.replace("_", "-")
    if kind == "format":
        help = f"{help.removesuffix('.')}: {', '.join(BY_NAME)}, grf."
    if field.metadata["otherwise"]:
        help = f"{help}  [default: {field.metadata['otherwise']}]"
    if kind in ("switch", "direction"):
        return Option([f"--{name}/--{'un' if kind == 'direction' else 'no-'}{name}"], default=None, help=help)
    return Option(
        ["--comments", "--comment"] if name == "comments" else [f"--{name}"],
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


class IntegerOrAuto(click.ParamType):  # type: ignore[type-arg]  # generic in the newest versions only
    """A whole number, or "auto"."""

    name = "dim"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number, or the word."""
        try:
            return "auto" if value == "auto" else int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor 'auto'", param, ctx)


KINDS = {"int": int, "int | None": int, "float": float, "float | None": float}
TYPES = {"dim": IntegerOrAuto()}
CALLBACKS = {"filter": _parse_filter}


def setting_options(kind: type, heading: str, *, skip: Collection[str] = ()) -> tuple[Option, ...]:
    """Return one option for each field of a dataclass of settings, with its help text and its default.

    An option that is not given is None, whatever the default: presets and files come before defaults.

    Examples
    --------
    >>> from graphrefine.refine.settings import MethodSettings
    >>> [option.opts for option in setting_options(MethodSettings, "Any method")]
    [['--dim'], ['--seed']]
    """
    return under(heading, *(_setting_option(each) for each in fields(kind) if each.name not in skip))


def _setting_option(each: Field[Any]) -> Option:
    name, about = each.name.replace("_", "-"), each.metadata
    text = f"{about['help']}{_default_text(about['default'], each.default)}"
    if about["flag"]:
        return Option([f"--{name}/--{about['flag']}"], default=None, help=text)
    kind = TYPES.get(each.name, KINDS.get(str(each.type), str))
    return Option([f"--{name}"], type=kind, metavar=about["metavar"], help=text, callback=CALLBACKS.get(each.name))


def _default_text(words: str | None, value: Any) -> str:
    if words is None and value is None:
        return ""
    text = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    return f"  [default: {words or (f'{text:g}' if isinstance(text, float) else text)}]"


PRESET = Option(
    ["--preset"],
    metavar="NAME",
    help="'paper' computes what the paper's authors' code does; options beside it override it.",
)
REFINING = (
    *setting_options(RefineSettings, "The method's settings (all methods: dim and seed; the others are REFINE's)"),
    *under("The method's settings (all methods: dim and seed; the others are REFINE's)", PRESET),
)
RUNNING = setting_options(RunSettings, "Memory and machines")
MEMORY = next(option for option in RUNNING if option.name == "memory")
GRAPH = click.Argument(["graph"], metavar="GRAPH")
METHOD = Option(["--method"], default="refine", show_default=True, metavar="NAME",
                help="Which one; graphrefine methods lists them.")  # fmt: skip
SET = Option(["--set", "assigned"], multiple=True, metavar="SETTING=VALUE",
             help="A setting of the method, as graphrefine methods NAME lists them; can be given again.")  # fmt: skip
CONFIG = Option(["--config"], metavar="FILE",
                help="The method and its settings from a JSON file, as graphrefine tune writes it; options override "
                     "it.")  # fmt: skip
SUFFIXES = ", ".join(  # of the formats of embeddings, with their names where the suffixes have other words
    " ".join(each.suffixes or ["none"]) + (f" ({each.name})" if f".{each.name}" not in each.suffixes else "")
    for each in FORMATS
)
SKIP = Option(["--skip-unknown", "unknown"], is_flag=True, callback=choose_word("skip", "error"),
              help="Go on without names that no node has, and tell how many they are.")  # fmt: skip
LABEL_READING = under(
    "Reading the labels",
    Option(["--label-column"], metavar="COLUMN",
           help="Column of the labels, by name or position from 0.  [default: a usual name, or the only other column]"),
    Option(["--node-column"], metavar="COLUMN",
           help="Column of their nodes.  [default: a usual name, the column with names of the graph, or the first]"),
    Option(["--labels-header/--no-labels-header"], default=None,
           help="Names of the columns in the first line of text.  [default: detected]"),
)  # fmt: skip
LABELS_VARIABLE = under(
    "Reading the labels",
    Option(["--labels-variable"], default="group", show_default=True, metavar="NAME", help="Variable of a .mat file."),
)
VARIABLE = Option(["--variable", "labels_variable"], default="group", show_default=True, metavar="NAME",
                  help="Matrix in a .mat file of labels.")  # fmt: skip
TABLE = Option(["-o", "--output"], metavar="TABLE",
               help="Write all rows there: .csv, .tsv, .jsonl, .parquet or .arrow.")  # fmt: skip
TOKEN = (
    Option(["--token-file"], metavar="FILE",
           help="File whose first line is the token that every request must send; - for stdin.  "
                "[default: GRAPHREFINE_TOKEN, or a new one where a token is needed]"),
    Option(["--token"], metavar="TEXT", help="The token itself; others can see a command line."),
)  # fmt: skip
JSON = Option(["--json", "as_json"], is_flag=True, help="Print one JSON object on stdout and nothing else.")


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options for `graphrefine.read` out of a command's."""
    return {str(option.name): options.pop(str(option.name)) for option in READING}


def run_values(options: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of the run, those that are given, out of a command's options."""
    values = {each.name: options.pop(each.name) for each in fields(RunSettings) if each.name in options}
    return {name: value for name, value in values.items() if value is not None}


def method_options(options: dict[str, Any]) -> tuple[Method[Any], str | None, dict[str, Any]]:
    """Take the method, its preset and its settings out of a command's options."""
    path = options.pop("config", None)
    configured = {} if path is None else _config(path, options)
    from graphrefine.methods.registry import find_method  # too slow for --help

    method, preset = find_method(options.pop("method")), options.pop("preset", None)
    for assignment in options.pop("assigned"):
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{assignment!r} is not SETTING=VALUE, as in window=5", param_hint="--set")
        if options.get(name) is not None:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--set")
        options[name] = parse_setting(method.settings, name, text, of=f"method {method.name!r}")
    for name, value in configured.items():
        if options.get(name) is None:
            options[name] = value
    return method, preset, options


def _config(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read the settings in a file; its method becomes that of the options."""
    if options.get("preset") is not None:
        raise click.BadParameter("cannot be used with --preset; leave one of them out", param_hint="--config")
    config = read_config(path)
    by_hand = click.get_current_context().get_parameter_source("method") is not click.core.ParameterSource.DEFAULT
    if by_hand and options["method"] != config.method:
        raise click.BadParameter(f"{path} has settings of {config.method}", param_hint="--method")
    options["method"] = config.method
    return config.settings


def name_option(problem: GraphRefineError | Warning, command: click.Command) -> str:
    """Return the message of an error or a warning, with the option of its argument where the command has one.

    Messages call arguments as Python does. Only the head of a message is rewritten, as what follows may be text of the
    user's; that of a file's problem is the path and the line, and stays.

    Examples
    --------
    >>> from graphrefine.errors import InputError
    >>> command = Command("embed", params=[*READING, *REFINING])
    >>> name_option(InputError("dim=0 is too small", argument="dim"), command)
    '--dim 0 is too small'
    >>> name_option(InputError("vectors need at least 1 axis", argument="dim"), command)
    '--dim: vectors need at least 1 axis'
    >>> name_option(FormatError("g.csv", "has no column 'w'", argument="weights"), command)
    "g.csv: has no column 'w' (--weights)"
    """
    argument, message = getattr(problem, "argument", None), str(problem)
    option = next((each for each in command.params if isinstance(each, click.Option) and each.name == argument), None)
    if option is None or (name := max(option.opts, key=len)) in message:
        return message
    if message.startswith(f"{argument}="):
        return f"{name} {message.removeprefix(f'{argument}=').lstrip()}"
    name = "/".join([name, *option.secondary_opts])
    return f"{message} ({name})" if isinstance(problem, FormatError) else f"{name}: {message}"
