"""The answer of a schedule that goes by rounds, as the top of a page says it."""

from arena.showing.html import Html, isolated, joined
from arena.showing.report_contents import Report

QUESTIONS = {
    "best": "Who is best at {game}, of {agents} agents?",
    "rank": "In which order do {agents} agents stand at {game}?",
    "place": "Where does a newcomer stand at {game}, of {agents} agents?",
}
WINS = "Who wins at {game}, of {agents} agents?"


def question_of(schedule: str, game: str, agents: int) -> str:
    """What a schedule asks."""
    return QUESTIONS.get(schedule, WINS).format(game=game, agents=agents)


def tournament_answer(report: Report) -> tuple[str, str, Html]:
    """The question, the answer, and why the others are out."""
    told = report.summary["tournament"]
    agents = told["agents"]
    question = question_of(told["schedule"], report.game_name, len(agents))
    answer = str(told["answer"])
    headline = f"{answer[:1].upper()}{answer[1:]}."
    out = [row for row in agents if row["state"] == "out" and row["why"]]
    reasons = [
        f"{isolated(row['agent'])} is out{_when(row['round'])}: {row['why']}. " for row in out
    ]
    notes = [f"{note[:1].upper()}{note[1:]}. " for note in map(str, told["notes"])]
    return question, headline, joined([*reasons, *notes])


def _when(round_: int | None) -> str:
    return "" if round_ is None else f" since round {round_}"
