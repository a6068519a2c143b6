"""The command `pitflip game`."""

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
    duration,
    duration_or_zero,
    search_limits,
    whole_number,
)
from arena.terminal.explanation import ExplainedPosition, print_exact_values, print_explanation
from games import Game
from games import game as load_game
from games.base.cli import CommandParser
from games.base.errors import OK, UNFINISHED, UserError
from games.base.progress import Progress, ProgressLine, watch
from games.base.text import parse_whole_number, quote
from games.kernels.context import DEEPEST
from games.transcripts import parse_position_or_moves

if TYPE_CHECKING:
    from arena.analysis.move_losses.run_lines import RunLines

EPILOG = """\
A position is a list of moves from the start, or one line as `replay --json`
prints it.
exit status: 0 done; 2 there is no such game, position or agent; 3 solve: only
bounds are known

examples:
  pitflip game "kalah(6,4)" rules
  pitflip game "kalah(6,4)" replay "3 6 1 2"
  pitflip game "kalah(6,4)" perft 8
  pitflip game "kalah(6,3)" solve "3 6 1" --seconds 1m
  pitflip game "kalah(6,4)" explain "3 6 1" --agent smart
  pitflip game 'results/smart_vs_bad/1a2b3c#12@7' explain"""
DEFAULT_AGENT = "smart"
REPLAY_SECONDS, EXPLAIN_SECONDS = 10.0, 3.0
MOVE_SECONDS = 86_400.0  # explain searches all moves, so the agent's own limit is too short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.add_argument(
        "game",
        metavar="GAME",
        help='such as "kalah(6,4)", owari, othello; for explain also RUN#GAME@PLY: the position '
        "after PLY moves of a stored game",
    )
    actions = parser.add_subparsers(
        dest="action",
        required=True,
        metavar="rules|replay|perft|solve|explain",
        parser_class=CommandParser,
    )

    def add(name: str, summary: str, *parents: CommandParser) -> CommandParser:
        description = f"{summary.capitalize()}."
        return actions.add_parser(name, help=summary, description=description, parents=parents)

    add("rules", "print the rules and the board")
    replay = add("replay", "print a game move by move", JSON)
    replay.add_argument("moves", metavar="MOVES", help='the moves, such as "3 6 1 2"')
    replay.add_argument("--start", metavar="POSITION", help="start from this position, in one line")
    replay.add_argument("--values", action="store_true", help="print the exact value of each move")
    add_seconds(replay, f"time for --values (default: {REPLAY_SECONDS:.0f}s)", REPLAY_SECONDS)
    perft = add("perft", "count the move sequences of each length", JSON)
    perft.add_argument(
        "depth",
        type=whole_number(1, DEEPEST),
        metavar="DEPTH",
        help=f"longest sequence in plies, 1 to {DEEPEST}",
    )
    solve = add("solve", "find the value of every move under perfect play", JSON, DATABASE_BEANS)
    add_position(solve)
    add_seconds(solve, "stop after this time and print bounds (default: no limit)")
    explain = add("explain", "print why an agent plays its move", LIMITS)
    add_position(explain)
    explain.add_argument(
        "--agent",
        help="a kind, a bot's file or FILE.toml:NAME (default: smart); for a move of a run, the "
        "name of an agent (default: the agent to move)",
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
    parser.add_argument(
        "position",
        nargs="?",
        default="",
        metavar="POSITION",
        help="moves from the start, or a position in one line (default: the start)",
    )


def add_seconds(parser: argparse.ArgumentParser, text: str, default: float | None = None) -> None:
    """Add a time limit."""
    parser.add_argument("--seconds", type=duration, default=default, metavar="TIME", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    return ACTIONS[arguments.action](arguments)


def print_rules(arguments: argparse.Namespace) -> int:
    """Print the rules and the board of a game."""
    game = load_game(arguments.game)
    print(game.name, *game.notation.rule_lines(game), game.draw(game.start()), sep="\n")
    return OK


def print_replay(arguments: argparse.Namespace) -> int:
    """Print a game move by move, or its last position as JSON."""
    from arena.terminal.game_text import (
        replay_summary,
        replay_text,
        replay_text_with_values,
        solve_positions,
        values_json,
    )

    game, moves = load_game(arguments.game), arguments.moves
    start = game.parse(arguments.start) if arguments.start is not None else None
    positions = game.replay(moves, start)
    values = solve_positions(game, positions, arguments.seconds) if arguments.values else []
    if arguments.json:
        more = {"values": values_json(game, positions, values)} if arguments.values else {}
        print(json.dumps(replay_summary(game, positions) | more))
    elif arguments.values:
        print(replay_text_with_values(game, positions, moves, values))
    else:
        print(replay_text(game, positions, moves))
    return OK


def print_perft(arguments: argparse.Namespace) -> int:
    """Print the number of move sequences of each length."""
    from arena.terminal import game_text

    game = load_game(arguments.game)
    if arguments.json:
        print(game_text.perft_json(game, arguments.depth))
    else:
        game_text.print_perft(game, arguments.depth)
    return OK


def print_solution(arguments: argparse.Namespace) -> int:
    """Print the value of a position; the status is UNFINISHED if only bounds are known."""
    from arena.terminal.game_text import solve_and_print

    game = load_game(arguments.game)
    position = parse_position_or_moves(game, arguments.position)
    complete = solve_and_print(
        game, position, arguments.seconds, arguments.database_beans, json_only=arguments.json
    )
    return OK if complete else UNFINISHED


def explain_move(arguments: argparse.Namespace) -> int:
    """Print why an agent plays its move."""
    directory, mark, place = arguments.game.rpartition("#")
    limits = search_limits(arguments)
    if mark:
        explained = position_of_run(Path(directory), place, arguments.agent, limits)
    else:
        explained = position_of_game(load_game(arguments.game), arguments, limits)
    check_explainable(explained, limits)
    from agents.create import create_agent
    from agents.sandbox.protocol_agent import accepts_any_position
    from agents.sandbox.sandbox import Sandbox
    from agents.search.explanation import without_epsilon

    sandbox = Sandbox()
    try:
        settings = HostSettings(sandbox, MOVE_SECONDS, search_info=True)
        agent = create_agent(
            without_epsilon(explained.spec, kind_of(explained.spec)), explained.game, settings
        )
        if not accepts_any_position(agent):
            raise SpecError(
                f"{explained.name} must follow a game from its start, so it cannot be asked about "
                "one position"
            )
        with ProgressLine() as line, watch(line.show, lambda: Progress("getting ready")):
            agent.start(0)
        print_explanation(explained, agent)
    finally:
        sandbox.close()
    if arguments.solve_seconds:
        print_exact_values(explained.game, explained.position, arguments.solve_seconds)
    return OK


def check_explainable(explained: ExplainedPosition, limits: Mapping[str, object]) -> None:
    """Raise a UserError if the agent does not have these limits, or the game is over."""
    for name in limits:
        if not kind_of(explained.spec).option(name):
            file = explained.spec.options["file"] if explained.spec.kind == "python" else None
            if file is not None and (missing := missing_definition(file, "choose")):
                raise SpecError(missing)
            raise SpecError(f"--{name} is for agents that search; {explained.name} does not")
    if explained.game.over(explained.position):
        text = explained.game.text(explained.position)
        raise UserError(f"{explained.game.name}: the game is over in {quote(text)}")


def position_of_game(
    game: Game, arguments: argparse.Namespace, limits: Mapping[str, float | str]
) -> ExplainedPosition:
    """Return the position of the command line with the agent to explain."""
    from arena.storage.versions import resolve_version

    name = arguments.agent or DEFAULT_AGENT
    spec = spec_from_text(name, limits, resolve_version)
    if spec.kind == "human":
        raise SpecError("the moves of a person cannot be explained: choose an agent with --agent")
    position = parse_position_or_moves(game, arguments.position)
    return ExplainedPosition(game, position, name, spec)


def position_of_run(
    directory: Path, place: str, agent: str | None, limits: Mapping[str, float | str]
) -> ExplainedPosition:
    """Return the position after PLY moves of a stored game; `place` is GAME@PLY."""
    from arena.analysis.move_losses.run_lines import load_run_lines
    from arena.storage.run_file import changes_since_run

    number, _, ply = place.partition("@")
    run = load_run_lines(directory)
    row = parse_whole_number(str(directory), "the game", number, range(len(run.line_of)))
    moves = run.move_texts[run.line_of[row]]
    at = parse_whole_number(f"{directory}#{row}", "the ply", ply or "0", range(len(moves) + 1))
    position = run.game.replay(" ".join(moves[:at]))[-1]
    name = agent or run.plan.names[run.seats[row][position.mover]]
    spec = with_limits(agent_of_run(run, name), limits)
    played = run.game.parse_move(position, moves[at]) if at < len(moves) else None
    for note in changes_since_run(directory):
        print(f"note: {note}")
    return ExplainedPosition(run.game, position, name, spec, played, at < run.opening_plies[row])


def agent_of_run(run: "RunLines", name: str) -> AgentSpec:
    """Return the spec of an agent of a run."""
    from arena.planning.schedules.registry import unknown_agent_message

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
