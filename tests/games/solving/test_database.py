"""Endgame databases: values against naive search, files, and names."""

import os
import random
import zlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from games import Position, game
from games.kernels.jit import family_kernels
from games.solving import Bounds, SolverSettings, solver_of, sowing_database, sowing_search
from games.solving.solver import OUTCOMES, sign
from games.solving.sowing import search_context
from games.solving.sowing_database import PACKED, position_count
from tests.forked import forgetful
from tests.games.naive import full_search, sowing
from tests.games.solving.test_solver import RARE, naive_rules

ROOT = Path(__file__).parents[3]
PRESETS_AND_RARE = [f"{preset}(3,2)" for preset in sowing.PRESETS] + RARE
BEANS = 5  # a sowing of them returns to its hole on the smallest board


def built(name: str, beans: int) -> np.ndarray:
    """The database, not read from a file."""
    of = game(name)
    size = position_count(of.rules.holes, beans)
    return sowing_database.build_values(search_context(of), of.rules.holes, beans, size)


def boards(holes: int, beans: int):
    """Every pair of rows of up to `beans` beans."""
    cells = product(range(beans + 1), repeat=2 * holes)
    return ((row[:holes], row[holes:]) for row in cells if sum(row) <= beans)


def settled(name: str) -> sowing.Rules:
    """The rules after the first turn, without the majority rule."""
    rules = naive_rules(name)
    extra = "no" if rules.extra_turn == "no" else "yes"
    return rules._replace(extra_turn=extra, swap=False, majority_ends=False)


@pytest.mark.parametrize("name", PRESETS_AND_RARE)
def test_every_value_agrees_with_naive_search(name):
    of = game(name)
    solver = solver_of(of, SolverSettings(table_bits=10, database_beans=BEANS))
    for own, other in boards(of.rules.holes, BEANS):
        if any(own):
            rows = of.plain(of.start())._replace(own=own, other=other, phase=0)
            wanted = full_search.value(sowing.given(settled(name), own, other, (0, 0), 0))
            position = Position(of.family.pack(rows), 0)
            assert solver.outcome(position).outcome == OUTCOMES[sign(wanted)], (own, other)
            if of.rules.majority_ends == "no":  # otherwise the margin depends on the pots
                assert solver.margin(position) == Bounds(wanted, wanted), (own, other)


def test_ranks_are_a_permutation_and_fewer_beans_come_first():
    of = game("kalah(3,2)")
    context, ranked = search_context(of), []
    kernels = family_kernels(PACKED, sowing_search.bind_search)
    for own, other in boards(3, BEANS):
        rows = of.plain(of.start())._replace(own=own, other=other)
        ranked.append((kernels.rank(context, *of.family.pack(rows)), sum(own) + sum(other)))
    ranked.sort()
    assert [rank for rank, _ in ranked] == list(range(position_count(3, BEANS)))
    assert [beans for _, beans in ranked] == sorted(beans for _, beans in ranked)


def test_a_smaller_database_is_a_prefix_of_a_larger_one():
    small = built("kalah(4,2)", 5)
    assert (built("kalah(4,2)", 8)[: small.size] == small).all()


def test_positions_of_more_beans_agree_with_a_search_without_a_database():
    of, random_ = game("kalah(4,3)"), random.Random(7)
    with_, without = (solver_of(of, SolverSettings(16, beans)) for beans in (9, 0))
    for _ in range(40):
        position = of.start()
        for _ in range(random_.randrange(3, 9)):
            if legal := of.legal(position):
                position = of.play(position, random_.choice(legal))
        assert with_.margin(position) == without.margin(position)


# --------------------------------------------------------------------------- files


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pitflip"


def prepared(name: str, beans: int) -> list[str]:
    """The messages while the database is opened or built."""
    said: list[str] = []
    solver_of(game(name), SolverSettings(10, beans), said.append).prepare()
    return said


def test_a_database_is_built_once_and_serves_smaller_ones(root):
    assert len(prepared("kalah(3,2)", 6)) == 1
    assert prepared("kalah(3,2)", 6) == []
    assert prepared("kalah(3,4)", 5) == []
    assert len(prepared("kalah(3,2)", 7)) == 1
    assert len(list(root.glob("database-*"))) == 2


def test_games_that_differ_in_no_value_share_a_database(root):
    prepared("kalah(3,2)", 5)
    assert prepared("kalah-kgp(3,4)", 5) == []
    assert prepared("kalah-manchester(3,1)", 5) == []
    assert prepared("kalah-paper(3,2)", 5) != []
    assert prepared("owari(3,2)", 5) != []


def test_a_damaged_file_is_built_again(root):
    prepared("kalah(3,2)", 6)
    (path,) = root.glob("database-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert len(prepared("kalah(3,2)", 6)) == 1
    assert path.read_bytes() == whole
    path.write_bytes(b"")
    assert len(prepared("kalah(3,2)", 6)) == 1
    assert path.read_bytes() == whole


def test_values_are_read_only(root):
    for _ in range(2):  # built, then opened
        solver = solver_of(game("kalah(3,2)"), SolverSettings(10, 5))
        solver.prepare()
        assert not solver.search.values.flags.writeable


def test_without_a_directory_the_database_stays_in_memory(monkeypatch):
    monkeypatch.setattr(sowing_database, "user_caches", lambda: iter(()))
    assert len(prepared("kalah(3,2)", 6)) == 1
    assert len(prepared("kalah(3,2)", 6)) == 1


def test_little_room_makes_a_small_database(root, monkeypatch):
    monkeypatch.setattr(sowing_database, "free_memory", lambda: 4000)
    solver = solver_of(game("kalah(3,4)"), SolverSettings(10))
    solver.prepare()
    assert 0 < solver.search.values.size <= 1000


def test_other_rules_have_another_name():
    names = {sowing_database.database_name(game(name).rules) for name in PRESETS_AND_RARE}
    # kalah, kgp and manchester have equal values.
    assert (
        len(names)
        == len({name.partition("(")[0] + str(settled(name)) for name in PRESETS_AND_RARE}) - 2
    )


def test_the_values_belong_to_the_version():
    """If this fails on purpose, increase DATABASE_VERSION."""
    assert (sowing_database.DATABASE_VERSION, zlib.crc32(built("kalah(3,2)", 6))) == (1, 670688472)


# --------------------------------------------------------------- the interpreted twin

TWIN = """
from games import game
from games.solving import SolverSettings, solver_of
for name, beans in (("kalah(3,2)", 3), ("kalah-paper(2,3)", 4), ("owari(3,2)", 0)):
    of = game(name)
    solver = solver_of(of, SolverSettings(8, beans))
    print(name, solver.margin(of.start()), solver.moves(of.start()), solver.nodes)
"""


def test_interpreted_kernels_search_the_same_nodes(tmp_path, capsys):
    settings = {"NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    code = f"import warnings; warnings.simplefilter('ignore')\n{TWIN}"
    interpreted = forgetful(ROOT, code, env=os.environ | settings).stdout
    exec(TWIN)
    assert capsys.readouterr().out == interpreted
    assert interpreted.count("kalah") == 2
