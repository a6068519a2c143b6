"""Checks: claims that hold, claims that fail with a game, and claims with too little evidence."""

from xml.etree import ElementTree

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.analysis.checks.registry import (
    CHECKS,
    FAILS,
    HOLDS,
    VACUOUS,
    Verdict,
    check_kind,
    verdicts,
)
from arena.analysis.evidence import evidence_of
from arena.formats.junit import junit_xml
from arena.planning.games import Games, Termination, moves_of_game
from arena.stats.anytime import betting_lower_bound
from arena.stats.sprt import SprtPlan
from games import game
from tests.arena.played import FORFEIT, experiment, games_by_hand, play_lines
from tests.commands import replay

BEATS = {"that": "smart beats bad"}
ALWAYS = BEATS | {"always": True}
SCORE = BEATS | {"score_at_least": 0.7}
SMALL = {"smart": AgentSpec("smart"), "bad": AgentSpec("random")}
LINES = [(o,) for o in range(6)]


def verdicts_of(asked, games, **more):
    return verdicts(asked.checks, evidence_of(asked.plan, lambda: [games], **more))


def verdict_on(games, check, agents=("smart", "bad"), **more):
    asked = experiment(agents, check)
    more.setdefault("replay", lambda _row, _games: [])
    (found,) = verdicts_of(asked, games, **more)
    assert (found.that, found.test) == (check["that"], asked.checks[0].test)
    return found


def games_of(*letters, faults=None, apart=False):
    """One pair per opening with the results of the first agent; `apart`: all games differ."""
    ids = [(2 * o, 2 * o + 1) if apart else () for o in range(len(letters))]
    pairs = [(o, word, *ids[o]) for o, word in enumerate(letters)]
    return games_by_hand((0, 1, pairs), faults=faults or {})


def won(openings, *others):
    return games_of(*["WW"] * openings, *others)


def scores(wins, losses):
    return games_of(*["WW"] * wins, *["LL"] * losses)


def varied(openings, turns):
    """Agents with chance on few openings: two thirds won, no game twice."""
    letters = np.random.default_rng(3).choice(["WW", "WW", "WL", "LL"], size=(turns, openings))
    names = iter(range(10_000))
    pairs = [(o, word, next(names), next(names)) for row in letters for o, word in enumerate(row)]
    return games_by_hand((0, 1, pairs))


def command_of(found):
    """The game and moves of a replay command."""
    lead, name, action, moves, end = found.replay.split('"')
    assert (lead, action, end) == ("pitflip game ", " replay ", "")
    return name, moves


@pytest.mark.parametrize(
    ("games", "check", "agents", "status", "detail"),
    [
        (won(10), ALWAYS, "smart bad", HOLDS, "all 20 games won, from 10 openings on both sides"),
        (won(10), ALWAYS | {"that": "bad beats smart"}, "smart bad", FAILS, "20 of 20 games not"),
        (won(10), ALWAYS | {"that": "bad beats smart"}, "bad smart", HOLDS, "all 20 games won"),
        *((won(10, two), ALWAYS, "smart bad", FAILS, "1 of 22 games not won; the shortest is")
          for two in ("WL", "LW", "WD", "DW")),
        (won(9), ALWAYS, "smart bad", VACUOUS, "needs 10 openings, has 9"),
        (won(9), ALWAYS | {"min_distinct": 9}, "smart bad", HOLDS, "all 18 games won"),
        (games_by_hand((0, 1, [(0, "WW", 1, 2)] * 500)), ALWAYS, "smart bad", VACUOUS, "needs 10"),
        *((games_by_hand((0, 2, [(o, "WW") for o in range(10)])), check, "smart bad idle", VACUOUS,
           "") for check in (ALWAYS, SCORE)),
        (games_of(*["WW"] * 10, faults=dict.fromkeys(range(1, 12, 2), FORFEIT)), ALWAYS,
         "smart bad", HOLDS,
         "all 20 games won, 6 of them by forfeit, from 10 openings on both sides"),
        (games_of(*["WW"] * 10, "LW", faults={20: Termination.ILLEGAL}), ALWAYS, "smart bad", FAILS,
         "1 of 22 games not won, 1 of them forfeited by smart; the shortest is game 20: "
         "smart moves first and forfeits (illegal)"),
        (won(2), {"that": "all", "no_forfeits": True}, "smart bad", HOLDS, "none in 4 games"),
        *((scores(9, 0), BEATS | {test: 0.5}, "smart bad", VACUOUS, "needs 10 openings, has 9")
          for test in ("score_at_least", "elo_at_least")),
        *((scores(wins, 100 - wins), SCORE, "smart bad", status,
           f"at least 70.0 % wanted, score {wins}.0 %, bound ")
          for wins, status in ((95, HOLDS), (80, HOLDS), (72, FAILS), (60, FAILS))),
        (scores(80, 20), SCORE | {"confidence": 0.999}, "smart bad", FAILS, "at least 70.0 %"),
        (scores(80, 20), BEATS | {"elo_at_least": 100}, "smart bad", HOLDS,
         "at least +100 Elo wanted, found +241, bound +"),
        (scores(100, 0), BEATS | {"elo_at_least": 100}, "smart bad", HOLDS,
         "at least +100 Elo wanted, found 100 %, bound +606"),
        (scores(0, 100), BEATS | {"elo_at_least": 100}, "smart bad", FAILS, "at least +100 Elo"),
    ],
)  # fmt: skip
def test_a_check_has_a_verdict_with_its_numbers(games, check, agents, status, detail):
    found = verdict_on(games, check, agents=tuple(agents.split()))
    assert found.status == status
    assert found.holds == (status == HOLDS)
    assert found.detail.startswith(detail)


@pytest.fixture(scope="module")
def small_run():
    asked = experiment(SMALL, ALWAYS, {"that": "bad beats smart", "always": True}, of="owari(6,2)")
    return asked, play_lines(asked, LINES)[0]


def test_the_counterexample_is_the_shortest_and_replays(small_run, capsys):
    asked, games = small_run
    found = verdicts_of(asked, games)[1]
    lost = [row for row in range(len(games)) if (games.result[row] == 2) == (games.first[row] == 0)]
    name, moves = command_of(found)
    assert name == "owari(6,2)"
    assert len(moves.split()) == min(games.plies[row] for row in lost)
    assert replay([name, moves]) == 0
    assert "over: player" in capsys.readouterr().out


def test_a_game_whose_moves_were_not_kept_is_played_again(small_run):
    asked, games = small_run
    forgotten = Games(games.columns, None, {})
    asked_for = []

    def again(row, _games):
        asked_for.append(row)
        return moves_of_game(games, row)

    found = verdicts_of(asked, forgotten, replay=again)
    assert found == verdicts_of(asked, games)
    assert len(asked_for) == sum(verdict.replay is not None for verdict in found) > 0
    assert verdicts_of(asked, forgotten)[1].replay is None


def proof_of(name, agents, **more):
    asked = experiment(agents, {"that": "smart beats bad", "always": "proved"}, of=name)
    return verdicts_of(asked, games_by_hand(), **more)[0]


def test_a_disproof_is_a_game_that_replays(capsys):
    found = proof_of("kalah(4,3)", SMALL)
    assert found.status == FAILS
    told = "positions: smart moves second and draws against these replies"
    assert found.detail.startswith("disproved in ")
    assert found.detail.endswith(told)
    assert replay([*command_of(found)]) == 0
    assert "over: tie 12-12" in capsys.readouterr().out


def test_a_proof_needs_no_number_of_openings():
    of = game("kalah(3,2)")
    position, lines = of.start(), []
    for first in of.legal(position):
        for second in of.legal(of.play(position, first)):
            lines.append((first, second))
    proofs = {
        line: proof_of("kalah(3,2)", SMALL, starts=lambda line=line: [line]) for line in lines
    }
    statuses = {found.status for found in proofs.values()}
    assert statuses <= {HOLDS, FAILS}
    everything = proof_of("kalah(3,2)", SMALL, starts=lambda: lines)
    assert everything.holds == all(found.holds for found in proofs.values())


def test_what_cannot_be_proved_fails_and_says_why():
    noisy = SMALL | {"smart": AgentSpec("greedy", epsilon=0.1)}
    found = proof_of("kalah(3,2)", noisy)
    assert found.status == FAILS
    assert "epsilon = 0.1" in found.detail


def test_replays_do_not_make_a_bound_firm():
    check = {"that": "smart beats bad", "score_at_least": 0.5}
    once = [(o, "WW" if o < 9 else "LL", 2 * o, 2 * o + 1) for o in range(12)]
    few, many = (verdict_on(games_by_hand((0, 1, once * n)), check) for n in (1, 100))
    assert few.detail == many.detail


def test_a_census_is_compared_exactly():
    check = {"that": "smart beats bad", "score_at_least": 0.75}
    pairings = [(o, "WW" if o < 9 else "LL", 2 * o, 2 * o + 1) for o in range(12)]
    games = games_by_hand((0, 1, pairings))
    assert not verdict_on(games, check).holds
    assert verdict_on(games, check, census=[("smart", "bad")]).holds


def test_some_openings_of_more_are_exact_but_no_census():
    check = {"that": "smart beats bad", "score_at_least": 0.75, "of": "these"}
    pairings = [(o, "WW" if o < 9 else "LL", 2 * o, 2 * o + 1) for o in range(12)]
    games = games_by_hand((0, 1, pairings))
    found = verdict_on(games, check, deterministic=[("smart", "bad")])
    assert found.holds
    assert "census" not in found.detail
    assert "exact for these openings" in found.detail
    assert "census" in verdict_on(games, check, census=[("smart", "bad")]).detail


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_after_a_sequential_test_the_bound_is_one_that_may_be_looked_at_any_time(confidence):
    check = {"that": "smart beats bad", "score_at_least": 0.7, "confidence": confidence}
    letters = ["WW", "WW", "LL", "WW", "WW"] * 20
    games, stop = (
        games_by_hand((0, 1, list(enumerate(letters)))),
        SprtPlan(elo0=0, elo1=100),
    )
    plain, tested = (experiment(["smart", "bad"], check, stop=each) for each in (None, stop))
    (fixed,) = verdicts_of(plain, games)
    (stopped,) = verdicts_of(tested, games)
    assert "a stop rule could end the run" in stopped.detail
    bounds = [float(each.detail.split("bound ")[1].split(" %")[0]) for each in (fixed, stopped)]
    assert bounds[1] < bounds[0] <= 80.0
    assert bounds[1] == pytest.approx(
        100 * float(betting_lower_bound([20, 0, 0, 0, 80], 1 - confidence)), abs=0.1
    )


def test_forfeits_of_one_agent_do_not_touch_a_claim_about_another():
    games = games_by_hand((0, 1, [(0, "LW"), (1, "WW")]), faults={0: FORFEIT})
    games.traces[0] = "ValueError: no move\nmore"
    assert verdict_on(games, {"that": "bad", "no_forfeits": True}).holds
    for subject in ("smart", "all"):
        found = verdict_on(games, {"that": subject, "no_forfeits": True})
        assert found.status == FAILS
        assert found.detail == ("smart forfeited 1; the shortest is game 0: ValueError: no move")
        assert found.replay == 'pitflip game "kalah(6,4)" replay ""'


def test_a_fault_is_named_once_in_a_check():
    games = games_by_hand((0, 1, [(0, "LW"), (1, "WW")]), faults={0: Termination.RAISED})
    games.traces[0] = "raised in '1 2'\nTraceback:\nValueError: no move"
    found = verdict_on(games, {"that": "all", "no_forfeits": True})
    assert found.detail.count("raised") == 1
    assert "ValueError: no move" in found.detail


def test_thinking_time_is_the_mean_of_a_move():
    # 20 ms for 10 moves as first mover, 10 ms as second: 1.5 ms a move.
    limits = {0.0016: HOLDS, 0.0014: FAILS, 0.001: FAILS}
    for limit, status in limits.items():
        check = {"that": "all", "max_seconds": limit, "per": "mean move"}
        found = verdict_on(won(3), check)
        assert found.status == status
        assert "smart 0.0015 s a move, bad 0.0015 s a move" in found.detail


@pytest.mark.parametrize("slow", [0, 1])
def test_one_agent_that_is_too_slow_is_enough(slow):
    games = won(3)
    for name in ("first", "second"):
        games.columns[f"{name}_nanoseconds"][games.columns[name] == slow] = 1_000_000_000
    check = {"that": "all", "max_seconds": 0.01, "per": "mean move"}
    assert verdict_on(games, check).status == FAILS


def test_an_agent_that_chose_no_move_has_no_speed():
    games = won(3)
    games.columns["first_moves"] = np.zeros(6, np.int32)
    games.columns["second_moves"] = np.zeros(6, np.int32)
    check = {"that": "bad", "max_seconds": 1.0, "per": "mean move"}
    assert verdict_on(games, check).status == VACUOUS


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_has_keys_of_which_the_first_states_its_claim(name):
    keys = check_kind(name).keys
    assert keys[0].name == name
    assert len({key.name for key in keys}) == len(keys)
    assert all(key.description for key in keys)
    assert all(not list(key.problems(key.default)) for key in keys[1:])


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_is_vacuous_where_there_are_no_games(name):
    that = "smart beats bad" if check_kind(name).compares else "all"
    values = (True, 0.5, *check_kind(name).keys[0].choices)
    value = next(v for v in values if not list(check_kind(name).keys[0].problems(v)))
    assert verdict_on(games_by_hand(), {"that": that, name: value}).status == VACUOUS


def test_junit_has_one_case_a_check_and_survives_any_text():
    found = [
        Verdict("smart beats bad", "always", HOLDS, "all 20 games won"),
        Verdict(
            "a < b", "score_at_least", FAILS, 'said "no"\x00\x1b[1m', "pitflip game kalah replay"
        ),
        Verdict("all", "no_forfeits", VACUOUS, "no games"),
    ]
    suite = ElementTree.fromstring(junit_xml(found, "demo & more")).find("testsuite")
    assert suite.attrib == {"name": "demo & more", "tests": "3", "failures": "2", "errors": "0"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases][1] == "a < b (score_at_least)"
    failures = [case.find("failure") for case in cases]
    assert failures[0] is None
    assert failures[1].get("message") == 'said "no"??[1m'
    assert failures[1].text == "pitflip game kalah replay"
    assert failures[2].get("type") == "vacuous"


STRENGTH = [{"score_at_least": 0.6}, {"elo_at_least": 50}]


@pytest.mark.parametrize("claimed", STRENGTH, ids=lambda each: next(iter(each)))
def test_an_opponent_that_crashes_shows_no_strength(claimed):
    # Regression: "HOLDS, all 80 games won", all 80 by the opponent's crash.
    games = won(40)
    games.columns["termination"][:] = FORFEIT
    found = verdict_on(games, {"that": "smart beats bad", **claimed})
    assert found.status == VACUOUS
    assert found.detail == (
        "needs 10 openings, has 0; 80 of 80 games do not count, for faults "
        "(count_forfeits = true counts them)"
    )
    assert verdict_on(games, {"that": "smart beats bad", "count_forfeits": True, **claimed}).holds
    games.columns["termination"][:60] = Termination.NORMAL
    some = verdict_on(games, {"that": "smart beats bad", **claimed})
    assert some.holds
    assert "20 of 80 games do not count, for faults" in some.detail
    assert "K = 30" in some.detail


def test_a_check_asks_one_of_two_questions():
    games, check = varied(3, 200), {"that": "smart beats bad", "score_at_least": 0.55}
    like = verdict_on(games, check)
    assert (like.status, like.detail) == (VACUOUS, "needs 10 openings, has 3")
    these = verdict_on(games, check | {"of": "these"})
    assert these.holds
    assert these.measured.bound > 0.55
    new = verdict_on(scores(12, 3), check | {"of": "these"})
    assert new.status == VACUOUS
    assert new.detail.startswith("no opening was played more than once")


def test_agents_without_chance_are_compared_exactly_on_exactly_these_openings():
    games, check = scores(8, 4), {"that": "smart beats bad", "score_at_least": 0.66, "of": "these"}
    assert verdict_on(games, check, deterministic=[("smart", "bad")]).holds
    assert not verdict_on(
        games, check | {"score_at_least": 0.67}, deterministic=[("smart", "bad")]
    ).holds


def test_a_claim_that_is_asked_again_takes_the_bound_that_stays_true():
    games, check = scores(40, 10), {"that": "smart beats bad", "score_at_least": 0.5}
    once = verdict_on(games, check)
    again = verdict_on(games, check, earlier_looks=lambda *_: 2)
    assert once.detail.startswith("at least")
    assert again.detail.startswith("after 3 looks: at least")
    expected = float(betting_lower_bound([10, 0, 0, 0, 40], 0.05))
    assert again.measured.bound == pytest.approx(expected)
    assert once.measured.bound > expected
    noisy = varied(3, 200)
    these = check | {"of": "these"}
    first, later = (verdict_on(noisy, these, earlier_looks=lambda *_, n=n: n) for n in (0, 1))
    assert 0.3 < later.measured.bound < first.measured.bound


def test_what_no_result_could_satisfy_is_known_before_playing():
    (check,) = experiment(["smart", "bad"], {"that": "smart beats bad", "elo_at_least": 400}).checks
    assert check_kind(check.test).why_impossible(check, 10, 10) == "needs 32 openings, has 10"
    assert check_kind(check.test).why_impossible(check, 100, 100) == ""
    (always,) = experiment(["smart", "bad"], ALWAYS).checks
    assert check_kind(always.test).why_impossible(always, 1, 1) == ""


def test_a_game_that_was_not_won_names_the_side_to_move_after_the_opening():
    games = games_by_hand((0, 1, [(0, "LL")]))
    games.columns["first_side"][:] = 1  # after an extra turn, or an odd number of plies
    evidence = evidence_of(experiment(["a", "b"]).plan, lambda: [games])
    assert evidence.ending_text(0, 0).startswith("a moves second and loses")
    assert evidence.ending_text(1, 0).startswith("a moves first and loses")
