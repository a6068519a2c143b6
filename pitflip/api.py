"""The functions of `import pitflip`. Mistakes raise UserError, work to be continued Unfinished."""

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
from agents.registry import build, users_code
from agents.sandbox.sandbox import Sandbox
from arena.config.command_line import RunOptions, open_run_options
from arena.config.match import AgentLike, agent_name, agent_spec, match_tables
from arena.config.sweep import SweepPlan, build_experiment_or_sweep, format_toml
from arena.config.toml_file import Problems, Source, from_tables, read
from arena.playing.options import Interrupts
from games import Game
from games.base.errors import UserError, print_error
from games.base.text import quote
from games.solving.solution import Solution, steps
from games.solving.solver import Allowance, Budget

if TYPE_CHECKING:  # it takes a second to load
    import pandas as pd

    from pitflip.stored_run import Run

Tables = Mapping[str, object]  # a dict of the same shape as a TOML file
FROM_FILE = (
    "pass the name of a kind, a bot's file or a table: bots are files, they run in a sandbox"
)


class PlayedGame(NamedTuple):
    """A finished game; `moves` are written as on the board, `players` are in the order of moving.

    `winner` is None for a draw; `reason` says why the game was forfeited, if it was.
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
    """A finished study: `weights` are the recommended ones, `verdict` is that of the validation."""

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
    continues and a finished one is returned at once. A check that fails raises nothing.
    """
    source, problems, changes = _read(experiment, set)
    asked = build_experiment_or_sweep(source, problems, changes)
    if isinstance(asked, SweepPlan):
        raise UserError(f"{asked.name} is a sweep of several runs: use pitflip run FILE")
    from arena.pipeline.run import directory_of_run  # noqa: PLC0415  # it loads the kernels
    from arena.pipeline.run import run as run_experiment  # noqa: PLC0415
    from pitflip.stored_run import load  # noqa: PLC0415

    with _options(results, workers, cluster, fresh, progress, changes) as options:
        run_experiment(asked, options)
    return load(directory_of_run(asked, Path(results)))


def match(
    first: AgentLike,
    second: AgentLike,
    *,
    game: str = "kalah(6,4)",
    pairs: int = 100,
    openings: Tables | None = None,
    sprt: tuple[float, float] | None = None,
    seed: int = 1,
    results: str | Path = "results",
    workers: int | None = None,
    progress: bool | None = None,
) -> "Run":
    """Play two agents against each other and return the run.

    `openings` are as in an experiment file; `sprt` ends the match when a sequential test decides
    between two differences in Elo.
    """
    for each in (first, second):
        _refuse_objects(each)
    settings = {
        "pairs": pairs,
        "seed": seed,
        "openings": openings,
        "stop": None if sprt is None else {"sprt": {"elo0": sprt[0], "elo1": sprt[1]}},
    }
    tables = match_tables(first, second, game, settings)
    return run(tables, results=results, workers=workers, progress=progress)


def play(
    game: str, first: AgentLike, second: AgentLike, *, seed: int = 1, opening: str = ""
) -> PlayedGame:
    """Play one game; `opening` is a line of moves that comes before the agents choose."""
    from arena.planning.games import DRAW, LOSS, WIN  # noqa: PLC0415  # it loads the kernels
    from arena.playing.referee import play_game  # noqa: PLC0415
    from games.board import Board  # noqa: PLC0415

    for each in (first, second):
        _refuse_objects(each)
    of, specs = games.game(game), (agent_spec(first), agent_spec(second))
    players = agent_name(first), agent_name(second)
    positions, words = of.replay(opening), of.notation.split(opening)
    line = [of.parse_move(at, word) for at, word in zip(positions, words, strict=False)]
    chance = random.Random(seed)
    seeds = chance.getrandbits(63), chance.getrandbits(63)
    with contextlib.closing(Sandbox()) as sandbox:
        settings = HostSettings(sandbox)
        seats = tuple((lambda spec=spec: create_agent(spec, of, settings)) for spec in specs)
        slots = [int(slot) for slot in of.slots_of(line)]
        record = play_game(Board(of), (seats[0], seats[1]), slots, seeds)
    end = of.replay(of.write(record.moves))[-1]
    winner = {WIN: players[0], DRAW: None, LOSS: players[1]}[record.result]
    moves = tuple(of.notation.split(of.write(record.moves)))
    return PlayedGame(of, players, moves, of.score(end), winner, record.trace)


def solve(game: str, position: str = "", *, seconds: float | None = None) -> Solution:
    """Solve a position, written as moves from the start or in one line.

    `seconds` limit the search; without an end the result has bounds.
    """
    from games.solve import make_solver, parse_position_or_moves  # noqa: PLC0415  # as above
    from games.solving.solution import hopeless  # noqa: PLC0415

    of = games.game(game)
    at = parse_position_or_moves(of, position)
    if seconds is None and (why := hopeless(of, at)):
        raise UserError(f"{why}; limit the search, as in seconds=60")
    solver = make_solver(of, seconds, None, print_error)
    solver.prepare()
    *_, known = steps(solver, at, Allowance(Budget(seconds=seconds)))
    return known


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

    `budget` are the seconds that it may play.
    """
    from arena.tuning.study import study_digest  # noqa: PLC0415  # it loads the kernels
    from arena.tuning.study import tune as tune_study  # noqa: PLC0415
    from arena.tuning.study_config import parse_study  # noqa: PLC0415

    source, problems, changes = _read(experiment, set)
    study = parse_study(source, problems)
    with _options(results, workers, cluster, fresh, progress, changes, budget=budget) as options:
        verdict = tune_study(study, options)
    name = f"tune-{study_digest(study, budget)}"
    directory = Path(results) / study.experiment.name / name
    stored = json.loads((directory / "recommendation.json").read_text())
    return StudyResult(directory, str(verdict), stored["recommended"], stored)


def rate(
    *files: str | Path, anchor: str | None = None, pool: bool = False, bootstrap: int = 200
) -> "pd.DataFrame":
    """Rate the games in runs, PGN, GGF, CSV and parquet files; one row for each agent and game."""
    import pandas as pd  # noqa: PLC0415  # as above

    from arena.analysis.tables import rating_rows  # noqa: PLC0415
    from arena.pipeline.external_games import rate_files  # noqa: PLC0415

    if not files:
        raise UserError("name at least one file with games")
    _, rated = rate_files(list(map(Path, files)), anchor=anchor, pool=pool, bootstrap=bootstrap)
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
    """Return a built-in agent that chooses moves in this process: agent.choose(position).move."""
    _refuse_objects(name)
    spec = agent_spec(name)
    if users_code(spec) is not None:
        raise UserError(f"{agent_name(name)} runs in a sandbox: use pitflip.play or pitflip.match")
    made: Agent = build(spec, games.game(game) if isinstance(game, str) else game)
    made.start(0)
    return made


def _refuse_objects(given: object) -> None:
    """Refuse a function or an object as an agent."""
    if not isinstance(given, str | Path | Mapping):
        raise UserError(f"an agent cannot be {quote(type(given).__name__)}: {FROM_FILE}")


def _read(
    experiment: str | Path | Tables, changes: Tables | None
) -> tuple[Source, Problems, tuple[str, ...]]:
    """Return the tables of an experiment with the changes, and the changes as --set has them."""
    words = tuple(f"{key}={format_toml(value)}" for key, value in (changes or {}).items())
    if isinstance(experiment, Mapping):
        return (*from_tables(experiment, words), words)
    return (*read(Path(experiment), words), words)


@contextlib.contextmanager
def _options(
    results: str | Path,
    workers: int | None,
    cluster: str | None,
    fresh: bool,
    progress: bool | None,
    changes: tuple[str, ...],
    **more: Any,
) -> Iterator[RunOptions]:
    """Open the options for playing; signals are handled in the main thread, until the end."""
    interrupts, quiet = Interrupts(), not (sys.stderr.isatty() if progress is None else progress)
    with contextlib.ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for each in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, each, signal.getsignal(each))
            stack.enter_context(interrupts.installed())
        yield stack.enter_context(
            open_run_options(
                interrupts,
                results=Path(results),
                workers=workers,
                cluster=cluster,
                fresh=fresh,
                quiet=quiet,
                tables=False,
                overrides=changes,
                **more,
            )
        )
