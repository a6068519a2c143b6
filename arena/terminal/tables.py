"""The summary of a run."""

import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.analysis.checks.claims import FAILS, HOLDS, Verdict
from arena.analysis.exclusions import EXCLUDED, exclusions_json
from arena.analysis.standings import AgentStanding, Group, points_table_lines
from arena.analysis.summary import Summary
from arena.analysis.tables import elo_rows, tournament_json, win_rate_rows
from arena.analysis.win_rates import WinRate
from arena.planning.rounds import TournamentStanding
from arena.playing.progress import out_lines
from arena.stats.text import first_mover_line, first_mover_words, game_counts_text, score_text
from games.base.cli import shell_command
from games.base.errors import printable

MOST_OUT = 12
WIDTH = 80
LONGEST_NAME = 18
# A matrix adds nothing for two agents, and so many pairs fill a screen.
SMALLEST_MATRIX = 3
MOST_PAIRS = 10
MATRIX_COLUMNS = 9
MATRIX = "% won by row"
SIZES = "  n="
HALVES = 1e-6  # Elo: two ratings that nobody holds add up to nothing
# What stands for what in the lines of pairs; only that is explained which is there.
LEGEND = {"n=": "n games", "n_eff": "n_eff independent pairs", "K = ": "K distinct openings"}
WORDS = ("agent", "Elo", MATRIX)
STYLES = {HOLDS: "green", FAILS: "red"}


def tournament_lines(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """The answer first, then why the others are out, then what it rests on."""
    notes = [f"note: {note}" for note in standing.notes]
    return [standing.answer, *out_lines(standing, names, MOST_OUT), *notes]


def print_summary(
    summary: Summary,
    verdicts: Sequence[Verdict],
    notes: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Print ratings, win rates and checks; `notes` are further lines about the run."""
    console = console or terminal()
    print_line(console, _headline(summary), "bold")
    one = is_single_unanchored_match(summary.ratings)
    excluded = {each.agent for each in summary.excluded}
    show_ratings(console, summary.ratings, summary.groups, halves=not one, excluded=excluded)
    for line in points_table_lines(summary.points, excluded):
        print_line(console, line)
    if summary.tournament is not None:
        for line in tournament_lines(summary.tournament, summary.agents):
            print_line(console, line)
    lines = [*summary.notes, *summary.same, _first_mover(summary)]
    if summary.stopped is not None:
        lines.append(summary.stopped.text)
    for line in (*lines, *notes):
        print_line(console, line)
    if len(summary.agents) >= SMALLEST_MATRIX:
        _matrix(console, summary)
    _pairs(console, summary)
    _checks(console, verdicts)


def as_json(summary: Summary, verdicts: Sequence[Verdict]) -> str:
    """The same as one JSON object; columns are named as in the parquet files."""
    content = {
        "experiment": summary.experiment,
        "game": summary.game,
        "games": summary.games,
        "distinct_games": summary.distinct_games,
        "openings": summary.openings,
        "duplicates": summary.duplicates,
        "forfeits": summary.forfeits,
        "unplayed": summary.unplayed,
        "excluded": exclusions_json(summary.excluded),
        "first_mover": asdict(summary.first_mover),
        "opening_plies": summary.opening_plies,
        "elo": [row._asdict() for row in elo_rows(summary)],
        "same_players": list(summary.same),
        "win_rates": [row._asdict() for row in win_rate_rows(summary)],
        "sprt": summary.stopped and summary.stopped.text,
        "tournament": tournament_json(summary),
        "points": [row._asdict() for row in summary.points],
        "checks": [
            {
                "that": verdict.that,
                "test": verdict.test,
                "holds": verdict.holds,
                "status": verdict.status,
                "detail": verdict.detail,
                "replay": verdict.replay,
            }
            for verdict in verdicts
        ],
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)


def terminal() -> Console:
    """The standard output, in colour if it is a terminal, 80 columns wide if it is not."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)


def _headline(summary: Summary) -> str:
    openings = f"{summary.openings:,} opening{'s' * (summary.openings != 1)}"
    counts = game_counts_text(summary.games, summary.duplicates, summary.forfeits, summary.unplayed)
    return f"{summary.experiment} on {summary.game}: {counts}, {openings}"


def is_single_unanchored_match(ratings: Sequence[AgentStanding]) -> bool:
    """Whether there are two agents, neither held at a rating: then their match says all.

    Each would have half of its difference, with half of its interval.
    """
    values = [row.elo.value for row in ratings]
    known = [value for value in values if value is not None]
    return len(values) == SMALLEST_MATRIX - 1 and (len(known) < 2 or abs(sum(known)) < HALVES)


def show_ratings(
    console: Console,
    ratings: Sequence[AgentStanding],
    groups: Sequence[Group],
    halves: bool = True,
    excluded: Collection[str] = (),
) -> None:
    """Print the agents, with ratings if `halves`, and what the first move is worth in each group.

    Bots that the run `excluded` are marked.
    """
    grouped = halves and len(groups) > 1
    elo = ("Elo",) * halves
    ranked = len(ratings) >= SMALLEST_MATRIX
    heads = *(("place",) * ranked), *(("group",) * grouped), "agent"
    table = plain_table(*heads, *elo, "points", "games", "openings")
    for row in ratings:
        places = *((str(row.place),) * ranked), *((str(row.group + 1),) * grouped)
        sizes = _points(row, row.agent in excluded), str(row.games), str(row.openings)
        table.add_row(*places, _name(row.agent), *((_elo(row),) * halves), *sizes)
    console.print(table)
    for reason in sorted({row.elo.reason for row in ratings if halves and row.text != _elo(row)}):
        print_line(console, f"Elo: {reason}")
    if grouped:
        print_line(console, f"{len(groups)} groups: Elo compares agents of one group only")
    for number, group in enumerate(groups, 1):
        if group.cycle:
            print_line(console, group.cycle)
        if group.text:
            print_line(console, f"group {number}: {group.text}" if grouped else group.text)


def _elo(row: AgentStanding) -> str:
    """The rating without the reason why it has no interval, which is printed once below."""
    return row.text.removesuffix(f" ({row.elo.reason})")


def _points(row: AgentStanding, excluded: bool) -> str:
    """Points of all games; forfeits are counted apart."""
    text = f"{row.points:.1f}".removesuffix(".0") + f"/{row.games}"
    if excluded:
        return f"{text} ({EXCLUDED})"
    return f"{text} ({row.forfeits} forfeited)" if row.forfeits else text


def _first_mover(summary: Summary) -> str:
    known = summary.first_mover
    if known.value is None:
        return f"{first_mover_words(summary.opening_plies)}: {known.reason}"
    fair = " in pairs without a forfeit" if summary.forfeits else ""
    return f"{first_mover_words(summary.opening_plies)} scored {score_text(known)}{fair}"


def _matrix(console: Console, summary: Summary) -> None:
    """Points per game of row against column, in percent."""
    names = [row.agent for row in summary.ratings]
    scores = {(rate.agent, rate.opponent): rate.row.score.value for rate in summary.win_rates}
    for begin in range(0, len(names), MATRIX_COLUMNS):
        columns = range(begin, min(begin + MATRIX_COLUMNS, len(names)))
        table = plain_table(MATRIX, *(str(column + 1) for column in columns))
        for place, name in enumerate(names, 1):
            against = [scores.get((name, names[column])) for column in columns]
            cells = ["" if score is None else f"{100 * score:.1f}" for score in against]
            table.add_row(_name(f"{place} {name}"), *cells)
        print_line(console, "")
        console.print(table)


def _pairs(console: Console, summary: Summary) -> None:
    """Every pair of agents once, from the side of the one that comes first in the ratings."""
    rank = {row.agent: place for place, row in enumerate(summary.ratings)}
    rows = [rate for rate in summary.win_rates if rank[rate.agent] < rank[rate.opponent]]
    rows.sort(key=lambda rate: (rank[rate.agent], rank[rate.opponent]))
    for rate in rows[:MOST_PAIRS]:
        # Every answer has a line of its own, its sizes stand with the counts.
        answers = [text.partition(SIZES) for text in rate.text.split("; ")]
        print_line(
            console, f"\n{_fitting(f'{rate.agent} against {rate.opponent}: {answers[0][0]}')}"
        )
        for answer, *_ in answers[1:]:
            print_line(console, f"  {answer}")
        counts, mover = rate.row.counts, rate.row.first_mover.value
        if counts.games and (counts.openings == 1 or counts.identical):
            line = first_mover_line(counts.distinct_games, mover, counts.first_mover_margin)
            print_line(console, f"  {line}")
        sizes = [f"n={size}" for _, _, size in answers if size]
        print_line(console, f"  {', '.join([*sizes, _results(rate)])}", "dim")
    if len(rows) > MOST_PAIRS:
        print_line(console, f"\n... {len(rows) - MOST_PAIRS} more pairs: see win_rates.parquet")
    if rows:
        for line in legend(rows[:MOST_PAIRS]):
            print_line(console, line, "dim")


def _fitting(line: str) -> str:
    """The line of a pair; the question that it answers stands below if there is no room for it."""
    answer, _, question = line.rpartition(" for ")
    return f"{answer}\n  for {question}" if answer and len(line) > WIDTH else line


def legend(rows: Sequence[WinRate]) -> list[str]:
    """What the signs in the lines of these pairs mean, in lines that need not be broken."""
    first = rows[0].row.counts.first
    lines = [f"{first.wins}-{first.draws}-{first.losses}: won, drawn, lost"]
    for sign, words in LEGEND.items():
        if any(sign in row.text for row in rows):
            fits = len(f"{lines[-1]}; {words}") <= WIDTH
            lines[-1:] = [f"{lines[-1]}; {words}"] if fits else [lines[-1], words]
    return lines


def _results(rate: WinRate) -> str:
    """Wins, draws and losses in each seat; openings, distinct games, forfeits."""
    counts = rate.row.counts
    seats = (("first", counts.first), ("second", counts.second))
    words = [f"{seat} {w.wins}-{w.draws}-{w.losses}" for seat, w in seats]
    words.append(f"{counts.openings} opening{'s' * (counts.openings != 1)}")
    if counts.distinct_games != counts.games:
        words.append(f"{counts.distinct_games} of {counts.games} games distinct")
    forfeits = ((rate.agent, rate.forfeits), (rate.opponent, rate.opponent_forfeits))
    words += [f"{name} forfeited {number}" for name, number in forfeits if number]
    return ", ".join(words)


def _checks(console: Console, verdicts: Sequence[Verdict]) -> None:
    for verdict in verdicts:
        text = f"\n{verdict.status.upper()}: {verdict.that} ({verdict.test}): {verdict.detail}"
        print_line(console, text, STYLES.get(verdict.status, "yellow"))
        if verdict.replay is not None:
            # On one line, however long, so that it can be copied.
            command = f"  {shell_command(verdict.replay)}"
            console.print(command, markup=False, highlight=False, soft_wrap=True)


def plain_table(*columns: str) -> Table:
    """A table without lines; words to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        words = column in WORDS
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "Elo")
    return table


def _name(name: str) -> Text:
    """An agent's name, shortened if it would push the numbers out of the table."""
    shown = printable(name)
    return Text(shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}\u2026")


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print plain text; nothing in it moves the cursor."""
    lines = "\n".join(map(printable, text.split("\n")))
    console.print(lines, style=style or None, markup=False, highlight=False)
