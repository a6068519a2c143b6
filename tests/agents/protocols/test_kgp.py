"""KGP: hosting clients of every kind, and our client."""

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
    """Answers a greeting; `says` is filled with the id of the state."""

    def __init__(self, *says: str, greeting: str = GREETING) -> None:
        super().__init__({"2 kgp": greeting})
        self.says = list(says)

    def hears(self, line):
        yield from super().hears(line)
        if parse_command(line).name == "state":
            says = self.says.pop(0) if len(self.says) > 1 else self.says[0]
            yield says.format(parse_command(line).id)


def open_table(bot) -> Table:
    table = Table(OF, Wire(bot, protocol("kgp").conversation(OF, {})), 0)
    table.wire.open(0, OF.start())
    return table


def ask(bot, times: int = 1) -> int:
    table = open_table(bot)
    for _ in range(times):
        move = table.wire.run(table.wire.talk.choose(table.question()))
    return move + 1


def test_comment_is_data():
    bot = Client('5@{0} move 3\r\n7 set info:comment "like it"\r\n9@{0} yield\r\n')
    table = open_table(bot)
    assert table.wire.run(table.wire.talk.choose(table.question())) == 2
    assert table.wire.said == [("comment", "like it")]


def test_reference_dialogue():
    bot = Client("5@{0} move 3\r\n7@{0} move 6\r\n", "9@{0} move 3\r\n11@{0} yield\r\n")
    table = open_table(bot)
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
def test_last_move_of_state_counts(says):
    assert ask(Client(says)) == 4


def test_pings_are_answered_and_unknown_lines_noted():
    bot = Client("9 ping\n@{0} move 4\nfly away\n?\n@{0} yield\n")
    table = open_table(bot)
    table.wire.run(table.wire.talk.choose(table.question()))
    assert bot.heard[-2:] == ["8@9 pong", "10@6 stop"]
    assert len(table.wire.notes) == 2


def test_silent_client_gets_random_moves_twice():
    assert ask(Client("@{0} yield\n")) in range(1, 7)
    assert ask(Client("@{0} yield\n"), 2) == ask(Client(""), 2)
    assert fault_of(lambda: ask(Client(""), 3)) == "timeout"
    now_and_then = Client("", "", "move 1\nyield\n", "", "", "move 1\nyield\n")
    assert ask(now_and_then, 6) == 1


def test_leaving_client_is_a_crash():
    assert fault_of(lambda: ask(Client("5 goodbye\n"))) == "crashed"
    assert fault_of(lambda: ask(Client(DEATH))) == "crashed"


def test_other_mode_is_refused():
    bot = Client("", greeting="1 mode eval\r\n")
    assert fault_of(lambda: ask(bot)) == "unloadable"
    assert bot.heard[1:] == ['4@1 error "Unsupported activity"', "6 goodbye"]


def test_quoted_arguments():
    command = parse_command('7@4 set "info:comment" "a \\"b\\" \\\\ \\n" <3,1,2> -4.5')
    assert command == (7, 4, "set", ("info:comment", 'a "b" \\ \n', "<3,1,2>", "-4.5"))
    assert (
        parse_command(f"set x {quote_argument(command.arguments[1])}").arguments[1]
        == command.arguments[1]
    )
    assert parse_command('set "x') is None
    assert parse_board_numbers("<2,0,0,1,1,1>") is None


def test_swap_game_is_refused():
    with pytest.raises(SpecError, match="without a swap"):
        protocol("kgp").conversation(game("kalah-manchester(7,7)"), {})


def client_answers(*lines: str, **options) -> list[str]:
    client = Ours("kgp", OF, "first", **options)
    list(client.start(()))
    return ["".join(client.hears(line)) for line in lines]


def test_client_greets_answers_and_repeats():
    greeting, ping, moves, again, late, _ = client_answers(
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
    repeated = client_answers(
        "2 kgp 1 0 1",
        "6 state <6,1,1,0,5,4,4,4,0,5,5,5,4,0,5>",
        "8@5 error x",
        "9@6 stop",
        "8@5 error x",
    )
    assert repeated[2].startswith("9@6 move 2\r\n")
    assert repeated[4] == ""


def test_client_name_token_and_version():
    assert client_answers("2 kgp 1 2 3", name="me", token="secret") == [
        '1 set info:name "me"\r\n3 set auth:token "secret"\r\n5 mode freeplay\r\n'
    ]
    assert client_answers("2 kgp 2 0 0") == ['1@2 error "Unsupported protocol version"\r\n' + DEATH]
    assert client_answers("2 kgp 1 0 0", "4 goodbye")[1] == DEATH


def test_client_board_sizes():
    answers = client_answers(
        "2 kgp 1 0 1",
        "4 state <8,0,0,0,0,0,0,0,0,0,3,4,4,4,4,4,4,4,4>",
        "6 state <6,9,9,0,0,0,0,0,0,1,1,1,1,1,1>",
    )
    assert "@4 move 8" in answers[1]
    assert "@6 move 1" in answers[2]


MANY = 2000


def naive(size, rows, pots, hole) -> tuple[str, str]:
    rules = sowing.PRESETS["kalah"]._replace(holes=size)
    state = sowing.given(rules, tuple(rows[0]), tuple(rows[1]), tuple(pots), 0)
    after = sowing.play_ply(state, hole)
    board = {(side, k): rows[side][k] for side in (0, 1) for k in range(size)}
    board |= {(0, size): 0, (1, size): 0}
    in_pot = sowing.sow(rules, board, 0, hole) == (0, size)
    numbers = (size, *after.pots, *after.rows[0], *after.rows[1])
    return f"<{','.join(map(str, numbers))}>", str(in_pot).lower()


def test_client_solutions_match_naive_rules():
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
    answers = client_answers("2 kgp 1 0 1", *lines, mode="verify")
    assert answers[0].endswith("mode verify\r\n")
    for answer, (size, rows, pots, hole) in zip(answers[1:], boards, strict=True):
        solution = parse_command(answer.strip())
        assert solution.name == "solution"
        board, in_pot = naive(size, rows, pots, hole)
        assert solution.arguments == (board, in_pot)
