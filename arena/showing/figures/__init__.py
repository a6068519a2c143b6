"""Figures of a report, each a module with `figure(report)`: its picture, its numbers, its words."""

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from arena.showing.figure import Figure
from arena.showing.report_contents import Report

# name -> module, in the order of the page
FIGURES: Mapping[str, str] = {
    "points": "arena.showing.figures.points_standings",
    "ratings": "arena.showing.figures.rating_strips",
    "match": "arena.showing.figures.match_bars",
    "matrix": "arena.showing.figures.matrix",
    "first_move": "arena.showing.figures.first_moves",
    "openings": "arena.showing.figures.opening_map",
    "margins": "arena.showing.figures.histograms",
    "losses": "arena.showing.figures.losses",
    "agreement": "arena.showing.figures.agreement_dots",
    "forfeits": "arena.showing.figures.forfeits",
    "thinking_time": "arena.showing.figures.thinking_time",
}


class FigureMaker(Protocol):
    """What the module of a figure defines."""

    def figure(self, report: Report) -> Figure | None:
        """The figure; None if it says nothing about such a run."""


def figures(report: Report) -> dict[str, Figure]:
    """All figures of a report, by name, in the order of the page."""
    made = {
        name: cast(FigureMaker, importlib.import_module(module)).figure(report)
        for name, module in FIGURES.items()
    }
    return {name: figure for name, figure in made.items() if figure is not None}
