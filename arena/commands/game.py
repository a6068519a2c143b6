"""The command `pitflip game`: one game, one position."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agents.core import AgentSpec, HostSettings, SpecError
from agents.registry import kind_of
from agents.spec import spec_from_text, with_limits
from agents.user_files import missing_definition
from arena.commands.options import (
    DATABASE_BEANS,
    JSON,
    LIMITS,
    chosen_limits,
    duration,
    duration_or_zero,
    whole_number,
)
from arena.terminal.explanation import ExplainedPosition, print_exact_values, print_explanation
from games import Game, game
from games.base.cli import CommandParser
from games.base.errors import OK, UNFINISHED, UserError
from games.base.progress import Progress, ProgressLine, watch
from games.base.text import parse_whole_number, quote
from games.core import words_of
from games.kernels.context import DEEPEST

if TYPE_CHECKING:
    from arena.analysis.move_losses.run_lines import RunLines

EPILOG = """\
examples:
  pitflip game "kalah(6,4)" rules
  pitflip game "kalah(6,4)" replay "3 6 1 2"
  pitflip game "kalah(6,4)" perft 8
  pitflip game "kalah(6,3)" solve "3 6 1" --seconds 1m
  pitflip game "kalah(6,4)" explain "3 6 1" --agent smart
  pitflip game 'results/smart_vs_bad/1a2b3c#12@7' explain
A position is written as moves from the start or in one line.
exit status: 0 done; 2 there is no such game, position or agent; 3 solve: not
all is known"""
DEFAULT_AGENT = "smart"
REPLAY_SECONDS, EXPLAIN_SECONDS = 10.0, 3.0
MOVE_SECONDS = 86_400.0  # explain searches each move without the limit of the agent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.add_argument(
        "game", metavar="GAME", help='such as "kalah(6,4)", owari, othello; or RUN#GAME@PLY'
    )
    actions = parser.add_subparsers(
        dest="action",
        required=True,
        metavar="rules|replay|perft|solve|explain",
        parser_class=CommandParser,
    )
    actions.add_parser("rules", help="print the rules and the board")
    replay = actions.add_parser("replay", help="print a game move by move", parents=[JSON])
    replay.add_argument("moves", metavar="MOVES", help="the moves as on the board, with blanks")
    replay.add_argument("--start", metavar="POSITION", help="start from a position in one line")
    replay.add_argument("--values", action="store_true", help="print the exact value of each move")
    add_seconds(replay, f"time for --values (default: {REPLAY_SECONDS:.0f}s)", REPLAY_SECONDS)
    perft = actions.add_parser("perft", help="count move sequences by depth", parents=[JSON])
    perft.add_argument(
        "depth", type=whole_number(1, DEEPEST), metavar="DEPTH", help=f"1 to {DEEPEST}"
    )
    solve = actions.add_parser(
        "solve", help="find the value of every move", parents=[JSON, DATABASE_BEANS]
    )
    add_position(solve)
    add_seconds(solve, "stop after this time")
    explain = actions.add_parser(
        "explain", help="print why an agent plays its move", parents=[LIMITS]
    )
    add_position(explain)
    explain.add_argument(
        "--agent",
        help="a kind, a bot's file or FILE.toml:NAME; for a run a name (default: the mover)",
    )
    explain.add_argument(
        "--solve-seconds",
        type=duration_or_zero,
        default=EXPLAIN_SECONDS,
        metavar="TIME",
        help=f"time for exact values (default: {EXPLAIN_SECONDS:.0f}s; 0: none)",
    )


def add_position(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a position."""
    parser.add_argument("position", nargs="?", default="", metavar="POSITION")


def add_seconds(parser: argparse.ArgumentParser, text: str, default: float | None = None) -> None:
    """Add a time limit."""
    parser.add_argument("--seconds", type=duration, default=default, metavar="TIME", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    return ACTIONS[arguments.action](arguments)


def print_rules(arguments: argparse.Namespace) -> int:
    """Print how a game is played."""
    of = game(arguments.game)
    print(of.name, *words_of(of).rule(of), of.draw(of.start()), sep="\n")
    return OK


def print_replay(arguments: argparse.Namespace) -> int:
    """Print a written game move by move, or its end as JSON."""
    from games.replay import (  # noqa: PLC0415  # only this subcommand needs it
        replay_summary,
        replay_text,
        replay_text_with_values,
        solve_positions,
        values_json,
    )

    of, moves = game(arguments.game), arguments.moves
    start = of.parse(arguments.start) if arguments.start is not None else None
    positions = of.replay(moves, start)
    values = solve_positions(of, positions, arguments.seconds) if arguments.values else []
    if arguments.json:
        more = {"values": values_json(of, positions, values)} if arguments.values else {}
        print(json.dumps(replay_summary(of, positions) | more))
    elif arguments.values:
        print(replay_text_with_values(of, positions, moves, values))
    else:
        print(replay_text(of, positions, moves))
    return OK


def print_perft(arguments: argparse.Namespace) -> int:
    """Print how many move sequences there are of each depth."""
    from games import perft  # noqa: PLC0415  # only this subcommand needs it

    of = game(arguments.game)
    if arguments.json:
        print(perft.perft_json(of, arguments.depth))
    else:
        perft.print_perft(of, arguments.depth)
    return OK


def print_solution(arguments: argparse.Namespace) -> int:
    """Solve a position and print what is known; the status says whether that is all."""
    from games.solve import parse_position_or_moves, solve_and_print  # noqa: PLC0415

    of = game(arguments.game)
    position = parse_position_or_moves(of, arguments.position)
    complete = solve_and_print(
        of, position, arguments.seconds, arguments.database_beans, json_only=arguments.json
    )
    return OK if complete else UNFINISHED


def explain_move(arguments: argparse.Namespace) -> int:
    """Print why an agent plays its move."""
    directory, mark, place = arguments.game.rpartition("#")
    limits = chosen_limits(arguments)
    if mark:
        asked = position_of_run(Path(directory), place, arguments.agent, limits)
    else:
        asked = position_of_game(game(arguments.game), arguments, limits)
    check_explainable(asked, limits)
    from agents.create import create_agent  # noqa: PLC0415  # not needed for mistakes
    from agents.sandbox.protocol_agent import accepts_any_position  # noqa: PLC0415
    from agents.sandbox.sandbox import Sandbox  # noqa: PLC0415
    from agents.search.explanation import without_noise  # noqa: PLC0415

    sandbox = Sandbox()
    try:
        settings = HostSettings(sandbox, MOVE_SECONDS, thoughts=True)
        agent = create_agent(without_noise(asked.spec, kind_of(asked.spec)), asked.of, settings)
        if not accepts_any_position(agent):
            raise SpecError(f"{asked.name} follows the game move by move: it cannot begin later")
        with ProgressLine() as line, watch(line.show, lambda: Progress("getting ready")):
            agent.start(0)
        print_explanation(asked, agent)
    finally:
        sandbox.close()
    if arguments.solve_seconds:
        print_exact_values(asked.of, asked.position, arguments.solve_seconds)
    return OK


def check_explainable(asked: ExplainedPosition, limits: Mapping[str, object]) -> None:
    """Raise a UserError if the agent has no such limit, or the game is over."""
    for name in limits:
        if not kind_of(asked.spec).option(name):
            file = asked.spec.options["file"] if asked.spec.kind == "python" else None
            if file is not None and (missing := missing_definition(file, "choose")):
                raise SpecError(missing)
            raise SpecError(f"--{name} is for agents that search; {asked.name} does not")
    if asked.of.over(asked.position):
        text = asked.of.text(asked.position)
        raise UserError(f"{asked.of.name}: the game is over in {quote(text)}")


def position_of_game(
    of: Game, arguments: argparse.Namespace, limits: Mapping[str, float | str]
) -> ExplainedPosition:
    """Return a written position with the agent to explain."""
    from arena.storage.versions import resolve_version  # noqa: PLC0415
    from games.solve import parse_position_or_moves  # noqa: PLC0415

    name = arguments.agent or DEFAULT_AGENT
    spec = spec_from_text(name, limits, resolve_version)
    if spec.kind == "human":
        raise SpecError("a person cannot be explained: name another agent with --agent")
    return ExplainedPosition(of, parse_position_or_moves(of, arguments.position), name, spec)


def position_of_run(
    directory: Path, place: str, agent: str | None, limits: Mapping[str, float | str]
) -> ExplainedPosition:
    """Return the position after PLY moves of a stored game; `place` is GAME@PLY."""
    from arena.analysis.move_losses.run_lines import load_run_lines  # noqa: PLC0415
    from arena.storage.run_file import changes_since_run  # noqa: PLC0415

    number, _, ply = place.partition("@")
    run = load_run_lines(directory)
    row = parse_whole_number(str(directory), "the game", number, range(len(run.line_of)))
    moves = run.words[run.line_of[row]]
    at = parse_whole_number(f"{directory}#{row}", "the ply", ply or "0", range(len(moves) + 1))
    position = run.of.replay(" ".join(moves[:at]))[-1]
    name = agent or run.plan.names[run.seats[row][position.mover]]
    spec = with_limits(agent_of_run(run, name), limits)
    played = run.of.parse_move(position, moves[at]) if at < len(moves) else None
    for note in changes_since_run(directory):
        print(f"note: {note}")
    return ExplainedPosition(run.of, position, name, spec, played, at < run.opening_plies[row])


def agent_of_run(run: "RunLines", name: str) -> AgentSpec:
    """Return the spec of an agent of a run."""
    from arena.planning.schedules.registry import unknown_agent_message  # noqa: PLC0415

    if name not in run.plan.agents:
        raise SpecError(unknown_agent_message(name, run.plan.names))
    return run.plan.agents[name]


ACTIONS = {
    "rules": print_rules,
    "replay": print_replay,
    "perft": print_perft,
    "solve": print_solution,
    "explain": explain_move,
}
