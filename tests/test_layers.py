"""Imports go down: every module has its layer, and an import upwards is refused anywhere."""

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import permutations
from pathlib import Path

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

from agents import AGENTS
from games import GAMES

ROOT = Path(__file__).parents[1]
PACKAGES = ("games", "agents", "arena")
KINDS = {
    "layers": LayersContract,
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
}
# Upward edges that the flat tree of old let pass, then some that close a ring in no time.
KNOWN = (
    ("arena.keeping.provenance", "arena.pipeline"),
    ("arena.showing.plots", "arena.tuning.study"),
    ("arena.planning.records", "arena.keeping.provenance"),
    ("arena.stats.counts", "arena.stats.ratings"),
    ("agents.kernels.alphabeta_search", "agents.compiled"),
    ("games.kernels.bits", "games.core"),
)
MANY = 15
COARSE = ("layers", "forbidden")  # they pass most of what is planted


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Who imports whom; tests that change it put it back."""
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


@pytest.fixture(scope="module")
def contracts() -> list:
    """The contracts of pyproject.toml, as `lint-imports` checks them, the strictest first."""
    stored = read_configuration(str(ROOT / "pyproject.toml"))
    options = sorted(stored["contracts_options"], key=lambda each: each["type"] in COARSE)
    return [KINDS[each["type"]](each["name"], stored["session_options"], each) for each in options]


def refused(graph: grimp.ImportGraph, contracts: list) -> bool:
    """Whether one of the contracts is broken; checking one takes imports out of its graph."""
    return not all(contract.check(deepcopy(graph), verbose=False).kept for contract in contracts)


def rings(graph: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    """Imports that would close a ring: of `B` at the end of `A`, siblings of which B reaches A."""
    packages = [name for root in PACKAGES for name in {root, *graph.find_descendants(root)}]
    for package in sorted(packages):
        for a, b in permutations(sorted(graph.find_children(package)), 2):
            if graph.chain_exists(importer=b, imported=a, as_packages=True):
                yield a, b


def test_the_tree_as_it_is_keeps_every_contract(graph, contracts):
    assert not refused(graph, contracts)


# Each of them takes a copy of the graph, so the default suite tries a few of all sorts.
@pytest.mark.parametrize("step", [200, pytest.param(1, marks=pytest.mark.slow)])
def test_an_import_upwards_is_refused_wherever_it_is_planted(step, graph, contracts):
    planted, unseen = [*KNOWN, *[*rings(graph)][::step]], []
    assert len(planted) > MANY
    for importer, imported in planted:
        assert {importer, imported} <= graph.modules
        assert not graph.direct_import_exists(importer=importer, imported=imported)
        graph.add_import(importer=importer, imported=imported)
        if not refused(graph, contracts):
            unseen.append(f"{importer} -> {imported}")
        graph.remove_import(importer=importer, imported=imported)
    assert not unseen
    assert not refused(graph, contracts)  # what was planted is taken out again


def test_a_module_without_a_room_is_refused(graph, contracts):
    graph.add_module("arena.stray")
    assert refused(graph, contracts)
    graph.remove_module("arena.stray")


# An entry of a table stands in the layer of the others: adding one touches no line of the layers.
@pytest.mark.parametrize(
    ("package", "entries", "example"),
    [("games", GAMES.values(), "sowing"), ("agents", AGENTS.values(), "simple")],
)
def test_what_has_no_layer_is_an_entry_of_the_table(package, entries, example, graph):
    stored = read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
    (lines,) = [each["layers"] for each in stored if each["name"] == f"layers of {package}"]
    layers = [set(re.findall(r"\w+", line)) for line in lines]
    # "agents.simple:FIRST" is in agents.simple.
    modules = {entry.partition(":")[0] for entry in entries}
    names = {module.split(".")[1] for module in modules if module.startswith(f"{package}.")}
    children = {child.split(".")[1] for child in graph.find_children(package)}
    assert children <= names.union(*layers)
    (place,) = [number for number, layer in enumerate(layers) if example in layer]
    layers[place] |= names
    existing = [grimp.Layer(*(layer & children)) for layer in layers if layer & children]
    assert not graph.find_illegal_dependencies_for_layers(existing, containers={package})
