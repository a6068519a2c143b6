"""The second half of a study, against its best so far if the seed weights hardly ever win."""

from dataclasses import replace

from arena.planning.seeds import digest_word
from arena.tuning.recommendation import Recommendation
from arena.tuning.study_config import Tuning

CHAMPION = "best so far"
DIRECTORY = "second-half"
# Where nearly all games are won, better weights show half as clearly as among equals.
SATURATED = 0.85


def may_change(tuning: Tuning) -> bool:
    """Whether the opponent is ours to choose: the file names none but the untuned agent."""
    return [name for name, _ in tuning.opponents] == [tuning.agent]


def too_easy(best: Recommendation) -> bool:
    """Whether the recommended weights win so often that more trials would teach little."""
    return not best.flat and best.score.value >= SATURATED


def against(tuning: Tuning, best: Recommendation) -> Tuning:
    """The same study against the recommended weights, now its seed weights, with fresh seeds."""
    first = tuning.plan
    champion = tuning.candidate.changed(**tuning.space.changes(best.point))
    plan = replace(
        first,
        agents={**first.agents, CHAMPION: champion},
        seed=int(digest_word(CHAMPION, first.seed)) >> 1,
    )
    return replace(
        tuning,
        experiment=replace(tuning.experiment, plan=plan),
        seed_values=best.weights,
        opponents=((CHAMPION, 1.0),),
    )


def both_halves(first: Recommendation, second: Recommendation) -> Recommendation:
    """The final recommendation: that of the first half, unless the second found better weights."""
    trials, games = first.trials + second.trials, first.games + second.games
    final = first if second.flat else second._replace(over="the best of the first half")
    return final._replace(trials=trials, games=games)
