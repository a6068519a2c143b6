"""Programs in any language as agents: whole games and every fault, through real processes."""

import pytest

from agents.core import AgentFailure, Resignation
from agents.kinds.program import refuse_shared_network
from agents.protocols import PROTOCOLS, kgp
from agents.sandbox.isolation import MEASURES, IsolationLevel
from agents.sandbox.protocol_agent import Program
from games import game
from tests.agents.hosted import GAMES, PYTHON, fault_of, game_for, hosted, other, played

# What a bot does instead of its answer -> how its game ends; "" is a game to its end.
FAULTS = {
    "illegal": "illegal",
    "garbage": "unreadable",
    "silence": "timeout",
    "half": "timeout",
    "death": "crashed",
    "after": "crashed",
    "flood": "flooded",
    "twice": "",
    "stderr": "",
    "slowly": "",
}
# In KGP a line that is no command means nothing: a move is drawn where none came.
ELSEWISE = {("kgp", "garbage"): ""}
SHORT = 0.1  # seconds for a move of a bot that does not answer
# What happens to bytes on their way, whatever they mean: by a pipe and by a connection.
OF_STREAMS = ("after", "flood", "stderr", "slowly")
EACH_WAY = ("lines", "kgp")
PLIES = 24


def test_the_protocols_of_other_programs_are_in_the_table():
    assert set(GAMES) <= set(PROTOCOLS)


@pytest.mark.parametrize("kind", GAMES)
def test_a_program_plays_games_from_both_sides_and_from_openings(kind):
    of = game_for(kind)
    with hosted(kind, of, command=other(kind)) as agent:
        first = played(agent, of)
        second = played(agent, of, player=1)
        assert played(agent, of) == first
        assert played(agent, of, player=1) == second
        opening = tuple(second[:5])
        assert played(agent, of, player=1, opening=opening)[:5] == list(opening)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        pytest.param(
            kind,
            fault,
            marks=[pytest.mark.slow] * (fault in OF_STREAMS and kind not in EACH_WAY),
        )
        for kind in GAMES
        for fault in FAULTS
    ],
)
def test_whose_fault_it_is(kind, fault, monkeypatch):
    of, hangs = game_for(kind), FAULTS[fault] == "timeout"
    monkeypatch.setattr(kgp, "THINK_SECONDS", 0.1 if hangs else 0.2)
    command = other(kind, fault, "2")
    with hosted(kind, of, SHORT if hangs else 60.0, command=command) as agent:
        expected = ELSEWISE.get((kind, fault), FAULTS[fault])
        assert fault_of(agent, of, most=PLIES) == expected
        if expected:
            assert not agent.bot.alive
            if kind in (EACH_WAY if not hangs else EACH_WAY[:1]):  # else it is waited for again
                assert fault_of(agent, of, most=PLIES) == expected  # in a fresh process


@pytest.mark.parametrize("kind", ["lines", "gtp"])
def test_who_resigns_has_lost_and_commits_no_fault(kind):
    of = game_for(kind)
    with hosted(kind, of, command=other(kind, "resign", "2")) as agent, pytest.raises(Resignation):
        played(agent, of)


def test_a_name_full_of_control_characters_is_shown_escaped():
    of = game_for("lines")
    command = [PYTHON, "-c", "input(); print('no')", "\x1b]0;mine\x07\n" * 99]
    with pytest.raises(AgentFailure) as failed, hosted("lines", of, command=command) as agent:
        played(agent, of)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 500


def test_new_process_per_game():
    of = game_for("gtp")
    with hosted("gtp", of, command=other("gtp"), process="game") as agent:
        played(agent, of, most=4)
        process = agent.bot.number
        played(agent, of, most=4)
        assert agent.bot.number != process


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["there-is-no-such-program"], 'there is no program "there-is-no-such-program"'),
        (["/usr"], "is a directory"),
        (["{tmp}/plain.txt"], "is not executable"),
        (["{tmp}/nobody.sh"], "cannot be started"),
        ([PYTHON, "-c", "import nowhere"], "nowhere"),
    ],
)
@pytest.mark.parametrize("kind", ["lines", "gtp"])
def test_what_cannot_be_started_is_said_in_words(tmp_path, kind, command, words):
    (tmp_path / "plain.txt").write_text("hello")
    (tmp_path / "nobody.sh").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "nobody.sh").chmod(0o755)
    of, command = game_for(kind), [word.format(tmp=tmp_path) for word in command]
    with pytest.raises(AgentFailure) as failed, hosted(kind, of, command=command) as agent:
        played(agent, of)
    assert failed.value.kind == "unloadable"
    assert words in str(failed.value)


# "half" a line of files is not counted, and who has written lines in time is not late.
FILES = {
    "": "",
    "illegal": "illegal",
    "garbage": "unreadable",
    "half": "",
    "silence": "",
    "death": "crashed",
}


@pytest.mark.parametrize("fault", FILES)
def test_a_bot_of_files_is_started_for_each_move_and_its_last_whole_line_counts(fault):
    of = game("othello(8)")
    # Its move takes all of its time; there is enough of it to begin on a busy machine.
    seconds, plies = (0.5, 2) if fault == "silence" else (60.0, 6)
    with hosted("lines", of, command=other("lines")) as agent:
        honest = played(agent, of, most=plies)
    command = other("files", fault or "none", "1")
    with hosted("files", of, seconds, command=command) as agent:
        if FILES[fault]:
            assert fault_of(agent, of) == FILES[fault]
        else:
            assert played(agent, of, most=plies) == honest


def test_a_client_without_a_network_of_its_own_is_told_so():
    shared = IsolationLevel("landlock", frozenset({"landlock", "seccomp", "limits"}), {})
    with pytest.raises(AgentFailure, match="needs a network of its own") as failed:
        refuse_shared_network({"command": ["client"]}, shared)
    assert failed.value.kind == "unloadable"
    refuse_shared_network({"command": ["client"]}, shared._replace(measures=frozenset(MEASURES)))


def test_the_seat_stands_where_the_command_names_it_else_at_its_end():
    assert Program(("bot", "--as={seat}")).start_fields(("2",))["command"] == ("bot", "--as=2")
    assert Program(("bot",)).start_fields(("BLACK",))["command"] == ("bot", "BLACK")
    assert Program(("bot", "{seat}")).start_fields(())["command"] == ("bot", "{seat}")


def test_a_late_first_answer_names_the_time_to_start_as_well(tmp_path):
    (tmp_path / "mute.py").write_text("import time\ntime.sleep(60)\n")
    command = [PYTHON, str(tmp_path / "mute.py")]
    with (
        hosted("lines", game("kalah(4,3)"), 0.2, command=command, start_seconds=0.3) as agent,
        pytest.raises(AgentFailure) as late,
    ):
        played(agent, game("kalah(4,3)"))
    assert "within 0.2 s after the 0.3 s that it had to start" in late.value.message


def test_a_file_that_is_not_there_is_not_said_to_lack_a_function(tmp_path):
    command = [PYTHON, str(tmp_path / "none.py")]
    with (
        hosted("lines", game("kalah(4,3)"), command=command) as agent,
        pytest.raises(AgentFailure) as missing,
    ):
        played(agent, game("kalah(4,3)"))
    assert "choose" not in str(missing.value)
    assert "No such file" in str(missing.value)
