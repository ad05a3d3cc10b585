"""Every block of docs/guides/store-vectors.md runs with the real package; answers are those of `Embedding.neighbors`.

A section (``###``) is a client. It runs in a folder of its own, after the blocks before the first section and those of
its own chapter (``##``). Sections whose packages are not here are skipped; `make check-clients` installs them.

Sections that end in the neighbors of Marius run once more on a graph of 1,500 nodes, for other names.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx
import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import graphrefine
from graphrefine import Embedding, datasets
from postgres_server import running
from test_docs import Block, blocks_of, run_python

pytestmark = [
    pytest.mark.filterwarnings("default"),  # what other packages warn of is not ours to mend
    pytest.mark.timeout(900),  # numba compiles UMAP at its first use
]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "store-vectors.md"
ADDRESS = "postgresql://ada@localhost/graphs"
APPROXIMATE = ("hnswlib", "usearch", "Chroma")
PICTURES = ("UMAP", "Embedding Atlas", "TensorBoard projector", "Gephi")  # each has a test of its own
NAMES = ("node_7", "node_900", "node_1499")


class Section(NamedTuple):
    """A client of the page: its heading, the blocks that it relies on, and its own."""

    name: str
    setup: list[Block]
    blocks: list[Block]

    def examples(self) -> list[doctest.Example]:
        parser = doctest.DocTestParser()
        return [each for block in self.blocks if block.language == "python" for each in parser.get_examples(block.text)]

    def missing(self) -> list[str]:
        """Modules that it imports and that are not here."""
        nodes = list(ast.walk(ast.parse("".join(example.source for example in self.examples()))))
        modules = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
        modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        tops = {module.partition(".")[0] for module in modules}
        specs = {top: importlib.util.find_spec(top) for top in tops}
        return sorted(top for top, spec in specs.items() if spec is None or spec.origin is None)  # None: a folder


def sections_of(page: str) -> Iterator[Section]:
    intro, *chapters = re.split(r"^## ", page, flags=re.MULTILINE)
    for chapter in chapters:
        head, *sections = re.split(r"^### ", chapter, flags=re.MULTILINE)
        for section in sections:
            yield Section(section.partition("\n")[0], [*blocks_of(intro), *blocks_of(head)], [*blocks_of(section)])


SECTIONS = {section.name: section for section in sections_of(PAGE.read_text(encoding="utf-8"))}
SEARCH = [name for name, section in SECTIONS.items() if section.examples()[-1].want.startswith("['Gillenormand'")]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as server:
        server.psql("-c", "CREATE EXTENSION vector")
        yield server.address()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """The address of a database, for the sections that ask one."""
    name = request.node.callspec.params["name"]
    return request.getfixturevalue("server") if ADDRESS in str(SECTIONS[name].blocks) else ""


@pytest.fixture(autouse=True)
def forget_chroma() -> Iterator[None]:
    """Chroma keeps one database for each path as it is written, whatever the folder is."""
    yield
    if "chromadb" in sys.modules:
        sys.modules["chromadb.api.shared_system_client"].SharedSystemClient.clear_system_cache()


def need(section: Section) -> None:
    if missing := section.missing():
        target = "check-torch" if "torch" in missing else "check-clients"
        pytest.skip(f"make {target} installs {', '.join(missing)}")


def run_section(section: Section, address: str = "") -> dict[str, Any]:
    """Run the blocks as they stand on the page; the names that they set."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in section.setup + section.blocks:
        if block.language == "python":
            block = block._replace(text=block.text.replace(ADDRESS, address))
            run_python(block, f"{PAGE.name}, {section.name}", namespace)
    return namespace


def ask(section: Section, embedding: Embedding, name: str, *, address: str) -> list[str]:
    """The value of the last line of a section, with another embedding and another name than Marius."""
    namespace: dict[str, Any] = {"embedding": embedding}
    *lines, last = (example.source for example in section.examples())
    for line in lines:
        exec(line.replace("Marius", name).replace(ADDRESS, address), namespace)
    answer: list[str] = eval(last.replace("Marius", name), namespace)
    return answer


@pytest.mark.parametrize("name", [name for name in SECTIONS if name not in PICTURES])
def test_a_client_gives_the_answer_of_the_page(
    name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(SECTIONS[name])
    monkeypatch.chdir(tmp_path)
    run_section(SECTIONS[name], address)


@pytest.fixture(scope="module")
def crowd() -> Embedding:
    graph = datasets.block_model(1500, 12000, classes=12, mixing=0.2).graph
    vectors = graphrefine.embed(graph, dim=16).vectors
    return Embedding([f"node_{row}" for row in range(len(vectors))], vectors)


@pytest.mark.parametrize("node", NAMES)
@pytest.mark.parametrize("name", SEARCH)
def test_neighbors_of_a_client_are_ours(
    name: str, node: str, address: str, crowd: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(SECTIONS[name])
    monkeypatch.chdir(tmp_path)
    answer = ask(SECTIONS[name], crowd, node, address=address)
    assert len(set(answer)) == 5 and node not in answer
    best = [near.score for near in crowd.neighbors(node, k=5)]
    cosines = np.sort([crowd[each] @ crowd[node] for each in answer])[::-1]
    if name in APPROXIMATE:
        assert (cosines >= best[-1] - 1e-5).sum() >= 4  # recall
    else:
        np.testing.assert_allclose(cosines, best, atol=1e-5)  # by value: of equal nodes any may come first


def test_umap_keeps_neighbors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(SECTIONS["UMAP"])
    monkeypatch.chdir(tmp_path)
    names = run_section(SECTIONS["UMAP"])
    kept = trustworthiness(names["embedding"].vectors, names["places"], n_neighbors=5, metric="cosine")
    shuffled = trustworthiness(names["embedding"].vectors, names["places"][::-1], n_neighbors=5, metric="cosine")
    assert kept > 0.85 > shuffled


def test_embedding_atlas_takes_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    embedding = run_section(SECTIONS["Embedding Atlas"])["embedding"]
    pytest.importorskip("embedding_atlas", reason="make check-clients installs embedding_atlas")
    import pyarrow.parquet as pq

    command = next(block.text for block in SECTIONS["Embedding Atlas"].blocks if block.language == "text").split()
    program = [sys.executable, "-c", "from embedding_atlas.cli import main; main()", *command[1:]]
    subprocess.run([*program, "--export-application", "page"], check=True, timeout=100, capture_output=True)
    columns = json.loads(Path("page/data/metadata.json").read_text())["props"]["data"]
    assert columns["projection"] == {"x": "x", "y": "y"}
    assert columns["text"] == "id"
    rows = pq.read_table("page/data/dataset.parquet").to_pylist()
    assert [row["id"] for row in rows] == embedding.names.tolist()
    marius = rows[embedding.index("Marius")]
    np.testing.assert_array_equal(embedding.map().coordinates[embedding.index("Marius")], [marius["x"], marius["y"]])


def test_tensorboard_answers_with_vectors_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    embedding = run_section(SECTIONS["TensorBoard projector"])["embedding"]
    pytest.importorskip("tensorboard", reason="make check-clients installs tensorboard")
    from tensorboard.plugins.base_plugin import TBContext
    from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
    from werkzeug.test import Client

    pages = ProjectorPlugin(TBContext(logdir="log")).get_plugin_apps()
    query = "?run=.&name=tensors.tsv"
    info, tensor, metadata = (
        Client(pages[page]).get(page + query).get_data() for page in ("/info", "/tensor", "/metadata")
    )
    assert json.loads(info)["embeddings"][0]["tensorShape"] == [77, 16]
    np.testing.assert_array_equal(np.frombuffer(tensor, np.float32).reshape(77, 16), embedding.vectors)
    assert metadata.decode().split("\n") == embedding.names.tolist()


def test_the_file_for_gephi_has_places_edges_and_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_section(SECTIONS["Gephi"])
    places = dict(zip(names["embedding"].names.tolist(), 1000 * names["places"].coordinates.astype(float), strict=True))
    original, again = networkx.les_miserables_graph(), networkx.read_gexf("people.gexf")
    assert {
        name: (node["viz"]["position"]["x"], node["viz"]["position"]["y"]) for name, node in again.nodes.items()
    } == {name: tuple(place) for name, place in places.items()}
    one, other = (
        {(*sorted(edge), weight) for *edge, weight in graph.edges.data("weight")} for graph in (original, again)
    )
    assert one == other
    graph = graphrefine.read("people.gexf")
    assert graph.weights is not None
    assert (graph.nodes, graph.weights.sum()) == (77, 2 * original.size("weight"))
