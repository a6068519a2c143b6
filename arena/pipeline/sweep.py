"""Run sweeps: one run for each combination of values."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.analysis.checks.registry import Verdict
from arena.analysis.summary_file import load_checks
from arena.analysis.sweep import (
    SweepCellRow,
    cell_row,
    sweep_verdict,
    write_sweep_table,
)
from arena.config.experiment import Experiment
from arena.config.run_options import RunOptions
from arena.config.sweep import SweepCell, SweepPlan
from arena.formats.junit import junit_xml
from arena.pipeline.run import run_directory, run_experiment
from arena.report.sweep_page import (
    best_value_line,
    going_first_line,
    sweep_chart,
    sweep_page,
    sweep_table,
)
from arena.storage.journal import lock_directory, refuse_links
from arena.storage.parquet import TableError
from arena.storage.provenance import RUN, code_digest, load_run_file, timestamp
from arena.storage.run_file import EXPERIMENT, write_checksums
from games.base.errors import UserError, printable
from games.base.files import make_subdirectory, write_text

CELLS, TABLE, FIGURE, PAGE = "cells", "sweep.parquet", "sweep.svg", "sweep.html"


class SweepResult(NamedTuple):
    """A finished sweep: a row for each cell, and its page if one was written."""

    directory: Path
    axes: tuple[str, ...]
    rows: Sequence[SweepCellRow]
    page: Path | None

    @property
    def checks_hold(self) -> bool:
        """Return whether all checks of all cells hold."""
        return all(row.checks == row.checks_hold for row in self.rows)

    @property
    def lines(self) -> list[str]:
        """The table and the verdict as text."""
        return [*sweep_table(self.axes, self.rows), *verdict_lines(self.axes, self.rows)]

    @property
    def json(self) -> str:
        """The table and the verdict as one JSON object."""
        cells = [
            {
                **dict(zip(self.axes, row.values, strict=True)),
                "agent": row.agent,
                "opponent": row.opponent,
                "games": row.games,
                "elo": [row.estimate.elo.value, row.estimate.elo.low, row.estimate.elo.high],
                "answer": row.estimate.answer,
                "distinct_games": row.match and row.match.distinct_games,
                "first_mover_score": row.match and row.match.first_mover_score,
                "first_mover_margin": row.match and row.match.first_mover_margin,
                "run": row.run,
            }
            for row in self.rows
        ]
        content = {"cells": cells, "verdict": sweep_verdict(self.rows)}
        content["answers"] = answer_lines(self.axes, self.rows)
        return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def run_sweep(plan: SweepPlan, options: RunOptions) -> SweepResult:
    """Play the remaining cells of a sweep and write their table."""
    if options.live:
        raise UserError("--live shows one run, but a sweep plays one for each cell: leave it out")
    digest = sweep_digest(plan)
    directory = options.results / plan.name / f"sweep-{digest}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    refuse_links(directory)
    lock = lock_directory(directory)
    try:
        write_sweep_file(directory, plan, digest, None)
        make_subdirectory(directory / CELLS)
        rows = list(play_cells(plan, options, directory))
        page = write_sweep_results(plan, rows, directory, options)
        write_sweep_file(directory, plan, digest, sum(row.games for row in rows))
        write_text(directory / EXPERIMENT, plan.cells[0].experiment.text)
        write_checksums(directory, (RUN, EXPERIMENT, TABLE, FIGURE, PAGE))
    finally:
        os.close(lock)
    return SweepResult(directory, tuple(axis.name for axis in plan.axes), rows, page)


def sweep_digest(plan: SweepPlan) -> str:
    """Return the digest of everything that decides the cells of a sweep."""
    deciding = [[axis.name, list(map(str, axis.values))] for axis in plan.axes]
    digests = [cell.experiment.plan.digest() for cell in plan.cells]
    content = json.dumps([deciding, digests, code_digest()])
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def write_sweep_file(directory: Path, plan: SweepPlan, digest: str, games: int | None) -> None:
    """Write the axes of the sweep and its times into run.json."""
    stored = load_run_file(directory)
    if stored.get("finished"):
        return
    content = {
        "experiment": plan.name,
        "digest": digest,
        "sweep": {axis.name: list(axis.values) for axis in plan.axes},
        "path": str(plan.cells[0].experiment.path.absolute()),
        "begun": stored.get("begun") or timestamp(),
        "finished": None if games is None else timestamp(),
        "games": games,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
    write_text(directory / RUN, text + "\n")


def play_cells(plan: SweepPlan, options: RunOptions, directory: Path) -> Iterator[SweepCellRow]:
    """Yield the row of every cell; finished cells are not played again."""
    agent = subject_agent(plan)
    for cell in plan.cells:
        experiment, place = cell_experiment(cell), cell_place(cell)
        make_subdirectory(directory / place.parent)
        options.notify(f"cell {cell.number} of {len(plan.cells)}: {cell.words(plan.axes)}")
        if options.fresh or not is_complete_cell(directory / place, agent):
            results, overrides = directory / CELLS, cell.overrides
            own = replace(
                options, results=results, overrides=overrides, page=False, live=False, junit=None
            )
            run_experiment(experiment, own)
        # The row names the directory without the digest, which changes with our code.
        yield cell_row(
            directory / place, place.parent.as_posix(), cell.values, agent, len(plan.cells)
        )


def cell_experiment(cell: SweepCell) -> Experiment:
    """Return the experiment of a cell, named after its number."""
    return replace(cell.experiment, name=f"{cell.number:04d}")


def cell_place(cell: SweepCell) -> Path:
    """Return the directory of the run of a cell, relative to that of the sweep."""
    return run_directory(cell_experiment(cell), Path(CELLS))


def is_complete_cell(directory: Path, agent: str) -> bool:
    """Return whether a cell was played to its end, with a readable table."""
    try:
        finished = load_run_file(directory).get("finished")
        return bool(finished and cell_row(directory, "", (), agent, 1).games)
    except (TableError, ValueError, OSError):
        return False


def subject_agent(plan: SweepPlan) -> str:
    """Return the agent of the table: the only one whose options are swept, else the first."""
    agents = plan.cells[0].experiment.plan.names
    parts = [key.split(".") for axis in plan.axes for key in axis.keys]
    swept = {part[1] for part in parts if len(part) > 2 and part[0] == "agents"}
    return next(iter(swept)) if len(swept) == 1 and swept <= {*agents} else agents[0]


def write_sweep_results(
    plan: SweepPlan, rows: Sequence[SweepCellRow], directory: Path, options: RunOptions
) -> Path | None:
    """Write the table and the figure, and on request the page and the checks; return the page."""
    names = [axis.name for axis in plan.axes]
    write_sweep_table(directory / TABLE, names, rows, {"experiment": plan.name, "sweep": names})
    title = f"{printable(plan.name)}: {rows[0].agent} against {rows[0].opponent}"
    chart = sweep_chart(names, rows, title)
    write_text(directory / FIGURE, chart.svg())
    if options.junit:
        write_text(options.junit, junit_xml(cell_check_results(plan, directory), plan.name))
    if not options.page:
        return None
    write_text(
        directory / PAGE, sweep_page(title, names, rows, [*verdict_lines(names, rows)], chart)
    )
    return directory / PAGE


def cell_check_results(plan: SweepPlan, directory: Path) -> Iterator[Verdict]:
    """Yield the verdicts on the checks of every cell, each with the values of its cell."""
    for cell in plan.cells:
        for check in load_checks(directory / cell_place(cell)):
            fields = (str(check.get(key, "")) for key in ("that", "test", "status", "detail"))
            that, test, status, detail = fields
            yield Verdict(f"{cell.words(plan.axes)}: {that}", test, status, detail)


def answer_lines(names: Sequence[str], rows: Sequence[SweepCellRow]) -> list[str]:
    """Return what the cells say about going first, and about the best value of a number."""
    return [*filter(None, (going_first_line(names, rows), best_value_line(names, rows)))]


def verdict_lines(names: Sequence[str], rows: Sequence[SweepCellRow]) -> Iterator[str]:
    """Yield the verdict, further answers, and how many checks hold."""
    yield sweep_verdict(rows)
    yield from answer_lines(names, rows)
    checks, hold = sum(row.checks for row in rows), sum(row.checks_hold for row in rows)
    if checks:
        yield f"checks: {hold} of {checks} hold, each at its own level in its own cell"
