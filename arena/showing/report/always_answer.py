"""The answer to whether every game is won, as the top of a page says it."""

from arena.concluding.checks import FAILS, HOLDS
from arena.concluding.table_rows import WinRateRow
from arena.showing.html import Html, isolated, joined, tag
from arena.showing.numbers import CENSUS, confidence, count, counted, score_of, share, share_ends
from arena.showing.report_contents import Report
from games.keys import KeyValues

BEATS = " beats "


def always_claim(report: Report) -> tuple[WinRateRow, KeyValues] | None:
    """The row of the only check of two agents that every game is won, seen by its winner."""
    for check in report.checks:
        winner, beats, loser = str(check["that"]).partition(BEATS)
        if check["test"] == "always" and check["status"] in (HOLDS, FAILS) and beats:
            row = report.pairs.get((winner.strip(), loser.strip()))
            return None if row is None else (row, check)
    return None


def every_game(report: Report, row: WinRateRow, check: KeyValues) -> tuple[str, str, Html]:
    """Question, answer and how sure it is, where every game was to be won."""
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    losses, known = row.games - wins - draws, score_of(row)
    game, name = report.game_name, isolated(row.agent)
    question = f"Does {name} win every game of {game} against "
    winnable = check.get("values", {}).get("always") == "winnable"
    question += f"{isolated(row.opponent)}{' that can be won' if winnable else ''}?"
    if check.get("values", {}).get("always") == "proved":
        proved = "Yes: it is" if check["status"] == HOLDS else "No: it is not"
        return question, f"{proved} proved that {name} wins every game.", score_sentence(row)
    if wins == row.games:
        headline = f"Yes: {name} won all {counted(row.games, 'game')}."
        end = f", from {counted(row.openings, 'opening')} on both sides."
        return (question, headline, joined([score_sentence(row), end]))
    parts = [f"drew {count(draws)}" if draws else "", f"lost {count(losses)}" if losses else ""]
    rest = " and ".join(part for part in parts if part)
    if check["status"] == HOLDS:  # of what could be won, all was
        headline = f"Yes: {name} won {count(wins)} of {counted(row.games, 'game')}, all that could "
        headline += "be won"
    else:
        headline = f"No: {name} won {count(wins)} of {counted(row.games, 'game')}, "
        headline += rest if draws and losses else f"and {rest}"
    shown = tag("a", "shown below", href="#games=against")
    number = "The other game is" if row.games - wins == 1 else "The other games are"
    if known.value is None:
        return (question, f"{headline}.", joined([f"{number} ", shown, "."]))
    return (question, f"{headline}.", joined([score_sentence(row), f". {number} ", shown, "."]))


def score_sentence(row: WinRateRow) -> Html:
    """The score with its interval."""
    known = score_of(row)
    if known.value is None:
        return joined([f"{known.why[:1].upper()}{known.why[1:]}"])
    if known.kind == CENSUS:
        return joined([f"Its score is {share(known.value)}, exact for all openings there are"])
    if not known.bounded:
        return joined([f"Its score is {share(known.value)}; {known.why or 'no interval exists'}"])
    sure = f"{share_ends(known)} with {confidence(known.level)} confidence"
    return joined([f"Its score is {share(known.value)}, ", sure])
