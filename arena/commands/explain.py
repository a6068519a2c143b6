"""Why an agent plays what it plays: pitflip explain GAME POSITION --agent smart."""

import argparse
from pathlib import Path

from agents.core import AgentSpec, SpecError
from agents.options import LIMITS
from agents.options import limit_options as search_limits
from agents.registry import kind_of
from agents.user_files import missing_definition
from arena.terminal.explanation import ExplainedPosition, print_exact_values, print_explanation
from games import game
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, run, status_of
from games.base.progress import Progress, ProgressLine, watch
from games.base.text import parse_positive, parse_whole_number, quote

EXAMPLE = """\
examples:
  pitflip explain "kalah(6,4)" "3 6 1" --agent smart
  pitflip explain othello "" --agent experiments/mine.toml:mine --depth 4
  pitflip explain results/smart_vs_bad/1a2b3c#12@7"""

PATIENCE = 86_400.0  # seconds for an answer: a move is searched without the agent's limit


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip explain"),
        description="Every legal move with the value, depth and line of an agent, the terms of "
        "its evaluation, what it plays and why; beside it what is known of perfect play.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="GAME|RUN#game@ply", help="a game, or a place in a run")
    parser.add_argument(
        "position", nargs="?", default="", help="moves from the start, or a position in one line"
    )
    parser.add_argument(
        "--agent", help="a kind, a bot's file, FILE.toml:NAME; of a run its name (who moved)"
    )
    for option in search_limits():
        parser.add_argument(f"--{option.name}", metavar="N", help=option.words)
    parser.add_argument(
        "--perfect", metavar="S", default="3", help="seconds to look for perfect values (3; 0: no)"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if there is no such position or agent."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip explain", lambda: explain_position(chosen))


def explain_position(chosen: argparse.Namespace) -> int:
    """Ask the agent and print; the exit status."""
    seconds = 0.0 if chosen.perfect == "0" else parse_positive("--perfect", chosen.perfect)
    directory, mark, place = chosen.what.rpartition("#")
    asked = position_of_run(chosen, directory, place) if mark else position_of_game(chosen)
    for name in limits_of(chosen):
        if not kind_of(asked.spec).option(name):
            refuse_missing_function(asked.spec)
            raise SpecError(f"--{name} is for agents that search; {asked.name} does not")
    if asked.of.over(asked.position):
        text = asked.of.text(asked.position)
        raise UserError(f"{asked.of.name}: the game is over in {quote(text)}")
    # After --help and mistakes, which need none of it.
    from agents.core import HostSettings  # noqa: PLC0415
    from agents.create import create_agent  # noqa: PLC0415
    from agents.sandbox.protocol_agent import accepts_any_position  # noqa: PLC0415
    from agents.sandbox.sandbox import Sandbox  # noqa: PLC0415
    from agents.search.explanation import without_noise  # noqa: PLC0415

    wall = Sandbox()
    try:
        terms = HostSettings(wall, PATIENCE, thoughts=True)
        agent = create_agent(without_noise(asked.spec, kind_of(asked.spec)), asked.of, terms)
        if not accepts_any_position(agent):
            raise SpecError(f"{asked.name} follows the game move by move: it cannot begin later")
        with ProgressLine() as line, watch(line.show, lambda: Progress("getting ready")):
            agent.start(0)
        print_explanation(asked, agent)
    finally:
        wall.close()
    if seconds:
        print_exact_values(asked.of, asked.position, seconds)
    return OK


def refuse_missing_function(spec: AgentSpec) -> None:
    """Raise SpecError if the function that is named after a bot's file is not in it."""
    if spec.kind == "python" and (missing := missing_definition(spec.options["file"], "choose")):
        raise SpecError(missing)


def limits_of(chosen: argparse.Namespace) -> dict[str, float | str]:
    """The limits of the command line."""
    limits: dict[str, float | str] = {}
    for name in LIMITS:
        if (text := getattr(chosen, name)) is not None:
            number = parse_positive(f"--{name}", text)
            limits[name] = number if name == "seconds" else whole_number(name, text)
    return limits


def whole_number(name: str, text: str) -> int:
    """A depth or a number of nodes."""
    return parse_whole_number(
        "pitflip explain", f"--{name}", text, range(1, 101 if name == "depth" else 1 << 40)
    )


def position_of_game(chosen: argparse.Namespace) -> ExplainedPosition:
    """The position of a game that the command line describes."""
    from agents.spec import spec_from_text  # noqa: PLC0415
    from arena.storage.versions import resolve_version  # noqa: PLC0415
    from games.solve import parse_position_or_moves  # noqa: PLC0415

    of, name = game(chosen.what), chosen.agent or "smart"
    spec = spec_from_text(name, limits_of(chosen), resolve_version)
    if spec.kind == "human":
        raise SpecError("a person has reasons that no program knows: name another agent")
    return ExplainedPosition(of, parse_position_or_moves(of, chosen.position), name, spec)


def position_of_run(chosen: argparse.Namespace, directory: str, place: str) -> ExplainedPosition:
    """A position of a run's game: the number of the game, and how many moves were played."""
    from agents.spec import with_limits  # noqa: PLC0415
    from arena.analysis.move_losses.run_lines import load_run_lines  # noqa: PLC0415  # it loads pyarrow
    from arena.planning.schedules.registry import unknown_agent_message  # noqa: PLC0415
    from arena.storage.run_file import changes_since_run  # noqa: PLC0415

    number, _, ply = place.partition("@")
    run_ = load_run_lines(Path(directory))
    row = parse_whole_number(directory, "the game", number, range(len(run_.line_of)))
    moves = run_.words[run_.line_of[row]]
    at = parse_whole_number(f"{directory}#{row}", "the ply", ply or "0", range(len(moves) + 1))
    of = run_.of
    position = of.replay(" ".join(moves[:at]))[-1]
    names = run_.plan.names
    name = chosen.agent or names[run_.seats[row][position.mover]]
    if name not in names:
        raise SpecError(unknown_agent_message(name, names))
    played = of.parse_move(position, moves[at]) if at < len(moves) else None
    spec = with_limits(run_.plan.agents[name], limits_of(chosen))
    for note in changes_since_run(Path(directory)):
        print(f"note: {note}")
    by_opening = at < run_.opening_plies[row]
    return ExplainedPosition(of, position, name, spec, played, by_opening)


if __name__ == "__main__":
    run(main)
