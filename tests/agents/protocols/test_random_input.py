"""No line that a host may send ends our agents."""

import random

import pytest

from agents.protocols import PROTOCOLS
from agents.protocols.conversation import Choose, NoLine, Read
from games import game
from tests.agents.programs import GAMES
from tests.agents.protocols.wire import Ours, protocol

LINES = 150
# Valid and invalid words of hosts.
WORDS = {
    "lines": "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move|x;y|;;;|S|\x00",
    "gtp": "genmove|play|b|WHITE|pass|d3|c4|z9|undo|boardsize|8|-3|x|clear_board|komi|7.5|\x00|é"
    "|time_left|known_command|showboard|reg_genmove|set_game|#|17|final_score",
    "nboard": "set|depth|5|0|game|(;GM[Othello]PC[x]BO[8 ---* *]B[F5]W[F6];)|move|F5|PA|--|go|ping"
    "|3|hint|learn|analyze|contempt|D3/1/2|C4",
    "kgp": "2|4@3|ok|state|<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>|<6,0,0,0,0,0,0,0,0,4,4,4,4,4,4>|<0>|<-1>"
    '|<99999,0>|stop|@6|8@6|ping|problem|0|1|error|"x|set|<7,1,1,3,3,3,3,3,3,3,3,3,3,3,3,3,3>',
    "files": "1|2|0|8|x|-1|00000000|9",
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("seed", range(4))
def test_random_input_does_not_end_agent(name, seed):
    assert set(WORDS) == set(PROTOCOLS)
    of, dice = game({**GAMES, "files": "othello(8)"}[name]), random.Random(seed)
    bot, reply, said = Ours(name, of), None, WORDS[name].split("|")
    steps = protocol(name).serve(of, bot.agent, {})
    for _ in range(LINES):
        request, reply = steps.send(reply), None
        if isinstance(request, Read):
            words = (dice.choice(said) for _ in range(dice.randrange(1, 5)))
            late = NoLine.TIME_UP in request.allowed and dice.random() < 0.5
            reply = NoLine.TIME_UP if late else " ".join(words)
        elif isinstance(request, Choose):
            reply = (request.game or of).legal(request.position)[0]
