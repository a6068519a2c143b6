"""The rules against numbers of independent programs; provenance in tests/golden/README.md."""

import csv
import json
from functools import cache
from itertools import accumulate
from pathlib import Path

import numba
import pytest

from games import game
from games.perft import perft

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = {
    "cs32_2009": "kalah",
    "cs32_seedprog": "kalah",  # end tested when the turn ends: the same rule for `kalah`
    "cs32": "kalah-2022",
    "paper": "kalah-paper",
    "gokgp": "kalah-kgp",
    "manchester": "kalah-manchester",
    "owari": "owari",
}
# Interpreted kernels are about a hundred times slower.
LEAVES = 10_000 if numba.config.DISABLE_JIT else 1_000_000


def lines(path: str) -> list[dict]:
    """The objects of a .jsonl file."""
    return [json.loads(line) for line in (GOLDEN / path).read_text().splitlines()]


def table(path: str) -> list[dict]:
    """The rows of a .csv file."""
    return list(csv.DictReader((GOLDEN / path).read_text().splitlines()))


def document(path: str):
    """What a .json file holds."""
    return json.loads((GOLDEN / path).read_text())


# ----------------------------------------------------------------- sowing: perft


def perft_tables() -> dict[str, list[tuple[int, int]]]:
    """By game: leaves of each depth, with the games that ended earlier."""
    leaves: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    for row in table("kalah/perft.csv"):
        name = f"{NAMES[row['ruleset']]}({row['m']},{row['n']})"
        leaves.setdefault(name, []).append(int(row["leaves"]))
        ended.setdefault(name, [0]).append(int(row["games_ended_at_depth"]))
        assert int(row["depth"]) == len(leaves[name])
    return {name: list(zip(leaves[name], accumulate(ended[name]), strict=False)) for name in leaves}


PERFT = perft_tables()


def affordable(name: str) -> int:
    """The depth to which all leaves together stay within the budget."""
    sums = accumulate(leaves for leaves, _ in PERFT[name])
    return sum(1 for leaves in sums if leaves <= LEAVES)


@pytest.mark.parametrize("name", PERFT)
def test_sowing_perft_is_as_counted_elsewhere(name):
    ours, depth = game(name), affordable(name)
    assert list(perft(ours, ours.start(), depth)) == PERFT[name][:depth]


@pytest.mark.slow
@pytest.mark.parametrize("name", PERFT)
def test_deep_sowing_perft_is_as_counted_elsewhere(name):
    ours = game(name)
    assert list(perft(ours, ours.start(), len(PERFT[name]))) == PERFT[name]


# ----------------------------------------------------------------- sowing: games

SOWING_GAMES = sorted(path.name for path in (GOLDEN / "kalah").glob("games_*.jsonl"))


def assert_is_the_record(ours, positions, record) -> None:
    """The movers, and the pots at the end and not before."""
    *before, last = positions
    assert "".join("SN"[ours.mover(position)] for position in before) == record["movers"]
    assert not any(map(ours.over, before))
    assert ours.over(last)
    assert ours.score(last) == (record["south"], record["north"])
    assert ours.margin(last) == record["south"] - record["north"]


@pytest.mark.parametrize("file", SOWING_GAMES)
def test_sowing_games_by_sowing_order(file):
    for record in lines(f"kalah/{file}"):
        ours = game(f"{NAMES[record['ruleset']]}({record['m']},{record['n']})")
        positions = [ours.start()]
        for hole in record["moves"]:
            positions.append(ours.play(positions[-1], hole - 1))
        assert_is_the_record(ours, positions, record)


@pytest.mark.parametrize("file", SOWING_GAMES)
def test_sowing_games_by_the_numbers_players_use(file):
    for record in lines(f"kalah/{file}"):
        ours = game(f"{NAMES[record['ruleset']]}({record['m']},{record['n']})")
        text = " ".join(map(str, record["moves_external"]))
        assert_is_the_record(ours, ours.replay(text), record)
        assert ours.write([hole - 1 for hole in record["moves"]]) == text


# ---------------------------------------------------------------- sowing: probes

PROBES = [
    pytest.param(probe, ruleset, id=f"{ruleset}: {probe['what']}")
    for probe in document("kalah/rule_probes.json")
    for ruleset in probe["result"]
]


def sowing_text(south: list[int], north: list[int], pots: list[int], side: str) -> str:
    """Our one-line text; the rows given in sowing order."""
    rows = f"S {' '.join(map(str, south))}, N {' '.join(map(str, north[::-1]))}"
    return f"{rows}, pots {pots[0]}-{pots[1]}, {side} to move"


@pytest.mark.parametrize(("probe", "ruleset"), PROBES)
def test_a_ply_that_tells_rulesets_apart(probe, ruleset):
    ours = game(f"{NAMES[ruleset]}({probe['m']},1)")
    side = {"S": "South", "N": "North"}
    position = ours.parse(
        sowing_text(
            probe["south"], probe["north_in_sowing_order"], probe["pots_S_N"], side[probe["mover"]]
        )
    )
    after = ours.play(position, probe["hole_in_sowing_order"] - 1)
    wanted = probe["result"][ruleset]
    assert ours.over(after) == wanted["over"]
    assert ours.score(after) == tuple(wanted["pots"])
    if not wanted["over"]:
        assert ours.text(after) == sowing_text(
            wanted["south"], wanted["north"], wanted["pots"], side[wanted["to_move"]]
        )


# ---------------------------------------------------------------- sowing: solved


def value(ours, position, known: dict[str, int]) -> int:
    """First player's margin under perfect play."""
    key = ours.text(position)
    if key not in known:
        known[key] = ours.margin(position) if ours.over(position) else best(ours, position, known)
    return known[key]


def best(ours, position, known: dict[str, int]) -> int:
    choose = (max, min)[ours.mover(position)]
    moves = ours.legal(position)
    return choose(value(ours, ours.play(position, move), known) for move in moves)


SOLVED = [
    pytest.param(row, id=f"{row['ruleset']}({row['m']},{row['n']})")
    for row in table("kalah/solved.csv")
    if (int(row["m"]), int(row["n"])) in {(1, n) for n in range(1, 7)} | {(2, 1), (2, 2), (3, 1)}
]


@pytest.mark.parametrize("row", SOLVED)
def test_tiny_kalah_has_its_known_value(row):
    ours = game(f"{NAMES[row['ruleset']]}({row['m']},{row['n']})")
    start, known = ours.start(), {}
    assert value(ours, start, known) == int(row["first_player_margin"])
    column = row["value_of_each_first_move(hole=margin)"]
    wanted = {
        int(hole): int(margin) for hole, margin in (pair.split("=") for pair in column.split())
    }
    found = {move + 1: value(ours, ours.play(start, move), known) for move in ours.legal(start)}
    assert found == wanted


# ---------------------------------------------------------------- Othello: perft

# In the published convention: a finished game counts once at every later depth.
OTHELLO_PERFT = {
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284],
    "othello(6)": [4, 12, 56, 244, 1364, 7604, 47740, 308716],
    "othello(4)": [4, 12, 44, 128, 424, 1256, 3624, 9116],
    "othello-adjacent": [12, 176, 3008, 57876, 1223480],
}


def published(name: str, depth: int) -> list[int]:
    """Our counts in the published convention."""
    ours = game(name)
    return [leaves + ended for leaves, ended in perft(ours, ours.start(), depth)]


@pytest.mark.parametrize("name", OTHELLO_PERFT)
def test_othello_perft_is_as_published(name):
    wanted = [number for number in OTHELLO_PERFT[name] if number <= LEAVES]
    assert published(name, len(wanted)) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHELLO_PERFT)
def test_deep_othello_perft_is_as_published(name):
    assert published(name, len(OTHELLO_PERFT[name])) == OTHELLO_PERFT[name]


# ----------------------------------------------------------- Othello: transcripts

TRANSCRIPTS = sorted(path.name for path in (GOLDEN / "othello").glob("transcripts_*.jsonl"))
RULES = {"standard": "othello", "adjacent": "othello-adjacent"}


@pytest.mark.parametrize("file", TRANSCRIPTS)
def test_othello_transcripts_end_as_recorded(file):
    for record in lines(f"othello/{file}"):
        ours = game(f"{RULES[record['rule']]}({record['size']})")
        *before, last = ours.replay(record["moves"])
        assert not any(map(ours.over, before))
        assert ours.over(last)
        assert ours.text(last).split()[0] == record["final_board"]
        assert ours.raw_score(last) == (record["black_discs"], record["white_discs"])
        assert ours.score(last) == (record["wof_black"], record["wof_white"])


@pytest.mark.parametrize("solved", document("othello/solved_small.json")["solved"][:2])
def test_the_best_line_of_4x4_ends_in_its_value(solved):
    ours = game(f"{RULES[solved['rule']]}(4)")
    last = ours.replay(solved["pv"])[-1]
    first, second = ours.raw_score(last)
    assert ours.over(last)
    assert (first - second, ours.margin(last)) == (solved["raw"], solved["wof"])


def test_the_published_best_line_of_6x6_ends_16_20():
    ours = game("othello(6)")
    last = ours.replay(document("othello/solved_small.json")["solved"][4]["pv"])[-1]
    assert ours.over(last)
    assert ours.raw_score(last) == (16, 20)


# -------------------------------------------------------- Othello: legal, exact

SUITES = {
    "endgame_standard": ("othello", lines("othello/endgame_standard.jsonl")),
    "endgame_adjacent": ("othello-adjacent", lines("othello/endgame_adjacent.jsonl")),
    "ffo1_39": ("othello", document("othello/ffo1_39.json")),
    "ffo40_59": ("othello", document("othello/ffo40_59.json")),
}


@pytest.mark.parametrize("suite", SUITES)
def test_the_legal_moves_are_those_with_a_known_score(suite):
    name, positions = SUITES[suite]
    ours = game(name)
    for known in positions:
        position = ours.parse(f"{known['board']} {known['stm']}")
        found = {ours.move_text(position, move) for move in ours.legal(position)}
        assert found == set(known["move_scores"])


def test_mobility_counts_the_legal_moves_of_either_side():
    ours = game("othello")
    for known in lines("othello/seed002_features.jsonl"):
        sides = (known["stm"], "XO".replace(known["stm"], ""))
        for side, mobility, discs in zip(sides, known["mobility"], known["disc"], strict=True):
            position = ours.parse(f"{known['board']} {side}")
            squares = [move for move in ours.legal(position) if move < 64]
            assert len(squares) == mobility
            assert ours.raw_score(position)["XO".index(side)] == discs


@cache
def nearly_full(suite: str) -> list[dict]:
    """The positions of a suite with at most five empty squares."""
    return [known for known in SUITES[suite][1] if known["empties"] <= 5]


@pytest.mark.parametrize("suite", ["endgame_standard", "endgame_adjacent"])
def test_searching_to_the_end_finds_the_exact_scores(suite):
    ours = game(SUITES[suite][0])
    for known in nearly_full(suite):
        position = ours.parse(f"{known['board']} {known['stm']}")
        sign = -1 if known["stm"] == "O" else 1
        for square, score in known["move_scores"].items():
            after = ours.play(position, ours.parse_move(position, square))
            assert sign * value(ours, after, {}) == score
