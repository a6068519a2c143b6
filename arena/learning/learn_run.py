"""Run learning: play, fit and match, round after round; write files and print the result."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.evaluation.weights import LearnedWeights, format_weights
from arena.analysis.repeatability import KEY, repeatability, repeatability_line
from arena.config.run_options import RunOptions
from arena.learning.config import FEATURES, LearnConfig
from arena.learning.learn_page import LEARNED_JSON, learn_page
from arena.learning.round_fit import RoundFit, make_sample, write_and_reload
from arena.learning.self_play import RoundGames, games_digest, load_round, round_games
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import opening_method
from arena.planning.plan import Plan
from arena.planning.seeds import hash64
from arena.playing.match import play_match
from arena.playing.options import PlayOptions
from arena.report.page import PAGE
from arena.stats.clustered_means import CalibrationBin
from arena.stats.estimate import Estimate
from arena.stats.quantiles import Z_95
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.text import elo_text, sprt_text
from arena.storage import provenance
from arena.storage.journal import RunDirectory, Section
from arena.storage.run_log import open_run_log
from arena.terminal.progress import open_displays
from games.base.errors import print_error, print_safely, printable
from games.base.files import write_text
from games.base.progress import ShowProgress

WEIGHTS = "weights.npz"
TEXT_WEIGHTS = "weights.toml"
LEARNED, BEFORE = "learned", "before"
SPARE = 50  # openings that replace those that a round has seen


class MatchVerdict(StrEnum):
    """The verdict on the weights of a round; only better weights are kept."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


VERDICTS = {Decision.ELO1: MatchVerdict.BETTER, Decision.ELO0: MatchVerdict.NOT_BETTER}


class RoundMatch(NamedTuple):
    """A finished match of the weights of a round."""

    verdict: MatchVerdict
    elo: Estimate
    games: int
    text: str
    llr: tuple[float, ...] = ()  # log-likelihood ratio after each pair of the test
    bounds: tuple[float, float] = (0.0, 0.0)

    def to_json(self) -> dict[str, object]:
        """Return the match as JSON holds it."""
        verdict: dict[str, object] = {
            "verdict": str(self.verdict),
            "elo": [self.elo.value, self.elo.low, self.elo.high],
            "games": self.games,
            "text": self.text,
        }
        if not self.llr:
            return verdict
        ratios = [round(each, 3) for each in self.llr]
        return {**verdict, "ratios": ratios, "bounds": list(self.bounds)}


class LearnedRound(NamedTuple):
    """A finished round."""

    number: int
    weights: LearnedWeights
    path: Path
    match: RoundMatch
    calibration: list[CalibrationBin]


def r2_of(weights: LearnedWeights) -> float:
    """Return the share of the variance of held-out games that the weights explain."""
    held: object = weights.more.get("held_out")
    return float(held["r2"]) if isinstance(held, dict) else 0.0


def fit_line(weights: LearnedWeights) -> str:
    """Return the quality of the fit in one line."""
    more = weights.more
    held = more["held_out"]
    assert isinstance(held, dict)
    return (
        f"{more['positions']:,} positions, {weights.weights.size:,} weights, "
        f"{more['seen']:.0%} of them seen; ridge {more['ridge']:g}; held out: R2 {held['r2']:.3f}, "
        f"squared error {held['squared_error']:.1f} ± {Z_95 * held['error_by_game']:.1f}"
    )


def calibration_line(bins: Sequence[CalibrationBin]) -> str:
    """Return the largest error of the predictions of held-out games."""
    worst = max(bins, key=lambda each: abs(each.outcome - each.predicted))
    return (
        f"calibration, {len(bins)} equal shares: largest error at a prediction of "
        f"{worst.predicted:+.1f}, outcome {worst.outcome:+.1f} ± {Z_95 * worst.error:.1f}"
    )


def best_round(rounds: list[LearnedRound]) -> LearnedRound | None:
    """Return the last round with better weights; None without one."""
    better = [each for each in rounds if each.match.verdict is MatchVerdict.BETTER]
    return better[-1] if better else None


def result_to_json(
    learning: LearnConfig, directory: Path, command: str, rounds: list[LearnedRound]
) -> dict[str, object]:
    """Return the result as JSON holds it."""
    best = best_round(rounds)
    return {
        "name": learning.experiment.name,
        "game": learning.of.name,
        "teacher": learning.teacher,
        "agent": learning.agent,
        "tables": learning.tables,
        "command": command,
        "weights": None if best is None else str(directory / WEIGHTS),
        "rounds": [round_json(each) for each in rounds],
    }


def round_json(each: LearnedRound) -> dict[str, object]:
    """Return a round as JSON holds it."""
    return {
        "round": each.number,
        "games": each.weights.games,
        "digest": each.weights.digest,
        **each.weights.more,
        "calibration": [one._asdict() for one in each.calibration],
        "match": each.match.to_json(),
    }


def weights_toml(weights: LearnedWeights) -> str:
    """Return weights of features as a file that people can read and change."""
    head = f"# Fitted to {weights.games:,} games of {weights.game}.\n"
    short = {
        name: [float(f"{value:g}") for value in values]
        for name, values in weights.feature_weights().items()
    }
    return head + format_weights(short)


def result_lines(
    learning: LearnConfig, directory: Path, rounds: list[LearnedRound]
) -> Iterator[str]:
    """Yield the lines that are printed at the end."""
    yield f"{learning.of.name}, tables {learning.tables}, taught by {learning.teacher}"
    for each in rounds:
        yield (
            f"round {each.number}  {each.weights.games:,} games, R2 {r2_of(each.weights):.3f}, "
            f"against {'the round before' if each.number > 1 else learning.agent}: "
            f"{each.match.text}"
        )
        yield f"  {fit_line(each.weights)}"
        if each.calibration:
            yield f"  {calibration_line(each.calibration)}"
    if again := repeatability_line(learning.plan):
        yield again
    best = best_round(rounds)
    if best is None:
        yield f"nothing is better than {learning.agent}: no weights go on"
    else:
        name = TEXT_WEIGHTS if best.weights.kind == FEATURES else WEIGHTS
        path = json.dumps(str(directory / name), ensure_ascii=False)
        yield f"use it   weights = {path}"


@dataclass(frozen=True)
class LearnRun:
    """A run in progress."""

    learning: LearnConfig
    directory: Path
    locked: RunDirectory
    options: RunOptions
    command: str

    def report(self, text: str) -> None:
        """Print a line to standard error unless the run is quiet."""
        if not self.options.quiet:
            print_error(text)


def learn_digest(learning: LearnConfig) -> str:
    """Return the digest of everything that decides the result."""
    deciding = {
        **{key: value for key, value in asdict(learning).items() if key != "experiment"},
        "sources": [games_digest(each) for each in learning.sources],
        "experiment": learning.plan.digest(),
        "code": provenance.code_digest(),
    }
    content = json.dumps(deciding, sort_keys=True, default=str)
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def learn(learning: LearnConfig, options: RunOptions, command: str) -> list[LearnedRound]:
    """Play, fit and match what is left, write the files and print the result."""
    digest = learn_digest(learning)
    directory = options.results / learning.experiment.name / f"learn-{digest}"
    with (
        RunDirectory(directory, digest, options.fresh) as locked,
        open_run_log(directory / "run.log"),
    ):
        run = LearnRun(learning, directory.absolute(), locked, options, command)
        write_run_start(run)
        rounds = list(play_rounds(run))
        write_best(run, best_round(rounds))
        result = result_to_json(learning, run.directory, command, rounds)
        write_text(directory / LEARNED_JSON, json.dumps(result, indent=1) + "\n")
        write_text(directory / PAGE, learn_page(directory))
        lines = list(result_lines(learning, run.directory, rounds))
        played = sum(each.weights.games + each.match.games for each in rounds)
        provenance.write_run_end(run.directory, played)
        options.interrupts.finish()
        print_safely(
            lambda: print(
                json.dumps(result, indent=1) if options.json else "\n".join(map(printable, lines))
            )
        )
        run.report(f"everything: {directory}")
    return rounds


def write_best(run: LearnRun, best: LearnedRound | None) -> None:
    """Write the weights of the best round, if there is one."""
    if best is not None:
        write_and_reload(run.directory / WEIGHTS, best.weights)
        if best.weights.kind == FEATURES:
            write_text(run.directory / TEXT_WEIGHTS, weights_toml(best.weights))


def write_run_start(run: LearnRun) -> None:
    """Write run.json."""
    learning = run.learning
    origin = provenance.identify_run(learning.experiment.name, learning.plan)
    again = repeatability(learning.plan, None).to_json(None)
    more = {"learned": learning.agent, "tables": learning.tables, "command": run.command}
    provenance.write_run_start(
        run.directory, origin._replace(digest=run.locked.digest), {**more, KEY: again}
    )


def play_rounds(run: LearnRun) -> Iterator[LearnedRound]:
    """Yield the rounds; the last one is the first whose weights are not better."""
    learning, player = run.learning, run.learning.agent_spec
    seen = np.empty(0, np.uint64)
    for number in range(1, len(learning.games) + 1):
        teacher = player if learning.agent == learning.teacher else learning.spec
        games = load_or_play_games(run, teacher, number)
        seen = np.union1d(seen, games.keys)
        learned = fit_and_match_round(run, games, player, number, seen)
        yield learned
        if learned.match.verdict is not MatchVerdict.BETTER:
            return
        player = with_weights(player, learned.weights, learned.path)


def match_spec(learning: LearnConfig, teacher: AgentSpec) -> AgentSpec:
    """Return the agent of a match: the teacher with the nodes of the file."""
    if learning.match.nodes is None:
        return teacher
    return teacher.replace(nodes=learning.match.nodes, depth=None, seconds=None)


def make_match(
    learning: LearnConfig,
    agents: dict[str, AgentSpec],
    seen: NDArray[np.uint64],
    name: str,
    stop: SprtPlan | None,
) -> tuple[Plan, Openings]:
    """Return the plan and the openings of a match, without positions that a round has seen."""
    seed = int(hash64(name, learning.plan.seed)) >> 1
    spec, pairs = learning.plan.openings, learning.match.pairs
    drawn = opening_method(spec.method).openings(learning.of, spec, pairs + SPARE, seed)
    fresh = np.flatnonzero(~np.isin(drawn.keys, seen))[:pairs]
    openings = Openings(drawn.slots[fresh], drawn.keys[fresh], finite=False)
    plan = replace(
        learning.plan, agents=agents, matches=((0, 1),), pairs=len(openings), seed=seed, stop=stop
    )
    return plan, openings


def round_match(
    learning: LearnConfig,
    agents: tuple[AgentSpec, AgentSpec],
    seen: NDArray[np.uint64],
    section: Section,
    options: PlayOptions,
    show: ShowProgress,
) -> RoundMatch:
    """Play what is left of a match of the first agent against the second.

    The name of the section decides the openings.
    """
    own, other = (match_spec(learning, each) for each in agents)
    test = learning.match.plan()
    plan, openings = make_match(learning, {LEARNED: own, BEFORE: other}, seen, section.name, test)
    match = play_match(plan, section, options, openings=openings, show=show)
    state = match.sprt
    assert state is not None  # the plan has a test
    verdict = VERDICTS.get(state.decision, MatchVerdict.UNDECIDED)
    text = f"{verdict}: {sprt_text(test, state)}; {elo_text(match.elo)}"
    ratios, bounds = tuple(match.llr.tolist()), (state.lower, state.upper)
    return RoundMatch(verdict, match.elo, len(match.all_games), text, ratios, bounds)


def with_weights(spec: AgentSpec, weights: LearnedWeights, path: Path) -> AgentSpec:
    """Return an agent with the weights of a round, which are stored at `path`."""
    if weights.kind == FEATURES:
        return spec.replace(weights=dict(weights.feature_weights()))
    return spec.replace(weights=str(path))


def load_or_play_games(run: LearnRun, teacher: AgentSpec, number: int) -> RoundGames:
    """Return the games of a round: stored ones if the file names runs, or new ones."""
    learning = run.learning
    if learning.sources:
        return load_round(learning.of, learning.sources, learning.solve_from)
    run.report(f"round {number} of {len(learning.games)}: {learning.games[number - 1]:,} games")
    with open_displays(run.options.quiet, run.directory) as show:
        playing = run.options.playing
        section = run.locked.section(f"round-{number}")
        return round_games(learning, teacher, number, section, playing, show)


def fit_and_match_round(
    run: LearnRun, games: RoundGames, teacher: AgentSpec, number: int, seen: NDArray[np.uint64]
) -> LearnedRound:
    """Fit the games of a round and play the match of the new weights against its teacher."""
    learning, options = run.learning, run.options
    path = run.directory / f"round-{number}.npz"
    fit = RoundFit(learning, make_sample(learning, games), options.parallel_games, options.sandbox)
    fitted = fit.fit(options.interrupts.check)
    weights = write_and_reload(path, fit.weights_with_provenance(fitted, [run.command], number))
    run.report(fit_line(weights))
    agents, section = (with_weights(teacher, weights, path), teacher), f"match-{number}"
    with open_displays(options.quiet, run.directory) as show:
        match = round_match(
            learning, agents, seen, run.locked.section(section), options.playing, show
        )
    run.report(f"round {number}: {match.text}")
    return LearnedRound(number, weights, path, match, fit.calibration_bins(fitted))
