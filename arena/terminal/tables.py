"""The summary of a run on the terminal and as JSON."""

import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.analysis.checks.registry import FAILS, HOLDS, Verdict
from arena.analysis.evidence import EXCLUDED, exclusions_json
from arena.analysis.standings import AgentStanding, Group, points_table_lines
from arena.analysis.summary import Summary
from arena.analysis.tables import elo_rows, tournament_json, win_rate_rows
from arena.analysis.timings import AgentTiming, Timing, agent_timings
from arena.analysis.win_rates import WinRate
from arena.planning.rounds import TournamentStanding
from arena.playing.progress import out_lines
from arena.stats.match_estimate import simultaneous_score
from arena.stats.text import (
    NO_ANSWER,
    first_mover_line,
    first_mover_text,
    game_counts_text,
    mirror_sentence,
    percent_text,
    score_text,
    seconds_text,
    share_text,
)
from games.base.cli import shell_command
from games.base.errors import printable
from games.base.text import count_noun

MOST_OUT = 12
WIDTH = 80
WIDEST = 1000
LONGEST_NAME = 18
SMALLEST_MATRIX = 3  # agents
MOST_PAIRS = 10
MATRIX_COLUMNS = 9
MATRIX = "% won by row"
SIZES = "  n="
HALVES = 1e-6  # Elo: ratings of two agents without an anchor add up to zero
# Short forms in the lines of pairs; only those that occur are explained.
LEGEND = {"n=": "n games", "n_eff": "n_eff independent pairs", "K = ": "K distinct openings"}
WORDS = ("agent", "Elo", MATRIX)
MEASURED = ("time/move", "nodes/s")
NOT_REPRODUCIBLE = "time/move and nodes/s: measured when the games were played; they vary"
NO_ROOM = "time/move and nodes/s: see timings.parquet"
STYLES = {HOLDS: "green", FAILS: "red"}


def tournament_lines(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """Return the answer, the reasons why agents are out, and the notes."""
    notes = [f"note: {note}" for note in standing.notes]
    return [standing.answer, *out_lines(standing, names, MOST_OUT), *notes]


def print_summary(
    summary: Summary,
    verdicts: Sequence[Verdict],
    notes: Sequence[str] = (),
    console: Console | None = None,
    timings: Sequence[Timing] = (),
) -> None:
    """Print ratings, win rates and checks; `notes` are further lines about the run."""
    console = console or stdout_console()
    print_line(console, _headline(summary), "bold")
    one = is_single_unanchored_match(summary.ratings)
    excluded = {each.agent for each in summary.excluded}
    print_ratings(
        console, summary.ratings, summary.groups, timings, halves=not one, excluded=excluded
    )
    for line in points_table_lines(summary.points, excluded):
        print_line(console, line)
    if summary.tournament is not None:
        for line in tournament_lines(summary.tournament, summary.agents):
            print_line(console, line)
    lines = [*summary.notes, *summary.identical_agents, _first_mover_line(summary)]
    if summary.stop is not None:
        lines.append(summary.stop.text)
    for line in (*lines, *notes):
        print_line(console, line)
    if len(summary.agents) >= SMALLEST_MATRIX:
        _print_matrix(console, summary)
    _print_pairs(console, summary)
    _print_checks(console, verdicts)


def summary_json(summary: Summary, verdicts: Sequence[Verdict]) -> str:
    """Return the summary as a JSON object; columns have their names in the parquet files."""
    content = {
        "experiment": summary.experiment,
        "game": summary.game,
        "games": summary.games,
        "distinct_games": summary.distinct_games,
        "openings": summary.openings,
        "duplicates": summary.duplicates,
        "forfeits": summary.forfeits,
        "unplayed": summary.unplayed_games,
        "excluded": exclusions_json(summary.excluded),
        "first_mover": asdict(summary.first_mover),
        "opening_plies": summary.opening_plies,
        "elo": [row._asdict() for row in elo_rows(summary)],
        "same_players": list(summary.identical_agents),
        "win_rates": [row._asdict() for row in win_rate_rows(summary)],
        "stopped": summary.stop and summary.stop.text,
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


def stdout_console() -> Console:
    """Return the standard output: in colour on a terminal, else 80 columns wide."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)


def _headline(summary: Summary) -> str:
    openings = count_noun(summary.openings, "opening")
    counts = game_counts_text(
        summary.games, summary.duplicates, summary.forfeits, summary.unplayed_games
    )
    return f"{summary.experiment} on {summary.game}: {counts}, {openings}"


def is_single_unanchored_match(ratings: Sequence[AgentStanding]) -> bool:
    """Return whether there are two agents without an anchor, whose ratings add nothing.

    Each rating is half the difference of the match, with half its interval.
    """
    values = [row.elo.value for row in ratings]
    known = [value for value in values if value is not None]
    return len(values) == SMALLEST_MATRIX - 1 and (len(known) < 2 or abs(sum(known)) < HALVES)


def print_ratings(
    console: Console,
    ratings: Sequence[AgentStanding],
    groups: Sequence[Group],
    timings: Sequence[Timing] = (),
    halves: bool = True,
    excluded: Collection[str] = (),
) -> None:
    """Print the agents, with ratings if `halves`, and the value of the first move by group.

    `timings` add the mean time of a move and the nodes per second. Bots that the run `excluded`
    are marked.
    """
    grouped = halves and len(groups) > 1
    elo = ("Elo",) * halves
    ranked = len(ratings) >= SMALLEST_MATRIX
    heads = *(("place",) * ranked), *(("group",) * grouped), "agent"
    speeds = agent_timings(timings)
    timed = any(each.seconds_per_move is not None for each in speeds.values())

    def ratings_table(measured: bool) -> Table:
        columns = MEASURED if measured else ()
        table = plain_table(*heads, *elo, "points", "games", "openings", *columns)
        for row in ratings:
            places = *((str(row.place),) * ranked), *((str(row.group + 1),) * grouped)
            sizes = _points_text(row, row.agent in excluded), str(row.games), str(row.openings)
            speed = _speed_texts(speeds.get(row.agent, AgentTiming())) if measured else ()
            elos = (_elo_text(row),) * halves
            table.add_row(*places, _short_name(row.agent), *elos, *sizes, *speed)
        return table

    table = ratings_table(timed)
    wide = console.options.update_width(WIDEST)  # a measure is never wider than its options
    fits = not timed or console.measure(table, options=wide).minimum <= console.width
    console.print(table if fits else ratings_table(False))
    if timed:
        print_line(console, NOT_REPRODUCIBLE if fits else NO_ROOM, "dim")
    for reason in sorted(
        {row.elo.reason for row in ratings if halves and row.text != _elo_text(row)}
    ):
        print_line(console, f"Elo: {reason}")
    if grouped:
        print_line(console, f"{len(groups)} groups: Elo compares agents of one group only")
    for number, group in enumerate(groups, 1):
        if group.cycle:
            print_line(console, group.cycle)
        if group.text:
            print_line(console, f"group {number}: {group.text}" if grouped else group.text)


def _speed_texts(speed: AgentTiming) -> tuple[str, str]:
    time, nodes = speed.seconds_per_move, speed.nodes_per_second
    return NO_ANSWER if time is None else seconds_text(time), (
        NO_ANSWER if nodes is None else f"{nodes:,.0f}"
    )


def _elo_text(row: AgentStanding) -> str:
    # The reason for a missing interval is printed once below the table.
    return row.text.removesuffix(f" ({row.elo.reason})")


def _points_text(row: AgentStanding, excluded: bool) -> str:
    text = f"{row.points:.1f}".removesuffix(".0") + f"/{row.games}"
    if excluded:
        return f"{text} ({EXCLUDED})"
    return f"{text} ({row.forfeits} forfeited)" if row.forfeits else text


def _first_mover_line(summary: Summary) -> str:
    known = summary.first_mover
    if known.value is None:
        return f"{first_mover_text(summary.opening_plies)}: {known.reason}"
    fair = " in pairs without a forfeit" if summary.forfeits else ""
    return f"{first_mover_text(summary.opening_plies)} scored {score_text(known)}{fair}"


def _print_matrix(console: Console, summary: Summary) -> None:
    """Print the points per game of row against column, in per cent."""
    names = [row.agent for row in summary.ratings if row.games]
    scores = {(rate.agent, rate.opponent): rate.row.score.value for rate in summary.win_rates}
    for begin in range(0, len(names), MATRIX_COLUMNS):
        columns = range(begin, min(begin + MATRIX_COLUMNS, len(names)))
        table = plain_table(MATRIX, *(str(column + 1) for column in columns))
        for place, name in enumerate(names, 1):
            against = [scores.get((name, names[column])) for column in columns]
            cells = ["" if score is None else f"{100 * score:.1f}" for score in against]
            table.add_row(_short_name(f"{place} {name}"), *cells)
        print_line(console, "")
        console.print(table)


def _print_pairs(console: Console, summary: Summary) -> None:
    """Print every match, from the side of the agent with the higher rating."""
    rank = {row.agent: place for place, row in enumerate(summary.ratings)}
    rows = [rate for rate in summary.win_rates if rank[rate.agent] < rank[rate.opponent]]
    rows.sort(key=lambda rate: (rank[rate.agent], rank[rate.opponent]))
    matches = len(summary.win_rates) // 2
    for rate in rows[:MOST_PAIRS]:
        # Each answer gets a line; its sizes join the counts.
        answers = [text.partition(SIZES) for text in rate.text.split("; ")]
        line = _wrap_question(f"{rate.agent} against {rate.opponent}: {answers[0][0]}")
        print_line(console, f"\n{_with_simultaneous(line, rate, matches)}")
        for answer, *_ in answers[1:]:
            print_line(console, f"  {answer}")
        counts, mover = rate.row.counts, rate.row.first_mover.value
        if counts.games and (counts.openings == 1 or counts.is_identical):
            line = first_mover_line(counts.distinct_games, mover, counts.first_mover_margin)
            print_line(console, f"  {line}")
            if counts.is_identical and counts.distinct_games is not None:
                print_line(console, f"  {mirror_sentence(counts.distinct_games, counts.games)}")
        sizes = [f"n={size}" for _, _, size in answers if size]
        print_line(console, f"  {', '.join([*sizes, _results_text(rate)])}", "dim")
    if len(rows) > MOST_PAIRS:
        print_line(console, f"\n... {len(rows) - MOST_PAIRS} more pairs: see win_rates.parquet")
    if rows:
        for line in legend(rows[:MOST_PAIRS]):
            print_line(console, line, "dim")


def _with_simultaneous(line: str, rate: WinRate, matches: int) -> str:
    """Return the line of a match with its interval that holds for all matches at once."""
    known = simultaneous_score(rate.row, matches)
    if matches < 2 or known.value is None or (known.low is None and known.high is None):
        return line
    ends = share_text(known).removeprefix(percent_text(known.value)).lstrip(", ")
    text = f"{ends} for all {matches} matches at once"
    *_, last = line.split("\n")
    return f"{line}; {text}" if len(f"{last}; {text}") <= WIDTH else f"{line}\n  {text}"


def _wrap_question(line: str) -> str:
    """Return the line of a match, with its question on a second line if it is too long."""
    answer, _, question = line.rpartition(" for ")
    return f"{answer}\n  for {question}" if answer and len(line) > WIDTH else line


def legend(rows: Sequence[WinRate]) -> list[str]:
    """Return the meanings of the short forms in the lines of these matches."""
    first = rows[0].row.counts.first
    lines = [f"{first.wins}-{first.draws}-{first.losses}: won, drawn, lost"]
    for sign, meaning in LEGEND.items():
        if any(sign in row.text for row in rows):
            fits = len(f"{lines[-1]}; {meaning}") <= WIDTH
            lines[-1:] = [f"{lines[-1]}; {meaning}"] if fits else [lines[-1], meaning]
    return lines


def _results_text(rate: WinRate) -> str:
    """Return results on each side, openings, distinct games and forfeits."""
    counts = rate.row.counts
    sides = (("first", counts.first), ("second", counts.second))
    words = [f"{side} {w.wins}-{w.draws}-{w.losses}" for side, w in sides]
    words.append(f"{counts.openings} opening{'s' * (counts.openings != 1)}")
    if counts.distinct_games != counts.games:
        words.append(f"{counts.distinct_games} of {counts.games} games distinct")
    forfeits = ((rate.agent, rate.forfeits), (rate.opponent, rate.opponent_forfeits))
    words += [f"{name} forfeited {number}" for name, number in forfeits if number]
    return ", ".join(words)


def _print_checks(console: Console, verdicts: Sequence[Verdict]) -> None:
    for verdict in verdicts:
        text = f"\n{verdict.status.upper()}: {verdict.that} ({verdict.test}): {verdict.detail}"
        print_line(console, text, STYLES.get(verdict.status, "yellow"))
        if verdict.replay is not None:
            # One line of any length, which can be copied.
            command = f"  {shell_command(verdict.replay)}"
            console.print(command, markup=False, highlight=False, soft_wrap=True)


def plain_table(*columns: str) -> Table:
    """Return a table without lines; texts are left-aligned and numbers right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        words = column in WORDS
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "Elo")
    return table


def _short_name(name: str) -> Text:
    shown = printable(name)
    return Text(shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}\u2026")


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print a text without control characters."""
    lines = "\n".join(map(printable, text.split("\n")))
    console.print(lines, style=style or None, markup=False, highlight=False)
