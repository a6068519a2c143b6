"""The game cache: a game is played once in any run, and the tables are as if all were played."""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from agents.core import AgentSpec
from arena.config.experiment import load_experiment
from arena.config.run_options import open_game_cache
from arena.storage.game_cache import (
    STORE,
    CacheError,
    GameCache,
    agent_fingerprint,
    index_checksum,
    is_cacheable,
)
from arena.storage.journal import JOURNAL
from games.base.errors import Unfinished, UserError
from tests.arena.running import (
    ROOT,
    database,
    only_run,
    run_experiment_file,
    run_in_process,
    tables,
)
from tests.commands import verify

HEAD = 'game = "kalah(4,3)"\npairs = {pairs}\nseed = {seed}\nopenings = {{ random_plies = 4 }}\n'
HEURISTIC = "def evaluate(rules, position):\n    return position.own * {factor} - position.other\n"


def experiment(directory, agents, pairs=8, seed=3, more=""):
    """An experiment file of these agents."""
    text = HEAD.format(pairs=pairs, seed=seed) + more
    for name, table in agents.items():
        text += f"\n[agents.{name}]\n{table}\n"
    path = directory / "demo.toml"
    path.write_text(text)
    return path


def cached_in(path, results, store, **options):
    """How many games of a run were cached; its tables are in `results`."""
    with_store = GameCache(store)
    try:
        run_experiment_file(path, results, workers=0, cache=with_store, **options)
    finally:
        with_store.close()
    (run,) = results.glob("*/*/run.json")
    return int(re.search(r'"known": (\d+)', run.read_text())[1])


AGENTS = {
    "greedy": 'kind = "greedy"',
    "deep": 'kind = "minimax"\ndepth = 2',
    "random": 'kind = "random"',
    "noisy": 'kind = "minimax"\ndepth = 1\nepsilon = 0.2',
}


def test_only_games_of_a_new_agent_are_played(tmp_path):
    old = {name: AGENTS[name] for name in ("greedy", "random", "noisy")}
    assert cached_in(experiment(tmp_path, old), tmp_path / "1", tmp_path / "k") == 0
    path = experiment(tmp_path, {"deep": AGENTS["deep"], **old})
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 2 * 8 * 3
    run_experiment_file(path, tmp_path / "3", workers=0)
    assert tables(tmp_path / "2") == tables(tmp_path / "3")
    assert cached_in(path, tmp_path / "4", tmp_path / "k") == 2 * 8 * 6
    assert tables(tmp_path / "4") == tables(tmp_path / "3")


def test_names_matter_only_for_agents_with_chance(tmp_path):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"], "noisy": AGENTS["noisy"]}
    cached_in(experiment(tmp_path, pair), tmp_path / "1", tmp_path / "k")
    renamed = {f"other_{name}": table for name, table in reversed(pair.items())}
    path = experiment(tmp_path, renamed)
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 2 * 8  # greedy against deep
    run_experiment_file(path, tmp_path / "3", workers=0)
    assert tables(tmp_path / "2") == tables(tmp_path / "3")


def test_duplicates_and_stop_rules_are_the_same_with_a_cache(tmp_path):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    more = "[stop]\nsprt = { elo0 = 0, elo1 = 200 }\n"
    for case, text in (("repeats", "repeat"), ("stop", more)):
        path = experiment(tmp_path, pair, 40, more="" if case == "repeats" else more)
        if text == "repeat":
            path.write_text(path.read_text().replace("= 4 }", "= 1, repeat = true }"))
        directory, store = tmp_path / case, tmp_path / f"k-{case}"
        cached_in(path, directory / "1", store)
        assert cached_in(path, directory / "2", store) > 0
        assert tables(directory / "1") == tables(directory / "2")


def test_games_without_moves_do_not_replace_games_with_moves(tmp_path):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    path = experiment(tmp_path, pair, more="keep_moves = false\n")
    cached_in(path, tmp_path / "1", tmp_path / "k")
    path = experiment(tmp_path, pair)
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 0
    assert cached_in(path, tmp_path / "3", tmp_path / "k") == 16
    path = experiment(tmp_path, pair, more="keep_moves = false\n")
    assert cached_in(path, tmp_path / "4", tmp_path / "k") == 16
    assert tables(tmp_path / "4") == tables(tmp_path / "1")


def test_games_by_the_clock_or_of_unknown_code_are_not_cacheable(tmp_path):
    (tmp_path / "heur.py").write_text(HEURISTIC.format(factor=1))
    agents = {
        "clock": 'kind = "minimax"\nseconds = 0.01',
        "turns": 'kind = "minimax"\nturn_seconds = 0.01',
        "own": 'kind = "minimax"\ndepth = 1\nevaluate = "heur.py"',
        "own_noise": 'kind = "minimax"\ndepth = 1\nepsilon = 0.1\nevaluate = "heur.py"',
        "said": 'kind = "minimax"\ndepth = 1\nevaluate = "heur.py"\ndeterministic = true',
        "greedy": AGENTS["greedy"],
    }
    specs = load_experiment(experiment(tmp_path, agents)).plan.agents
    assert {name: is_cacheable(spec) for name, spec in specs.items()} == {
        "clock": False, "turns": False, "own": False, "own_noise": False, "said": True,
        "greedy": True,
    }  # fmt: skip


def test_games_with_a_game_clock_are_not_cached(tmp_path):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    path = experiment(tmp_path, pair, more='game_time = "60"\n')
    cached_in(path, tmp_path / "1", tmp_path / "k")
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 0


def test_fingerprint_depends_on_a_file_and_its_imports(tmp_path):
    bot, beside, other = (tmp_path / f"{name}.py" for name in ("bot", "beside", "other"))
    bot.write_text("import os\nfrom beside import best\n")
    beside.write_text("import bot\nbest = 1\n")
    other.write_text("x = 1\n")
    spec = AgentSpec("python", {"file": str(bot), "deterministic": True})
    before = agent_fingerprint(spec)
    other.write_text("x = 2\n")
    assert agent_fingerprint(spec) == before
    beside.write_text("import bot\nbest = 2\n")
    assert agent_fingerprint(spec) != before


@pytest.mark.parametrize("column", ["rows", "words", "shelf"])
def test_swapped_keys_are_noticed(tmp_path, column):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    path = experiment(tmp_path, pair)
    cached_in(path, tmp_path / "1", tmp_path / "k")
    with database(tmp_path / "k" / STORE) as base:
        (places,) = base.execute(f"select {column} from blocks").fetchone()
        middle = len(places) // 2
        base.execute(f"update blocks set {column} = ?", (places[middle:] + places[:middle],))
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 0
    assert tables(tmp_path / "2") == tables(tmp_path / "1")


def test_damaged_cache_costs_only_time_and_an_impossible_one_is_refused(tmp_path):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    path = experiment(tmp_path, pair)
    cached_in(path, tmp_path / "1", tmp_path / "k")
    with database(tmp_path / "k" / STORE) as base:
        (blob,) = base.execute("select games from blocks").fetchone()
        base.execute("update blocks set games = ?", (blob[:40] + b"?" + blob[41:],))
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 0
    assert tables(tmp_path / "2") == tables(tmp_path / "1")
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(CacheError, match="cannot be kept there"):
        GameCache(tmp_path / "file")
    answer = run_in_process(path, "--cache", tmp_path / "file", "--results", tmp_path / "3")
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / STORE).write_bytes(b"no database at all, but long enough" * 100)
    assert (
        run_in_process(path, "--cache", tmp_path / "broken", "--results", tmp_path / "4").returncode
        == 2
    )


def test_corrupt_database_is_renamed_and_replaced(tmp_path):
    GameCache(tmp_path).database.close()
    store = tmp_path / STORE
    store.write_bytes(store.read_bytes()[:4096])  # its first page, which names others
    GameCache(tmp_path).database.close()
    assert (tmp_path / f"{STORE}.damaged").stat().st_size == 4096
    GameCache(tmp_path).database.close()


def test_full_disk_is_no_mistake_of_the_user(tmp_path, monkeypatch):
    full = sqlite3.OperationalError("disk I/O error")
    full.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE

    def begun(_path):
        raise full

    monkeypatch.setattr("arena.storage.game_cache._open", begun)
    with pytest.raises(Unfinished, match=r"--cache .*cannot be kept there \(disk I/O error\)"):
        open_game_cache(str(tmp_path))
    full.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    with pytest.raises(UserError):
        open_game_cache(str(tmp_path))


def test_oldest_blocks_are_deleted_above_the_limit(tmp_path):
    words, rows = np.arange(20, dtype=np.uint64).reshape(-1, 2), np.arange(10)
    store = GameCache(tmp_path, max_bytes=100_000)
    for number in range(20):
        store.store(bytes([number]), words + np.uint64(number), rows, bytes(10_000), True)
    store.close()
    store = GameCache(tmp_path, max_bytes=100_000)
    there = [number for number in range(20) if len(store.index(bytes([number]), True).hashes)]
    store.close()
    assert there == list(range(there[0], 20))
    assert 5 <= len(there) <= 8
    assert (tmp_path / STORE).stat().st_size < 400_000


def test_option_and_environment_choose_the_cache(tmp_path, monkeypatch):
    assert open_game_cache("off") is None
    assert open_game_cache(None) is None  # as the suite has it
    monkeypatch.delenv("PITFLIP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = open_game_cache(None)
    store.close()
    assert store.path == tmp_path / "pitflip" / "known" / STORE


def test_verify_finds_and_removes_a_wrong_cached_game(tmp_path, monkeypatch, capsys):
    pair = {"greedy": AGENTS["greedy"], "deep": AGENTS["deep"]}
    path = experiment(tmp_path, pair)
    monkeypatch.setenv("PITFLIP_CACHE", str(tmp_path / "k"))
    cached_in(path, tmp_path / "1", tmp_path / "k")
    with database(tmp_path / "k" / STORE) as base:
        found = base.execute("select id, shelf, moves, words, rows from blocks").fetchall()
        for block, shelf, moves, words, rows in found:  # wrong when they were kept: no damage
            turned = np.frombuffer(words, np.uint64).reshape(-1, 2)[::-1].tobytes()
            changed = turned, index_checksum(shelf, moves, turned, rows)
            base.execute("update blocks set words = ?, seal = ? where id = ?", (*changed, block))
    assert verify([str(only_run(tmp_path / "1"))]) == 1
    assert "cached games" in capsys.readouterr().out
    assert cached_in(path, tmp_path / "2", tmp_path / "k") == 0


def edited(agents, draw, directory):
    """One random edit of an experiment: of agents, their options or their files."""
    agents, what = dict(agents), draw.randrange(6)
    agents.pop("own", None)  # a process of its own, seconds for each run
    if what == 0 and len(agents) > 2:
        del agents[draw.choice(list(agents))]
    elif what == 1:
        agents[f"n{draw.randrange(9)}"] = f'kind = "minimax"\ndepth = {draw.randrange(1, 4)}'
    elif what == 2:
        old = draw.choice(list(agents))
        agents = {f"r{draw.randrange(9)}" if name == old else name: agents[name] for name in agents}
    elif what == 3:
        agents[f"e{draw.randrange(3)}"] = (
            f'kind = "minimax"\ndepth = 1\nepsilon = 0.{draw.randrange(1, 4)}'
        )
    elif what == 4:
        agents["deep"] = f'kind = "minimax"\ndepth = {draw.randrange(1, 4)}'  # an option changed
    elif draw.random() < 0.15:
        (directory / "heur.py").write_text(HEURISTIC.format(factor=draw.randrange(1, 4)))
        agents["own"] = 'kind = "minimax"\ndepth = 1\nevaluate = "heur.py"\ndeterministic = true'
    else:
        agents = dict(draw.sample(list(agents.items()), len(agents)))
    return agents


def games_of(run, agents, text):
    """Everything that decides each game of a run, pair by pair, written from the docs alone."""
    table = pq.read_table(run / "games.parquet").to_pylist()
    game = json.loads((run / "run.json").read_text())["plan"]["game"]
    decided = []
    for row in table:
        seats = []
        for name in (row["first"], row["second"]):
            content = agents[name] + (text if "heur.py" in agents[name] else "")
            chance = "random" in agents[name] or "epsilon" in agents[name]
            seats.append((content, (row["seed"], row["leg"], name) if chance else None))
        decided.append((game, row["opening_moves"], *seats))
    return [(decided[at], decided[at + 1]) for at in range(0, len(decided), 2)]


@pytest.mark.slow
def test_tables_equal_those_without_a_cache_after_random_edits(tmp_path):
    draw, agents, with_hits, seen = random.Random(5), dict(AGENTS), 0, set()
    for number in range(100):
        agents = edited(agents, draw, tmp_path)
        if len(agents) < 2:
            agents |= AGENTS
        path = experiment(tmp_path, agents, pairs=draw.randrange(2, 9), seed=draw.randrange(1, 3))
        with_it, without = tmp_path / f"a{number}", tmp_path / f"b{number}"
        known = cached_in(path, with_it, tmp_path / "k")
        with_hits += known > 0
        run_experiment_file(path, without, workers=0)
        heuristic = tmp_path / "heur.py"
        text = heuristic.read_text() if heuristic.exists() else ""
        pairings = games_of(only_run(without), agents, text)
        # A pair is cached if both of its games are: exactly the others are played.
        assert known == 2 * sum(seen.issuperset(each) for each in pairings), number
        seen |= {each for pairing in pairings for each in pairing}
        assert tables(with_it) == tables(without), number
        again = cached_in(path, tmp_path / f"c{number}", tmp_path / "k")
        matches = len(agents) * (len(agents) - 1) // 2
        assert again == 2 * load_experiment(path).plan.pairs * matches, number
    assert with_hits > 60


@pytest.mark.slow
def test_killed_process_leaves_the_shared_cache_intact(tmp_path):
    path = experiment(tmp_path, {**AGENTS, "far": 'kind = "minimax"\ndepth = 5'}, pairs=60)
    command = [sys.executable, "-m", "arena.run", str(path), "--cache", str(tmp_path / "k")]
    runs = [
        subprocess.Popen([*command, "--results", str(tmp_path / name), "--workers", "1"],
                         cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        for name in ("1", "2")
    ]  # fmt: skip
    until = time.monotonic() + 60
    while not list((tmp_path / "1").glob(f"*/*/{JOURNAL}")) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    os.killpg(runs[0].pid, signal.SIGKILL)
    assert runs[0].wait() == -signal.SIGKILL
    assert runs[1].wait() == 0
    with database(tmp_path / "k" / STORE) as base:
        assert base.execute("pragma integrity_check").fetchone() == ("ok",)
    assert cached_in(path, tmp_path / "3", tmp_path / "k") == 2 * 60 * 10
    assert tables(tmp_path / "3") == tables(tmp_path / "2")
    assert isinstance(sqlite3.sqlite_version, str)
