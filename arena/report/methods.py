"""Facts, methods and commands of a run."""

import json
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from agents.registry import users_code, varies
from arena.analysis.repeatability import KEY
from arena.analysis.tables import WinRateRow
from arena.planning.plan import Plan
from arena.playing.bot_replays import BotReplays
from arena.playing.clock import time_control
from arena.report.data import ReportData
from arena.report.html import Html, Inside, join, tag
from arena.report.numbers import (
    CENSUS,
    NO_INTERVAL,
    SPRT,
    count,
    counted,
    rating_of,
    seconds,
)
from arena.stats.estimate import EstimateKind
from games.base.errors import printable
from games.base.text import listed

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
SWISS = "swiss"
ADAPTED = str(EstimateKind.ADAPTED)
KINDS = {
    "fixed-n": "intervals for a fixed number of games",
    "anytime": "intervals that are true at every moment one looks",
    SPRT: "intervals that ignore the test that stopped the games",
    CENSUS: "exact scores, for every opening there is was played",
    ADAPTED: "intervals that hold the true value less often than they say",
    NO_INTERVAL: "no interval, for the games allow none",
}


def methods_paragraph(report: ReportData) -> str:
    """Whole sentences on one line."""
    sentences = [*_games(report, report.plan), *_agents(report, report.plan), *_estimates(report)]
    return " ".join(f"{each}." for each in [*sentences, *_provenance(report, report.plan)])


def _games(report: ReportData, plan: Plan) -> Iterator[str]:
    games, matches = report.games.size, len(report.met())
    yield (
        f"{counted(len(plan.agents), 'agent')} played {counted(games, 'game')} of "
        f"{report.game_name} in {count(matches)} match{'es' * (matches != 1)}"
    )
    way = WAYS.get(plan.openings.way, f"openings of the kind '{plan.openings.way}'")
    yield (
        f"Games began from {counted(report.openings, 'opening')} "
        f"({way.format(**plan.openings.values)}"
        f"{_balanced(plan)}); from each, both agents moved first after the opening once, and "
        "these two games are the unit of all statistics"
    )
    yield _how_many(plan)
    yield from set_apart(report)


def set_apart(report: ReportData) -> Iterator[str]:
    """What is to be said of duplicate games, of forfeits, and of games that were not played."""
    games, duplicates, forfeits, unplayed = report.game_counts
    if duplicates:
        yield (
            f"{count(duplicates)} of {counted(games, 'game')} {_were(duplicates)} "
            f"duplicate{'s' * (duplicates != 1)}: an earlier game of the same match had the same "
            "moves"
        )
    if left_out := sum(row.games - row.counted_games for row in report.met()):
        yield (
            f"estimates leave out {counted(left_out, 'game')} in which agents played an opening "
            "again in the same way, as agents without chance do; they are in the results"
        )
    if forfeits:
        yield (
            f"{count(forfeits)} of {counted(games, 'game')} {_were(forfeits)} forfeited by a fault "
            "of the side that lost, and count as losses"
        )
    if report.excluded:
        names = [each.agent for each in report.excluded]
        yield (
            f"{safe_names(names)} {_were(len(names))} excluded; "
            f"{counted(unplayed, 'game')} of the forfeits {_were(unplayed)} not played"
        )


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


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
    if plan.rounds is not None and plan.rounds.way == SWISS:
        size = min(int(plan.rounds.values["pairings"]), plan.pairs)
        return (
            "In each round agents of about equal points met (schedule 'swiss'), for "
            f"{counted(size, 'pair')} of games; this order shows nothing of strength"
        )
    if plan.rounds is not None:
        return (
            f"Who met next followed from the results (schedule '{plan.rounds.way}'), at most "
            f"{counted(plan.pairs, 'pair')} a match; its answers hold however often one looks, by "
            f"{SOURCES['betting']}"
        )
    return f"Each match had {counted(plan.pairs, 'pair')} of games, a number fixed beforehand"


def _agents(report: ReportData, plan: Plan) -> Iterator[str]:
    yield from _chance(report, plan)
    bots = [name for name, spec in plan.agents.items() if users_code(spec) is not None]
    limited = bots or plan.agents
    moves = sorted({time_control(plan, plan.agents[name]).move for name in limited})
    limits = [f"{' or '.join(f'{each:g}' for each in moves)} s for a move"]
    limits += [f"{plan.turn_seconds:g} s for a turn"] if plan.turn_seconds is not None else []
    if plan.game_seconds is not None:
        added = f", with {plan.increment:g} s more after each move" if plan.increment else ""
        limits += [f"{plan.game_seconds:g} s for all its moves of a game{added}"]
    if bots or plan.game_seconds is not None:
        yield f"An agent lost a game in which it needed more than {' or '.join(limits)}"


def _chance(report: ReportData, plan: Plan) -> Iterator[str]:
    """Which agents draw random numbers, and which were seen to play without the seed."""
    replays = BotReplays.from_json(report.run.get(KEY))
    differing = [name for name in plan.agents if replays and name in replays.differing]
    outside = [name for name in plan.outside_bots if name not in differing]
    ours = {n: spec for n, spec in plan.agents.items() if n not in (*differing, *outside)}
    clocks = [name for name, spec in ours.items() if "seconds" in spec.options]
    own = [name for name, spec in ours.items() if varies(spec) and name not in clocks]
    if not (own or clocks or differing or outside):
        yield "No agent uses chance: each answers a position in one way"
    if own:
        yield f"{safe_names(own)} may use chance, drawn from the seed"
    if clocks:
        search = "searches" if len(clocks) == 1 else "search"
        yield f"{safe_names(clocks)} {search} by the clock, so an answer depends on the machine"
    if outside:
        yield f"{safe_names(outside)} {_are_bots(outside)}: the seed decides only their numbers"
    if differing:
        yield f"{safe_names(differing)} played other games when asked again, with the same seed"


def _are_bots(names: list[str]) -> str:
    return "is a user's bot" if len(names) == 1 else "are users' bots"


def _estimates(report: ReportData) -> Iterator[str]:
    kinds = {row.interval for row in report.pairs.values()}
    rated = any(rating_of(row).value is not None for row in report.ratings)
    interval = any(rating_of(row).bounded for row in report.ratings)
    if rated and report.two:
        half = ", with half its interval" if interval else ""
        yield f"The rating of each agent is half the Elo difference of the pair{half}"
    elif rated and not report.standing:
        bootstrap = f"; their intervals come from {SOURCES['bootstrap']}, over openings"
        yield (
            f"Ratings are maximum-likelihood estimates after {SOURCES['ratings']}"
            f"{bootstrap if interval else ''}"
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
        yield (
            "The interval of the match that a test ended ignores the stop; the estimate that the "
            "test gives is corrected for it"
        )
    if ADAPTED in kinds:
        yield f"As results decided who met, {KINDS[ADAPTED]}"
    if CENSUS in kinds:
        yield "Where every opening was played between agents without chance, scores are exact"


def _provenance(report: ReportData, plan: Plan) -> Iterator[str]:
    run = report.run
    versions = run.get("versions", {})
    others = ", ".join(f"{name} {versions[name]}" for name in versions if name != "pitflip")
    machine = run.get("machine", {})
    if run.get("isolation") and any(users_code(spec) is not None for spec in plan.agents.values()):
        yield f"Programs of users ran apart from the referee (isolation: {run['isolation']})"
    yield (
        f"The games were played with the seed {plan.seed} by Pitflip "
        f"{versions.get('pitflip', '?')} (code {run.get('code', '?')}; {others}; "
        f"{machine.get('system', '?')}, {machine.get('processor', '?')})"
    )
    yield f"The run is {printable(str(run.get('digest', '?')))}"
    again = report.repeatability
    yield f"Its games can be repeated: {again.words}"


def safe_names(names: list[str]) -> str:
    """Names of agents, safe to print."""
    return printable(listed(names))


# ------------------------------------------------------------------------------ facts


def facts(report: ReportData) -> Html:
    """Six facts in a row: games, openings, agents, time, seed, whether it can be repeated."""
    rows = (
        ("games", count(report.games.size), _matches(report)),
        ("openings (K)", count(report.openings), _opening_way(report)),
        ("agents", count(len(report.agents)), _clocks(report)),
        ("played in", _duration(report), _speed(report)),
        ("seed", str(report.plan.seed), f"pitflip {_version(report, 'pitflip')}"),
        ("can be repeated", *report.repeatability),
    )
    boxes = (
        tag("div", tag("dt", name), tag("dd", tag("b", value), tag("span", more)))
        for name, value, more in rows
    )
    return tag("dl", join(boxes), class_="facts")


def _matches(report: ReportData) -> str:
    matches = len(report.met())
    return f"{count(matches)} match{'es' * (matches != 1)}"


def _opening_way(report: ReportData) -> str:
    openings = report.plan.openings
    if openings.way == "none":
        return "the starting position"
    if openings.way == "random":
        return f"{openings.values['random_plies']} random moves each"
    if openings.way == "plies":
        fewest, most = openings.values["plies"]
        return f"{fewest} to {most} random moves"
    if openings.way == "enumerate":
        return f"every one of {openings.values['enumerate']} moves"
    return f"openings: {openings.way}"


def _clocks(report: ReportData) -> str:
    clocks = sum("seconds" in spec.options for spec in report.plan.agents.values())
    return f"{clocks} by the clock" if clocks else "none with a clock"


def _duration(report: ReportData) -> str:
    begun, ended = (moment(report, name) for name in ("begun", "finished"))
    if begun is None or ended is None:
        return "\u2013"
    number = max((ended - begun).total_seconds(), 1.0)  # whole ones
    return f"{number:.0f}\u00a0s" if number < 120.0 else seconds(number)


def _speed(report: ReportData) -> str:
    cores = report.run.get("machine", {}).get("cores")
    return counted(cores, "core") if isinstance(cores, int) else ""


def moment(report: ReportData, name: str) -> datetime | None:
    """A time in run.json."""
    try:
        return datetime.strptime(str(report.run.get(name)), "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None


def run_date_text(report: ReportData) -> str:
    """The day and hour when the run ended, and the run's name."""
    ended = moment(report, "finished")
    day = "" if ended is None else f"{ended.day} {ended:%B %Y, %H:%M} \u00b7 "
    return f"{day}run {report.run.get('digest', '')}"


def _version(report: ReportData, package: str) -> str:
    return str(report.run.get("versions", {}).get(package, ""))


# ------------------------------------------------------------------------------ method


def method_section(report: ReportData) -> Html:
    """What the numbers rest on: openings, repeats, intervals, what a second run repeats."""
    paragraphs = (tag("p", sentence) for sentence in _sentences(report))
    return tag(
        "section",
        tag("h2", "What the numbers rest on", id="method-h"),
        tag("div", join(paragraphs), class_="prose"),
        id="method",
        aria_labelledby="method-h",
    )


def _sentences(report: ReportData) -> Iterator[str]:
    openings = counted(report.openings, "opening")
    each = "each" if report.openings > 1 else "it"
    yield (
        f"The games began from {openings} ({_opening_way(report)}), and from {each} both agents "
        "moved first after it once in every pair of games, so that a good seat helps nobody."
    )
    aside = [f"{each}." for each in set_apart(report)]
    yield from aside or [f"All {counted(report.games.size, 'game')} are different."]
    yield _effective(report.met())
    kinds = {row.interval for row in report.pairs.values()}
    level = report.ratings[0].level if report.ratings else 0.95
    words = [KINDS.get(kind, kind) for kind in sorted(kinds)]
    told = f"The scores have {'; '.join(words)}."
    yield (
        told if kinds <= {NO_INTERVAL, CENSUS} else f"{told} Their level is {100 * level:g}\u00a0%."
    )
    questions = sorted({row.of for row in report.pairs.values()})
    yield f"They answer for {' or, where a match says so, for '.join(questions)}."
    if report.repeatability.certain:
        yield (
            "A second run with the same file and version plays the same games and writes the "
            "same tables byte for byte, on any machine and with any number of processes. Only "
            "the thinking times differ."
        )
    else:
        yield f"Whether a second run plays the same games: {report.repeatability.words}."


def _effective(rows: list[WinRateRow]) -> str:
    """The effective sample size in words."""
    if not rows:
        return "No agents met."
    sizes = [row.n_eff for row in rows if row.n_eff is not None]
    if not sizes:
        return "Results decided who met: the games show nothing of strength by themselves."
    pairs = max(row.games // 2 for row in rows)
    if len(sizes) == 1:
        return (
            f"Its {counted(pairs, 'pair')} of games say as much as {sizes[0]:,.0f} independent "
            "pairs would (n_eff)."
        )
    low, high = f"{min(sizes):,.0f}", f"{max(sizes):,.0f}"
    spread = high if low == high else f"{low} to {high}"
    more = "" if low == high else ", depending on the match"
    return (
        f"The {counted(pairs, 'pair')} of games of a match say as much as {spread} independent "
        f"pairs would (n_eff){more}."
    )


# ------------------------------------------------------------------------------ again


def reproduce_section(report: ReportData) -> Html:
    """The commands that play the run again and compare it, and what it was made with."""
    versions = ", ".join(
        f"{name} {number}" for name, number in report.run.get("versions", {}).items()
    )
    machine = report.run.get("machine", {})
    facts_of: list[tuple[str, Inside]] = [
        ("run", tag("code", str(report.run.get("digest", "")))),
        ("code", tag("code", str(report.run.get("code", "")))),
        ("versions", versions),
        ("played", f"{_span(report)} on {machine.get('system', '?')} "
                   f"{machine.get('processor', '')}, {machine.get('cores', '?')} cores"),
    ]  # fmt: skip
    rows = (join([tag("dt", name), tag("dd", value)]) for name, value in facts_of)
    plan = json.dumps(report.run.get("plan", {}), indent=1, ensure_ascii=False)
    return tag(
        "section",
        tag("h2", "Make it again", id="again-h"),
        tag(
            "p", same_again(report), class_="lead",
        ),
        join(_command(line) for line in commands(report)),
        tag("dl", join(rows), class_="provenance"),
        tag("details", tag("summary", "The whole plan"), tag("pre", plan, tabindex=0)),
        id="again",
        aria_labelledby="again-h",
    )  # fmt: skip


def same_again(report: ReportData) -> str:
    """Say whether these commands play the same games."""
    if report.repeatability.answer == "yes":
        return (
            "The same file, seed and version give the same games, whatever the number of "
            f"processes and however often they were interrupted ({report.repeatability.reason})."
        )
    return (
        "These commands play the same openings with the same seeds. Whether the games can be "
        f"repeated: {report.repeatability.words}."
    )


def commands(report: ReportData) -> list[str]:
    """The commands that play a run again, compare it, and write this page."""
    path = report.run.get("path")
    words = [word for change in report.run.get("overrides", []) for word in ("--set", change)]
    lines = []
    if path:
        lines.append(shlex.join(["pitflip", "run", relative_path(Path(path)), *words]))
    if report.directory is not None:
        directory = relative_path(report.directory)
        if report.plan.reproducible:
            lines.append(shlex.join(["pitflip", "verify", directory]))
        lines.append(shlex.join(["pitflip", "report", directory]))
    return lines


def relative_path(path: Path) -> str:
    """A path as commands name it: from the working directory, if it lies below."""
    whole, here = path.absolute(), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _command(line: str) -> Html:
    return tag(
        "div", tag("code", line, tabindex=0), tag("button", "copy", type="button", data_copy=line),
        class_="command",
    )  # fmt: skip


def _span(report: ReportData) -> str:
    begun, ended = (moment(report, name) for name in ("begun", "finished"))
    if begun is None or ended is None:
        return "at an unknown time"
    return f"{begun.day} {begun:%B %Y, %H:%M:%S} to {ended:%H:%M:%S %Z}"
