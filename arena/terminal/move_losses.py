"""Move losses as tables and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from arena.analysis.move_losses.judge import JudgeResult
from arena.analysis.move_losses.losses import AgentLosses, Blunder, StageLosses
from arena.terminal.tables import plain_table, print_line
from games import Game
from games.base.cli import shell_command
from games.base.text import count_noun
from games.solving.solution import remaining_units, unit_name
from games.solving.solver import OUTCOMES, sign
from games.transcripts import replay_command_for_line


def print_move_losses(
    judgement: JudgeResult, found: Sequence[AgentLosses], console: Console
) -> None:
    """Print a headline, and a table and the blunders of each agent."""
    print_line(console, headline(judgement), "bold")
    for agent in found:
        print_line(console, "")
        print_line(console, agent_line(agent), "bold")
        table = plain_table(
            stage_name(judgement.run.game), "moves", "judged", "perfect", "mean loss",
            "thrown away", "rescued",
        )  # fmt: skip
        for stage in agent.stages:
            table.add_row(*stage_cells(stage))
        console.print(table)
        for blunder in agent.blunders:
            print_line(console, blunder_line(blunder))
            command = shell_command(
                replay_command_for_line(judgement.run.game, " ".join(blunder.line))
            )
            console.print(Text(f"  {command}"), soft_wrap=True)


def headline(judgement: JudgeResult) -> str:
    """Return how much of the run was judged."""
    run = judgement.run
    games = f"{len(run.line_of):,} games"
    if len(run.lines) != len(run.line_of):
        games += f", {len(run.lines):,} of them different"
    most = remaining_units(run.game, run.game.start())
    if most is None:
        how = "judged as far back as the positions of a question allow"
    elif judgement.last is None or judgement.last >= most:
        how = "judged to the start"
    else:
        how = f"judged from {judgement.last} {unit_name(run.game)} on"
        how += "" if judgement.complete else ", some of them farther back"
    return f"{run.game.name}: {games}, {how}; openings belong to no agent"


def agent_line(agent: AgentLosses) -> str:
    """Return the sums of an agent in one line."""
    judged, moves = agent.total("judged"), agent.total("moves")
    if not judged:
        return f"{agent.agent}: none of {moves:,} moves judged"
    perfect = 100 * agent.total("perfect") / judged
    mean = agent.total("loss") / judged
    results = agent.total("results")
    words = [
        f"{judged:,} of {moves:,} moves judged",
        *([f"{results:,} by result"] if results > judged else []),
        f"{perfect:.1f} % perfect",
        f"mean loss {mean:.2f}",
        f"threw away {count_noun(agent.wins_thrown_away, 'win')} "
        f"and {count_noun(agent.draws_thrown_away, 'draw')}",
        f"was given {count_noun(agent.total('rescued'), 'result')}",
    ]
    return f"{agent.agent}: {', '.join(words)}"


def stage_name(game: Game) -> str:
    """Return the heading of the column of stages."""
    if remaining_units(game, game.start()) is None:
        return "stage"
    return "empty" if game.pack == "othello" else "beans"


def stage_cells(stage: StageLosses) -> list[str]:
    """Return the row of a stage; shares are of judged moves."""
    name = stage.label if stage.last else "all"
    counts = [f"{stage.moves:,}", f"{stage.judged:,}"]
    if not stage.judged:
        return [name, *counts, "unknown", "", "", ""]
    shares = [f"{100 * stage.perfect / stage.judged:.1f} %", f"{stage.loss / stage.judged:.2f}"]
    return [name, *counts, *shares, f"{stage.thrown_away:,}", f"{stage.rescued:,}"]


def blunder_line(blunder: Blunder) -> str:
    """Return a line about a blunder and its loss."""
    better = f" for {blunder.best}" if blunder.best else ""
    before, after = OUTCOMES[sign(blunder.value)], OUTCOMES[sign(blunder.after)]
    change = f"a {before} becomes a {after}, " if before != after else ""
    return (
        f"game {blunder.game}, ply {blunder.ply}: {blunder.move}{better}: "
        f"{change}{blunder.value:+d} becomes {blunder.after:+d}"
    )


def losses_to_json(judgement: JudgeResult, found: Sequence[AgentLosses]) -> str:
    """Return the move losses as a JSON object."""
    run = judgement.run
    content = run.source | {
        "games": len(run.line_of),
        "distinct_games": len(run.lines),
        "judged_to": judgement.last,
        "complete": judgement.complete,
        "agents": [agent_to_json(run.game, agent) for agent in found],
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def agent_to_json(game: Game, agent: AgentLosses) -> dict[str, object]:
    """Return one agent; shares are null if nothing was judged."""
    return {
        "agent": agent.agent,
        "moves": agent.total("moves"),
        "judged": agent.total("judged"),
        "perfect": fraction(agent.total("perfect"), agent.total("judged")),
        "mean_loss": fraction(agent.total("loss"), agent.total("judged")),
        "thrown_away": agent.total("thrown_away"),
        "wins_thrown_away": agent.wins_thrown_away,
        "draws_thrown_away": agent.draws_thrown_away,
        "rescued": agent.total("rescued"),
        "stages": [
            asdict(stage)
            | {
                "perfect_share": fraction(stage.perfect, stage.judged),
                "mean_loss": fraction(stage.loss, stage.judged),
            }
            for stage in agent.stages
        ],
        "blunders": [
            asdict(blunder)
            | {
                "line": " ".join(blunder.line),
                "loss": blunder.loss,
                "replay": replay_command_for_line(game, " ".join(blunder.line)),
            }
            for blunder in agent.blunders
        ],
    }


def fraction(part: int, whole: int) -> float | None:
    """Return a share; None of an empty whole."""
    return part / whole if whole else None
