"""The journal: batches in order, once each, for one run and one process."""

import contextlib
import os
import random
from itertools import pairwise

import numpy as np
import pytest

from arena.planning.games import RESULT_COLUMNS, Games, concat_games, encode_games
from arena.planning.schedule import PairOrder
from arena.storage.journal import DirectoryError, RunDirectory
from tests.arena.running import database

SCHEDULE = PairOrder(
    1, "kalah(4,3)", ("a", "b"), ((0, 1),), 100, np.ones(1, np.uint64), np.zeros(1, np.int8)
)


def blob(start, stop):
    """Games whose plies are their row numbers in the run."""
    columns = {name: np.zeros(2 * (stop - start), kind) for name, kind in RESULT_COLUMNS.items()}
    columns["plies"] = np.arange(2 * start, 2 * stop).astype(np.int32)
    return encode_games(Games(columns, None, {}))


@contextlib.contextmanager
def section_of(directory, digest="x", name="games", key="", **options):
    with RunDirectory(directory, digest, **options) as run:
        yield run.section(name, key)


def all_games(section):
    return concat_games([games for _, _, games in section.games(SCHEDULE.columns)])


def fill(store, *bounds):
    for start, stop in pairwise(bounds):
        store.append(start, stop, blob(start, stop))


def test_games_are_read_in_schedule_order(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 1, 5, 20)
        assert store.item_count() == 20
    with section_of(tmp_path) as store:
        assert store.item_count() == 20
        assert all_games(store).plies.tolist() == list(range(40))
        assert all_games(store).pair.tolist() == np.repeat(np.arange(20), 2).tolist()
        parts = list(store.games(SCHEDULE.columns))
        assert [(start, stop) for start, stop, _ in parts] == [(0, 1), (1, 5), (5, 20)]
        assert [len(games) for _, _, games in parts] == [2, 8, 30]


def test_batch_that_is_stored_twice_counts_once(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 3, 6)
        fill(store, 3, 6)
        assert len(all_games(store)) == 12


def test_second_run_in_a_directory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.storage.journal.LOCK_SECONDS", 0.0)
    with (
        RunDirectory(tmp_path, "x"),
        pytest.raises(DirectoryError, match="another run is writing here"),
    ):
        RunDirectory(tmp_path, "x")
    with RunDirectory(tmp_path, "x"):
        pass


def test_journal_of_another_experiment_is_refused_and_the_lock_released(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.storage.journal.LOCK_SECONDS", 0.0)
    with RunDirectory(tmp_path, "x"):
        pass
    with pytest.raises(DirectoryError, match="another experiment"):
        RunDirectory(tmp_path, "y")
    with RunDirectory(tmp_path, "x"):
        pass


def test_fresh_renames_earlier_runs(tmp_path):
    directory = tmp_path / "run"
    for number in range(3):
        with section_of(directory, "x", fresh=True) as store:
            assert store.item_count() == 0
            fill(store, 0, number + 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run.old-1", "run.old-2"]


def test_full_disk_is_reported_and_loses_nothing(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 5)
        pages = store.database.execute("pragma page_count").fetchone()[0]
        store.database.execute(f"pragma max_page_count={pages}")
        large = blob(5, 5000)
        with pytest.raises(DirectoryError, match=r"full.*finished work is kept"):
            store.append(5, 5000, large)
    with section_of(tmp_path) as store:
        assert store.item_count() == 5


def test_changed_games_are_damage(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 5)
    with database(tmp_path / "journal.sqlite") as base:
        base.execute("update section_batches set content = ?", (blob(0, 5)[:-1] + b"?",))
    with pytest.raises(DirectoryError, match="is damaged"):
        RunDirectory(tmp_path, "x")


def test_lock_is_not_inherited_by_programs(tmp_path):
    with section_of(tmp_path) as store:
        assert not os.get_inheritable(store.run._lock)


def test_batches_after_a_gap_do_not_count(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 3, 6)
        store.append(7, 9, blob(7, 9))
        assert store.item_count() == 6
        assert [batch.stop for batch in store.batches()] == [3, 6]
        assert len(all_games(store)) == 12


def test_notes_and_facts_are_stored(tmp_path):
    with section_of(tmp_path) as store:
        assert store.read_fact("plan") is None
        store.append(0, 1, b"games", '{"point": [0.5]}')
        store.write_fact("plan", {"trials": 2})
        store.write_fact("plan", {"trials": 3})
    with section_of(tmp_path) as store:
        assert [(batch.content, batch.note) for batch in store.batches()] == [
            (b"games", '{"point": [0.5]}')
        ]
        assert store.read_fact("plan") == {"trials": 3}


def test_another_key_empties_only_its_section(tmp_path):
    with RunDirectory(tmp_path, "x") as run:
        games, match = run.section(), run.section("match", "first weights")
        fill(games, 0, 3)
        fill(match, 0, 5)
        match.write_fact("share", 0.5)
        assert (games.item_count(), match.item_count()) == (3, 5)
        assert games.read_fact("share") is None
    with RunDirectory(tmp_path, "x") as run:
        assert run.section("match", "first weights").item_count() == 5
        other = run.section("match", "other weights")
        assert (other.item_count(), other.read_fact("share")) == (0, None)
        assert run.section().item_count() == 3


def test_database_uses_wal_with_normal_synchronisation(tmp_path):
    with section_of(tmp_path) as store:
        assert store.database.execute("pragma journal_mode").fetchone() == ("wal",)
        assert store.database.execute("pragma synchronous").fetchone() == (1,)  # normal


def test_exchanged_batches_are_refused(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 10, 20)
    with database(tmp_path / "journal.sqlite") as base:
        first, second = (
            row[0] for row in base.execute("select content from section_batches order by start")
        )
        base.execute("update section_batches set content = ? where start = 0", (second,))
        base.execute("update section_batches set content = ? where start = 10", (first,))
    with pytest.raises(DirectoryError, match="not what was written"):
        RunDirectory(tmp_path, "x")


def test_batch_of_another_run_and_changed_note_are_refused(tmp_path):
    for name in ("x", "y"):
        with section_of(tmp_path / name, name) as store:
            store.append(0, 10, blob(0, 10), "note")
    with database(tmp_path / "y" / "journal.sqlite") as base:
        row = base.execute("select * from section_batches").fetchone()
    with database(tmp_path / "x" / "journal.sqlite") as base:
        base.execute("delete from section_batches")
        base.execute("insert into section_batches values (?, ?, ?, ?, ?, ?)", row)
    with pytest.raises(DirectoryError, match="is damaged"):
        RunDirectory(tmp_path / "x", "x")
    with database(tmp_path / "y" / "journal.sqlite") as base:
        base.execute("update section_batches set note = 'other'")
    with pytest.raises(DirectoryError, match="is damaged"):
        RunDirectory(tmp_path / "y", "y")


@pytest.mark.parametrize("name", ["fixed", "plan"])
def test_changed_fact_is_refused(tmp_path, name):
    with section_of(tmp_path) as store:
        store.write_fact("fixed", [[0, 1]])
        store.write_fact("plan", {"trials": 3})
    with database(tmp_path / "journal.sqlite") as base:
        base.execute("update section_facts set content = '[[0, 2]]' where name = ?", (name,))
    with pytest.raises(DirectoryError, match="not what was written"):
        RunDirectory(tmp_path, "x")


def test_batches_after_a_gap_are_replaced(tmp_path):
    with section_of(tmp_path) as store:
        fill(store, 0, 3, 6, 9, 12)
    with database(tmp_path / "journal.sqlite") as base:
        base.execute("delete from section_batches where start = 3")
    with section_of(tmp_path) as store:
        assert store.item_count() == 3
        fill(store, 3, 7, 12)
        assert store.item_count() == 12
        assert all_games(store).plies.tolist() == list(range(24))


FACTS = {"fixed": [[0, 1]], "tried": {"7": [3, 4]}, "unloadable": [[2, "no file"]]}


def content_of(directory):
    """All facts and batches of a journal."""
    with section_of(directory, "x") as store:
        facts = [store.read_fact(name) for name in FACTS]
        return facts, list(store.batches())


def write_flipped(directory, whole, bit):
    """Write the journal with one flipped bit."""
    changed = bytearray(whole)
    changed[bit // 8] ^= 1 << bit % 8
    for path in directory.iterdir():
        path.unlink()
    (directory / "journal.sqlite").write_bytes(changed)


def harmless(directory, facts, batches):
    """Whether a journal is refused, or has the same content after the run is continued."""
    try:
        now, left = content_of(directory)
        pairs = zip(now, facts, strict=True)
        if left != batches[: len(left)] or any(a not in (b, None) for a, b in pairs):
            return False
        with section_of(directory, "x") as store:
            for batch in batches[len(left) :]:
                store.append(*batch)
        return content_of(directory)[1] == batches
    except DirectoryError:
        return True


@pytest.mark.parametrize("bits", [200, pytest.param(None, marks=pytest.mark.slow)])
def test_flipped_bit_is_refused_or_harmless(tmp_path, bits):
    (tmp_path / "run").mkdir()
    with section_of(tmp_path / "run", "x") as store:
        fill(store, 0, 4, 7, 12)
        for name, value in FACTS.items():
            store.write_fact(name, value)
    facts, batches = content_of(tmp_path / "run")
    whole = (tmp_path / "run" / "journal.sqlite").read_bytes()
    written = [bit for bit in range(8 * len(whole)) if whole[bit // 8]]
    chosen = written if bits is None else random.Random(1).sample(written, bits)
    for bit in chosen:
        write_flipped(tmp_path / "run", whole, bit)
        assert harmless(tmp_path / "run", facts, batches), f"bit {bit}"


@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", "lock", "run.log", "."])
def test_symbolic_links_are_refused(tmp_path, name):
    victim, run = tmp_path / "victim", tmp_path / "results" / "run"
    run.parent.mkdir()
    if name == ".":
        victim.mkdir()
        run.symlink_to(victim)
    else:
        victim.write_text("precious")
        run.mkdir()
        (run / name).symlink_to(victim)
    with pytest.raises(DirectoryError, match="is a symbolic link"):
        RunDirectory(run, "x")
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "precious"


def test_pipe_in_place_of_the_lock_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(DirectoryError):
        RunDirectory(tmp_path, "x")


def test_forget_since_removes_new_items_and_facts_of_new_sections(tmp_path):
    with RunDirectory(tmp_path, "digest") as run:
        old = run.section("old")
        old.append(0, 2, b"before")
        old.write_fact("kept", 1)
        run.section("other", "first key").append(0, 1, b"before")
        before = run.item_counts()
        old.append(2, 3, b"since")
        for section in (run.section("new"), run.section("other", "second key")):
            section.append(0, 1, b"since")
            section.write_fact("plan", 2)
        run.forget_since(before)
        assert [batch.content for batch in old.batches()] == [b"before"]
        assert old.read_fact("kept") == 1
        for section in (run.section("new"), run.section("other", "second key")):
            assert section.item_count() == 0
            assert section.read_fact("plan") is None
