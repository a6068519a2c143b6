"""The claim that every game is won, as played or against every possible reply."""

from collections.abc import Iterator, Mapping

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.create import create_agent
from agents.registry import AGENTS, is_external, varies
from arena.analysis.checks.claims import (
    FAILS,
    HOLDS,
    MIN_DISTINCT,
    VACUOUS,
    Check,
    Verdict,
    make_verdict,
)
from arena.analysis.evidence import SEATS, Evidence, ending_text, not_won
from arena.analysis.match_counts import Match
from arena.playing.clock import with_own_seconds
from games.base.schema import Fault, Key
from games.base.text import quote
from games.transcripts import move_texts, replay_command, replay_command_for_line

KEYS = (
    Key(
        "always",
        "any",
        'true: every game was won, a forfeit of the loser too; "proved": every game that could be; '
        '"winnable": every game that perfect play wins',
        choices=(True, "proved", "winnable"),
    ),
    MIN_DISTINCT,
)
COMPARES = True
MOST_NODES = 100_000_000  # of an opening: a minute at most


def faults(check: Check, agents: Mapping[str, AgentSpec]) -> Iterator[Fault]:
    """Proofs asked of agents that may answer the same position differently."""
    winner = (check.parties or ("",))[0]
    spec = agents.get(winner)
    if check.values["always"] != "proved" or spec is None or spec.kind not in AGENTS:
        return
    if varies(spec):
        message = f'always = "proved" needs a winner that never varies, got {quote(winner)}'
        if is_external(spec):
            message += ": if it always answers alike, say deterministic = true in its table"
        yield ("always",), message


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether every game was won, or would be."""
    if check.values["always"] == "proved":
        return _proved(check, evidence)
    match = evidence.between(*(check.parties or ("", "")))
    if match is None:
        return make_verdict(check, VACUOUS, "no games")
    games, won, openings = 2 * match.pairings, match.won, match.met
    if check.values["always"] == "winnable" and won < games:
        return _winnable(check, evidence, match)
    row = evidence.shortest(lambda part: not_won(part, match.a, match.b)) if won < games else None
    if row is not None:
        by_fault = match.forfeits[0]
        how = f", {by_fault} of them forfeited by {evidence.plan.names[match.a]}" * bool(by_fault)
        detail = f"{games - won} of {games} games not won{how}; the shortest is {row}: "
        detail += evidence.end_of(row, match.a)
        return make_verdict(check, FAILS, detail, evidence.command(row), row)
    if openings < check.values["min_distinct"]:
        needed = f"at least {check.values['min_distinct']} needed"
        return make_verdict(check, VACUOUS, f"{openings} distinct openings, {needed}")
    by_fault = match.forfeits[1]
    how = f", {by_fault} of them by forfeit" if by_fault else ""
    detail = f"all {games} games won{how}, from {openings} openings on both sides"
    return make_verdict(check, HOLDS, detail)


def _winnable(check: Check, evidence: Evidence, match: Match) -> Verdict:
    """Whether every game was won that perfect play could have won."""
    # It loads the compiler.
    from arena.analysis.checks import winnable  # noqa: PLC0415

    games = winnable.unwon_games(evidence, match)
    found = winnable.settled(evidence, games, MOST_NODES)
    thrown = [each.game for each in found if each.could_do_better]
    undecided = sum(each.game.games for each in found if each.could_do_better is None)
    total = 2 * match.pairings
    before = winnable.lost_openings_text(found, evidence.plan.names[match.a])
    if thrown:
        game = min(thrown, key=lambda each: (each.plies, each.row))
        row, number = game.row, sum(each.games for each in thrown)
        lead = f"{number:,} of {total:,} games thrown away; the shortest is {row}: "
        throw = winnable.find_losing_move(evidence, game, MOST_NODES)
        words = [lead + evidence.end_of(row, match.a), throw.words if throw else "", before]
        shown = throw and replay_command_for_line(evidence.plan.of, throw.line)
        return make_verdict(
            check, FAILS, "; ".join(filter(None, words)), shown or evidence.command(row)
        )
    counts = f"{match.won:,} of {total:,} games won"
    if undecided:
        more = f"{undecided:,} of the others cannot be decided in {MOST_NODES:,} positions each"
        return make_verdict(check, VACUOUS, "; ".join(filter(None, [counts, before, more])))
    openings = match.met
    if openings < check.values["min_distinct"]:
        needed = f"at least {check.values['min_distinct']} needed"
        return make_verdict(check, VACUOUS, f"{openings} distinct openings, {needed}")
    return make_verdict(check, HOLDS, f"{counts}, all that could be; {before}")


def _proved(check: Check, evidence: Evidence) -> Verdict:
    """Whether the agent wins from all openings, whatever the other side replies."""
    from arena.analysis.checks.proof import NoProof, prove  # noqa: PLC0415  # it loads the compiler

    of, name = evidence.plan.of, (check.parties or ("",))[0]
    spec = evidence.plan.agents[name]
    terms = with_own_seconds(HostSettings(evidence.wall), evidence.plan, spec)
    agent = create_agent(spec, of, terms)
    starts = evidence.starts()
    try:
        proofs = [prove(of, agent, player, starts, tell=evidence.progress) for player in (0, 1)]
    except (AgentFailure, NoProof) as reason:
        return make_verdict(check, FAILS, str(reason).partition("\n")[0])
    lost = [(proof, side) for side, proof in enumerate(proofs) if proof.counterexample is not None]
    walked = f"{sum(proof.positions for proof in proofs):,} positions"
    if not lost:
        detail = f"proved against every reply, on both sides: {walked}"
        return make_verdict(check, HOLDS, detail)
    proof, side = min(lost, key=lambda each: len(each[0].counterexample or ()))
    line = proof.counterexample or []
    positions = of.replay(" ".join(move_texts(of, line)))
    turn = SEATS[int(positions[proof.opening_plies].mover != side)]
    end = ending_text(of.margin(positions[-1]) * (1 - 2 * side))
    detail = f"disproved in {walked}: {name} moves {turn} and {end} against these replies"
    return make_verdict(check, FAILS, detail, replay_command(of, line))
