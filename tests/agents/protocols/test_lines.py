"""The line protocol and its other forms."""

import pytest

from agents.core import SpecError
from agents.protocols import lines
from agents.protocols.conversation import BotFault, Question
from games import game
from tests.agents.protocols.wire import DEATH, FLOOD, Ours, Script, Table, Wire, fault_of

KALAH = game("kalah(6,4)")
MANCHESTER = game("kalah-manchester(7,7)")
OTHELLO = game("othello(8)")


def table(bot, of=KALAH, player=0, opening=(), **options) -> Table:
    made = Table(of, Wire(bot, lines.conversation(of, options)), player, opening)
    made.wire.open(player, of.start())
    return made


def ask(made: Table) -> int:
    made.place(made.wire.run(made.wire.talk.choose(made.question())))
    return made.plies[-1].move


def test_question_fields():
    start = Question(KALAH.start(), KALAH.legal(KALAH.start()), (), 2.5)
    fields = lines.format_question(KALAH, start, 7).split(";")
    assert fields[0] == "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move"
    assert fields[1] == "1 2 3 4 5 6"
    assert fields[2] == "2.500"
    assert 0 <= int(fields[3]) < 2**31
    assert fields[4] == "kalah(6,4)"
    endless = Question(OTHELLO.start(), OTHELLO.legal(OTHELLO.start()))
    fields = lines.format_question(OTHELLO, endless, 7).split(";")
    assert fields[1] == "d3 c4 f5 e6"
    assert fields[2] == "Infinity"


def test_random_number_depends_on_game_and_move():
    start = Question(KALAH.start(), (0,))
    numbers = [lines.format_question(KALAH, start, seed).split(";")[3] for seed in (1, 1, 2)]
    assert numbers[0] == numbers[1] != numbers[2]


def test_moves_are_board_numbers():
    north = table(Script({"": "1\n"}), player=1, opening=(0,))
    assert ask(north) == 5  # North's hole 1 is next to its pot
    owari = game("owari(6,3)")
    assert ask(table(Script({"": "9\n"}), owari, 1, (0,))) == 2


@pytest.mark.parametrize("answer", ["3\n", "\n\n 3 \r\n", "'3'\n", "3.\n", '"3"\n'])
def test_decorated_answers_are_accepted(answer):
    assert ask(table(Script({"": answer}))) == 2


def test_upper_case_squares_are_accepted():
    assert ask(table(Script({"": "F5\n"}), OTHELLO)) == OTHELLO.parse_move(OTHELLO.start(), "f5")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("0", "illegal"), ("7", "illegal"), ("-1", "illegal"), ("9" * 200, "illegal"),
     ("move 3", "unreadable"), ("3 4", "unreadable"), ("nan", "unreadable"), ("1e1", "unreadable")],
)  # fmt: skip
def test_invalid_answer_lists_legal_moves(answer, kind):
    with pytest.raises(BotFault, match="legal: 1 2 3 4 5 6") as fault:
        ask(table(Script({"": f"{answer}\n"})))
    assert fault.value.kind == kind
    assert len(fault.value.reason) < 200
    assert fault.value.reason.isprintable()


def test_earlier_output_is_dropped():
    talk = table(Script({"": "3\n"}, opens="hello, I am ready\n5"))
    assert ask(talk) == 2
    assert talk.wire.dropped == ["hello, I am ready", "5"]


def test_agent_answers_invalid_questions():
    bot = Ours("lines", KALAH)
    list(bot.start(()))
    said = [
        "".join(bot.hears(line))
        for line in ("hello", "", "S 0 0 0 0 0 0, N 0 0 0 0 0 0, pots 0-0, South to move;;")
    ]
    assert said[0].startswith("? ")
    assert said[1] == ""
    assert said[2] == "? the game is over\n"


def test_form_17():
    bot = Script({"": ["3\n", "2\n"]})
    first = table(bot, form="17")
    ask(first)
    ask(first)
    assert bot.heard == ["4 4 4 4 4 4 0 4 4 4 4 4 4 0 1 1 0", "4 4 0 5 5 5 1 4 4 4 4 4 4 0 2 1 0"]
    swapping = Script({"": "0\n"})
    north = table(swapping, MANCHESTER, 1, (1,), form="17")
    assert ask(north) == MANCHESTER.swap_move
    assert swapping.heard[0].endswith(" 2 2 1")
    assert fault_of(lambda: ask(table(Script({"": "0\n"}), form="17"))) == "illegal"
    assert (
        fault_of(lambda: ask(table(Script({"": "8\n"}), MANCHESTER, 1, (1,), form="17")))
        == "illegal"
    )


def test_form_14():
    bot = Script({"": "4\n"})
    talk = table(bot, player=1, opening=(0,), form="14")
    assert ask(talk) == 3
    assert bot.heard == ["0 5 5 5 5 4 0 4 4 4 4 4 4 0"]
    talk.wire.open(0, KALAH.start())
    talk.wire.open(0, KALAH.start())
    assert bot.starts == [("2",), ("1",)]


def test_form_size():
    bot = Script({"": "1\nthinking\n2\n9\n"})
    bot.hears = lambda line: iter([bot.heard.append(line) or "1\nthinking\n2\n9\n", DEATH])
    talk = table(bot, player=1, opening=(0,), form="size")
    assert ask(talk) == 2
    assert bot.heard == ["6 0 0 4 4 4 4 4 4 0 5 5 5 5 4"]
    assert len(bot.starts) == 1
    for said, kind in (
        (["7\n", DEATH], "illegal"),
        ([DEATH], "crashed"),
        ([], "timeout"),
        ([FLOOD], "flooded"),
    ):
        bot.hears = lambda line, said=said: iter(said)
        assert fault_of(lambda: ask(table(bot, form="size"))) == kind


def test_form_squares():
    bot = Script({"ping": "pong\n", "": "37\n"})
    talk = table(bot, OTHELLO, form="squares")
    assert ask(talk) == 37
    assert bot.heard[0] == "ping"
    assert bot.heard[1] == "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27
    assert bot.starts == [("BLACK",)]


def test_lines_before_answer_are_noted():
    talk = table(Script({"": "Time limit reached ...\n\n 3 \n"}), form="17")
    assert ask(talk) == 2
    assert talk.wire.notes == ["wrote 1 other lines before its answer"]


def test_options_change_form():
    bot = Script({"": "I choose hole 2!\n"})
    talk = table(
        bot, form="14", question="{own:,},{other:,},{turn}", base=0, answer="hole ([0-9])",
    )  # fmt: skip
    assert ask(talk) == 2
    assert bot.heard == ["4,4,4,4,4,4,4,4,4,4,4,4,1"]
    assert bot.starts == [("1",)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "17", "question": "{owm}"}, 'did you mean "own"'),
        ({"form": "17", "answer": "("}, "is not a pattern"),
        ({"form": "squares"}, "for games of othello"),
        ({"base": 1}, "base is for other forms"),
        ({"form": "17", "question": "{own"}, "is not a template"),
        ({"process": "move"}, "is for other forms"),
        ({"form": "console", "question": "{own}"}, "leave out question"),
    ],
)
def test_inapplicable_options_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        lines.conversation(KALAH, options)


def test_console_program():
    prompt = "Your move: "
    said = {"4": f"I think.\nKalah chooses 3\n{prompt}", "1": f"Kalah chooses 0\n{prompt}"}
    bot = Script(said, opens=f"Welcome\n{prompt}")
    made = table(bot, player=1, form="console", command=("bot", "{seat}"))
    made.place(4)
    assert ask(made) == 3
    made.place(1)
    assert ask(made) == 0
    assert bot.heard == ["4", "1"]
    assert bot.starts == [("2",)]
    imposed = table(bot, player=0, opening=(0, 0, 1), form="console")
    assert fault_of(lambda: ask(imposed)) == "unloadable"
