"""Endgame databases: every value against naive search, the files, what is shared and what not."""

import os
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from games import Position, game
from games.kernels.jit import bound
from games.solving import Bounds, SolverSettings, solver_of, sowing_database, sowing_search
from games.solving import sowing_database as database_files
from games.solving.solver import WORDS, sign
from games.solving.sowing import search_context
from games.solving.sowing_database import PACKED
from games.solving.sowing_endgames import positions
from tests.forked import forgetful
from tests.games.naive import full_search, sowing
from tests.games.solving.test_solver import RARE, naive_rules

ROOT = Path(__file__).parents[3]
PRESETS_AND_RARE = [f"{preset}(3,2)" for preset in sowing.PRESETS] + RARE
BEANS = 5  # sown from one hole of the smallest board they come round to it


def built(name: str, beans: int) -> np.ndarray:
    """The database, not read from a file."""
    of = game(name)
    size = positions(of.rules.holes, beans)
    return sowing_database.built(search_context(of), of.rules.holes, beans, size)


def boards(holes: int, beans: int):
    """Every pair of rows of up to so many beans."""
    cells = product(range(beans + 1), repeat=2 * holes)
    return ((row[:holes], row[holes:]) for row in cells if sum(row) <= beans)


def settled(name: str) -> sowing.Rules:
    """The rules of what comes after the first turn, without a majority that ends the game."""
    rules = naive_rules(name)
    extra = "no" if rules.extra_turn == "no" else "yes"
    return rules._replace(extra_turn=extra, swap=False, majority_ends=False)


@pytest.mark.parametrize("name", PRESETS_AND_RARE)
def test_every_value_is_that_of_naive_search(name):
    of = game(name)
    solver = solver_of(of, SolverSettings(table_bits=10, database_beans=BEANS))
    for own, other in boards(of.rules.holes, BEANS):
        if any(own):
            rows = of.plain(of.start())._replace(own=own, other=other, phase=0)
            wanted = full_search.value(sowing.given(settled(name), own, other, (0, 0), 0))
            position = Position(of.family.pack(rows), 0)
            assert solver.outcome(position).outcome == WORDS[sign(wanted)], (own, other)
            if of.rules.majority_ends == "no":  # else the margin depends on the pots
                assert solver.margin(position) == Bounds(wanted, wanted), (own, other)


def test_a_rank_is_every_number_once_and_fewer_beans_come_first():
    of = game("kalah(3,2)")
    context, ranked = search_context(of), []
    kernels = bound(PACKED, sowing_search.of_packed)
    for own, other in boards(3, BEANS):
        rows = of.plain(of.start())._replace(own=own, other=other)
        ranked.append((kernels.rank(context, *of.family.pack(rows)), sum(own) + sum(other)))
    ranked.sort()
    assert [rank for rank, _ in ranked] == list(range(positions(3, BEANS)))
    assert [beans for _, beans in ranked] == sorted(beans for _, beans in ranked)


def test_a_smaller_database_is_the_beginning_of_a_larger_one():
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
    """What is said while the database is opened or built."""
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


def test_what_is_mapped_cannot_be_written(root):
    for _ in range(2):  # built, then opened
        solver = solver_of(game("kalah(3,2)"), SolverSettings(10, 5))
        solver.prepare()
        assert not solver.questions.values.flags.writeable


def test_without_a_directory_the_database_lives_in_memory(monkeypatch):
    monkeypatch.setattr(database_files, "user_caches", lambda: iter(()))
    assert len(prepared("kalah(3,2)", 6)) == 1
    assert len(prepared("kalah(3,2)", 6)) == 1


def test_little_room_makes_a_small_database(root, monkeypatch):
    monkeypatch.setattr(database_files, "free_memory", lambda: 4000)
    solver = solver_of(game("kalah(3,4)"), SolverSettings(10))
    solver.prepare()
    assert 0 < solver.questions.values.size <= 1000


def test_other_rules_have_another_name():
    names = {sowing_database.name_of(game(name).rules) for name in PRESETS_AND_RARE}
    # kalah, kgp and manchester differ in nothing that a database knows.
    assert (
        len(names)
        == len({name.partition("(")[0] + str(settled(name)) for name in PRESETS_AND_RARE}) - 2
    )


def test_sources_that_change_have_another_database(monkeypatch, tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1"), other.write_text("x = 2")
    assert database_files.digest_of((str(one),), ()) != database_files.digest_of((str(other),), ())


# --------------------------------------------------------------- the interpreted twin

TWIN = """
from games import game
from games.solving import SolverSettings, solver_of
for name, beans in (("kalah(3,2)", 3), ("kalah-paper(2,3)", 4), ("owari(3,2)", 0)):
    of = game(name)
    solver = solver_of(of, SolverSettings(8, beans))
    print(name, solver.margin(of.start()), solver.moves(of.start()), solver.nodes)
"""


def test_interpreted_kernels_look_at_as_many_nodes(tmp_path, capsys):
    settings = {"NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    code = f"import warnings; warnings.simplefilter('ignore')\n{TWIN}"
    interpreted = forgetful(ROOT, code, env=os.environ | settings).stdout
    exec(TWIN)
    assert capsys.readouterr().out == interpreted
    assert interpreted.count("kalah") == 2
