"""The paragraph about methods that a paper needs, from what the run itself planned and kept."""

from collections.abc import Iterator

from agents import users_code, varies
from arena.concluding.repeatability import KEY
from arena.planning.plan import Plan
from arena.playing.bot_replays import BotReplays
from arena.showing.numbers import CENSUS, SPRT, count, counted
from arena.showing.report_contents import Report
from games.names import listed
from games.terminal import Mistake, printable

WAYS = {
    "none": "the starting position alone",
    "random": "positions after {random_plies} random plies",
    "plies": "positions after {plies[0]} to {plies[1]} random plies, the number drawn for each",
    "enumerate": "all positions after {enumerate} plies",
}
SOURCES = {
    "ratings": "Bradley and Terry, Biometrika 39 (1952), with the first mover's advantage of "
    "Davidson and Beaver, Biometrics 33 (1977)",
    "bootstrap": "Rubin's Bayesian bootstrap, Annals of Statistics 9 (1981)",
    "intervals": "Owen's empirical likelihood, Biometrika 75 (1988), one lost observation added",
    "clusters": "the cluster-robust errors of Bell and McCaffrey, Survey Methodology 28 (2002)",
    "sprt": "Wald's sequential probability ratio test, Annals of Mathematical Statistics 16 (1945)",
    "betting": "betting, after Waudby-Smith and Ramdas, JRSS B 86 (2024)",
}


def methods(report: Report) -> str:
    """Whole sentences on one line; a Mistake for games that no plan describes."""
    if not isinstance(report.plan, Plan):
        raise Mistake("methods are those of a run: name its directory")
    sentences = [*_games(report, report.plan), *_agents(report, report.plan), *_estimates(report)]
    return " ".join(f"{each}." for each in [*sentences, *_provenance(report, report.plan)])


def _games(report: Report, plan: Plan) -> Iterator[str]:
    games, matches = report.games.size, len(report.met())
    yield (
        f"{counted(len(plan.agents), 'agent')} played {counted(games, 'game')} of "
        f"{report.game_name} in {count(matches)} match{'es' * (matches != 1)}"
    )
    way = WAYS.get(plan.openings.way, f"openings of the kind '{plan.openings.way}'")
    yield (
        f"Games began from {counted(report.openings, 'different opening')} "
        f"({way.format(**plan.openings.values)}"
        f"{_balanced(plan)}); from each, both agents moved first after the opening once, and "
        "these two games are the unit of all statistics"
    )
    yield _how_many(plan)
    repeats = sum(int(piece.repeat.sum()) for piece in report.games.pieces())
    if repeats:
        yield (
            f"{count(repeats)} games repeated earlier ones move by move; they are in the results, "
            "and estimates rest on the distinct games"
        )


def _balanced(plan: Plan) -> str:
    bound = plan.openings.balance
    return "" if bound is None else f", those kept whose value lies within {bound:g} of even"


def _how_many(plan: Plan) -> str:
    if plan.stop is not None:
        test = plan.stop
        return (
            f"A match ended by {SOURCES['sprt']} of {test.elo0:g} against {test.elo1:g} Elo "
            f"({test.model}; alpha {test.alpha:g}, beta {test.beta:g}), or after at most "
            f"{counted(plan.pairs, 'pair')} of games"
        )
    if plan.rounds is not None:
        return (
            f"Who met next followed from the results (schedule '{plan.rounds.way}'), at most "
            f"{counted(plan.pairs, 'pair')} a match; its answers hold however often one looks, by "
            f"{SOURCES['betting']}"
        )
    return f"Each match had {counted(plan.pairs, 'pair')} of games, a number fixed beforehand"


def _agents(report: Report, plan: Plan) -> Iterator[str]:
    replays = BotReplays.from_json(report.run.get(KEY))
    differing = replays.differing if replays else ()
    chance = [name for name, spec in plan.agents.items() if varies(spec) or name in differing]
    if not chance:
        yield "No agent uses chance: each answers a position in one way"
    elif len(chance) == len(plan.agents):
        yield "All agents use chance, drawn from the seed, or may"
    else:
        yield f"Of the agents, {named(chance)} may use chance, drawn from the seed; no other does"
    limits = [f"{plan.move_seconds:g} s a move"]
    limits += [f"{plan.turn_seconds:g} s a turn"] if plan.turn_seconds is not None else []
    limits += [f"{plan.game_seconds:g} s a game"] if plan.game_seconds is not None else []
    limits += [f"{plan.increment:g} s added after a move"] if plan.increment else []
    bots = [name for name, spec in plan.agents.items() if users_code(spec) is not None]
    if bots or plan.game_seconds is not None:
        yield f"An agent that exceeded {', '.join(limits)} lost the game"


def _estimates(report: Report) -> Iterator[str]:
    kinds = {row.interval for row in report.pairs.values()}
    if report.ratings and not report.standing:
        yield (
            f"Ratings are maximum-likelihood estimates after {SOURCES['ratings']}; their "
            f"intervals come from {SOURCES['bootstrap']}, over openings"
        )
    if "fixed-n" in kinds:
        level = 100 * (report.ratings[0].level if report.ratings else 0.95)
        yield (
            f"Intervals of scores ({level:g} %) are by {SOURCES['intervals']}, with "
            f"{SOURCES['clusters']} where openings repeat"
        )
    if "anytime" in kinds:
        yield f"Intervals of matches are true at every look, by {SOURCES['betting']}"
    if SPRT in kinds:
        yield "Intervals of matches that a test ended ignore the stop"
    if CENSUS in kinds:
        yield "Where every opening was played between agents without chance, scores are exact"


def _provenance(report: Report, plan: Plan) -> Iterator[str]:
    run = report.run
    versions = run.get("versions", {})
    others = ", ".join(f"{name} {versions[name]}" for name in versions if name != "pitflip")
    machine = run.get("machine", {})
    if run.get("isolation") and any(users_code(spec) is not None for spec in plan.agents.values()):
        yield f"Programs of users ran apart from the referee (isolation: {run['isolation']})"
    yield (
        f"All chance came from the seed {plan.seed}. The games were played by Pitflip "
        f"{versions.get('pitflip', '?')} (code {run.get('code', '?')}; {others}; "
        f"{machine.get('system', '?')}, {machine.get('processor', '?')})"
    )
    yield f"The run is {printable(str(run.get('digest', '?')))}"
    again = report.repeatability
    yield f"Its games can be repeated: {again.words}"


def named(names: list[str]) -> str:
    """Names of agents, safe to print."""
    return printable(listed(names))
