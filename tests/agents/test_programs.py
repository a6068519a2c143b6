"""Programs in any language: whole games and faults through real processes."""

import pytest

from agents.core import AgentFailure, Resignation
from agents.kinds.program import refuse_shared_network
from agents.protocols import kgp
from agents.sandbox.isolation import MEASURES, IsolationLevel
from agents.sandbox.protocol_agent import Program
from games import game
from tests.agents.programs import GAMES, PYTHON, fault_of, game_for, host_program, other, play_moves

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
# KGP ignores invalid lines, and a client without a move gets a random one.
ELSEWISE = {("kgp", "garbage"): ""}
SHORT = 0.1  # seconds for a move of a bot that does not answer
# What happens to bytes on their way, whatever they mean: by a pipe and by a connection.
OF_STREAMS = ("after", "flood", "stderr", "slowly")
EACH_WAY = ("lines", "kgp")
PLIES = 24


@pytest.mark.parametrize("kind", GAMES)
def test_program_plays_both_sides_and_openings(kind):
    of = game_for(kind)
    with host_program(kind, of, command=other(kind)) as agent:
        first = play_moves(agent, of)
        second = play_moves(agent, of, player=1)
        assert play_moves(agent, of) == first
        assert play_moves(agent, of, player=1) == second
        opening = tuple(second[:5])
        assert play_moves(agent, of, player=1, opening=opening)[:5] == list(opening)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        pytest.param(
            kind, fault, marks=[pytest.mark.slow] * (fault in OF_STREAMS and kind not in EACH_WAY)
        )
        for kind in GAMES
        for fault in FAULTS
    ],
)
def test_fault_has_termination(kind, fault, monkeypatch):
    of, hangs = game_for(kind), FAULTS[fault] == "timeout"
    monkeypatch.setattr(kgp, "THINK_SECONDS", 0.1 if hangs else 0.2)
    command = other(kind, fault, "2")
    with host_program(kind, of, SHORT if hangs else 60.0, command=command) as agent:
        expected = ELSEWISE.get((kind, fault), FAULTS[fault])
        assert fault_of(agent, of, most=PLIES) == expected
        if expected:
            assert not agent.bot.alive
            if kind in (EACH_WAY if not hangs else EACH_WAY[:1]):  # else it is waited for again
                assert fault_of(agent, of, most=PLIES) == expected  # in a fresh process


@pytest.mark.parametrize("kind", ["lines", "gtp"])
def test_resignation_is_no_fault(kind):
    of = game_for(kind)
    with (
        host_program(kind, of, command=other(kind, "resign", "2")) as agent,
        pytest.raises(Resignation),
    ):
        play_moves(agent, of)


def test_control_characters_in_name_are_escaped():
    of = game_for("lines")
    command = [PYTHON, "-c", "input(); print('no')", "\x1b]0;mine\x07\n" * 99]
    with pytest.raises(AgentFailure) as failed, host_program("lines", of, command=command) as agent:
        play_moves(agent, of)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 500


def test_new_process_per_game():
    of = game_for("gtp")
    with host_program("gtp", of, command=other("gtp"), process="game") as agent:
        play_moves(agent, of, most=4)
        process = agent.bot.number
        play_moves(agent, of, most=4)
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
def test_unstartable_program_is_explained(tmp_path, kind, command, words):
    (tmp_path / "plain.txt").write_text("hello")
    (tmp_path / "nobody.sh").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "nobody.sh").chmod(0o755)
    of, command = game_for(kind), [word.format(tmp=tmp_path) for word in command]
    with pytest.raises(AgentFailure) as failed, host_program(kind, of, command=command) as agent:
        play_moves(agent, of)
    assert failed.value.kind == "unloadable"
    assert words in str(failed.value)


# "half" a line is ignored, and a bot with complete lines in time is not late.
FILES = {
    "": "",
    "illegal": "illegal",
    "garbage": "unreadable",
    "half": "",
    "silence": "",
    "death": "crashed",
}


@pytest.mark.parametrize("fault", FILES)
def test_file_bot_plays_last_complete_line(fault):
    of = game("othello(8)")
    # Its move takes all of its time; there is enough of it to begin on a busy machine.
    seconds, plies = (0.5, 2) if fault == "silence" else (60.0, 6)
    with host_program("lines", of, command=other("lines")) as agent:
        honest = play_moves(agent, of, most=plies)
    command = other("files", fault or "none", "1")
    with host_program("files", of, seconds, command=command) as agent:
        if FILES[fault]:
            assert fault_of(agent, of) == FILES[fault]
        else:
            assert play_moves(agent, of, most=plies) == honest


def test_client_needs_private_network():
    shared = IsolationLevel("landlock", frozenset({"landlock", "seccomp", "limits"}), {})
    with pytest.raises(AgentFailure, match="needs a private network") as failed:
        refuse_shared_network({"command": ["client"]}, shared)
    assert failed.value.kind == "unloadable"
    refuse_shared_network({"command": ["client"]}, shared._replace(measures=frozenset(MEASURES)))


def test_seat_argument_is_placed():
    assert Program(("bot", "--as={seat}")).start_fields(("2",))["command"] == ("bot", "--as=2")
    assert Program(("bot",)).start_fields(("BLACK",))["command"] == ("bot", "BLACK")
    assert Program(("bot", "{seat}")).start_fields(())["command"] == ("bot", "{seat}")


def test_late_first_answer_names_start_limit(tmp_path):
    (tmp_path / "mute.py").write_text("import time\ntime.sleep(60)\n")
    command = [PYTHON, str(tmp_path / "mute.py")]
    with (
        host_program("lines", game("kalah(4,3)"), 0.2, command=command, start_seconds=0.3) as agent,
        pytest.raises(AgentFailure) as late,
    ):
        play_moves(agent, game("kalah(4,3)"))
    assert "within 0.2 s after the 0.3 s that it had to start" in late.value.message


def test_missing_program_file_is_explained(tmp_path):
    command = [PYTHON, str(tmp_path / "none.py")]
    with (
        host_program("lines", game("kalah(4,3)"), command=command) as agent,
        pytest.raises(AgentFailure) as missing,
    ):
        play_moves(agent, game("kalah(4,3)"))
    assert "choose" not in str(missing.value)
    assert "No such file" in str(missing.value)
