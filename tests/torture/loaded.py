"""What commands load, loaded once: those that are forked from here begin at once."""

import importlib
from collections.abc import Iterable

from tests.compiled import compile_family

MODULES = (
    "arena.concluding.adapted",
    "arena.concluding.checks",
    "arena.concluding.run_evidence",
    "arena.concluding.stored_summary",
    "arena.concluding.table_rows",
    "arena.judge",
    "arena.judging.judged_run",
    "arena.judging.judgement_files",
    "arena.keeping.parquet",
    "arena.keeping.thought_table",
    "arena.learn",
    "arena.learning.learn_run",
    "arena.pipeline",
    "arena.report",
    "arena.run",
    "arena.showing.live_view",
    "arena.showing.report.whole_page",
    "arena.showing.report_contents",
    "arena.showing.terminal_tables",
    "arena.status",
    "arena.tune",
    "arena.tuning.optuna_study",
    "arena.tuning.study",
    "arena.verify",
)


def load(names: Iterable[str]) -> None:
    """Load modules."""
    for name in names:
        importlib.import_module(name)


def load_all() -> None:
    """Load the modules and the kernels of the family that is played."""
    load(MODULES)
    compile_family("kalah(4,3)")
