"""How a run was played and analysed: facts, methods, and the commands that repeat it."""

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from agents.core import to_plain_table
from agents.registry import kind_of, option_values, randomness_reason, user_code_reason
from arena.analysis.repeatability import KEY
from arena.planning.plan import Plan
from arena.planning.scale import SCALE
from arena.playing.clock import time_control
from arena.playing.determinism import BotReplays
from arena.report.data import ReportData
from arena.report.figure import section
from arena.report.html import Html, Inside, join, tag
from arena.report.numbers import count, has_end, rating_of, seconds
from arena.stats.estimate import EstimateKind, shared_level
from arena.stats.sprt import Decision
from arena.stats.stopping import GIVE_UP_ERROR, WidthPlan
from arena.storage.versions import file_digest_or_none
from games.base.errors import printable
from games.base.text import count_noun, join_names

OPENINGS = {
    "none": "the starting position",
    "random": "positions after {random_plies} random plies",
    "plies": "positions after {plies[0]} to {plies[1]} random plies",
    "enumerate": "all positions after {enumerate} plies",
}
SOURCES = {
    "ratings": "Bradley and Terry, Biometrika 39 (1952), with the first mover's advantage of "
    "Davidson and Beaver, Biometrics 33 (1977)",
    "bootstrap": "Rubin's Bayesian bootstrap, Annals of Statistics 9 (1981)",
    "intervals": "Owen's empirical likelihood, Biometrika 75 (1988), with one lost observation "
    "added",
    "clusters": "the cluster-robust errors of Bell and McCaffrey, Survey Methodology 28 (2002)",
    "width": "repeated confidence intervals of Jennison and Turnbull, Journal of the Royal "
    "Statistical Society B 51 (1989)",
    "sprt": "Wald's sequential probability ratio test, Annals of Mathematical Statistics 16 (1945)",
    "betting": "betting, after Waudby-Smith and Ramdas, JRSS B 86 (2024)",
}
SWISS = "swiss"
MOST_DESCRIBED, MOST_WEIGHTS, MOST_CHARACTERS = 12, 12, 1000  # agents, weights, of a sentence
BUDGETS = {"depth": "depth {}", "nodes": "{:,} nodes a move", "seconds": "{:g} s a move"}


def methods_paragraph(report: ReportData) -> str:
    """Return the methods of a run as a paragraph for a paper."""
    return " ".join(f"{each}." for each in [*_methods(report), *_provenance(report, report.plan)])


def method_section(report: ReportData) -> Html:
    """Return the methods of a run as a section of its page."""
    paragraphs = (tag("p", f"{each}.") for each in _methods(report))
    return section("Methods", tag("div", *paragraphs, class_="prose"), name="method")


def _methods(report: ReportData) -> Iterator[str]:
    yield from _games(report, report.plan)
    yield from count_notes(report)
    yield from _agents(report, report.plan)
    yield from _estimates(report)


def _games(report: ReportData, plan: Plan) -> Iterator[str]:
    agents = len(plan.agents)
    whole = (
        agents > 2 and plan.rounds is None and len(report.matches()) == agents * (agents - 1) / 2
    )
    met = {name for row in report.matches() for name in (row.agent, row.opponent)} or plan.agents
    everyone = ", each agent against each other one" if whole else ""
    yield (
        f"{count_noun(len(met), 'agent')} played {count_noun(report.games.size, 'game')} "
        f"of {report.game_name} in {_matches_text(report)}{everyone}"
    )
    balance = plan.openings.balance
    balanced = "" if balance is None else f", those with a value within {balance:g} of even"
    yield (
        f"The games started from {count_noun(report.openings, 'opening')} ({opening_text(plan)}"
        f"{balanced}). From each opening, both agents moved first once; these two games are a "
        "pair, and pairs are the unit of all statistics"
    )
    yield _length_text(plan)
    if (stopped := report.stopped) and stopped["decision"] != Decision.UNDECIDED:
        has_decided = stopped["decision"] in (Decision.ELO0, Decision.ELO1)
        yield f"The {'test' if has_decided else 'match'} {stopped['why']}"


def opening_text(plan: Plan) -> str:
    """Return how the openings were made."""
    text = OPENINGS.get(plan.openings.method, f"openings of the kind '{plan.openings.method}'")
    return text.format(**plan.openings.values)


def count_notes(report: ReportData) -> Iterator[str]:
    """Return sentences on duplicate games, forfeits and unplayed games, if there are any."""
    games, duplicates, forfeits, unplayed = report.game_counts
    if duplicates:
        yield (
            f"{count(duplicates)} of {count_noun(games, 'game')} {_was_or_were(duplicates)} "
            f"{'a duplicate' if duplicates == 1 else 'duplicates'}: an earlier game of the same "
            "match had the same moves"
        )
    if omitted := sum(row.games - row.counted_games for row in report.matches()):
        yield (
            f"Estimates leave out {count_noun(omitted, 'game')} in which agents played an opening "
            "again in the same way, as agents without randomness do; the results include them"
        )
    if forfeits:
        yield (
            f"{count(forfeits)} of {count_noun(games, 'game')} {_was_or_were(forfeits)} forfeited "
            "by a fault of the side that lost, and count as losses"
        )
    if report.exclusions:
        names = [each.agent for each in report.exclusions]
        yield (
            f"{safe_names(names)} {_was_or_were(len(names))} excluded; "
            f"{count_noun(unplayed, 'game')} of the forfeits {_was_or_were(unplayed)} not played"
        )


def _was_or_were(number: int) -> str:
    return "was" if number == 1 else "were"


def _length_text(plan: Plan) -> str:
    """Return how the number of games was decided."""
    pairs = count_noun(plan.pairs, "pair")
    if (test := plan.stop) is not None:
        how = (
            f"when half the width of its interval was at most {test.width:g} Elo "
            f"({SOURCES['width']})"
            if isinstance(test, WidthPlan)
            else f"by {SOURCES['sprt']} of {test.elo0:g} against {test.elo1:g} Elo "
            f"({test.model}; alpha {test.alpha:g}, beta {test.beta:g})"
        )
        hopeless = (
            f", or when these would end it with a chance of at most {100 * GIVE_UP_ERROR:g} %"
            if plan.gives_up
            else ""
        )
        return f"A match ended {how}, or after at most {pairs} of games{hopeless}"
    if plan.rounds is None:
        return f"Each match had {pairs} of games, a number fixed beforehand"
    if plan.rounds.method == SWISS:
        size = min(int(plan.rounds.values["pairings"]), plan.pairs)
        return (
            "In each round agents with about equal points met (schedule 'swiss'), for "
            f"{count_noun(size, 'pair')} of games; this order is no evidence of strength"
        )
    if plan.rounds.method == SCALE:
        return (
            "After each round the newcomer met the anchor of a fixed scale that narrows its rating "
            f"most, for at most {pairs} of games in all"
        )
    return (
        f"The results decided which agents met next (schedule '{plan.rounds.method}'), for at most "
        f"{pairs} a match; the answers are anytime-valid, by {SOURCES['betting']}"
    )


def _agents(report: ReportData, plan: Plan) -> Iterator[str]:
    if len(plan.agents) > MOST_DESCRIBED:
        kinds = Counter(spec.kind for spec in plan.agents.values())
        texts = [f"{kind} ({count(number)})" for kind, number in kinds.most_common()]
        yield f"The agents are of the kinds {join_names(texts)}; run.json has their options"
    else:
        yield from (agent_sentence(report, name) for name in plan.agents)
    yield from _randomness(report, plan)
    bots = [name for name, spec in plan.agents.items() if user_code_reason(spec) is not None]
    limited = bots or plan.agents
    moves = sorted({time_control(plan, plan.agents[name]).move for name in limited})
    limits = [f"{' or '.join(f'{each:g}' for each in moves)} s for a move"]
    limits += [f"{plan.turn_seconds:g} s for a turn"] if plan.turn_seconds is not None else []
    if plan.game_seconds is not None:
        added = f", with {plan.increment:g} s more after each move" if plan.increment else ""
        limits += [f"{plan.game_seconds:g} s for all its moves of a game{added}"]
    if bots or plan.game_seconds is not None:
        yield f"An agent lost a game in which it needed more than {' or '.join(limits)}"


def agent_sentence(report: ReportData, name: str) -> str:
    """Return the kind, budget, weights and files of an agent as a sentence."""
    spec = report.plan.agents[name]
    options = kind_of(spec).options
    values, found = option_values(options, spec, report.plan.game), list[str]()
    for key in options:
        value = values.get(key.name)
        if value in (None, (), "") or key.name == "deterministic":
            continue
        if key.type == "weights":
            found.append(_weights_text(value))
        elif key.name in BUDGETS:
            found.append(BUDGETS[key.name].format(value))
        elif key.name in spec.options:
            found.append(f"{key.name} = {_option_text(report, value)}")
    text = f"{safe_names([name])} is of the kind {spec.kind}"
    return printable(f"{text}, with {join_names(found)}" if found else text, MOST_CHARACTERS)


def _weights_text(weights: object) -> str:
    """Return weights with their digest; a file of learned tables by its name."""
    if not isinstance(weights, Mapping):
        digest = file_digest_or_none(Path(str(weights)))
        return f"the learned tables of {Path(str(weights)).name} (digest {digest})"
    content = json.dumps(to_plain_table(weights), sort_keys=True)
    digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    each = [f"{name} {_weight_text(value)}" for name, value in sorted(weights.items())]
    some = join_names(each) if len(each) <= MOST_WEIGHTS else f"{len(each)} values"
    return f"the weights {some} (digest {digest})"


def _weight_text(value: object) -> str:
    """Return a weight; several values are those of the stages of a game."""
    values = value if isinstance(value, tuple | list) else (value,)
    return "/".join(f"{each:g}" if isinstance(each, int | float) else str(each) for each in values)


def _option_text(report: ReportData, value: object) -> str:
    """Return the value of an option; a file is its name with the digest of the run."""
    if isinstance(value, tuple | list):
        return " ".join(_option_text(report, each) for each in value)
    if not isinstance(value, str):
        return f"{value:,}" if type(value) is int else str(value)
    files = report.run.get("files") or {}
    name = Path(value.partition(":")[0]).name
    digest = next((files[each] for each in files if Path(each).name == name), None)
    return Path(value).name if digest is None else f"{Path(value).name} (digest {digest})"


def _randomness(report: ReportData, plan: Plan) -> Iterator[str]:
    replays = BotReplays.from_json(report.run.get(KEY))
    differing = [name for name in plan.agents if replays and name in replays.differing]
    external = [name for name in plan.external_bots if name not in differing]
    ours = {n: spec for n, spec in plan.agents.items() if n not in (*differing, *external)}
    clocks = [name for name, spec in ours.items() if "seconds" in spec.options]
    random = [n for n, spec in ours.items() if randomness_reason(spec) and n not in clocks]
    if not (random or clocks or differing or external):
        yield "No agent uses chance: each answers a position in one way"
    if random:
        yield f"{safe_names(random)} may use chance, drawn from the seed"
    if clocks:
        verb = "searches" if len(clocks) == 1 else "search"
        yield f"{safe_names(clocks)} {verb} by the clock, so an answer depends on the machine"
    if external:
        kind = "is a user's bot" if len(external) == 1 else "are users' bots"
        yield f"{safe_names(external)} {kind}: the seed decides only the numbers sent to bots"
    if differing:
        yield f"{safe_names(differing)} played other games when asked again, with the same seed"


def _estimates(report: ReportData) -> Iterator[str]:
    kinds = {row.interval for row in report.pairs.values()}
    level = 100 * (report.ratings[0].level if report.ratings else 0.95)
    ratings = [rating_of(row) for row in report.ratings]
    on_scale = report.plan.rounds is not None and report.plan.rounds.method == SCALE
    rated, intervals = any(each.value is not None for each in ratings), any(map(has_end, ratings))
    if rated and report.has_two_agents:
        half = ", with half its interval" if intervals else ""
        yield f"The rating of each agent is half the Elo difference of the pair{half}"
    elif on_scale:
        yield (
            f"The rating of {safe_names([report.plan.names[0]])} is a quasi-likelihood estimate "
            "(McCullagh, Annals of Statistics 11 (1983)) from the stored ratings of the "
            "anchors; its interval inverts the score test and "
            "includes the errors of the anchors"
        )
    elif rated and not report.too_few_openings:
        bootstrap = f"; their intervals come from {SOURCES['bootstrap']}, over openings"
        yield (
            f"Ratings are maximum-likelihood estimates after {SOURCES['ratings']}"
            f"{bootstrap if intervals else ''}"
        )
    if EstimateKind.FIXED in kinds:
        yield (
            f"Intervals of scores ({level:g} %) are by {SOURCES['intervals']}, with "
            f"{SOURCES['clusters']} where openings repeat"
        )
    if EstimateKind.ANYTIME in kinds:
        width = isinstance(report.plan.stop, WidthPlan)
        source = (
            f"{SOURCES['width']}; before the width is reached, by {SOURCES['betting']}"
            if width
            else ""
        )
        source = source or SOURCES["betting"]
        yield f"Intervals of matches ({level:g} %) are anytime-valid, by {source}"
    if EstimateKind.SPRT in kinds:
        yield (
            f"The interval ({level:g} %) of the match that a test ended ignores the stop; the "
            "estimate of the test is corrected for it"
        )
    if EstimateKind.ADAPTED in kinds:
        single = " of single matches" if on_scale else ""
        yield (
            f"As results decided which agents met, intervals{single} ({level:g} %) hold the true "
            "value less often than they say"
        )
    if EstimateKind.CENSUS in kinds:
        yield "Where agents without randomness played every opening, scores are exact"
    if EstimateKind.FIXED in kinds and (matches := len(report.matches())) > 1:
        each = 100 * shared_level(level / 100, matches)
        yield (
            f"Each of these intervals is for its match alone; those for all {matches} matches at "
            f"once hold together with {level:g} % (Bonferroni: {each:.4g} % each)"
        )
    yield _sample_size_text(report)
    if scopes := sorted({row.of for row in report.pairs.values()}):
        yield f"The answers are for {' or, where a match says it, for '.join(scopes)}"


def _sample_size_text(report: ReportData) -> str:
    rows = report.matches()
    if not rows:
        return "No agents met"
    sizes = [row.n_eff for row in rows if row.n_eff is not None]
    if not sizes:
        return "Results decided which agents met: the games alone are no evidence of strength"
    pairs = count_noun(max(row.games // 2 for row in rows), "pair")
    low, high = f"{min(sizes):,.0f}", f"{max(sizes):,.0f}"
    size = high if low == high else f"{low} to {high}"
    match = "" if len(sizes) == 1 else " of a match"
    return (
        f"The {pairs} of games{match} say as much as {size} independent pairs would: the "
        "effective sample size, n_eff"
    )


def _provenance(report: ReportData, plan: Plan) -> Iterator[str]:
    run = report.run
    versions, machine = run.get("versions", {}), run.get("machine", {})
    others = ", ".join(f"{name} {versions[name]}" for name in versions if name != "pitflip")
    if run.get("isolation") and any(map(user_code_reason, plan.agents.values())):
        found = printable(f"{run['isolation']}; {run.get('isolation_found', '')}".rstrip("; "))
        yield f"Bots ran in a sandbox, apart from the referee (isolation: {found})"
    yield (
        f"The games were played with the seed {plan.seed}, which decides openings and random "
        f"numbers of agents, by Pitflip "
        f"{versions.get('pitflip', '?')} (code {run.get('code', '?')}; {others}; "
        f"{machine.get('system', '?')}, {machine.get('processor', '?')})"
    )
    yield f"The run is {printable(str(run.get('digest', '?')))}"
    yield f"Repeatability: {report.repeatability.text}"


def safe_names(names: list[str]) -> str:
    """Join agents' names for a sentence, without control characters."""
    *others, last = names
    return printable(f"{join_names(others)} and {last}" if others else last)


# ------------------------------------------------------------------------------ facts


def facts(report: ReportData) -> Html:
    """Return six facts: games, openings, agents, time, seed, and if the run can be repeated."""
    clocks = sum("seconds" in spec.options for spec in report.plan.agents.values())
    cores, versions = report.run.get("machine", {}).get("cores"), report.run.get("versions", {})
    rows = (
        ("games", count(report.games.size), _matches_text(report)),
        ("openings (K)", count(report.openings), opening_text(report.plan)),
        ("agents", count(len(report.agents)),
         f"{clocks} by the clock" if clocks else "none with a clock"),
        ("played in", _duration_text(report),
         count_noun(cores, "core") if isinstance(cores, int) else ""),
        ("seed", str(report.plan.seed), f"pitflip {versions.get('pitflip', '')}"),
        ("can be repeated", *report.repeatability),
    )  # fmt: skip
    boxes = (
        tag("div", tag("dt", name), tag("dd", tag("b", value), tag("span", more)))
        for name, value, more in rows
    )
    return tag("dl", join(boxes), class_="facts")


def _matches_text(report: ReportData) -> str:
    matches = len(report.matches())
    return f"{count(matches)} match{'es' * (matches != 1)}"


def _duration_text(report: ReportData) -> str:
    taken = report.run.get("seconds")
    if not isinstance(taken, int | float):
        return "\u2013"
    number = max(taken, 1.0)
    return f"{number:.0f}\u00a0s" if number < 120.0 else seconds(number)


def timestamp(report: ReportData, name: str) -> datetime | None:
    """Return a time in run.json; None if it is missing."""
    try:
        return datetime.strptime(str(report.run.get(name)), "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None


def finish_date_text(report: ReportData) -> str:
    """Return when the run ended, and the digest of the run."""
    ended = timestamp(report, "finished")
    day = "" if ended is None else f"{ended.day} {ended:%B %Y, %H:%M} \u00b7 "
    return f"{day}run {report.run.get('digest', '')}"


# ------------------------------------------------------------------------------ repeat


def reproduce_section(report: ReportData) -> Html:
    """Return the section with the commands that repeat the run, and its versions."""
    run = report.run
    machine = run.get("machine", {})
    rows: list[tuple[str, Inside]] = [
        ("run", tag("code", str(run.get("digest", "")))),
        ("code", tag("code", str(run.get("code", "")))),
        ("versions", ", ".join(f"{name} {n}" for name, n in run.get("versions", {}).items())),
        ("played", f"{_time_span(report)} on {machine.get('system', '?')} "
                   f"{machine.get('processor', '')}, {machine.get('cores', '?')} cores"),
    ]  # fmt: skip
    plan = json.dumps(run.get("plan", {}), indent=1, ensure_ascii=False)
    return section(
        "Repeat this run",
        tag("p", repeat_text(report), class_="lead"),
        join(_command(line) for line in commands(report)),
        tag("dl", *(join([tag("dt", name), tag("dd", value)]) for name, value in rows),
            class_="provenance"),
        tag("details", tag("summary", "The whole plan"), tag("pre", plan, tabindex=0)),
        name="again",
    )  # fmt: skip


def repeat_text(report: ReportData) -> str:
    """Return whether the commands play the same games again."""
    again = report.repeatability
    if again.is_certain:
        return (
            "The same file, seed and version give the same games and the same tables byte for "
            "byte, on any machine and with any number of processes. Only the thinking times differ."
        )
    if again.answer == "yes":
        return f"The same file, seed and version give the same games ({again.reason})."
    return (
        "These commands play the same openings with the same seeds. Can the games be repeated: "
        f"{again.text}."
    )


def commands(report: ReportData) -> list[str]:
    """Return the commands that play a run again, compare it, and write this page."""
    path, lines = report.run.get("path"), list[Sequence[str]]()
    options = [word for change in report.run.get("overrides", []) for word in ("--set", change)]
    if path:
        lines.append(["run", relative_path(Path(path)), *options])
    if report.directory is not None:
        directory = relative_path(report.directory)
        lines += [["verify", directory]] if report.plan.is_reproducible else []
        lines.append(["report", directory])
    return [shlex.join(["pitflip", *words]) for words in lines]


def relative_path(path: Path) -> str:
    """Return a path relative to the working directory if the path is below it."""
    whole, here = path.absolute(), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _command(line: str) -> Html:
    return tag(
        "div", tag("code", line, tabindex=0), tag("button", "copy", type="button", data_copy=line),
        class_="command",
    )  # fmt: skip


def _time_span(report: ReportData) -> str:
    begun, ended = (timestamp(report, name) for name in ("begun", "finished"))
    if begun is None or ended is None:
        return "at an unknown time"
    return f"{begun.day} {begun:%B %Y, %H:%M:%S} to {ended:%H:%M:%S %Z}"
