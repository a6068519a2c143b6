"""The command `pitflip check`."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from agents.check import PAIRS, BotCheck, CheckReport, read_positions
from agents.core import AgentFailure, AgentSpec, HostSettings, SpecError
from agents.protocols import PROTOCOLS
from agents.registry import kind_of, kinds_for
from agents.sandbox.sandbox import Sandbox
from agents.spec import find_path, spec_from_text
from arena.commands.options import SHOW_OUTPUT, duration, whole_number
from arena.terminal.progress import show_output
from games import Game, Position
from games import game as load_game
from games.base.errors import CHECK_FAILED, OK, print_error, print_lines, printable
from games.base.progress import ProgressLine, watch

PARENTS = (SHOW_OUTPUT,)
EPILOG = """\
The bot is asked for moves at the start, after extra turns and passes and near
the end of games, and plays whole games from both sides.
exit status: 0 no faults; 1 faults; 2 there is no such bot

examples:
  pitflip check bots/my_bot.py
  pitflip check --kind gtp --game othello -- gtp-rhino -l 1"""
DEFAULT_GAMES = ("kalah(6,4)", "othello(8)", "kalah-manchester(7,7)")
SECONDS = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "bot",
        nargs="+",
        metavar="BOT",
        help="a bot's file, FILE.toml:NAME, or -- and a command with its arguments",
    )
    parser.add_argument(
        "--kind",
        choices=tuple(PROTOCOLS),
        help="the protocol that a command speaks (default: lines)",
    )
    parser.add_argument(
        "--game",
        action="append",
        help="a game to play; may be repeated (default: kalah(6,4) if the bot plays it)",
    )
    parser.add_argument(
        "--pairs",
        type=whole_number(1, 10_000),
        default=PAIRS,
        metavar="N",
        help=f"number of pairs of whole games (default: {PAIRS})",
    )
    parser.add_argument(
        "--positions",
        type=Path,
        metavar="FILE",
        help="a file with more positions to ask about, one per line",
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        default=SECONDS,
        metavar="TIME",
        help=f"time limit for each move (default: {SECONDS:.0f}s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Test the bot in every game and print the findings."""
    try:
        spec = find_bot(arguments.bot, arguments.kind)
    except AgentFailure as failure:
        return print_report(CheckReport([f"{failure.kind}: {failure}"]))
    names = arguments.game or [default_game(spec)]
    sandbox, findings = Sandbox(), 0
    number, path = tempfile.mkstemp(prefix="pitflip-check-", suffix=".log")
    os.close(number)
    output = Path(path)
    sandbox.keep_output(output)
    try:
        for name in names:
            game = load_game(name)
            positions = read_positions(arguments.positions, game) if arguments.positions else []
            print_lines(f"{describe_bot(spec)} on {game.name}")
            settings = HostSettings(sandbox, arguments.seconds)
            with show_output(output) if arguments.show_output else nullcontext():
                report = check_bot(spec, game, settings, arguments.pairs, positions)
            findings += print_report(report)
    finally:
        sandbox.close()
        if output.stat().st_size:
            print_error(f"output of the bot: {output}")
        else:
            output.unlink()
    print("faults found" if findings else "no faults found")
    return CHECK_FAILED if findings else OK


def check_bot(
    spec: AgentSpec,
    game: Game,
    settings: HostSettings,
    pairs: int,
    positions: Sequence[Position] = (),
) -> CheckReport:
    """Test a bot in one game."""
    check = BotCheck(spec, game, settings, pairs, positions)
    try:
        with ProgressLine() as line, watch(line.show, check.progress):
            return check.run()
    except AgentFailure as failure:
        return CheckReport([f"{failure.kind}: {failure}"])


def find_bot(words: Sequence[str], kind: str | None) -> AgentSpec:
    """Return the bot that the command line names; a SpecError if it is not a bot."""
    if kind or len(words) > 1:
        return AgentSpec(kind or "lines", command=[find_path(word, Path()) for word in words])
    spec = spec_from_text(words[0], {})
    if kind_of(spec).user_code_reason(spec.options) is None:
        raise SpecError(f"{spec.kind} is a built-in agent: name the file or the command of a bot")
    return spec


def default_game(spec: AgentSpec) -> str:
    """Return the first default game that the kind of the bot plays."""
    return next(name for name in DEFAULT_GAMES if spec.kind in kinds_for(load_game(name)))


def describe_bot(spec: AgentSpec) -> str:
    """Return the kind and the files of the bot."""
    words = spec.options.get("command") or [spec.options.get("file") or spec.options["evaluate"]]
    return printable(f"{spec.kind}: {' '.join(Path(word).name or word for word in words)}")


def print_report(report: CheckReport) -> int:
    """Print the facts and findings; return the number of findings."""
    for fact in report.facts:
        print(f"  fine   {printable(fact)}")
    for finding in report.findings:
        first, *more = finding.splitlines()
        print("\n".join([f"  WRONG  {first}", *(f"         {printable(line)}" for line in more)]))
    return len(report.findings)
