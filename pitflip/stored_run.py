"""A finished run: its tables as frames, its checks, figures and page."""

from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.formats.export import table_texts
from arena.formats.registry import check_format_names
from arena.report.answer import make_answer
from arena.report.data import ReportData, load_report
from arena.report.figures.registry import make_figures, write_figure
from arena.report.methods import methods_paragraph
from arena.report.page import PAGE, write_page
from arena.report.svg import file_style, svg_file
from arena.storage.game_table import SEARCH_INFO
from arena.storage.provenance import load_run_file
from arena.storage.run_file import GAMES
from games.base.errors import UserError, print_lines
from games.base.text import did_you_mean, join_names, quote

if TYPE_CHECKING:  # it takes a second to load
    import pandas as pd

HOLDS = "holds"
RATING_COLUMNS = ("agent", "elo", "elo_low", "elo_high", "points", "games")


class Figure(NamedTuple):
    """A figure as SVG; a notebook shows it."""

    name: str
    svg: str

    def save(self, path: str | Path) -> Path:
        """Write the figure as SVG, PNG or PDF: the ending of the path decides."""
        return write_figure(self.svg, Path(path))

    def _repr_svg_(self) -> str:
        return self.svg


class Page(NamedTuple):
    """The web page of a run; a notebook shows it."""

    path: Path

    def _repr_html_(self) -> str:
        # Inside a frame the page shares nothing with the notebook.
        inside = escape(self.path.read_text())
        style = "width:100%;height:800px;border:0"
        return f'<iframe srcdoc="{inside}" sandbox="allow-scripts" style="{style}"></iframe>'


class CheckResult(NamedTuple):
    """The verdict on a check; `status` is "holds", "fails" or "vacuous"."""

    that: str
    test: str
    status: str
    detail: str

    @property
    def passed(self) -> bool:
        """Return whether the check holds."""
        return self.status == HOLDS


class Run:
    """A finished run; its tables are read on first use."""

    def __init__(self, directory: Path, contents: ReportData) -> None:
        self.directory, self.contents = directory, contents

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r}): {self.answer}"

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        return make_answer(self.contents).headline

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The checks of the experiment with their verdicts."""
        fields = CheckResult._fields
        return tuple(CheckResult(*(str(c[name]) for name in fields)) for c in self.contents.checks)

    @property
    def passed(self) -> bool:
        """Return whether all checks hold."""
        return all(check.passed for check in self.checks)

    @cached_property
    def games(self) -> "pd.DataFrame":
        """One row for each game; docs/reference/columns.md describes the columns."""
        return self._table(GAMES)

    @cached_property
    def ratings(self) -> "pd.DataFrame":
        """One row for each agent, the strongest first."""
        return self._table("elo.parquet")

    @cached_property
    def win_rates(self) -> "pd.DataFrame":
        """Two rows for each pair of agents, one from the side of each."""
        return self._table("win_rates.parquet")

    @cached_property
    def search_info(self) -> "pd.DataFrame":
        """One row for each move of an agent that reports its search (`search_info = true`)."""
        if not (self.directory / SEARCH_INFO).exists():
            raise UserError(f"{self.directory} has no {SEARCH_INFO}: play with search_info = true")
        return self._table(SEARCH_INFO)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures."""
        figures = make_figures(self.contents)
        return tuple(name for name, figure in figures.items() if figure.picture is not None)

    def plot(
        self, name: str = "", *, width: str = "", font: str = "", font_size: float | None = None
    ) -> Figure:
        """Return a figure; by default that of the ratings, or of the match if two agents played.

        `width` is a length such as "84mm", `font_size` is in points.
        """
        if not name:
            ranked = "ratings" if "ratings" in self.figures else "points"
            name = "match" if self.contents.has_two_agents else ranked
        figure = make_figures(self.contents).get(name)
        if figure is None or figure.picture is None:
            raise UserError(
                f"there is no figure {quote(name)} (there are {join_names(self.figures)})"
            )
        style = file_style(width, font, font_size)
        return Figure(name, svg_file(figure.picture, figure.heading, style))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables of the page."""
        return tuple(table_texts(self.contents, "latex"))

    def table(self, name: str = "", format: str = "latex") -> str:  # noqa: A002  # as in pandas
        """Return a table of the page as text: "latex", "markdown", or "csv" with all columns.

        The default table has the matches of all agents with their intervals.
        """
        check_format_names([format], "tables")
        found = table_texts(self.contents, format)
        own = name or next(each for each in ("pairs", "matrix") if each in found)
        if own not in found:
            raise UserError(f"there is no table {quote(own)} (there are {join_names(found)})")
        return found[own]

    @property
    def methods(self) -> str:
        """A paragraph for a paper: agents, openings, schedule and statistics, with sources."""
        return methods_paragraph(self.contents)

    def page(self) -> Page:
        """Return the page of the run; write it if it does not exist."""
        path = self.directory / PAGE
        if not path.exists():
            write_page(self.contents, path)
        return Page(path)

    def show(self) -> None:
        """Print ratings, checks and the result."""
        columns = [name for name in RATING_COLUMNS if name in self.ratings]
        lines = self.ratings[columns].to_string(index=False).splitlines()
        lines += [f"{each.status.upper()}: {each.that}: {each.detail}" for each in self.checks]
        print_lines(*lines, self.answer)

    def _repr_html_(self) -> str:
        lead = f"<p><b>{escape(self.answer)}</b><br>{escape(str(self.directory))}</p>"
        columns = [name for name in RATING_COLUMNS if name in self.ratings]
        return f"{lead}{self.ratings[columns].to_html(index=False, escape=True)}"

    def _table(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        return pd.read_parquet(self.directory / name)


def load(directory: str | Path) -> Run:
    """Return the finished run in a directory; a UserError if there is none."""
    path = Path(directory)
    return Run(path, load_report(path))


def latest(experiment: str, *, results: str | Path = "results") -> Run:
    """Return the run of an experiment that finished last."""
    parent = Path(results) / experiment
    found = [
        (str(stored["finished"]), directory)
        for directory in parent.glob("*")
        if (directory / GAMES).exists() and (stored := load_run_file(directory)).get("finished")
    ]
    if not found:
        names = [path.name for path in Path(results).glob("*") if path.is_dir()]
        near = did_you_mean(experiment, names)
        raise UserError(f"{results} has no finished run of {quote(experiment)}{near}")
    return load(max(found)[1])
