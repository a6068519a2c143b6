"""Which sources decide a kernel: never one too few."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace

import pytest

from agents.search.bind import agent_kernels, bound_words, feature_names
from games import game
from games.kernels import compile_cache, jit
from games.kernels import compile_cache as kernel_sources
from games.kernels.drivers import of_family
from games.kernels.jit import bound
from games.parts import board_words, package_of
from tests.games.table import one_of_each

FAMILIES = one_of_each("family_name", "(3,2)", "(8,1)", "(4)", "(10)")
CACHED = ("modules", "names_by_path", "rules_sources", "sources_of", "content", "digest_of")

TREE = {
    "games/__init__.py": "",
    "games/base/text.py": "",
    "games/perft.py": "from games.kernels import drivers\n",
    "games/kernels/__init__.py": "",
    "games/kernels/jit.py": "",
    "games/kernels/drivers.py": "def late():\n from games.names import (\n  listed,\n )\n",
    "games/nim/rules.py": "",
    "games/user_rules.py": "x = 1; from games.kernels.jit import compiled\n",
    "games/solving/search.py": "import games.perft\n",
    "agents/core.py": "",
    "agents/talk.py": "from agents.core import Agent\n",
    "agents/kernels/search.py": "from ..core import \\\n  Agent\n",
}
ROOMS = ("games.kernels", "games.solving", "agents.kernels")


def forget() -> None:
    for name in CACHED:
        getattr(kernel_sources, name).cache_clear()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small tree in the place of ours."""
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(kernel_sources, "PACKAGES", (tmp_path / "games", tmp_path / "agents"))
    forget()
    yield tmp_path
    forget()


def digests() -> list[str]:
    forget()
    return [kernel_sources.digest_of(room, ("1.0",)) for room in ROOMS]


@pytest.mark.parametrize(
    ("edited", "rooms"),
    [
        ("games/kernels/drivers.py", "games.kernels games.solving agents.kernels"),
        ("games/nim/rules.py", "games.kernels games.solving agents.kernels"),
        ("games/nim/features.py", "games.kernels games.solving agents.kernels"),
        ("games/user_rules.py", "games.kernels games.solving agents.kernels"),
        ("games/base/text.py", "games.kernels games.solving agents.kernels"),
        ("games/perft.py", "games.solving"),
        ("games/solving/search.py", "games.solving"),
        ("agents/kernels/search.py", "agents.kernels"),
        ("agents/core.py", "agents.kernels"),
        ("agents/talk.py", ""),
        ("games/notes.txt", ""),
    ],
)
def test_an_edit_shows_in_every_cache_that_it_can_reach_and_in_no_other(tree, edited, rooms):
    before = digests()
    (tree / edited).write_text(TREE.get(edited, "") + "DEEPEST = 2\n")
    changed = [room for room, old, new in zip(ROOMS, before, digests(), strict=True) if old != new]
    assert changed == rooms.split()
    (tree / edited).write_text(TREE.get(edited, ""))
    assert digests() == before or edited not in TREE


def test_a_room_that_is_none_of_ours_is_decided_by_all(tree):
    assert kernel_sources.sources_of("tests.games") == kernel_sources.modules().keys()


def test_compiler_python_and_processor_decide_too(tree):
    assert kernel_sources.digest_of(ROOMS[0], ("1.0",)) != kernel_sources.digest_of(
        ROOMS[0], ("1.1",)
    )
    assert len(compile_cache.versions()) == 4


def reached(function: Callable[..., object], seen: set[int]) -> Iterator[str]:
    """The modules of all functions of ours that a kernel calls, and of what these call."""
    plain = jit.unbound(function)
    if not isinstance(plain, FunctionType) or id(plain) in seen:
        return
    seen.add(id(plain))
    yield plain.__module__
    for name in plain.__code__.co_names:
        value = plain.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield value.__name__
            for member in plain.__code__.co_names:
                yield from reached(getattr(value, member, None), seen)
        else:
            yield from reached(value, seen)


def kept_words(family: str) -> SimpleNamespace:
    """The features and words that are merged into evaluations of users."""
    names, package = bound_words(family), package_of(family)
    return SimpleNamespace(**{n: names[n] for n in (*feature_names(family), *board_words(package))})


@pytest.mark.parametrize("name", FAMILIES)
def test_all_that_a_kernel_calls_decides_its_cache(name):
    family = game(name).family_name
    for room, made in (
        ("games.kernels", bound(family, of_family)),
        ("agents.kernels", agent_kernels(family)),
        (package_of(family), kept_words(family)),
    ):
        seen: set[int] = set()
        called = {module for kernel in vars(made).values() for module in reached(kernel, seen)}
        ours = called & kernel_sources.modules().keys()
        assert len(ours) > 3
        assert ours <= kernel_sources.sources_of(room)


def test_a_function_that_the_cache_does_not_see_is_not_compiled():
    def stray(points):
        return points

    def template(points):
        return points

    template.__module__ = "games.kernels.drivers"
    stray.__module__ = "agents.search.alphabeta"
    with pytest.raises(RuntimeError, match=r"agents\.search\.alphabeta is compiled into"):
        jit.specialise("tests_stray", (template,), stray=stray)
