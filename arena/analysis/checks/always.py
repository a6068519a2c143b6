"""The claim that every game is won, as played or against every possible reply."""

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.core import Agent, AgentFailure, AgentSpec, Choice, HostSettings
from agents.create import create_agent
from agents.registry import AGENTS, is_external, randomness_reason
from arena.analysis.checks.registry import (
    FAILS,
    HOLDS,
    MIN_DISTINCT,
    VACUOUS,
    Check,
    CheckKind,
    Verdict,
    few_openings_verdict,
    make_verdict,
)
from arena.analysis.evidence import SEATS, Evidence, is_not_win, margin_text
from arena.analysis.match_counts import Match
from arena.playing.clock import agent_settings
from games import Game, Position
from games.base.schema import Key, Problem
from games.base.text import quote
from games.transcripts import move_texts, replay_command, replay_command_for_line

KEYS = (
    Key(
        "always",
        "any",
        "true: A won every game, forfeits of B included; "
        '"proved": A wins whatever B replies; "winnable": A won every game that perfect play wins',
        choices=(True, "proved", "winnable"),
    ),
    MIN_DISTINCT,
)
MAX_NODES = 100_000_000  # per opening: a minute at most
MAX_POSITIONS = 1_000_000  # of a proof
FIRST_SECONDS, PULSE_SECONDS = 2.0, 5.0  # of progress reports


def option_problems(check: Check, agents: Mapping[str, AgentSpec]) -> Iterator[Problem]:
    """Yield the fault of a proof about an agent that may vary."""
    winner = (check.parties or ("",))[0]
    spec = agents.get(winner)
    if check.values["always"] != "proved" or spec is None or spec.kind not in AGENTS:
        return
    if randomness_reason(spec):
        message = f'always = "proved" needs a winner that never varies, got {quote(winner)}'
        if is_external(spec):
            message += ": if it always answers alike, set deterministic = true in its table"
        yield ("always",), message


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether every game was won, or would be."""
    if check.values["always"] == "proved":
        return _proof_verdict(check, evidence)
    match = evidence.match_between(*(check.parties or ("", "")))
    if match is None:
        return make_verdict(check, VACUOUS, "no games")
    games, wins, openings = 2 * match.pairs, match.wins, match.distinct_openings
    if check.values["always"] == "winnable" and wins < games:
        return _winnable_verdict(check, evidence, match)
    if wins < games:
        row = evidence.shortest_game(lambda part: is_not_win(part, match.a, match.b))
        assert row is not None  # a game without a win was counted
        by_fault = match.forfeits[0]
        how = f", {by_fault} of them forfeited by {evidence.plan.names[match.a]}" * bool(by_fault)
        detail = f"{games - wins} of {games} games not won{how}; the shortest is game {row}: "
        detail += evidence.ending_text(row, match.a)
        return make_verdict(check, FAILS, detail, evidence.command_of(row), row)
    if vacuous := few_openings_verdict(check, openings):
        return vacuous
    by_fault = match.forfeits[1]
    how = f", {by_fault} of them by forfeit" if by_fault else ""
    detail = f"all {games} games won{how}, from {openings} openings on both sides"
    return make_verdict(check, HOLDS, detail)


def _winnable_verdict(check: Check, evidence: Evidence, match: Match) -> Verdict:
    """Return whether every game was won that perfect play could have won."""
    from arena.analysis.checks import winnable  # noqa: PLC0415  # it loads the compiler

    games = winnable.unwon_games(evidence, match)
    found = winnable.solve_openings(evidence, games, MAX_NODES)
    thrown = [each.game for each in found if each.could_do_better]
    undecided = sum(each.game.games for each in found if each.could_do_better is None)
    total = 2 * match.pairs
    before = winnable.opening_values_text(found, evidence.plan.names[match.a])
    if thrown:
        game = min(thrown, key=lambda each: (each.plies, each.row))
        row, number = game.row, sum(each.games for each in thrown)
        lead = f"{number:,} of {total:,} games thrown away; the shortest is game {row}: "
        move = winnable.find_losing_move(evidence, game, MAX_NODES)
        parts = [lead + evidence.ending_text(row, match.a), move.text if move else "", before]
        replay = move and replay_command_for_line(evidence.plan.game, move.line)
        detail = "; ".join(filter(None, parts))
        return make_verdict(check, FAILS, detail, replay or evidence.command_of(row))
    counts = f"{match.wins:,} of {total:,} games won"
    if undecided:
        more = f"{undecided:,} of the others cannot be decided in {MAX_NODES:,} positions each"
        return make_verdict(check, VACUOUS, "; ".join(filter(None, [counts, before, more])))
    if vacuous := few_openings_verdict(check, match.distinct_openings):
        return vacuous
    return make_verdict(check, HOLDS, f"{counts}, all that could be; {before}")


def _proof_verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether the agent wins from all openings, whatever the opponent replies."""
    game, name = evidence.plan.game, (check.parties or ("",))[0]
    spec = evidence.plan.agents[name]
    settings = agent_settings(HostSettings(evidence.sandbox), evidence.plan, name, spec)
    agent = create_agent(spec, game, settings)
    starts = evidence.starts()
    try:
        proofs = [prove(game, agent, player, starts, tell=evidence.progress) for player in (0, 1)]
    except (AgentFailure, NoProof) as reason:
        return make_verdict(check, FAILS, str(reason).partition("\n")[0])
    searched = f"{sum(proof.positions for proof in proofs):,} positions"
    lost = [
        (proof.counterexample, proof.opening_plies, side)
        for side, proof in enumerate(proofs)
        if proof.counterexample is not None
    ]
    if not lost:
        detail = f"proved against every reply, on both sides: {searched}"
        return make_verdict(check, HOLDS, detail)
    line, opening_plies, side = min(lost, key=lambda each: len(each[0]))
    positions = game.replay(" ".join(move_texts(game, line)))
    turn = SEATS[int(positions[opening_plies].mover != side)]
    end = margin_text(game.margin(positions[-1]) * (1 - 2 * side))
    detail = f"disproved in {searched}: {name} moves {turn} and {end} against these replies"
    return make_verdict(check, FAILS, detail, replay_command(game, line))


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a search through all replies; `counterexample` is a shortest game not won.

    Its moves are numbers, from the start of the game; the first `opening_plies` are the opening.
    """

    positions: int
    counterexample: list[int] | None
    opening_plies: int = 0

    @property
    def holds(self) -> bool:
        """Return whether all games are won."""
        return self.counterexample is None


class NoProof(ValueError):  # noqa: N818  # neither proved nor refuted: an answer, not a fault
    """Nothing can be proved; the message names the reason and a remedy."""


def prove(
    game: Game,
    agent: Agent,
    player: int,
    starts: Sequence[Sequence[int]] = ((),),
    max_positions: int = MAX_POSITIONS,
    tell: Callable[[str], None] | None = None,
) -> Proof:
    """Search whether `agent` as `player` (0 or 1) wins whatever the opponent replies.

    Each of `starts` is an opening in move numbers. A draw is not a win. `tell` receives progress
    messages.
    """
    from agents.search.compiled_agent import choose_fast  # noqa: PLC0415  # the compiler

    reason = randomness_reason(agent.spec)
    if reason is not None:
        raise NoProof(f"nothing can be proved about this agent: {reason}")
    reporter = ProgressReporter(tell)
    search = _ReplySearch(game, agent, player, max_positions, reporter, choose_fast)
    for opening in starts:
        search.openings[len(opening)].append(opening)
    lost = search.find_counterexample()
    if lost is None:
        return Proof(len(search.place_of), None)
    opening, moves = search.line(lost)
    return Proof(len(search.place_of), [*opening, *moves], len(opening))


class ProgressReporter:
    """Reports the number of positions every few seconds, starting after two."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self.tell, self.next_report = tell, time.monotonic() + FIRST_SECONDS

    def count(self, positions: int) -> None:
        """Take the number of positions so far; the clock is read for every 64th."""
        if self.tell is None or positions % 64 or time.monotonic() < self.next_report:
            return
        self.next_report = time.monotonic() + PULSE_SECONDS
        self.tell(f"proving: {positions:,} positions searched")


@dataclass(slots=True)
class _ReplySearch:
    """The positions reached so far, in the order of the ply at which each was reached first."""

    game: Game
    agent: Agent
    player: int
    max_positions: int
    reporter: ProgressReporter
    choose: Callable[[Agent, Position], Choice]
    openings: defaultdict[int, list[Sequence[int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    place_of: dict[Position, int] = field(default_factory=dict)
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    moves: "array[int]" = field(default_factory=lambda: array("h"))
    openings_of: dict[int, Sequence[int]] = field(default_factory=dict)

    def find_counterexample(self) -> Position | None:
        """Return the last position of a shortest game that the agent does not win, or None."""
        level: list[Position] = []
        plies = 0
        # Breadth first, so that the first end that is not a win is the nearest.
        while level or self.openings:
            level += self._add_openings(plies)
            following: list[Position] = []
            for position in level:
                legal = self.game.legal(position)
                if not legal and not self._is_win(position):
                    return position
                for move in self._moves_to_try(position, legal):
                    following += self._add_position(self.game.play(position, move), position, move)
            level, plies = following, plies + 1
        return None

    def line(self, position: Position) -> tuple[Sequence[int], list[int]]:
        """Return the opening and the moves after it that lead to a position."""
        backwards: list[int] = []
        place = self.place_of[position]
        while place not in self.openings_of:
            backwards.append(self.moves[place])
            place = self.parents[place]
        return self.openings_of[place], backwards[::-1]

    def _add_openings(self, plies: int) -> list[Position]:
        """Add the openings of this length and return their new positions."""
        fresh: list[Position] = []
        for opening in self.openings.pop(plies, ()):
            position = self.game.start()
            for move in opening:
                position = self.game.play(position, move)
            if self._add_position(position, None, 0):
                self.openings_of[self.place_of[position]] = opening
                fresh.append(position)
        return fresh

    def _add_position(
        self, position: Position, parent: Position | None, move: int
    ) -> list[Position]:
        """Add a position; return it in a list if it is new."""
        if position in self.place_of:
            return []
        if len(self.place_of) == self.max_positions:
            raise NoProof(
                f"no proof: {self.game.name} has more than {self.max_positions:,} positions to "
                "search; prove it on a smaller board or from longer openings"
            )
        self.parents.append(-1 if parent is None else self.place_of[parent])
        self.moves.append(move)
        self.place_of[position] = len(self.place_of)
        self.reporter.count(len(self.place_of))
        return [position]

    def _moves_to_try(self, position: Position, legal: Sequence[int]) -> Sequence[int]:
        """Return every reply of the opponent, but only the one move of the agent."""
        if not legal or self.game.mover(position) != self.player:
            return legal
        # `start` clears the memory of earlier moves, so a position always gets the same move.
        self.agent.start(0)
        return [self.choose(self.agent, position).move]

    def _is_win(self, position: Position) -> bool:
        margin = self.game.margin(position)
        return margin > 0 if self.player == 0 else margin < 0


KIND = CheckKind(
    keys=KEYS,
    compares=True,
    verdict=verdict,
    problems=option_problems,
)
