"""One pairing of a run played alone, to see what becomes of it."""

from pathlib import Path

from arena.keeping import provenance
from arena.keeping.journal import JOURNAL, Journal
from arena.pipeline import pairing_named
from arena.planning.course import Course
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.records import moves_of, pair_points
from arena.playing.one_pairing import played_here
from arena.reading.command_line import RunOptions
from arena.reading.experiment_file import Experiment
from games.shell_commands import here
from games.terminal import Mistake
from games.transcripts import replay_command


def play_alone(experiment: Experiment, pairing: int, options: RunOptions) -> None:
    """Play one pairing in this process, to see what becomes of it."""
    with pairing_named(experiment, options.overrides):
        drawn = draw(experiment.plan)
        if drawn.plan.rounds is not None:
            drawn = _as_far_as_played(experiment, drawn, options.results)
        total = drawn.pairings.total
        if not 0 <= pairing < total:
            later = "" if drawn.plan.rounds is None else "; later rounds follow from results"
            raise Mistake(f"pairing must lie from 0 to {total - 1}, got {pairing}{later}")
        games = played_here(drawn, pairing, {}, options.wall)
    placed = drawn.pairings.columns(pairing, pairing + 1)
    for row in range(2):
        first, second = (drawn.plan.names[placed[seat][row]] for seat in ("first", "second"))
        print(f"{first} against {second}: margin {games.margin[row]:+d}")
        print(games.traces.get(row) or here(replay_command(drawn.of, moves_of(games, row))))


def _as_far_as_played(experiment: Experiment, drawn: DrawnPlan, results: Path) -> DrawnPlan:
    """The plan with the rounds that its run in `results` has come to."""
    origin = provenance.origin_of(experiment.name, experiment.plan)
    directory, course = results / experiment.name / origin.digest, Course(drawn)
    if (directory / JOURNAL).exists():
        with Journal(directory, origin.digest) as journal:
            for start, _, games in journal.parts(course.columns):
                course.take(start, pair_points(games))
    return course.drawn
