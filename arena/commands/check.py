"""The command `pitflip check`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from agents.checkup import PAIRS, BotCheck, CheckReport, read_positions
from agents.core import AgentFailure, AgentSpec, HostSettings, SpecError
from agents.protocols import PROTOCOLS
from agents.registry import kind_of, kinds_for
from agents.sandbox.sandbox import Sandbox
from agents.spec import find_path, spec_from_text
from arena.commands.options import duration, whole_number
from games import Game, Position, game
from games.base.errors import CHECK_FAILED, OK, printable
from games.base.progress import ProgressLine, watch

EPILOG = """\
examples:
  pitflip check bots/my_bot.py
  pitflip check --kind gtp --game othello -- gtp-rhino -l 1
The bot plays starts, extra turns, passes, endings and whole games from both
sides.
exit status: 0 nothing is wrong; 1 something is wrong; 2 there is no such bot"""
DEFAULT_GAMES = ("kalah(6,4)", "othello(8)", "kalah-manchester(7,7)")
SECONDS = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.add_argument(
        "bot",
        nargs="+",
        metavar="BOT",
        help="a bot's file, FILE.toml:NAME, or after -- a command and its arguments",
    )
    parser.add_argument(
        "--kind", choices=tuple(PROTOCOLS), help="the protocol of a command (default: lines)"
    )
    parser.add_argument(
        "--game", action="append", help="a game to play; may be repeated (default: the bot's own)"
    )
    parser.add_argument(
        "--pairs",
        type=whole_number(1, 10_000),
        default=PAIRS,
        metavar="N",
        help=f"number of pairs of whole games (default: {PAIRS})",
    )
    parser.add_argument(
        "--positions", type=Path, metavar="FILE", help="further positions, one in each line"
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        default=SECONDS,
        metavar="TIME",
        help=f"limit for a move (default: {SECONDS:.0f}s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Test the bot in every game and print the findings."""
    try:
        spec = spec_of(arguments.bot, arguments.kind)
    except AgentFailure as failure:
        return show(CheckReport([f"{failure.kind}: {failure}"]))
    names = arguments.game or [default_game(spec)]
    wall, findings = Sandbox(), 0
    try:
        for name in names:
            of = game(name)
            positions = read_positions(arguments.positions, of) if arguments.positions else []
            print(f"{describe_bot(spec)} on {of.name}", flush=True)
            terms = HostSettings(wall, arguments.seconds)
            findings += show(examine(spec, of, terms, arguments.pairs, positions))
    finally:
        wall.close()
    print("nothing is wrong" if not findings else "something is wrong")
    return CHECK_FAILED if findings else OK


def examine(
    spec: AgentSpec, of: Game, terms: HostSettings, pairs: int, positions: Sequence[Position] = ()
) -> CheckReport:
    """Test a bot in one game."""
    examination = BotCheck(spec, of, terms, pairs, positions)
    try:
        with ProgressLine() as line, watch(line.show, examination.progress):
            return examination.run()
    except AgentFailure as failure:
        return CheckReport([f"{failure.kind}: {failure}"])


def spec_of(words: Sequence[str], kind: str | None) -> AgentSpec:
    """Return the bot that the command line names; a SpecError if there is none."""
    if kind or len(words) > 1:
        return AgentSpec(kind or "lines", command=[find_path(word, Path()) for word in words])
    spec = spec_from_text(words[0], {})
    if kind_of(spec).users_code(spec.options) is None:
        raise SpecError(f"{spec.kind} is no bot of yours: there is nothing to check")
    return spec


def default_game(spec: AgentSpec) -> str:
    """Return the first default game that the kind of the bot plays."""
    return next(name for name in DEFAULT_GAMES if spec.kind in kinds_for(game(name)))


def describe_bot(spec: AgentSpec) -> str:
    """Return the kind and the files of the bot."""
    words = spec.options.get("command") or [spec.options.get("file") or spec.options["evaluate"]]
    return printable(f"{spec.kind}: {' '.join(Path(word).name or word for word in words)}")


def show(report: CheckReport) -> int:
    """Print the facts and findings; return the number of findings."""
    for fact in report.facts:
        print(f"  fine   {printable(fact)}")
    for finding in report.findings:
        first, *more = finding.splitlines()
        print("\n".join([f"  WRONG  {first}", *(f"         {printable(line)}" for line in more)]))
    return len(report.findings)
