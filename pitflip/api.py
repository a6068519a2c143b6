"""The functions of `import pitflip`.

Mistakes raise UserError; work that can be continued raises Unfinished.
"""

import contextlib
import json
import random
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import games
from agents.core import Agent, HostSettings
from agents.create import create_agent
from agents.registry import build, user_code_reason
from agents.sandbox.sandbox import Sandbox
from arena.config.experiment import AgentLike, agent_name, agent_spec, match_tables, stop_table
from arena.config.run_options import RunOptions, open_run_options
from arena.config.sweep import SweepPlan, build_experiment_or_sweep
from arena.config.toml_file import (
    Problems,
    Source,
    read_experiment_file,
    source_from_tables,
)
from arena.playing.options import Interrupts
from games import Game
from games.base.errors import UserError, print_error
from games.base.files import format_toml
from games.base.text import quote
from games.solving.solution import Solution, solve_steps
from games.solving.solver import Allowance, Budget

if TYPE_CHECKING:  # it takes a second to load
    import pandas as pd

    from pitflip.stored_run import Run

Tables = Mapping[str, object]  # a dict of the same shape as a TOML file
FROM_FILE = (
    "pass a kind, the path of a bot's file, or a table: bots run in a sandbox, so they are files"
)


class PlayedGame(NamedTuple):
    """A finished game; `players` has the side that moves first, then the other.

    `moves` are in the notation of the game. `winner` is None for a draw; `reason` says why the
    game was forfeited, if it was.
    """

    game: Game
    players: tuple[str, str]
    moves: tuple[str, ...]
    score: tuple[int, int]
    winner: str | None
    reason: str = ""

    def __repr__(self) -> str:
        won = f"{self.winner} won" if self.winner else "a draw"
        score = "forfeited" if self.reason else f"{self.score[0]}-{self.score[1]}"
        players = " against ".join(self.players)
        return f"PlayedGame({self.game.name}, {players}: {won}, {score}, {len(self.moves)} moves)"


class StudyResult(NamedTuple):
    """A finished study: the recommended weights, and the verdict of the validation."""

    directory: Path
    verdict: str  # "better", "not better", "undecided" or "flat"
    weights: Mapping[str, object]
    recommendation: Mapping[str, object]  # all of recommendation.json


def run(
    experiment: str | Path | Tables,
    *,
    set: Tables | None = None,  # noqa: A002  # as --set
    results: str | Path = "results",
    workers: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> "Run":
    """Play an experiment, from a file or a dict, and return its run.

    `set` changes values, as in {"agents.smart.depth": 6}. Called again, an interrupted run
    continues and a finished one is returned at once. A failed check raises no exception.
    """
    source, problems, changes = _read_source(experiment, set)
    parsed = build_experiment_or_sweep(source, problems, changes)
    if isinstance(parsed, SweepPlan):
        raise UserError(f"{parsed.name} is a sweep of several runs: use pitflip run FILE")
    from arena.pipeline.run import run_experiment
    from pitflip.stored_run import load

    with _open_options(results, workers, cluster, fresh, progress, changes) as options:
        return load(run_experiment(parsed, options).directory)


def match(
    first: AgentLike,
    second: AgentLike,
    *,
    game: str = "kalah(6,4)",
    pairs: int | None = None,
    openings: Tables | None = None,
    sprt: tuple[float, float] | None = None,
    width: float | None = None,
    seed: int = 1,
    results: str | Path = "results",
    workers: int | None = None,
    progress: bool | None = None,
) -> "Run":
    """Play two agents against each other and return the run.

    `second="scale"` rates the agent on the absolute scale of the game. `openings` are as in an
    experiment file; `sprt` ends the match when a sequential test decides between two differences
    in Elo, `width` when half the width of the interval is that many Elo. Without `pairs`, there
    are 100, on a scale at most 200, and with `sprt` or `width` at most 10,000.
    """
    for each in (first, second):
        _refuse_objects(each)
    settings = {
        "pairs": pairs,
        "seed": seed,
        "openings": openings,
        "stop": stop_table(width, sprt),
    }
    tables = match_tables(first, second, game, settings)
    return run(tables, results=results, workers=workers, progress=progress)


def play(
    game: str, first: AgentLike, second: AgentLike, *, seed: int = 1, opening: str = ""
) -> PlayedGame:
    """Play one game; the moves of `opening` are played before the agents choose."""
    from arena.planning.games import DRAW, LOSS, WIN
    from arena.playing.referee import play_game
    from games.board import Board

    for each in (first, second):
        _refuse_objects(each)
    rules, specs = games.game(game), (agent_spec(first), agent_spec(second))
    players = agent_name(first), agent_name(second)
    positions, words = rules.replay(opening), rules.notation.split(opening)
    line = [rules.parse_move(before, word) for before, word in zip(positions, words, strict=False)]
    chance = random.Random(seed)
    seeds = chance.getrandbits(63), chance.getrandbits(63)
    with contextlib.closing(Sandbox()) as sandbox:
        settings = HostSettings(sandbox)
        seats = tuple((lambda spec=spec: create_agent(spec, rules, settings)) for spec in specs)
        slots = [int(slot) for slot in rules.slots_of(line)]
        record = play_game(Board(rules), (seats[0], seats[1]), slots, seeds)
    end = rules.replay(rules.write(record.moves))[-1]
    winner = {WIN: players[0], DRAW: None, LOSS: players[1]}[record.result]
    moves = tuple(rules.notation.split(rules.write(record.moves)))
    return PlayedGame(rules, players, moves, rules.score(end), winner, record.trace)


def solve(game: str, position: str = "", *, seconds: float | None = None) -> Solution:
    """Solve a position, written as moves from the start or in one line.

    `seconds` limit the search; an unfinished search returns bounds.
    """
    from arena.terminal.game_text import make_solver
    from games.solving.solution import size_warning
    from games.transcripts import parse_position_or_moves

    rules = games.game(game)
    start = parse_position_or_moves(rules, position)
    if seconds is None and (why := size_warning(rules, start)):
        raise UserError(f"{why}; limit the search, as in seconds=60")
    solver = make_solver(rules, seconds, None, print_error)
    solver.prepare()
    *_, solution = solve_steps(solver, start, Allowance(Budget(seconds=seconds)))
    return solution


def tune(
    experiment: str | Path | Tables,
    *,
    budget: float | None = None,
    set: Tables | None = None,  # noqa: A002  # as --set
    results: str | Path = "results",
    workers: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> StudyResult:
    """Run the study of an experiment with [tune] and return its recommendation.

    `budget` limits the time for games, in seconds.
    """
    from arena.tuning.study import study_digest
    from arena.tuning.study import tune as tune_study
    from arena.tuning.study_config import parse_study

    source, problems, changes = _read_source(experiment, set)
    study = parse_study(source, problems)
    with _open_options(
        results, workers, cluster, fresh, progress, changes, budget=budget, tables=False
    ) as options:
        verdict = tune_study(study, options)
    name = f"tune-{study_digest(study, budget)}"
    directory = Path(results) / study.experiment.name / name
    stored = json.loads((directory / "recommendation.json").read_text())
    return StudyResult(directory, str(verdict), stored["recommended"], stored)


def rate(*files: str | Path, anchor: str | None = None, bootstrap: int = 200) -> "pd.DataFrame":
    """Rate the agents of runs and game files; return a row for each agent on each scale."""
    import pandas as pd

    from arena.analysis.tables import rating_rows
    from arena.pipeline.external_games import rate_files

    if not files:
        raise UserError("name at least one file with games")
    _, rated = rate_files(list(map(Path, files)), anchor=anchor, bootstrap=bootstrap)
    rows = [
        {"game": scale.game, **row._asdict()}
        for scale, standings in rated
        for row in rating_rows(standings.agents, standings.groups)
    ]
    return pd.DataFrame(rows)


def game(name: str) -> Game:
    """Return a game, such as game("kalah(6,4)"): its rules as functions of positions."""
    return games.game(name)


def agent(name: AgentLike, game: str | Game) -> Agent:
    """Return a built-in agent in this process; agent.choose(position).move is its move."""
    _refuse_objects(name)
    spec = agent_spec(name)
    if user_code_reason(spec) is not None:
        raise UserError(f"{agent_name(name)} runs in a sandbox: use pitflip.play or pitflip.match")
    made: Agent = build(spec, games.game(game) if isinstance(game, str) else game)
    made.start(0)
    return made


def _refuse_objects(given: object) -> None:
    """Refuse a function or an object as an agent."""
    if not isinstance(given, str | Path | Mapping):
        raise UserError(f"an agent cannot be {quote(type(given).__name__)}: {FROM_FILE}")


def _read_source(
    experiment: str | Path | Tables, changes: Tables | None
) -> tuple[Source, Problems, tuple[str, ...]]:
    """Return the changed tables, their problems, and the changes as values of --set."""
    words = tuple(f"{key}={format_toml(value)}" for key, value in (changes or {}).items())
    if isinstance(experiment, Mapping):
        return (*source_from_tables(experiment, words), words)
    return (*read_experiment_file(Path(experiment), words), words)


@contextlib.contextmanager
def _open_options(
    results: str | Path,
    workers: int | None,
    cluster: str | None,
    fresh: bool,
    progress: bool | None,
    changes: tuple[str, ...],
    **more: Any,
) -> Iterator[RunOptions]:
    """Open the options for playing; in the main thread, also handle signals meanwhile."""
    interrupts, quiet = Interrupts(), not (sys.stderr.isatty() if progress is None else progress)
    with contextlib.ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for each in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, each, signal.getsignal(each))
            stack.enter_context(interrupts.handle_signals())
        yield stack.enter_context(
            open_run_options(
                interrupts,
                results=Path(results),
                workers=workers,
                cluster=cluster,
                fresh=fresh,
                quiet=quiet,
                overrides=changes,
                **more,
            )
        )
