"""Learning from file to verdict: play, fit, match, round after round; write, show."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.evaluation.learned_weights import LearnedWeights
from arena.analysis.repeatability import KEY, repeatability, untested_line
from arena.config.command_line import RunOptions
from arena.learning.config import FEATURES, LearnConfig
from arena.learning.learn_page import LEARNED_JSON, learn_page
from arena.learning.round_fit import RoundFit, make_sample, write_and_reload
from arena.learning.round_games import RoundGames, games_digest, round_games, stored_round
from arena.learning.round_match import MatchVerdict, RoundMatch, round_match
from arena.report.page import PAGE
from arena.stats.clustered_means import CalibrationBin
from arena.storage import provenance
from arena.storage.journal import RunDirectory
from arena.storage.run_log import open_run_log
from arena.terminal.progress import open_displays
from games.base.errors import print_error, print_safely, printable
from games.base.files import write_text

WEIGHTS = "weights.npz"
TEXT_WEIGHTS = "weights.toml"
NO_MATCH = RoundMatch(MatchVerdict.UNDECIDED, None, 0, "")  # type: ignore[arg-type]  # not yet played


class LearnedRound(NamedTuple):
    """A round that was played, fitted and matched."""

    number: int
    weights: LearnedWeights
    path: Path
    match: RoundMatch
    calibration: list[CalibrationBin]


def r2_of(weights: LearnedWeights) -> float:
    """The share of the variance of held-out games that the weights explain."""
    held: object = weights.more.get("held_out")
    return float(held["r2"]) if isinstance(held, dict) else 0.0


def fit_line(weights: LearnedWeights) -> str:
    """How well the weights fit, in one line."""
    more = weights.more
    held = more["held_out"]
    assert isinstance(held, dict)
    return (
        f"{more['positions']:,} positions, {weights.weights.size:,} weights, "
        f"{more['seen']:.0%} of them seen; ridge {more['ridge']:g}; held out: R2 {held['r2']:.3f}, "
        f"squared error {held['squared_error']:.1f} ± {1.96 * held['error_by_game']:.1f}"
    )


def calibration_line(bins: Sequence[CalibrationBin]) -> str:
    """How far held-out games were from what was predicted, where they were farthest."""
    worst = max(bins, key=lambda each: abs(each.outcome - each.predicted))
    return (
        f"calibration, {len(bins)} equal shares: farthest off where {worst.predicted:+.1f} was "
        f"predicted and {worst.outcome:+.1f} ± {1.96 * worst.error:.1f} came"
    )


def best_round(rounds: list[LearnedRound]) -> LearnedRound | None:
    """The last round that was better than the one before."""
    better = [each for each in rounds if each.match.verdict is MatchVerdict.BETTER]
    return better[-1] if better else None


def result_to_json(
    learning: LearnConfig, directory: Path, command: str, rounds: list[LearnedRound]
) -> dict[str, object]:
    """All that was found out."""
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
    """A round as JSON holds it."""
    return {
        "round": each.number,
        "games": each.weights.games,
        "digest": each.weights.digest,
        **each.weights.more,
        "calibration": [one._asdict() for one in each.calibration],
        "match": each.match.to_json(),
    }


def weights_toml(weights: LearnedWeights) -> str:
    """Weights of features as a file that people can read and change."""
    lines = [f"# Fitted to {weights.games:,} games of {weights.game}.", "[weights]"]
    for name, values in weights.by_feature().items():
        numbers = ", ".join(f"{value:g}" for value in values)
        lines.append(f"{name} = {numbers if len(values) == 1 else f'[{numbers}]'}")
    return "\n".join(lines) + "\n"


def result_lines(
    learning: LearnConfig, directory: Path, rounds: list[LearnedRound]
) -> Iterator[str]:
    """The lines that are printed at the end."""
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
    if again := untested_line(learning.plan):
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
    """A run under way: its file, its directory, how it plays."""

    learning: LearnConfig
    directory: Path
    locked: RunDirectory
    options: RunOptions
    command: str

    def say(self, text: str) -> None:
        """A line for people who watch."""
        if not self.options.quiet:
            print_error(text)


def learn_digest(learning: LearnConfig) -> str:
    """The name of a run: all that decides what it learns."""
    deciding = {
        **{key: value for key, value in asdict(learning).items() if key != "experiment"},
        "sources": [games_digest(each) for each in learning.sources],
        "experiment": learning.plan.digest(),
        "code": provenance.code_digest(),
    }
    content = json.dumps(deciding, sort_keys=True, default=str)
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def learn(learning: LearnConfig, options: RunOptions, command: str) -> list[LearnedRound]:
    """Play, fit and match what is left; write the files, print the answer."""
    digest = learn_digest(learning)
    directory = options.results / learning.experiment.name / f"learn-{digest}"
    with (
        RunDirectory(directory, digest, options.fresh) as locked,
        open_run_log(directory / "run.log"),
    ):
        run = LearnRun(learning, directory.absolute(), locked, options, command)
        write_begin(run)
        rounds = list(play_rounds(run))
        write_best(run, best_round(rounds))
        result = result_to_json(learning, run.directory, command, rounds)
        write_text(directory / LEARNED_JSON, json.dumps(result, indent=1) + "\n")
        write_text(directory / PAGE, learn_page(directory))
        lines = list(result_lines(learning, run.directory, rounds))
        played = sum(each.weights.games + each.match.games for each in rounds)
        provenance.note_finished(run.directory, played)
        options.interrupts.finish()
        print_safely(
            lambda: print(
                json.dumps(result, indent=1) if options.json else "\n".join(map(printable, lines))
            )
        )
        run.say(f"everything: {directory}")
    return rounds


def write_best(run: LearnRun, best: LearnedRound | None) -> None:
    """Write the weights that go on, if any do."""
    if best is not None:
        write_and_reload(run.directory / WEIGHTS, best.weights)
        if best.weights.kind == FEATURES:
            write_text(run.directory / TEXT_WEIGHTS, weights_toml(best.weights))


def write_begin(run: LearnRun) -> None:
    """Write run.json."""
    learning = run.learning
    origin = provenance.identify_run(learning.experiment.name, learning.plan)
    again = repeatability(learning.plan, None).to_json(None)
    more = {"learned": learning.agent, "tables": learning.tables, "command": run.command}
    provenance.note_started(
        run.directory, origin._replace(digest=run.locked.digest), {**more, KEY: again}
    )


def play_rounds(run: LearnRun) -> Iterator[LearnedRound]:
    """Round after round; the last one is the first that is not better, or the last there is."""
    learning, player = run.learning, run.learning.own_spec
    seen = np.empty(0, np.uint64)
    for number in range(1, len(learning.games) + 1):
        teacher = player if learning.agent == learning.teacher else learning.spec
        games = load_or_play_games(run, teacher, number)
        seen = np.union1d(seen, games.keys)
        learned = run_round(run, games, player, number, seen)
        yield learned
        if learned.match.verdict is not MatchVerdict.BETTER:
            return
        player = with_weights(player, learned)


def with_weights(teacher: AgentSpec, learned: LearnedRound) -> AgentSpec:
    """The teacher with the weights of a round."""
    if learned.weights.kind == FEATURES:
        return teacher.replace(weights=dict(learned.weights.by_feature()))
    return teacher.replace(weights=str(learned.path))


def load_or_play_games(run: LearnRun, teacher: AgentSpec, number: int) -> RoundGames:
    """The games of a round: those of the runs that the file names, or new ones."""
    learning = run.learning
    if learning.sources:
        return stored_round(learning.of, learning.sources, learning.solve_from)
    run.say(f"round {number} of {len(learning.games)}: {learning.games[number - 1]:,} games")
    with open_displays(run.options.quiet, run.directory) as show:
        playing = run.options.playing
        section = run.locked.section(f"round-{number}")
        return round_games(learning, teacher, number, section, playing, show)


def run_round(
    run: LearnRun, games: RoundGames, teacher: AgentSpec, number: int, seen: NDArray[np.uint64]
) -> LearnedRound:
    """Fit the games of a round and match what comes of them against its teacher."""
    learning, path = run.learning, run.directory / f"round-{number}.npz"
    sample = make_sample(learning, games)
    fit = RoundFit(learning, sample, run.options.at_once, run.options.wall)
    fitted = fit.fitted(run.options.interrupts.look)
    weights = write_and_reload(path, fit.file(fitted, [run.command], number))
    run.say(fit_line(weights))
    learned = LearnedRound(number, weights, path, NO_MATCH, fit.calibrated(fitted))
    match = match_round(run, learned, teacher, seen, f"match-{number}")
    run.say(f"round {number}: {match.text}")
    return learned._replace(match=match)


def match_round(
    run: LearnRun,
    learned: LearnedRound,
    teacher: AgentSpec,
    seen: NDArray[np.uint64],
    name: str,
) -> RoundMatch:
    """The match of the weights of a round against its teacher."""
    with open_displays(run.options.quiet, run.directory) as show:
        return round_match(
            run.learning,
            (with_weights(teacher, learned), teacher),
            seen,
            run.locked.section(name),
            run.options.playing,
            show,
        )
