"""The Manchester engine: hosting its agents, and our own as its child."""

import pytest

from games import game
from tests.agents.protocols.wire import Ours, Script, Table, Wire, fault_of, protocol

OF = game("kalah-manchester(7,7)")
FIRST = "8,7,7,7,7,7,7,0,7,0,8,8,8,8,8,1"
SECOND = "8,7,7,7,7,7,0,1,8,1,9,9,9,9,8,1"
SWAP = OF.swap_move


def table(bot, player: int, opening=()) -> Table:
    made = Table(OF, Wire(bot, protocol("manchester").conversation(OF, {})), player, opening)
    made.wire.open(player, OF.start())
    return made


def ask(made: Table) -> int:
    made.place(made.wire.run(made.wire.talk.choose(made.question())))
    return made.plies[-1].move


def test_the_dialogue_of_the_reference():
    first = Script({"START;South": "MOVE;2\n", f"CHANGE;SWAP;{FIRST};YOU": "MOVE;7\n"})
    second = Script({f"CHANGE;2;{FIRST};YOU": "SWAP\n", "CHANGE;7": "MOVE;2\n"})
    tables = table(first, 0), table(second, 1)
    for mover, other in ((0, 1), (1, 0), (0, 1), (1, 0)):
        tables[other].place(ask(tables[mover]))
    tables[0].wire.run(tables[0].wire.talk.game_over(tuple(tables[0].plies)))
    assert [ply.move for ply in tables[0].plies] == [1, SWAP, 6, 1]
    assert first.heard[:4] == [
        "START;South",
        f"CHANGE;2;{FIRST};OPP",
        f"CHANGE;SWAP;{FIRST};YOU",
        f"CHANGE;7;{SECOND};OPP",
    ]
    assert first.heard[4].startswith("CHANGE;2;")
    assert first.heard[5] == "END"
    assert second.heard == ["START;North", f"CHANGE;2;{FIRST};YOU", f"CHANGE;7;{SECOND};YOU"]


def test_the_end_is_told_to_both_and_every_game_has_a_process_of_its_own():
    bots = [Ours("manchester", OF, "first") for _ in "SN"]
    for player, bot in enumerate(bots):
        wire = Wire(bot, protocol("manchester").conversation(OF, {}))
        for _ in range(2):
            Table(OF, wire, player).play()
        assert bot.heard[-2].startswith("CHANGE;")
        assert bot.heard[-2].endswith(";END")
        assert bot.heard[-1] == "END"
        assert len(bot.starts) == 2


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("MOVE;0", "illegal"),
        ("MOVE;8", "illegal"),
        ("MOVE;-3", "illegal"),
        ("SWAP", "illegal"),
        ("move;3", "unreadable"),
        ("MOVE;", "unreadable"),
        ("MOVE 3", "unreadable"),
        ("3", "unreadable"),
        ("MOVE;3;4", "unreadable"),
    ],
)
def test_the_first_action_of_south_is_a_move(answer, kind):
    assert fault_of(lambda: ask(table(Script({"START": f"{answer}\n"}), 0))) == kind


def test_empty_lines_before_an_answer_are_forgiven():
    assert ask(table(Script({"START": "\n\n  MOVE;3 \r\n"}), 0)) == 2


def test_a_swap_is_legal_once():
    swapping = Script({"CHANGE": "SWAP\n"})
    made = table(swapping, 1, (1,))
    assert ask(made) == SWAP
    made.place(6)
    assert fault_of(lambda: ask(made)) == "illegal"


@pytest.mark.parametrize("opening", [(1, 3), (1, SWAP), (1, SWAP, 6), (1, 3, 4), (6, 2, 0, 5)])
@pytest.mark.parametrize("player", [0, 1])
def test_an_opening_leaves_a_bot_on_the_side_that_it_plays(player, opening):
    """Its first move as South is thrown away, and it is never offered a swap that is over."""
    bot = Ours("manchester", OF, "last")  # which swaps whenever it can
    played = Table(
        OF, Wire(bot, protocol("manchester").conversation(OF, {})), player, opening
    ).play()
    assert OF.over(played.positions[-1])
    assert SWAP not in [ply.move for ply in played.plies[len(opening) :]]
    assert bot.heard[0] == "START;South"
