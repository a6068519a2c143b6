"""A finished run as Python sees it: tables as frames, figures as SVG, the page of the run."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from arena.report.answer import make_answer
from arena.report.data import ReportData, load_report
from arena.report.figures.registry import make_figures
from arena.report.page import PAGE, write_page
from arena.report.svg import svg_file
from arena.storage.game_table import SEARCH_INFO
from arena.storage.run_file import GAMES

if TYPE_CHECKING:  # it takes a second to load
    import pandas as pd


@dataclass(frozen=True)
class ShownFigure:
    """A drawing; a notebook shows it."""

    name: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class ShownPage:
    """The page of a run, as a file."""

    path: Path

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that it shares nothing with the notebook."""
        inside = escape(self.path.read_text())
        style = "width:100%;height:800px;border:0"
        return f'<iframe srcdoc="{inside}" sandbox="allow-scripts" style="{style}"></iframe>'


@dataclass(frozen=True)
class LoadedRun:
    """A run whose games are played."""

    directory: Path
    contents: ReportData

    @cached_property
    def games(self) -> "pd.DataFrame":
        """One row a game: docs/results.md names the columns."""
        return self._table(GAMES)

    @cached_property
    def ratings(self) -> "pd.DataFrame":
        """One row an agent, the strongest first."""
        return self._table("elo.parquet")

    @cached_property
    def win_rates(self) -> "pd.DataFrame":
        """One row a pair of agents, seen by each."""
        return self._table("win_rates.parquet")

    @cached_property
    def thoughts(self) -> "pd.DataFrame":
        """Search information, one row a move, of a run with `thoughts = true`."""
        if not (self.directory / SEARCH_INFO).exists():
            raise ValueError(f"{self.directory} kept no thoughts (thoughts = true in its file)")
        return self._table(SEARCH_INFO)

    @property
    def answer(self) -> str:
        """The answer of the run, in one sentence."""
        return make_answer(self.contents).headline

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that draw something."""
        made = make_figures(self.contents)
        return tuple(name for name, figure in made.items() if figure.picture is not None)

    def plot(self, name: str) -> ShownFigure:
        """A figure by its name; a ValueError names those that there are."""
        figure = make_figures(self.contents).get(name)
        if figure is None or figure.picture is None:
            raise ValueError(f"there is no figure {name!r} of this run (there are {self.figures})")
        return ShownFigure(name, svg_file(figure.picture, figure.heading))

    def plot_ratings(self) -> ShownFigure:
        """The ratings with their intervals; of two agents, what their match brought.

        The points where there are too few openings for ratings.
        """
        ranked = "ratings" if "ratings" in self.figures else "points"
        return self.plot("match" if self.contents.two else ranked)

    def report(self) -> ShownPage:
        """The page of the run, written if it is not there."""
        path = self.directory / PAGE
        if not path.exists():
            write_page(self.contents, path)
        return ShownPage(path)

    def _repr_html_(self) -> str:
        """The answer, then the ratings."""
        lead = f"<p><b>{escape(self.answer)}</b><br>{escape(str(self.directory))}</p>"
        columns = ["agent", "elo", "elo_low", "elo_high", "points", "games"]
        shown = [name for name in columns if name in self.ratings]
        return f"{lead}{self.ratings[shown].to_html(index=False, escape=True)}"

    def _table(self, name: str) -> "pd.DataFrame":
        import pandas as pd  # noqa: PLC0415  # as above

        return pd.read_parquet(self.directory / name)


def load_run(directory: str | Path) -> LoadedRun:
    """The finished run in a directory; an error says in one line what is missing."""
    path = Path(directory)
    return LoadedRun(path, load_report(path))
