"""What commands load, loaded once: those that are forked from here begin at once."""

import importlib
from collections.abc import Iterable

from tests.compiled import compile_family

MODULES = (
    "arena.analysis.adapted",
    "arena.analysis.checks.registry",
    "arena.analysis.run_evidence",
    "arena.analysis.summary_file",
    "arena.analysis.tables",
    "arena.judge",
    "arena.analysis.move_losses.run_lines",
    "arena.pipeline.move_loss_files",
    "arena.storage.parquet",
    "arena.storage.game_table",
    "arena.learn",
    "arena.learning.learn_run",
    "arena.pipeline",
    "arena.report",
    "arena.run",
    "arena.report.live",
    "arena.report.page",
    "arena.report.data",
    "arena.terminal.tables",
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
