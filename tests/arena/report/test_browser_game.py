"""A game in the browser, seen from the server: its state, moves, hints and who may ask."""

import http.client
import json
import threading

import pytest

from agents.kinds.human import Dialogue
from arena.report.browser_game import BrowserGame, GameServer, SilentDialogue
from arena.terminal.players import GameSetup, make_terminal_game
from games import game


def browser_game(name, first="human", second="first", **setup):
    silent = SilentDialogue()
    made = make_terminal_game(game(name), GameSetup(first, second, {}, seed=3, **setup), silent)
    assert isinstance(made.dialogue, Dialogue)
    return BrowserGame(made)


def play_to_the_end(found):
    while not (state := found.state())["over"]:
        if state["waits"]:
            found.move(state["legal"][0])
        else:
            found.answer()
    return state


@pytest.mark.parametrize(
    "name", ["kalah(3,2)", "owari(3,2)", "othello(4)", "kalah-manchester(3,2)"]
)
@pytest.mark.parametrize("second", ["first", "human"])
def test_a_game_is_played_to_its_end(name, second):
    found = browser_game(name, second=second)
    state = play_to_the_end(found)
    of = game(name)
    last = of.replay(" ".join(state["words"]))[-1]
    assert of.over(last)
    assert state["score"] == list(of.score(last))
    assert state["legal"] == []
    assert "wins" in state["ending"] or "a tie" in state["ending"]


def test_only_legal_moves_of_the_person_in_turn_count():
    found = browser_game("kalah(6,4)", second="random")
    for word in ("7", "x", "", "0"):
        found.move(word)
    assert found.state()["words"] == []
    found.move("1")
    assert found.state()["words"] == ["1"]
    assert not found.state()["waits"]
    found.move("1")  # a second click while the agent thinks
    assert found.state()["words"] == ["1"]
    found.answer()
    assert len(found.state()["words"]) == 2


def test_undo_and_restart():
    found = browser_game("kalah(6,4)")
    found.move("1")
    found.answer()
    found.undo()
    assert found.state()["words"] == []
    found.undo()
    play_to_the_end(found)
    found.undo()
    assert not found.state()["over"]
    found.restart()
    assert found.state()["words"] == []


def test_a_hint_has_the_values_of_the_agent_and_exact_ones():
    found = browser_game("kalah(3,2)", second="perfect")
    hint = found.hint()
    assert hint["agent"] == "perfect"
    assert [each["word"] for each in hint["moves"]] == ["1", "2", "3"]
    assert all(each["exact"].lstrip("+-").isdigit() for each in hint["moves"])
    (chosen,) = [each for each in hint["moves"] if each["chosen"]]
    assert chosen["exact"] == max((each["exact"] for each in hint["moves"]), key=int)


def test_a_game_that_is_no_board_of_the_page_is_text():
    found = browser_game("kalah(3,2)", start="S 1 0 1, N 1 1 1, pots 3-4, South to move")
    assert "3" in found.state()["text"]
    assert browser_game("kalah(3,2)").state()["text"] is None


def test_the_replay_holds_the_moves():
    found = browser_game("kalah(3,2)")
    state = play_to_the_end(found)
    assert " ".join(state["words"]) in found.replay()


@pytest.fixture
def server():
    with GameServer(browser_game("kalah(3,2)")) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.shutdown()


def request(server, method, name="", body=None, host=None, token=None):
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    client.putrequest(method, f"/{token or server.token}/{name}", skip_host=True)
    client.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    client.putheader("Content-Length", str(len(body or b"")))
    client.endheaders(body)
    answer = client.getresponse()
    content = answer.read()
    client.close()
    return answer.status, content


def test_the_server_answers_requests_of_the_page(server):
    assert b'id="play"' in request(server, "GET")[1]
    assert json.loads(request(server, "GET", "state")[1])["legal"] == ["1", "2", "3"]
    state = json.loads(request(server, "POST", "move", b'{"move": "1"}')[1])
    assert state["words"] == ["1"]
    assert json.loads(request(server, "POST", "answer")[1])["words"][0] == "1"
    assert json.loads(request(server, "POST", "undo")[1])["words"] == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_strangers_and_unknown_names_are_refused(server, method):
    name = "state" if method == "GET" else "undo"
    assert request(server, method, name, token="x" * 24) == (404, b"")
    assert request(server, method, name, host="evil.example") == (403, b"")
    assert request(server, method, "other") == (404, b"")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"move": "9"}', b"x" * 5000, b"\xff"])
def test_a_body_that_is_no_move_changes_nothing(server, body):
    assert json.loads(request(server, "POST", "move", body)[1])["words"] == []
