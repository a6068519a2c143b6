"""The table of faults stays true: every place is there, once, and so is what guards it."""

from pathlib import Path

from tests.mutants.table import MUTANTS

ROOT = Path(__file__).parents[2]


def test_every_fault_can_be_planted():
    places = {f"{each.file}: {each.old!r}": each for each in MUTANTS}
    assert len(places) == len({(each.file, each.old, each.new) for each in MUTANTS})
    counts = {
        place: (ROOT / each.file).read_text().count(each.old) for place, each in places.items()
    }
    assert {place: count for place, count in counts.items() if count != 1} == {}
    assert not [each for each in MUTANTS if each.old == each.new]


def test_every_guard_is_there():
    named = {test.partition("::")[0] for each in MUTANTS for test in each.tests}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert all(each.tests for each in MUTANTS)


def test_there_are_sixty_faults_in_every_package():
    assert len(MUTANTS) >= 60
    assert {each.file.partition("/")[0] for each in MUTANTS} == {"games", "agents", "arena"}
