"""The judge's whole work on a run: judge, write the table, print the answer."""

from arena.analysis.move_losses.judge import Judgement, JudgeSettings, Progress, judge
from arena.analysis.move_losses.losses import shares
from arena.analysis.move_losses.run_lines import JudgedRun
from arena.analysis.move_losses.table import MOVES, write_moves
from arena.playing.worker import PlayOptions
from arena.terminal.move_losses import as_json, show
from arena.terminal.tables import terminal
from games.base.errors import printed, say
from games.base.files import remove_unfinished, write_text
from games.base.progress_line import ProgressLine
from games.solving.solution import what_is_open

JUDGEMENT = "judgement.json"


def judge_and_write(
    run: JudgedRun, settings: JudgeSettings, options: PlayOptions, *, quiet: bool, json: bool
) -> Judgement:
    """Judge the run, write moves.parquet and judgement.json beside its games, print."""
    quiet = quiet or json
    with ProgressLine(quiet) as line:

        def progress(now: Progress) -> None:
            line.show(lambda seconds: [progress_line(run, now, seconds)])

        judgement = judge(run, settings, options, progress, ignore if quiet else line.say)
    remove_unfinished(run.directory)
    write_moves(judgement, run.directory / MOVES)
    found = shares(judgement)
    content = as_json(judgement, found)
    write_text(run.directory / JUDGEMENT, content + "\n")
    printed(lambda: print(content) if json else show(judgement, found, terminal()))
    if not quiet:
        say(f"moves: {run.directory / MOVES}")
    return judgement


def ignore(_: str) -> None:
    """Say nothing."""


def progress_line(run: JudgedRun, now: Progress, seconds: float) -> str:
    """How far the judge is."""
    how = "" if now.last is None else f", back to {now.last} {what_is_open(run.of)}"
    return f"{now.done:,} of {now.total:,} games judged{how}, {seconds:.0f} s"
