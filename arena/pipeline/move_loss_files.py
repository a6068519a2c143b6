"""Judge the moves of a run, write its tables, print the answer."""

from arena.analysis.move_losses.judge import JudgeResult, JudgeSettings, judge_run
from arena.analysis.move_losses.losses import agent_losses
from arena.analysis.move_losses.run_lines import RunLines
from arena.analysis.move_losses.table import MOVES, write_moves
from arena.playing.options import PlayOptions
from arena.terminal.move_losses import losses_to_json, print_move_losses
from arena.terminal.tables import terminal
from games.base.errors import print_error, print_safely
from games.base.files import remove_partial_files, write_text
from games.base.progress import ProgressLine

JUDGEMENT = "judgement.json"


def judge_and_write(
    run: RunLines, settings: JudgeSettings, options: PlayOptions, *, quiet: bool, json: bool
) -> JudgeResult:
    """Judge the run, write moves.parquet and judgement.json beside its games, print."""
    quiet = quiet or json
    with ProgressLine(quiet) as line:
        say = ignore if quiet else line.say
        judgement = judge_run(run, settings, options, line.show, say)
    remove_partial_files(run.directory)
    write_moves(judgement, run.directory / MOVES)
    found = agent_losses(judgement)
    content = losses_to_json(judgement, found)
    write_text(run.directory / JUDGEMENT, content + "\n")
    print_safely(
        lambda: print(content) if json else print_move_losses(judgement, found, terminal())
    )
    if not quiet:
        print_error(f"moves: {run.directory / MOVES}")
    return judgement


def ignore(_: str) -> None:
    """Print nothing."""
