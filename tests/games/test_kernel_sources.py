"""The sources that decide the cache of kernels: never one too few."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace

import pytest

from agents.search.bind import bind_heuristics, feature_names, search_kernels
from games import game
from games.kernels import compile_cache, jit
from games.kernels.drivers import bind_drivers
from games.kernels.jit import family_kernels
from games.parts import heuristic_function_names, package_of
from tests.games.table import one_of_each

FAMILIES = one_of_each("family_name", "(3,2)", "(8,1)", "(4)", "(10)")

TREE = {
    "games/__init__.py": "",
    "games/base/text.py": "",
    "games/perft.py": "from games.kernels import drivers\n",
    "games/kernels/__init__.py": "",
    "games/kernels/jit.py": "",
    "games/kernels/family.py": "",
    "games/kernels/drivers.py": "from games.kernels.jit import specialise\n"
    "def late():\n from games.base.text import (\n  quote,\n )\n",
    "games/nim/rules.py": "",
    "games/nim/features.py": "x = 1; from games.kernels.family import State\n",
    "agents/core.py": "",
    "agents/talk.py": "from agents.core import Agent\n",
    "agents/search.py": "from games.kernels import jit\nfrom .core import \\\n  Agent\n",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small tree in place of ours."""
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(compile_cache, "PACKAGES", (tmp_path / "games", tmp_path / "agents"))
    monkeypatch.setattr(compile_cache, "PACKAGE", tmp_path / "games")
    yield tmp_path
    compile_cache.kernel_sources.cache_clear()


def digest(*versions: str) -> str:
    compile_cache.kernel_sources.cache_clear()
    return compile_cache.source_digest(versions)


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("games/kernels/drivers.py", True),
        ("games/nim/features.py", True),
        ("games/nim/rules.py", True),
        ("games/base/text.py", True),
        ("agents/search.py", True),
        ("agents/core.py", True),
        ("games/perft.py", False),
        ("agents/talk.py", False),
        ("games/notes.txt", False),
    ],
)
def test_an_edit_changes_the_digest_if_kernels_depend_on_it(tree, file, decides):
    before = digest("1.0")
    (tree / file).write_text(TREE.get(file, "") + "DEEPEST = 2\n")
    assert (digest("1.0") != before) == decides
    (tree / file).write_text(TREE.get(file, ""))
    assert digest("1.0") == before


def test_compiler_python_and_processor_change_the_digest(tree):
    assert digest("1.0") != digest("1.1")
    assert len(compile_cache.compiler_versions()) == 4


def modules_reached(function: Callable[..., object], seen: set[int]) -> Iterator[str]:
    """The modules of all functions that a kernel calls, directly or not."""
    plain = jit.python_function(function)
    if not isinstance(plain, FunctionType) or id(plain) in seen:
        return
    seen.add(id(plain))
    yield plain.__module__ or ""
    for name in plain.__code__.co_names:
        value = plain.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield value.__name__
            for member in plain.__code__.co_names:
                yield from modules_reached(getattr(value, member, None), seen)
        else:
            yield from modules_reached(value, seen)


def cached_functions(family: str) -> SimpleNamespace:
    """The features and heuristic functions that are inlined into users' evaluations."""
    names, package = bind_heuristics(family), package_of(family)
    called = (*feature_names(family), *heuristic_function_names(package))
    return SimpleNamespace(**{name: names[name] for name in called})


@pytest.mark.parametrize("name", FAMILIES)
def test_every_function_that_a_kernel_calls_is_in_the_digest(name):
    family = game(name).family_name
    for made in (
        family_kernels(family, bind_drivers),
        search_kernels(family),
        cached_functions(family),
    ):
        seen: set[int] = set()
        called = {
            module for kernel in vars(made).values() for module in modules_reached(kernel, seen)
        }
        ours = {module for module in called if module.startswith(("games.", "agents."))}
        assert len(ours) > 3
        assert ours <= compile_cache.kernel_sources().keys()
