"""Run the notebooks in docs/notebooks/ and store what they show, without anything of the machine.

``python scripts/notebooks.py`` does it after an edit; the slow tests run them too, and compare the texts that come out
with those that are stored. No display is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
SECONDS = 120  # for a cell


def run_notebook(path: Path, folder: Path) -> Any:
    """The notebook with the outputs of a run in that folder."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return notebook


def clear_machine(notebook: Any) -> None:
    """Remove times, versions and the HTML beside texts and pictures."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if "data" in output:
                output.metadata = {}
                if "image/png" in output.data or "text/plain" in output.data:
                    output.data.pop("text/html", None)


def list_texts(notebook: Any) -> list[str]:
    """What the cells print or show as text, in order."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return texts


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    for path in sorted(FOLDER.glob("*.ipynb")):
        with TemporaryDirectory() as folder:
            notebook = run_notebook(path, Path(folder))
        clear_machine(notebook)
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
