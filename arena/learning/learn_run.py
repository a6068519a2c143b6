"""Learning from file to verdict: play, fit, match, round after round; write, show."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from arena.keeping import provenance
from arena.keeping.journal import Journal
from arena.keeping.run_log import RunLog
from arena.learning.group_answers import GroupAnswer, group_answers
from arena.learning.learn_answer import (
    TEXT_WEIGHTS,
    WEIGHTS,
    CurvePoint,
    LearnedRound,
    answer_json,
    answer_lines,
    best_of,
    fit_line,
    r2_of,
    weights_toml,
)
from arena.learning.learn_file import FEATURES, Learning
from arena.learning.learn_page import LEARNED_JSON, learn_page
from arena.learning.round_fit import Fitted, RoundFit, sample_of, written
from arena.learning.round_games import RoundGames, round_games
from arena.learning.round_match import BEFORE, LEARNED, RoundMatch, RoundVerdict, round_match
from arena.learning.stored_runs import games_digest, stored_round
from arena.reading.command_line import RunOptions
from arena.showing.live_line import LiveLine, run_shown
from arena.showing.report.whole_page import PAGE
from games.terminal import printable, printed, say
from games.whole_files import write_text

CURVE = (1 / 16, 1 / 4)


@dataclass(frozen=True)
class LearnRun:
    """A run under way: its file, its directory, how it plays."""

    learning: Learning
    directory: Path
    digest: str
    options: RunOptions
    command: str

    def say(self, text: str) -> None:
        """A line for people who watch."""
        if not self.options.quiet:
            say(text)


def learn_digest(learning: Learning) -> str:
    """The name of a run: all that decides what it learns."""
    deciding = {
        **{key: value for key, value in asdict(learning).items() if key != "experiment"},
        "sources": [games_digest(each) for each in learning.sources],
        "experiment": learning.plan.digest(),
        "code": provenance.code_digest(),
    }
    content = json.dumps(deciding, sort_keys=True, default=str)
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def learn(learning: Learning, options: RunOptions, command: str) -> list[LearnedRound]:
    """Play, fit and match what is left; write the files, print the answer."""
    digest = learn_digest(learning)
    directory = options.results / learning.experiment.name / f"learn-{digest}"
    with Journal(directory, digest, options.fresh), RunLog(directory / "run.log"):
        run = LearnRun(learning, directory.absolute(), digest, options, command)
        write_begin(run)
        rounds = list(played_rounds(run))
        write_best(run, best_of(rounds))
        result = answer_json(learning, run.directory, command, rounds)
        write_text(directory / LEARNED_JSON, json.dumps(result, indent=1) + "\n")
        write_text(directory / PAGE, learn_page(directory))
        lines = list(answer_lines(learning, run.directory, rounds))
        options.interrupts.finish()
        printed(
            lambda: print(
                json.dumps(result, indent=1) if options.json else "\n".join(map(printable, lines))
            )
        )
        run.say(f"everything: {directory}")
    return rounds


def write_best(run: LearnRun, best: LearnedRound | None) -> None:
    """Write the weights that go on, if any do."""
    if best is not None:
        written(run.directory / WEIGHTS, best.weights)
        if best.weights.kind == FEATURES:
            write_text(run.directory / TEXT_WEIGHTS, weights_toml(best.weights))


def write_begin(run: LearnRun) -> None:
    """Write run.json."""
    learning = run.learning
    origin = provenance.origin_of(learning.experiment.name, learning.plan)
    more = {"learned": learning.agent, "tables": learning.tables, "command": run.command}
    provenance.write_run(run.directory, origin._replace(digest=run.digest), more)


def played_rounds(run: LearnRun) -> Iterator[LearnedRound]:
    """Round after round; the last one is the first that is not better, or the last there is."""
    learning, player = run.learning, run.learning.own_spec
    seen = np.empty(0, np.uint64)
    for number in range(1, len(learning.games) + 1):
        teacher = player if learning.agent == learning.teacher else learning.spec
        games = games_of_round(run, teacher, number)
        seen = np.union1d(seen, games.keys)
        learned = learned_round(run, games, player, number, seen)
        yield learned
        if learned.match.verdict is not RoundVerdict.BETTER:
            return
        player = with_weights(player, learned)


def with_weights(teacher: AgentSpec, learned: LearnedRound) -> AgentSpec:
    """The teacher with the weights of a round."""
    if learned.weights.kind == FEATURES:
        return teacher.changed(weights=dict(learned.weights.by_feature()))
    return teacher.changed(weights=str(learned.path))


def games_of_round(run: LearnRun, teacher: AgentSpec, number: int) -> RoundGames:
    """The games of a round: those of the runs that the file names, or new ones."""
    learning = run.learning
    if learning.sources:
        return stored_round(learning.of, learning.sources, learning.solve_from)
    run.say(f"round {number} of {len(learning.games)}: {learning.games[number - 1]:,} games")
    with LiveLine(run.options.quiet, run.directory) as line:

        def show(done: int, total: int) -> None:
            line.show(lambda seconds: [progress_line(number, done, total, seconds)])

        playing = run.options.playing
        return round_games(learning, teacher, number, run.directory, run.digest, playing, show)


def progress_line(number: int, done: int, total: int, seconds: float) -> str:
    """How far the games of a round are."""
    return f"round {number}: {done:,} of {total:,} games, {seconds:,.0f} s"


def learned_round(
    run: LearnRun, games: RoundGames, teacher: AgentSpec, number: int, seen: NDArray[np.uint64]
) -> LearnedRound:
    """Fit the games of a round and match what comes of them against its teacher."""
    learning, path = run.learning, run.directory / f"round-{number}.npz"
    sample = sample_of(learning, games)
    fit = RoundFit(learning, sample, run.options.workers, run.options.wall)
    fitted = fit.fitted(run.options.interrupts.look)
    weights = written(path, fit.file(fitted, [run.command], number))
    run.say(fit_line(weights))
    learned = LearnedRound(number, weights, path, NO_MATCH, fit.calibrated(fitted), [], [])
    match = matched(run, learned, teacher, seen, f"match-{number}")
    run.say(f"round {number}: {match.text}")
    learned = learned._replace(match=match)
    if number < len(learning.games) and match.verdict is RoundVerdict.BETTER:
        return learned
    if learning.curve:
        learned = learned._replace(curve=curve(run, learned, fit, teacher, seen))
    if learning.matters:
        learned = learned._replace(answers=answers(run, learned, fitted, fit, teacher, seen))
    return learned


def curve(
    run: LearnRun,
    learned: LearnedRound,
    fit: RoundFit,
    teacher: AgentSpec,
    seen: NDArray[np.uint64],
) -> list[CurvePoint]:
    """What a sixteenth, a quarter and all of the games of the last round bring."""
    points = [point(run, share, fit, teacher, seen) for share in CURVE]
    whole = matched(run, learned, teacher, seen, "curve-1", to_the_end=True)
    count, r2 = learned.weights.games, r2_of(learned.weights)
    return [*points, CurvePoint(1.0, count, r2, whole)]


def answers(
    run: LearnRun,
    learned: LearnedRound,
    fitted: Fitted,
    fit: RoundFit,
    teacher: AgentSpec,
    seen: NDArray[np.uint64],
) -> list[GroupAnswer]:
    """Which groups of tables, or which features, matter: each is left out in turn."""
    against = with_weights(teacher, learned)

    def without(name: str) -> tuple[NDArray[np.float64], RoundMatch]:
        left = fit.fitted(run.options.interrupts.look, (fitted.ridge,), name)
        file = f"without-{fit.names.index(name) + 1}"  # a user's names are no names of files
        path = run.directory / f"{file}.npz"
        read = written(path, fit.file(left, [run.command], 0))
        rest = LearnedRound(0, read, path, NO_MATCH, [], [], [])
        return left.errors, matched(run, rest, against, seen, file, to_the_end=True)

    games, little = fit.tests(fitted), run.learning.match.elo1
    found = []
    for answer in group_answers(fit.names, fitted.errors, games, without, little):
        run.say(answer.line)
        found.append(answer)
    return found


NO_MATCH = RoundMatch(RoundVerdict.UNDECIDED, None, 0, "")  # type: ignore[arg-type]  # not yet played


def matched(
    run: LearnRun,
    learned: LearnedRound,
    teacher: AgentSpec,
    seen: NDArray[np.uint64],
    name: str,
    *,
    to_the_end: bool = False,
) -> RoundMatch:
    """The match of the weights of a round against its teacher."""
    with LiveLine(run.options.quiet, run.directory) as line:
        return round_match(
            run.learning,
            (with_weights(teacher, learned), teacher),
            seen,
            name,
            run.directory,
            run.options.playing,
            run_shown(line, (LEARNED, BEFORE)),
            run.digest,
            to_the_end=to_the_end,
        )


def point(
    run: LearnRun, share: float, fit: RoundFit, teacher: AgentSpec, seen: NDArray[np.uint64]
) -> CurvePoint:
    """What a share of the games would have brought."""
    name = f"curve-{share:g}"
    sample = fit.sample.share(share)
    less = RoundFit(run.learning, sample, run.options.workers, run.options.wall)
    weights = less.file(less.fitted(run.options.interrupts.look), [run.command], 0)
    count = int(share * weights.games)
    path = run.directory / f"{name}.npz"
    read = written(path, replace(weights, games=count))
    learned = LearnedRound(0, read, path, NO_MATCH, [], [], [])
    match = matched(run, learned, teacher, seen, name, to_the_end=True)
    run.say(f"{count:,} games: {match.text}")
    return CurvePoint(share, count, r2_of(read), match)
