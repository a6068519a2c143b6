"""The campaign itself: its laws notice what they are for, and a few disturbances change nothing."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.torture import laws
from tests.torture.below import Below, Command
from tests.torture.campaign import JOURNAL, Tried, choice, mended, note, stored
from tests.torture.disturbances import DISTURBANCES
from tests.torture.laws import Outcome, Patience, Verdict
from tests.torture.loaded import load
from tests.torture.printed import BEGIN, END, effective, into, printed
from tests.torture.subjects import GREEDY, RANDOM, SUBJECTS, Subject, head, run_of
from tests.torture.trial import ROOT, Reference, Trial, products

LITTLE = Patience(waiting=0.2, used=0.1, leaving=0.2)
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def apart(work):
    """What `work(below)` says in a fork, to which orphans come; nothing else of ours is its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            below = Below()
            try:
                answer = str(work(below))
            except Outcome as outcome:
                answer = f"{outcome.verdict}: {outcome.words}"
            below.end()
        except BaseException as error:
            answer = repr(error)
        os.write(writes, answer.encode()[:4000])
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return answer


def test_a_process_that_is_left_behind_is_noticed():
    def work(below):
        if not os.fork():  # it ends at once; what it began comes to us
            subprocess.Popen(SLEEP)
            os._exit(0)
        while not below.there():
            time.sleep(0.01)
        LITTLE.until_gone(below)

    assert apart(work).startswith("orphan: ")


def test_a_command_that_waits_for_ever_hangs():
    def work(below):
        child = os.fork()
        if not child:
            while True:
                signal.pause()
        LITTLE.until_ended(below, child)

    assert apart(work).startswith("hang: nothing ran")


def test_a_command_that_turns_in_circles_hangs():
    def work(below):
        child = os.fork()
        while not child:
            pass
        LITTLE.until_ended(below, child)

    assert "of the processor, and no end" in apart(work)


def test_a_command_that_ends_does_not_hang():
    def work(below):
        child = os.fork()
        if not child:
            os._exit(7)
        status = LITTLE.until_ended(below, child)
        LITTLE.until_gone(below)
        return status

    assert apart(work) == "7"


def test_the_status_of_another_process_with_the_same_number_is_forgotten(tmp_path):
    def work(below):
        below.statuses = dict.fromkeys(range(1 << 16), -9)
        command = Command("tests.torture.nothing_there", ())
        child = below.begin(command, tmp_path, tmp_path / "log", {})
        return Patience().until_ended(below, child)

    assert apart(work) == "70"


def verdict(law, *arguments):
    with pytest.raises(Outcome) as caught:
        law(*arguments)
    return caught.value.verdict


def test_other_bytes_missing_tables_and_files_elsewhere_are_noticed(tmp_path):
    (tmp_path / "a").write_text("1")
    expected = laws.contents(tmp_path)
    laws.same(expected, laws.contents(tmp_path))
    (tmp_path / "a").write_text("2")
    assert verdict(laws.same, expected, laws.contents(tmp_path)) is Verdict.DIFFERS
    assert verdict(laws.same, expected, {}) is Verdict.DIFFERS
    assert verdict(laws.same, {}, expected) is Verdict.DIFFERS
    assert verdict(laws.untouched, {}, expected) is Verdict.ELSEWHERE


def test_tracebacks_wrong_statuses_and_silence_are_noticed():
    laws.in_words("a line\nanother\n")
    laws.promised(3, (0, 3), "why")
    trace = "Traceback (most recent call last):\n  x"
    assert verdict(laws.in_words, trace) is Verdict.WORDLESS
    assert verdict(laws.in_words, "\x1b[2J") is Verdict.WORDLESS
    assert verdict(laws.promised, 1, (0, 3), "why") is Verdict.WORDLESS
    assert verdict(laws.promised, 3, (0, 3), "\n") is Verdict.WORDLESS


def test_every_trial_has_its_number_for_ever():
    first = [choice(1, number)[:2] for number in range(400)]
    assert first == [choice(1, number)[:2] for number in range(400)]
    assert first != [choice(2, number)[:2] for number in range(400)]
    assert {how for _, how in first} == set(DISTURBANCES)
    assert {name for name, _ in first} == set(SUBJECTS)
    assert {choice(1, number, "race")[0] for number in range(5)} == {"race"}


LINES = [
    Tried(0, "race", "SIGTERM", Verdict.SAME, "", "c0de"),
    Tried(1, "race", "Ctrl-C", Verdict.LATE, "", "c0de"),
    Tried(2, "tune", "Ctrl-C", Verdict.HANG, "why", "c0de"),
]


def test_a_journal_that_a_kill_has_cut_goes_on(tmp_path):
    for line in LINES:
        note(tmp_path, line)
    assert stored(tmp_path) == LINES
    whole = (tmp_path / JOURNAL).read_text()
    (tmp_path / JOURNAL).write_text(whole[:-9])
    assert stored(tmp_path) == LINES[:2]
    assert mended(tmp_path) == 2
    note(tmp_path, LINES[2])
    assert (tmp_path / JOURNAL).read_text() == whole


def test_the_tables_count_what_became_of_each_and_stand_in_the_page(tmp_path):
    text = printed(LINES)
    assert effective(LINES) == 2
    assert "2 disturbances of 2 subjects in 2 ways, seed 1, of the code `c0de`: 1 broke" in text
    assert "| race | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |" in text
    assert "| Ctrl-C | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 1 | 0 |" in text
    assert text.count("| all | 2 | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 0 |") == 2
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    into(page, text)
    into(page, text)
    assert page.read_text() == f"before\n{BEGIN}\n\n{text}\n\n{END}\nafter\n"


SMALL = Subject(
    run_of("--no-page", "--workers", "0", "--known", "off"),
    {"torture.toml": head(6, 4) + GREEDY + RANDOM},
)


def disturbed(state, below, *more):
    """What becomes of a Ctrl-C, with more words of the command from then on."""
    load(("arena.pipeline", "arena.analysis.run_evidence", "arena.analysis.tables"))
    reference = Reference({}, 0.0, 0, state / "nothing")
    reference.prepared.mkdir()
    trial = Trial(SMALL, reference, state, random.Random(3), below)
    trial.lay()
    trial.ends(trial.begin(), 0)
    trial.reference = reference._replace(products=products(trial.results, SMALL))
    trial.lay()
    process = trial.begin()
    os.killpg(process, signal.SIGINT)
    trial.ends(process, -signal.SIGINT, 3, 0)
    trial.subject = SMALL._replace(
        command=SMALL.command._replace(words=(*SMALL.command.words, *more))
    )
    return trial.conclude()


@pytest.mark.slow
def test_a_run_that_was_disturbed_ends_with_the_same_bytes(tmp_path):
    assert apart(lambda below: disturbed(tmp_path, below)) == Verdict.SAME


@pytest.mark.slow
def test_a_run_that_goes_on_otherwise_is_noticed(tmp_path):
    answer = apart(lambda below: disturbed(tmp_path, below, "--seed", "9"))
    assert answer.startswith(Verdict.DIFFERS)


def test_a_command_is_printed_as_it_is_typed():
    assert str(Command("arena.run", ("a.toml", "--quiet"))) == "python -m arena.run a.toml --quiet"


@pytest.mark.slow
def test_twenty_disturbances_change_nothing(tmp_path):
    words = [sys.executable, "-m", "tests.torture", "--disturbances", "20", "--seed", "5"]
    ended = subprocess.run(
        [*words, "--state", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr
    assert "20 disturbances" in ended.stdout
