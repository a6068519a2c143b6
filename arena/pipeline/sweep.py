"""One run per combination of values."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from arena.analysis.checks.claims import Verdict
from arena.analysis.summary_file import load_checks
from arena.analysis.sweep import SweepCellRow, cell_row, sweep_verdict, write_sweep_table
from arena.config.command_line import RunOptions
from arena.config.sweep import SweepCell, SweepPlan
from arena.formats.junit import junit_xml
from arena.pipeline.run import run
from arena.report.sweep_page import sweep_chart, sweep_page, sweep_table
from arena.storage.journal import lock_directory, refuse_links
from arena.storage.parquet import TableError
from arena.storage.provenance import RUN, code_digest, identify_run, read_run, timestamp
from games.base.errors import UserError, print_error, print_safely, printable
from games.base.files import make_subdirectory, write_text

CELLS, TABLE, FIGURE, PAGE = "cells", "sweep.parquet", "sweep.svg", "sweep.html"


def sweep(plan: SweepPlan, options: RunOptions) -> bool:
    """Play the remaining cells, write and print their table; return whether all checks hold."""
    if options.live:
        raise UserError("--live is for one run; a sweep has one for every cell: run it alone")
    digest = sweep_digest(plan)
    directory = options.results / plan.name / f"sweep-{digest}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    refuse_links(directory)
    lock = lock_directory(directory)
    try:
        write_sweep_file(directory, plan, digest, None)
        make_subdirectory(directory / CELLS)
        rows = list(play_cells(plan, options, directory))
        analyse_sweep(plan, rows, directory, options)
        write_sweep_file(directory, plan, digest, sum(row.games for row in rows))
    finally:
        os.close(lock)
    if not options.quiet:
        print_error(f"tables: {printable(str(directory))}")
        if options.page:
            print_error(f"page: {printable(str(directory / PAGE))}")
    return all(row.checks == row.checks_hold for row in rows)


def sweep_digest(plan: SweepPlan) -> str:
    """Return the digest of all that decides the cells of a sweep."""
    deciding = [[axis.name, list(map(str, axis.values))] for axis in plan.axes]
    digests = [cell.experiment.plan.digest() for cell in plan.cells]
    content = json.dumps([deciding, digests, code_digest()])
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def write_sweep_file(directory: Path, plan: SweepPlan, digest: str, games: int | None) -> None:
    """Write into run.json what is swept, and when it was finished."""
    stored = read_run(directory)
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
        experiment = replace(cell.experiment, name=f"{cell.number:04d}")
        digest = identify_run(experiment.name, experiment.plan).digest
        place = Path(CELLS) / experiment.name / digest
        make_subdirectory(directory / place.parent)
        if not options.quiet:
            print_error(
                f"cell {cell.number} of {len(plan.cells)}: {printable(cell.words(plan.axes))}"
            )
        if not finished(directory / place, agent) or options.fresh:
            run(experiment, cell_options(options, cell, directory))
        # Without the run's own name, which any edit of ours changes: the table stays the same.
        yield cell_row(
            directory / place, place.parent.as_posix(), cell.values, agent, len(plan.cells)
        )


def cell_options(options: RunOptions, cell: SweepCell, directory: Path) -> RunOptions:
    """Return the options of one cell: its tables are kept, and not printed."""
    return replace(
        options,
        results=directory / CELLS,
        overrides=cell.overrides,
        tables=False,
        page=False,
        live=False,
        junit=None,
    )


def finished(directory: Path, agent: str) -> bool:
    """Return whether a cell was played to its end, with a readable table."""
    try:
        return bool(read_run(directory).get("finished")) and bool(
            cell_row(directory, "", (), agent, 1).games
        )
    except (TableError, ValueError, OSError):
        return False


def subject_agent(plan: SweepPlan) -> str:
    """Return the agent of the rows: the only one whose options are swept, else the first."""
    agents = plan.cells[0].experiment.plan.names
    parts = [key.split(".") for axis in plan.axes for key in axis.keys]
    swept = {part[1] for part in parts if len(part) > 2 and part[0] == "agents"}
    return next(iter(swept)) if len(swept) == 1 and swept <= {*agents} else agents[0]


def analyse_sweep(
    plan: SweepPlan, rows: Sequence[SweepCellRow], directory: Path, options: RunOptions
) -> None:
    """Write the table and the figure, print the table and the verdict."""
    names = [axis.name for axis in plan.axes]
    origin = {"experiment": plan.name, "sweep": names}
    write_sweep_table(directory / TABLE, names, rows, origin)
    title = f"{printable(plan.name)}: {rows[0].agent} against {rows[0].opponent}"
    picture = sweep_chart(names, rows, title)
    write_text(directory / FIGURE, picture)
    if options.page:
        verdict = [*sweep_verdict_lines(rows)]
        write_text(directory / PAGE, sweep_page(title, names, rows, verdict, picture))
    if options.junit:
        write_text(options.junit, junit_xml(cell_check_results(plan, rows, directory), plan.name))
    options.interrupts.finish()
    if options.json:
        text = as_json(names, rows)
    else:
        text = "\n".join([*sweep_table(names, rows), *sweep_verdict_lines(rows)])
    print_safely(lambda: print(text))


def cell_check_results(
    plan: SweepPlan, rows: Sequence[SweepCellRow], directory: Path
) -> Iterator[Verdict]:
    """Yield the verdicts on the checks of every cell, each with the values of its cell."""
    for cell, row in zip(plan.cells, rows, strict=True):
        experiment = replace(cell.experiment, name=f"{cell.number:04d}")
        digest = identify_run(experiment.name, experiment.plan).digest
        for check in load_checks(directory / row.run / digest):
            words = ("that", "test", "status", "detail")
            that, test, status, detail = (str(check.get(word, "")) for word in words)
            yield Verdict(f"{cell.words(plan.axes)}: {that}", test, status, detail)


def sweep_verdict_lines(rows: Sequence[SweepCellRow]) -> Iterator[str]:
    """Yield the verdict, and how many checks hold."""
    yield sweep_verdict(rows)
    checks, hold = sum(row.checks for row in rows), sum(row.checks_hold for row in rows)
    if checks:
        yield f"checks: {hold} of {checks} hold, each at its own level in its own cell"


def as_json(names: Sequence[str], rows: Sequence[SweepCellRow]) -> str:
    """Return the table and the verdict as one JSON object."""
    cells = [
        {
            **dict(zip(names, row.values, strict=True)),
            "agent": row.agent,
            "opponent": row.opponent,
            "games": row.games,
            "elo": [row.found.elo.value, row.found.elo.low, row.found.elo.high],
            "answer": row.found.answer,
            "distinct_games": row.match and row.match.distinct_games,
            "first_mover_score": row.match and row.match.first_mover_score,
            "first_mover_margin": row.match and row.match.first_mover_margin,
            "run": row.run,
        }
        for row in rows
    ]
    content = {"cells": cells, "verdict": sweep_verdict(rows)}
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)
