"""What users build on: the public names, what importing costs in modules, and the commands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import graphrefine
from cli_runs import PROGRAM
from graphrefine.cli.commands import cli

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "rich", "jinja2", "pandas", "graphrefine.kernels"}
HEAVY |= {"fastapi", "pydantic", "uvicorn"}
ROOT = Path(__file__).parents[1]


def modules_after(code: str) -> set[str]:
    """Which modules a fresh interpreter holds after running some code."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, timeout=60)
    return set(done.stderr.split())


def test_the_public_names_and_commands_are_those_that_are_frozen() -> None:
    frozen = json.loads((ROOT / "tests" / "goldens" / "surface.json").read_text(encoding="utf-8"))
    names = {name.removeprefix("name/graphrefine/") for name in frozen if name.startswith("name/graphrefine/")}
    assert set(graphrefine.__all__) == names <= set(dir(graphrefine))
    shown = {name.split()[1] for name in frozen if re.match(r"command/graphrefine \w", name)}
    intended = {"reproduce"}  # moved out of the wheel
    assert {word.partition("/")[0] for word in shown} - intended == set(cli.commands)


@pytest.mark.parametrize(("name", "module"), graphrefine._HOME.items())
def test_public_names_are_documented_and_stay_what_they_are(name: str, module: str) -> None:
    public, home = getattr(graphrefine, name), f"graphrefine.{module}"
    assert public.__module__ == home
    assert public.__doc__
    __import__(home)
    assert getattr(graphrefine, name) is public, "importing the module must not replace the name"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'graphrefine' has no attribute 'embedd'"):
        graphrefine.embedd  # noqa: B018


def test_importing_loads_nothing_heavy_and_names_load_on_first_use() -> None:
    assert not HEAVY & modules_after("import graphrefine")
    assert not HEAVY & modules_after("import graphrefine; graphrefine.__version__, dir(graphrefine)")
    light = "from graphrefine import embed, read, load, Graph, Embedding, GraphRefineError"
    assert "sklearn" not in modules_after(light)
    assert {"numpy", "sklearn"} <= modules_after("from graphrefine import REFINE")


COMMANDS = ("embed", "compare", "tune", "ingest", "explore", "map", "evaluate labels")


@pytest.mark.parametrize("typed", ["--help", "--version", *(f"{command} -h" for command in COMMANDS)])
def test_help_loads_nothing_heavy(typed: str) -> None:
    code = f"sys.argv = ['graphrefine', *{typed.split()}]\nfrom graphrefine.cli.main import main\n"
    loaded = modules_after(code + "try: main()\nexcept SystemExit as stop: assert stop.code == 0")
    assert "click" in loaded and not HEAVY & loaded


@pytest.mark.parametrize("quality", ["fast", "default"])
def test_embedding_a_file_loads_no_library_that_it_does_not_need(quality: str, tmp_path: Path) -> None:
    """The import of SciPy alone takes longer than embedding a small graph."""
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{row} {(row * 7 + 1) % 300}\n" for row in range(300)))
    code = f"sys.argv = ['graphrefine', 'embed', {str(path)!r}, '-o', {str(tmp_path / 'out.npz')!r}"
    code += f", '--dim', '16', '--json', '--quality', {quality!r}]\nfrom graphrefine.cli.main import main\n"
    code += "try: main()\nexcept SystemExit as stop: assert stop.code == 0"
    unneeded = {"scipy", "numpy.testing", "numpy.f2py", "sklearn", "pyarrow", "pandas", "matplotlib", "rich", "jinja2"}
    assert not unneeded & modules_after(code)


def test_the_program_is_installed_under_its_name() -> None:
    from importlib.metadata import entry_points, version

    (script,) = entry_points(group="console_scripts", name="graphrefine")
    assert script.value == "graphrefine.cli:start"
    assert version("graphrefine") == graphrefine.__version__
    program = Path(sys.executable).with_name("graphrefine")
    for command in ([str(program)] if program.exists() else PROGRAM, PROGRAM):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, f"graphrefine, version {graphrefine.__version__}\n")


@pytest.mark.skipif(not (ROOT / "src").is_dir(), reason="the source is not here")
def test_the_source_knows_no_machine_and_unpickles_nothing() -> None:
    machine = re.compile(r"/(?:work|root|home|Users)/\w")
    for folder in ("src", "benchmarks", "docs", "scripts"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".cpp", ".h", ".md", ".toml", ".txt", ".json", ".cmake"}:
                found = machine.search(path.read_text(encoding="utf-8"))
                assert found is None, f"{path}: {found}"
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(?:import|from) (?:pickle|joblib)|allow_pickle=True", text, re.MULTILINE), path
