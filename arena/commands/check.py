"""Try a bot, and say what is wrong with it: pitflip check bots/my_bot.py."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from agents.checkup import PAIRS, BotCheck, CheckReport, read_positions
from agents.core import AgentFailure, AgentSpec, HostSettings, SpecError
from agents.protocols import PROTOCOLS
from agents.registry import kind_of, kinds_for
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.transports import VoidGame
from agents.spec import find_path, spec_from_text
from games import Game, Position, game
from games.base.cli import CommandParser
from games.base.errors import CHECK_FAILED, OK, USER_ERROR, Unfinished, printable, run, status_of
from games.base.progress import ProgressLine, watch
from games.base.text import quote

USUAL_GAMES = ("kalah(6,4)", "othello(8)", "kalah-manchester(7,7)")
SECONDS = 5.0


def refuse(message: str) -> NoReturn:
    """End with one line about what is wrong with the command."""
    print(f"pitflip check: {printable(message)}", file=sys.stderr)
    sys.exit(USER_ERROR)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog="pitflip check",
        description="Play a bot through starts, extra turns, passes, ends and games from both "
        "sides, and say what is wrong with it. 0: nothing is, 1: something is.",
        epilog="A command is written behind --: --kind gtp -- gtp-rhino -l 1",
    )
    parser.error = refuse  # type: ignore[method-assign]  # one line, without the usage
    parser.add_argument(
        "bot", nargs="+", help="a bot's file, FILE.toml:NAME, or a command and its arguments"
    )
    parser.add_argument("--kind", choices=PROTOCOLS, help="the protocol of a command (lines)")
    parser.add_argument("--game", action="append", help="play this one, and others (the usual)")
    parser.add_argument("--pairs", type=positive, default=PAIRS, help="games from either side")
    parser.add_argument(
        "--positions", type=Path, metavar="FILE", help="positions it must survive, one a line"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the limit of a move")
    return parser


def positive(text: str) -> int:
    """A number of games."""
    if not text.isdecimal() or not 0 < int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"must be from 1 to 10000, got {quote(text)}")
    return int(text)


def main(words: list[str] | None = None) -> int:
    """Run the command: 1 if something is wrong with the bot, 2 if there is none."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip check", lambda: run_check(chosen))


def run_check(chosen: argparse.Namespace) -> int:
    """Try the bot in every game, and print what was seen."""
    try:
        spec = spec_of(chosen.bot, chosen.kind)
    except AgentFailure as failure:
        return show(CheckReport([f"{failure.kind}: {failure}"]))
    names = chosen.game or [default_game(spec)]
    wall, findings = Sandbox(), 0
    try:
        for name in names:
            of = game(name)
            positions = read_positions(chosen.positions, of) if chosen.positions else []
            print(f"{describe_bot(spec)} on {of.name}", flush=True)
            terms = HostSettings(wall, chosen.seconds)
            findings += show(examine(spec, of, terms, chosen.pairs, positions))
    finally:
        wall.close()
    print("nothing is wrong" if not findings else "something is wrong")
    return CHECK_FAILED if findings else OK


def examine(
    spec: AgentSpec, of: Game, terms: HostSettings, pairs: int, positions: Sequence[Position] = ()
) -> CheckReport:
    """What is wrong with a bot in a game."""
    examination = BotCheck(spec, of, terms, pairs, positions)
    try:
        with ProgressLine() as line, watch(line.show, examination.progress):
            return examination.run()
    except AgentFailure as failure:
        return CheckReport([f"{failure.kind}: {failure}"])
    except VoidGame as void:
        raise Unfinished(str(void)) from None


def spec_of(words: Sequence[str], kind: str | None) -> AgentSpec:
    """The bot that is meant; SpecError if it is none."""
    if kind or len(words) > 1:
        return AgentSpec(kind or "lines", command=[find_path(word, Path()) for word in words])
    spec = spec_from_text(words[0], {})
    if kind_of(spec).users_code(spec.options) is None:
        raise SpecError(f"{spec.kind} is no bot of yours: there is nothing to check")
    return spec


def default_game(spec: AgentSpec) -> str:
    """What its kind usually plays."""
    return next(name for name in USUAL_GAMES if spec.kind in kinds_for(game(name)))


def describe_bot(spec: AgentSpec) -> str:
    """What the bot is."""
    words = spec.options.get("command") or [spec.options.get("file") or spec.options["evaluate"]]
    return printable(f"{spec.kind}: {' '.join(Path(word).name or word for word in words)}")


def show(report: CheckReport) -> int:
    """Print what was seen; how much is wrong."""
    for fact in report.facts:
        print(f"  fine   {printable(fact)}")
    for finding in report.findings:
        first, *more = finding.splitlines()
        print("\n".join([f"  WRONG  {first}", *(f"         {printable(line)}" for line in more)]))
    return len(report.findings)


if __name__ == "__main__":
    run(main)
