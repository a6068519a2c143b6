"""A tournament by rounds in lines of text: while it goes on, and at its end."""

from collections.abc import Sequence

from arena.planning.rounds import OUT, Row, TournamentStanding

MOST_OUT = 12


def live_lines(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """The round, who is still in, and why the latest are out."""
    inside = ", ".join(names[agent] for agent in standing.inside)
    lines = [f"after round {standing.rounds}: {standing.answer}", f"in: {inside}"]
    return [*lines, *_out_lines(standing, names, MOST_OUT // 2)]


def tournament_lines(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """The answer first, then why the others are out, then what it rests on."""
    notes = [f"note: {note}" for note in standing.notes]
    return [standing.answer, *_out_lines(standing, names, MOST_OUT), *notes]


def _out_lines(standing: TournamentStanding, names: Sequence[str], most: int) -> list[str]:
    gone = [row for row in standing.rows if row.state == OUT]
    lines = [f"  out: {names[row.agent]}{_when(row)}: {row.why}" for row in gone[:most]]
    more = len(gone) - most
    return [*lines, f"  and {more} more are out"] if more > 0 else lines


def _when(row: Row) -> str:
    return "" if row.round is None else f" in round {row.round}"
