"""KGP: hosting clients of every kind, and our own as a client."""

import random

import pytest

from agents.core import SpecError
from agents.protocols.kgp import parse_board_numbers, parse_command, quote_argument
from games import game
from tests.agents.protocols.wire import DEATH, Ours, Script, Table, Wire, fault_of, protocol
from tests.games.naive import sowing

OF = game("kalah(6,4)")
GREETING = '1 set "info:name" "x"\r\n3 mode "freeplay"\r\n'


class Client(Script):
    """Greets when it is greeted; `says` is filled with the id of the state."""

    def __init__(self, *says: str, greeting: str = GREETING) -> None:
        super().__init__({"2 kgp": greeting})
        self.says = list(says)

    def hears(self, line):
        yield from super().hears(line)
        if parse_command(line).name == "state":
            says = self.says.pop(0) if len(self.says) > 1 else self.says[0]
            yield says.format(parse_command(line).id)


def chosen(bot, times: int = 1) -> int:
    table = Table(OF, Wire(bot, protocol("kgp").conversation(OF, {})), 0)
    table.wire.open(0, OF.start())
    for _ in range(times):
        move = table.wire.run(table.wire.talk.choose(table.question()))
    return move + 1


def test_a_comment_is_what_the_client_says_of_its_move():
    bot = Client('5@{0} move 3\r\n7 set info:comment "like it"\r\n9@{0} yield\r\n')
    table = Table(OF, Wire(bot, protocol("kgp").conversation(OF, {})), 0)
    table.wire.open(0, OF.start())
    assert table.wire.run(table.wire.talk.choose(table.question())) == 2
    assert table.wire.said == [("comment", "like it")]


def test_the_dialogue_of_the_reference():
    bot = Client("5@{0} move 3\r\n7@{0} move 6\r\n", "9@{0} move 3\r\n11@{0} yield\r\n")
    table = Table(OF, Wire(bot, protocol("kgp").conversation(OF, {})), 0)
    table.wire.open(0, OF.start())
    table.place(table.wire.run(table.wire.talk.choose(table.question())))
    table.place(4)  # the opponent's 5
    table.place(table.wire.run(table.wire.talk.choose(table.question())))
    table.wire.run(table.wire.talk.bye())
    assert [ply.move + 1 for ply in table.plies] == [6, 5, 3]
    assert bot.heard == [
        "2 kgp 1 0 1",
        "4@3 ok",
        "6 state <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>",
        "8@6 stop",
        "10 state <6,1,1,5,5,4,4,4,0,5,5,5,4,0,5>",
        "12@10 stop",
        "14 goodbye",
    ]


@pytest.mark.parametrize(
    "says",
    [
        "move 4\nyield\n",
        "1 move 4\n2@{0} yield\n",
        "@{0} move 9\n@{0} move 4\n@{0} yield\n",
        "3@9999 move 2\n@{0} move 4\nyield\nmove 1\n",
        "@{0} move 4\nfly\n<<<\n5 ping\nset time:mode none\n@{0} yield\n",
        '@{0} move "4"\n',
    ],
)
def test_the_last_move_for_the_state_counts(says):
    assert chosen(Client(says)) == 4


def test_pings_are_answered_and_what_means_nothing_is_noted():
    bot = Client("9 ping\n@{0} move 4\nfly away\n?\n@{0} yield\n")
    table = Table(OF, Wire(bot, protocol("kgp").conversation(OF, {})), 0)
    table.wire.open(0, OF.start())
    table.wire.run(table.wire.talk.choose(table.question()))
    assert bot.heard[-2:] == ["8@9 pong", "10@6 stop"]
    assert len(table.wire.notes) == 2


def test_a_client_that_gives_no_move_gets_one_by_lot_and_forfeits_the_third_time():
    assert chosen(Client("@{0} yield\n")) in range(1, 7)
    assert chosen(Client("@{0} yield\n"), 2) == chosen(Client(""), 2)
    assert fault_of(lambda: chosen(Client(""), 3)) == "timeout"
    now_and_then = Client("", "", "move 1\nyield\n", "", "", "move 1\nyield\n")
    assert chosen(now_and_then, 6) == 1


def test_a_client_that_leaves_has_crashed():
    assert fault_of(lambda: chosen(Client("5 goodbye\n"))) == "crashed"
    assert fault_of(lambda: chosen(Client(DEATH))) == "crashed"


def test_another_mode_is_refused():
    bot = Client("", greeting="1 mode eval\r\n")
    assert fault_of(lambda: chosen(bot)) == "unloadable"
    assert bot.heard[1:] == ['4@1 error "Unsupported activity"', "6 goodbye"]


def test_every_word_may_be_in_quotes():
    command = parse_command('7@4 set "info:comment" "a \\"b\\" \\\\ \\n" <3,1,2> -4.5')
    assert command == (7, 4, "set", ("info:comment", 'a "b" \\ \n', "<3,1,2>", "-4.5"))
    assert (
        parse_command(f"set x {quote_argument(command.arguments[1])}").arguments[1]
        == command.arguments[1]
    )
    assert parse_command('set "x') is None
    assert parse_board_numbers("<2,0,0,1,1,1>") is None


def test_a_game_with_a_swap_is_refused():
    with pytest.raises(SpecError, match="without a swap"):
        protocol("kgp").conversation(game("kalah-manchester(7,7)"), {})


# ----------------------------------------------------------------- our client


def said(*lines: str, **options) -> list[str]:
    client = Ours("kgp", OF, "first", **options)
    list(client.start(()))
    return ["".join(client.hears(line)) for line in lines]


def test_our_client_greets_answers_and_repeats_what_was_refused():
    greeting, ping, moves, again, late, _ = said(
        "2 kgp 1 0 1",
        "4 ping",
        "6 state <6,1,1,0,5,4,4,4,0,5,5,5,4,0,5>",
        '8@9 error "no state"',
        '10@9 error "no state"',
        "12@6 stop",
    )
    assert greeting == '1 set info:name "pitflip"\r\n3 mode freeplay\r\n'
    assert ping == "5@4 pong\r\n"
    assert moves == "7@6 move 2\r\n9@6 yield\r\n" or moves.startswith("7@6 move 2\r\n")
    assert again == late == ""  # 9 is no move of ours
    repeated = said(
        "2 kgp 1 0 1",
        "6 state <6,1,1,0,5,4,4,4,0,5,5,5,4,0,5>",
        "8@5 error x",
        "9@6 stop",
        "8@5 error x",
    )
    assert repeated[2].startswith("9@6 move 2\r\n")
    assert repeated[4] == ""


def test_our_client_has_a_name_and_a_token_and_refuses_another_protocol():
    assert said("2 kgp 1 2 3", name="me", token="secret") == [
        '1 set info:name "me"\r\n3 set auth:token "secret"\r\n5 mode freeplay\r\n'
    ]
    assert said("2 kgp 2 0 0") == ['1@2 error "Unsupported protocol version"\r\n' + DEATH]
    assert said("2 kgp 1 0 0", "4 goodbye")[1] == DEATH


def test_our_client_plays_boards_of_any_size_and_finished_ones():
    answers = said(
        "2 kgp 1 0 1",
        "4 state <8,0,0,0,0,0,0,0,0,0,3,4,4,4,4,4,4,4,4>",
        "6 state <6,9,9,0,0,0,0,0,0,1,1,1,1,1,1>",
    )
    assert "@4 move 8" in answers[1]
    assert "@6 move 1" in answers[2]


MANY = 2000


def naive(size, rows, pots, hole) -> tuple[str, str]:
    """The board after the ply and whether the last bean fell in the own pot."""
    rules = sowing.PRESETS["kalah"]._replace(holes=size)
    state = sowing.given(rules, tuple(rows[0]), tuple(rows[1]), tuple(pots), 0)
    after = sowing.play_ply(state, hole)
    board = {(side, k): rows[side][k] for side in (0, 1) for k in range(size)}
    board |= {(0, size): 0, (1, size): 0}
    in_pot = sowing.sow(rules, board, 0, hole) == (0, size)
    numbers = (size, *after.pots, *after.rows[0], *after.rows[1])
    return f"<{','.join(map(str, numbers))}>", str(in_pot).lower()


def test_our_client_solves_problems_as_the_rules_written_anew():
    rng, lines, boards = random.Random(5), [], []
    while len(boards) < MANY:
        size = rng.choice((4, 6, 7))
        rows = [[rng.choice((0, 0, 1, 2, 4, 9, 2 * size + 1)) for _ in range(size)] for _ in "SN"]
        pots = [rng.randrange(20) for _ in "SN"]
        if not any(rows[0]):
            continue
        hole = rng.choice([hole for hole in range(size) if rows[0][hole]])
        boards.append((size, rows, pots, hole))
        numbers = ",".join(map(str, (size, *pots, *rows[0], *rows[1])))
        lines.append(f"{2 * len(boards) + 2} problem <{numbers}> {hole}")
    answers = said("2 kgp 1 0 1", *lines, mode="verify")
    assert answers[0].endswith("mode verify\r\n")
    for answer, (size, rows, pots, hole) in zip(answers[1:], boards, strict=True):
        solution = parse_command(answer.strip())
        assert solution.name == "solution"
        board, in_pot = naive(size, rows, pots, hole)
        assert solution.arguments == (board, in_pot)
