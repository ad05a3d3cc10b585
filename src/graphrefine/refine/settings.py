"""Settings of methods: frozen dataclasses, checked when they are made; those of REFINE, with help texts and presets.

The signatures of `graphrefine.embed` and `graphrefine.REFINE`, the options of the command line with the defaults in
``--help``, and the table in the documentation are made from `RefineSettings` or held to it by tests. A new default is
one line here. `build_settings` and `parse_setting` are the one validator of settings, from presets, options, text and
files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from graphrefine.errors import InputError, KeywordError, suggest
from graphrefine.system import as_plain
from graphrefine.system.checks import check_choice, check_integer, check_number, check_numbers

if TYPE_CHECKING:
    from graphrefine.refine.filters import Theta

S = TypeVar("S")
QUALITIES = ("fast", "default", "best")
# Settings of REFINE's own stages. Other views would hide their effect: whoever sets one, and no quality, means REFINE
# alone, and gets the tier "fast".
OWN = (
    "power",
    "negative",
    "exponent",
    "log_weights",
    "two_sided",
    "spectrum",
    "filter",
    "order",
    "scale",
    "loop",
    "center",
    "axes",
)


def setting(
    value: Any,
    text: str,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    choices: Collection[str] = (),
    default: str | None = None,
    metavar: str | None = None,
    flag: str | None = None,
) -> Any:
    """Return a field of settings with its help text.

    Parameters
    ----------
    value
        The default.
    text
        The help text: a noun phrase, or a sentence.
    above, least, most
        Bounds of a number; one without any is not checked.
    choices
        Words that are allowed.
    default
        The default in words, where the value does not tell.
    metavar
        The value's name in ``--help``.
    flag
        Of a bool: the option of the command line that turns it off.
    """
    limits = {"above": above, "least": least, "most": most}
    bounds = {name: limit for name, limit in limits.items() if limit is not None}
    about = {"help": text, "default": default, "metavar": metavar, "flag": flag, "bounds": bounds, "choices": choices}
    return field(default=value, metadata=about)


@dataclass(frozen=True)
class MethodSettings:
    """Settings of every method: the length of the vectors, and the seed of all random numbers.

    A method's own settings are further fields with defaults, checked by their types and bounds.
    """

    dim: int = setting(
        128,
        "Length of the vectors; 'auto' takes it from the spectrum of the graph.",
        least=1,
        most=2**31 - 1,
        default="128, or the number of nodes if that is less",
        metavar="K",
    )
    seed: int = setting(0, "Seed of all random numbers.", least=0, most=2**64 - 1, metavar="N")

    def __post_init__(self) -> None:
        for each in fields(self):
            value, kind = getattr(self, each.name), getattr(each.type, "__name__", str(each.type))
            if hasattr(value, "dtype"):
                value = as_plain(value)
                object.__setattr__(self, each.name, value)
            if value is None and "None" in kind:
                continue
            if kind == "bool" and not isinstance(value, bool):
                raise InputError(f"{each.name}={value!r} must be True or False", argument=each.name)
            if kind == "tuple[float, ...]":
                object.__setattr__(self, each.name, check_numbers(each.name, value))
            about = describe_setting(type(self), each.name)
            choices, bounds = about.get("choices"), about.get("bounds")
            if choices:
                check_choice(each.name, value, choices)
            if bounds:
                (check_integer if kind.startswith("int") else check_number)(each.name, value, **bounds)


def describe_setting(kind: type, name: str) -> Mapping[str, Any]:
    """Return help text, bounds and choices of a setting; a class with only another default has its parent's."""
    declared = (getattr(base, "__dataclass_fields__", {}).get(name) for base in kind.__mro__)
    return next((each.metadata for each in declared if each is not None and each.metadata), {})


def build_settings(
    kind: type[S], options: Mapping[str, Any], *, presets: Mapping[str, Mapping[str, Any]], preset: str | None, of: str
) -> S:
    """Return settings of a preset, overridden by the options that are not None.

    Examples
    --------
    >>> build_settings(MethodSettings, {"dim": 8, "seed": None}, presets={}, preset=None, of="line")
    MethodSettings(dim=8, seed=0)
    """
    if preset is not None and preset not in presets:
        choices = ", ".join(map(repr, presets)) or "none"
        near = suggest(preset, presets)
        raise InputError(f"preset={preset!r} is not known{near}; the presets of {of} are {choices}", argument="preset")
    overrides = {name: value for name, value in options.items() if value is not None}
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    for unknown in sorted(set(overrides) - set(names)):
        raise _unknown_setting(unknown, names, of=of)
    # Given by name, even with its default as the value, a setting of REFINE's own means REFINE alone: `__post_init__`
    # sees values only, and cannot tell that one from an omitted one.
    if "quality" in names and not overrides.keys().isdisjoint(OWN):
        overrides.setdefault("quality", "fast")
    return kind(**{**presets.get(preset or "default", {}), **overrides})


def _unknown_setting(name: str, names: Iterable[str], *, of: str) -> KeywordError:
    return KeywordError(f"{of} has no setting {name!r}{suggest(name, names)}; its settings are {', '.join(names)}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def parse_setting(kind: type, name: str, text: str, *, of: str) -> Any:
    """Return a setting from text, by the type of its field.

    Examples
    --------
    >>> parse_setting(MethodSettings, "dim", "64", of="line")
    64
    """
    hints = _hints(kind)
    if name not in hints:
        raise _unknown_setting(name, hints, of=of)
    types = get_args(hints[name]) or (hints[name],)
    if get_origin(hints[name]) is tuple:
        return _numbers(name, text, of=of)
    if bool in types and text.lower() in ("true", "yes", "on", "false", "no", "off"):
        return text.lower() in ("true", "yes", "on")
    if type(None) in types and text.lower() == "none" and str not in types:
        return None
    for number in (int, float):
        if number in types or (number is int and float in types):
            try:
                return number(text)
            except ValueError:
                continue
    if str in types:
        several = "," in text and any(get_origin(one) is tuple for one in types)
        return _numbers(name, text, of=of) if several else text
    kinds = " or ".join(getattr(one, "__name__", str(one)) for one in types if one is not type(None))
    raise InputError(f"{of}: {name}={text!r} is not of its kind ({kinds})", argument=name)


def _numbers(name: str, text: str, *, of: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"{of}: {name}={text!r} must be numbers with commas between them, as in 1,0.5", argument=name
        ) from None


@dataclass(frozen=True)
class RefineSettings(MethodSettings):
    """All that makes the vectors of REFINE, apart from the graph; each field with its help text."""

    quality: str | None = setting(
        None,
        "How much is spent: 'fast' is REFINE alone; 'default' joins eigenvectors and the logarithm of longer walks to "
        "it, for a few times the time; 'best' does so at length.",
        default="'default'; 'fast' beside any other setting of REFINE",
        metavar="NAME",
    )
    block: int = setting(
        16,
        "Columns that Algorithm 1 orthonormalizes at a time (b): for memory and speed, not quality.",
        least=1,
        most=2**31 - 1,
        metavar="B",
    )
    power: int = setting(
        5, "Products with the proximity matrix M before the basis is taken (q).", least=1, most=1_000_000, metavar="Q"
    )
    negative: float = setting(
        1.0, "Weight of negative samples (lambda, Eqs. 2-4).", above=0, most=1e6, metavar="LAMBDA"
    )
    exponent: float = setting(
        0.75, "Exponent of the context distribution (Eqs. 2-4).", least=-100, most=100, metavar="A"
    )
    log_weights: bool = setting(
        True, "ln(weight) as part of M, as Eqs. 3-4 have it; the authors' code cancels it.", flag="no-log-weights"
    )
    two_sided: bool = setting(
        True,
        "Products alternate between M and its transpose, which finds the singular subspace of Theorem 1.",
        flag="one-sided",
    )
    spectrum: float = setting(
        0.5,
        "Exponent of M's singular values in R, from 0 to 1: 1 is R as Algorithm 1 gives it, less brings weaker "
        "directions forward.",
        least=0,
        most=1,
        metavar="X",
    )
    filter: str | tuple[float, ...] = setting(
        "reach",
        "Smoothing over the graph (Eq. 7): reach, taylor (the authors'), heat, markov, pagerank, none, or its "
        "coefficients, as in 0,-1,-2,1.",
        metavar="NAME",
    )
    order: int | None = setting(None, "Order of the filter (K).", default="the filter's own", metavar="K")
    scale: float | None = setting(
        None,
        "Parameter of the filter: reach's weight of the far steps, heat's time, pagerank's restart, markov's share "
        "of the node itself.",
        default="the filter's own",
        metavar="X",
    )
    loop: float | None = setting(
        None,
        "Weight of the self-loop in the filter's T.",
        above=0,
        most=1e15,
        default="the smallest weight of an edge",
        metavar="X",
    )
    center: bool = setting(
        True, "Rows freed of their mean before they are made unit, after the filter and at the end.", flag="no-center"
    )
    axes: float = setting(
        0.4,
        "Exponent of the singular values of the filtered matrix in the vectors, from 0 to 1.",
        least=0,
        most=1,
        metavar="X",
    )
    bfloat16: bool = setting(
        True,
        "Products gather from bfloat16: twice as fast, with a relative rounding of 0.4% in the gathered numbers.",
        flag="no-bfloat16",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.filter, str):
            object.__setattr__(self, "filter", check_numbers("filter", self.filter))
        usual = RefineSettings.__dataclass_fields__
        own = any(getattr(self, name) != usual[name].default for name in OWN)
        quality = ("fast" if own else "default") if self.quality is None else self.quality
        if quality not in QUALITIES:
            near = suggest(quality, QUALITIES)
            problem = f"quality={quality!r} is not known{near}; it is 'fast', 'default' or 'best'"
            raise InputError(problem, argument="quality")
        object.__setattr__(self, "quality", quality)
        self.coefficients()

    def coefficients(self, **graph: float) -> Theta | None:
        """Return the coefficients of the filter, on a graph of this mean ``degree`` if given; None for no filter."""
        from graphrefine.refine.filters import coefficients  # NumPy: too slow for the help of the command line

        return coefficients(self.filter, order=self.order, scale=self.scale, **graph)


# The paper's choices. Each default that differs was chosen by its F1 on some graph, and benchmarks/default.py measures
# them together on graphs that had no part in it.
PAPER: dict[str, Any] = {
    "power": 3,
    "two_sided": False,
    "spectrum": 1.0,
    "filter": "taylor",
    "loop": 1.0,
    "center": False,
    "axes": 0.5,
}
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # As the authors' code has it: ln A_ij cancels in M, so weights count through the degrees alone.
    "paper": {**PAPER, "log_weights": False},
}


def refine_settings(preset: str | None = None, **options: Any) -> RefineSettings:
    """Return the settings of a preset, overridden by the options that are not None.

    Examples
    --------
    >>> refine_settings("paper", power=2).log_weights, refine_settings("paper", power=2).power
    (False, 2)
    """
    return build_settings(RefineSettings, options, presets=PRESETS, preset=preset, of="REFINE")
