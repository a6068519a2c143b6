"""A class: every file or directory is a bot; only new games are played; the results are pages."""

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agents.core import SpecError
from agents.languages import LANGUAGES
from agents.registry import user_trees
from arena.analysis.evidence import section_games
from arena.analysis.likeness import Source, find_alike, join_pairs
from arena.analysis.tables import EloRow
from arena.config.agents import AgentContext, bot_paths, bot_table, is_valid_agent_name, read_agents
from arena.config.experiment import Experiment, build_experiment
from arena.config.run_options import RunOptions
from arena.config.toml_file import Problems, source_from_tables
from arena.config.toml_file import Source as FileSource
from arena.pipeline.forecast import class_time
from arena.pipeline.run import RunResult, run_experiment
from arena.planning.schedule import Schedule
from arena.playing.progress import GameProgress
from arena.report.class_site import INDEX, ClassResults, Submission, write_site
from arena.report.data import ReportData
from arena.report.live import live_report, schedule_so_far
from arena.stats.racing import MIN_PAIRS
from arena.storage.game_cache import GameCache, agent_fingerprint
from arena.storage.journal import Section, lock_directory
from arena.storage.results import delete_run
from arena.storage.run_log import PLAIN, write_bot_logs
from arena.terminal.plan import range_text
from games import game as load_game
from games.base.errors import Unfinished, UserError, print_error, printable
from games.base.files import InputTooLarge, parse_json, read_with_limit, write_text
from games.base.progress import Progress
from games.base.text import count_noun, without_machine_paths

HOME = ".class"  # in the directory of the runs
STATE, GAMES = "class.json", "games"  # in it
LARGEST = 1 << 40  # bytes: the games of a class are never dropped
MAX_PAIRS = 2_000  # of a class with a budget
PAGE_SECONDS, PAGE_SHARE = 5.0, 0.05  # between two versions of the pages; of the time
LOOK_SECONDS = 2.0  # between two looks at the directory
SOURCE_BYTES = 1 << 20
NUMBERS = re.compile(r"[\d,]+")
SPARE = 0.85  # of the remaining time that a pass may need


class BudgetOver(Exception):  # noqa: N818  # an event, not an error of the code
    """The time of the class is over."""


class DirectoryChanged(Exception):  # noqa: N818  # likewise
    """A submission came, changed or left."""


class ClassSettings(NamedTuple):
    """How a class plays; `tables` are the keys of an experiment file."""

    directory: Path
    site: Path
    tables: Mapping[str, Any]
    overrides: tuple[str, ...] = ()
    full_up_to: int = 40
    watch: bool = False


@dataclass(frozen=True)
class ClassMembers:
    """The experiment of the bots that play, and the submissions of all authors."""

    experiment: Experiment | None  # None with fewer than two bots
    submissions: Mapping[str, Submission]
    contents: Mapping[str, str]
    sources: Mapping[str, Source]
    state: object  # of the directory before it was read


# ------------------------------------------------------------------------- submissions


def read_members(settings: ClassSettings, stored: Mapping[str, Any], pairs: int) -> ClassMembers:
    """Read the directory; submissions that are no bots are refused, and the others play."""
    tables, state = {**settings.tables, "pairs": pairs}, directory_state(settings.directory)
    source, problems = source_from_tables(tables, settings.overrides)
    game = load_game(str(source.tables.get("game")), Path())
    agents, submissions, contents, sources = {}, dict[str, Submission](), {}, {}
    for name, path in bot_paths(settings.directory).items():
        table, content, refusal = _read_bot(name, path, game)
        if refusal:
            refusal = without_machine_paths(refusal, settings.directory.absolute())
        else:
            agents[name] = table
            sources[name] = _source_of(name, table, game)
        contents[name] = content or _content_of_refused(path)
        submissions[name] = _submission(stored.get(name), contents[name], path, refusal)
    if len(agents) < 2:
        problems.raise_if_any()
        return ClassMembers(None, submissions, contents, sources, state)
    rank = len(agents) > settings.full_up_to and "schedule" not in source.tables
    more = {"schedule": {"rank": True}} if rank else {}
    built = source_from_tables({**tables, **more, "agents": agents}, settings.overrides)
    experiment = build_experiment(*built)
    plan = replace(experiment.plan, required_agents=frozenset(), keep_moves=True)
    return ClassMembers(replace(experiment, plan=plan), submissions, contents, sources, state)


def _read_bot(name: str, path: Path, game: Any) -> tuple[dict[str, object], str, str]:
    """Return the table of a bot, a digest of its content, and why it cannot play."""
    if not is_valid_agent_name(name):
        return {}, "", "its name must have 1 to 40 printable characters, and cannot be all"
    if not (path.is_file() or path.is_dir()):
        return {}, "", f"{path.name} is not a file"
    try:
        table = bot_table(path)
        problems = Problems(FileSource(path, None, {}))
        specs = read_agents({name: table}, AgentContext(game, path.parent, problems))
        if problems.found:
            return {}, "", "; ".join(text for _, text in problems.found)
        return table, agent_fingerprint(specs[name]), ""
    except OSError as error:
        return {}, "", f"{path.name} cannot be read: {error.strerror}"
    except (SpecError, InputTooLarge, UserError) as error:
        return {}, "", str(error)


def _source_of(name: str, table: dict[str, object], game: Any) -> Source:
    """Return the text of a bot's files in known languages."""
    problems = Problems(FileSource(Path(name), None, {}))
    spec = read_agents({name: table}, AgentContext(game, Path(), problems))[name]
    texts, left, is_python = [], SOURCE_BYTES, True
    for file in sorted({file for tree in user_trees(spec) for file in tree.files.values()}):
        if file.suffix.lower() not in LANGUAGES or left <= 0:
            continue
        is_python &= file.suffix.lower() == ".py"
        with file.open("rb") as opened:
            content = opened.read(left)
        texts.append(content.decode(errors="replace"))
        left -= len(content)
    return Source("\n".join(texts), is_python)


def _content_of_refused(path: Path) -> str:
    """Return a mark of a submission that is no bot; it changes when the submission does."""
    try:
        status = path.stat()
    except OSError:
        return "unreadable"
    return f"{status.st_size} {status.st_mtime_ns}"


def _submission(stored: Any, content: str, path: Path, refusal: str) -> Submission:
    """Return the stored submission of this content, or the author's next one with its date."""
    before: Mapping[str, Any] = stored if isinstance(stored, dict) else {"number": 0}
    if before.get("content") == content:
        return Submission(before["number"], before["date"], refusal)
    date = datetime.fromtimestamp(newest_time(path), UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Submission(before["number"] + 1, date, refusal)


def newest_time(path: Path) -> float:
    """Return when a file, or the newest file of a directory, was changed."""
    times = [0.0]
    for each in (path, *path.rglob("*")) if path.is_dir() else (path,):
        try:
            times.append(each.stat().st_mtime)
        except OSError:
            continue
    return max(times)


def directory_state(directory: Path) -> tuple[tuple[str, float, int], ...]:
    """Return names, times and sizes of all files; it changes when a submission does."""
    found = []
    for path in sorted(directory.rglob("*")):
        if "__pycache__" in path.parts:
            continue
        try:
            status = path.stat()
        except OSError:
            continue
        if path.is_file():
            found.append((str(path), status.st_mtime, status.st_size))
    return tuple(found)


# ------------------------------------------------------------------------- pages


class ClassSite:
    """Writes the pages of a class, also while its first games are played."""

    def __init__(self, settings: ClassSettings, members: ClassMembers, deadline: float) -> None:
        self.settings, self.members, self.deadline = settings, members, deadline
        self.state = members.state
        self.has_results = (settings.site / INDEX).exists()
        self.next_page = time.monotonic() + PAGE_SECONDS
        self.next_look = time.monotonic() + LOOK_SECONDS
        self.latest: tuple[GameProgress, Schedule, Section] | None = None
        self.experiment: Experiment | None = None
        self.identical: Sequence[Sequence[str]] = ()
        self.alike = find_alike(members.sources)
        self.notes: set[str] = set()  # lines that were printed

    @contextmanager
    def watch(self, experiment: Experiment) -> Iterator["ClassSite"]:
        """Show the games of a run; a run that stops early leaves pages with its games."""
        self.experiment, self.latest = experiment, None
        try:
            yield self
        except (KeyboardInterrupt, BudgetOver):
            if self.latest is not None and not self.has_results:
                self.write_live("stopped")
            raise

    def show(self, progress: Progress, schedule: Schedule, section: Section) -> None:
        """Stop at the end of the budget or for a new submission; rewrite the pages if due."""
        if isinstance(progress, GameProgress) and progress.done:
            self.latest = progress, schedule, section
        now = time.monotonic()
        if now > self.deadline:
            raise BudgetOver
        if self.settings.watch and now > self.next_look:
            self.next_look = now + LOOK_SECONDS
            if directory_state(self.settings.directory) != self.state:
                raise DirectoryChanged
        if self.latest is not None and now > self.next_page and not self.has_results:
            self.write_live("not finished yet")
            taken = time.monotonic() - now
            self.next_page = time.monotonic() + max(PAGE_SECONDS, taken / PAGE_SHARE)

    def notify(self, line: str) -> None:
        """Print a line about the run, once for all its passes; numbers of games may differ."""
        plain = NUMBERS.sub("", line)
        if plain not in self.notes:
            self.notes.add(plain)
            print_error(line)

    def finish(self, _: Path) -> None:
        """Do nothing: the caller writes the pages of a finished run."""

    def write_live(self, state: str) -> None:
        """Write the pages from the games in the journal."""
        assert self.latest is not None and self.experiment is not None
        progress, schedule, section = self.latest
        with tempfile.TemporaryDirectory() as scratch:
            report = live_report(self.experiment, progress, schedule, section, Path(scratch))
            parts = section_games(section, schedule_so_far(schedule, section))
            write_bot_logs(Path(scratch), parts, schedule.plan.names, {})
            status = f"{state.capitalize()}: {count_noun(report.games.size, 'game')} so far."
            self.write(report, Path(scratch), status)

    def write_result(self, result: RunResult) -> None:
        """Write the pages of a finished run."""
        self.identical = result.summary.identical_groups
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.write(result.report, result.directory, f"As of {when}.")
        self.has_results = True

    def write(self, report: ReportData | None, logs: Path | None, status: str) -> None:
        """Write all pages."""
        settings, tables = self.settings, self.settings.tables
        groups = join_pairs([(each.first, each.second) for each in self.alike])
        write_site(settings.site, ClassResults(
            str(tables["name"]), str(tables["game"]), self.members.submissions, status,
            None if report is None else with_single_places(report), logs, self.identical, groups,
        ))  # fmt: skip

    def evidence_lines(self, result: RunResult) -> list[str]:
        """Return what the groups in the grades rest on."""
        return [*result.summary.identical_agents, *(each.text for each in self.alike)]


def with_single_places(report: ReportData) -> ReportData:
    """Return the report with places by rating, where a race left neighbours undecided.

    Agents without a rating share the last place.
    """
    if report.plan.rounds is None:
        return report
    excluded = report.exclusion_names

    def key(row: EloRow) -> tuple[bool, float]:
        return row.elo is None or row.agent in excluded, -(row.elo or 0.0)

    rows = sorted(report.ratings, key=key)
    rated = sum(not key(row)[0] for row in rows)
    places = [min(at, rated + 1) for at in range(1, len(rows) + 1)]
    ranked = (row._replace(rank=place) for row, place in zip(rows, places, strict=True))
    return replace(report, ratings=tuple(ranked))


# ------------------------------------------------------------------------- play


def play_class(settings: ClassSettings, options: RunOptions) -> None:
    """Play what is new and write the pages; with `watch`, again after every change."""
    home = class_home(settings, options)
    lock = lock_directory(home)
    try:
        with closing(GameCache(home / GAMES, LARGEST, all_agents=True)) as cache:
            own = replace(options, cache=cache, page=False)
            deadline = time.monotonic() + (options.budget or 1e9)
            while True:
                state = directory_state(settings.directory)
                try:
                    refresh(settings, own, home, deadline)
                except (DirectoryChanged, UserError, Unfinished, OSError) as error:
                    is_same = directory_state(settings.directory) == state
                    if is_same and not isinstance(error, DirectoryChanged):
                        raise
                    own.notify("a submission changed: starting again with what is new")
                else:
                    if not settings.watch or time.monotonic() > deadline:
                        break
                wait_for_change(settings.directory, state, deadline, own)
            if directory_state(settings.directory) != state:
                own.notify("a submission changed meanwhile: the same command plays what is new")
    finally:
        os.close(lock)


def class_home(settings: ClassSettings, options: RunOptions) -> Path:
    """Return the directory with the games and submissions of the class."""
    return options.results / str(settings.tables["name"]) / HOME


def wait_for_change(directory: Path, state: object, deadline: float, options: RunOptions) -> None:
    """Wait until the directory changed and then stayed the same for a moment."""
    if directory_state(directory) == state:
        options.notify(f"waiting for changes in {directory} (Ctrl-C ends)")
    while directory_state(directory) == state and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        options.interrupts.check()
    settled = None
    while settled != (settled := directory_state(directory)):
        time.sleep(LOOK_SECONDS)
        options.interrupts.check()


def refresh(settings: ClassSettings, options: RunOptions, home: Path, deadline: float) -> None:
    """Play what is new in the directory, and write the pages."""
    stored = read_state(home)
    pairs = int(settings.tables["pairs"])
    members = read_members(settings, stored.get("submissions", {}), pairs)
    require_members(settings, members)
    site = ClassSite(settings, members, deadline)
    if not site.has_results:
        site.write(None, None, "The first games are being played.")
        site.has_results = False
    for name, each in members.submissions.items():
        if each.refusal:
            options.notify(f"{printable(name)} does not play: {each.refusal}")
    if members.experiment is None:
        return
    site.has_results = bool(stored.get("run"))
    write_state(home, members, stored.get("run", ""))
    has_new = announce_cost(members.experiment, options, deadline)
    result = play_passes(settings, replace(options, site=site), site, deadline, has_new)
    if result is None:
        return
    write_state(home, members, result.directory.name)
    for path in home.parent.iterdir():  # the games of earlier runs are in the cache
        if path.name != result.directory.name:
            delete_run(path)
    for line in site.evidence_lines(result):
        options.notify(f"evidence: {printable(line)}")
    options.notify(f"page: {settings.site / INDEX}")


def require_members(settings: ClassSettings, members: ClassMembers) -> None:
    """Raise a UserError if fewer than two bots play, unless more may come."""
    if members.experiment is not None or (settings.watch and members.submissions):
        return
    if not members.submissions:
        raise UserError(
            f"{settings.directory}: there is no bot in it; put one file or directory there for "
            "each author, as in anna.py"
        )
    playing = sum(not each.refusal for each in members.submissions.values())
    reasons = "; ".join(
        f"{printable(name)}: {each.refusal}"
        for name, each in members.submissions.items()
        if each.refusal
    )
    raise UserError(
        f"{settings.directory}: a class needs two bots that can play, got {playing}"
        + (f" ({reasons})" if reasons else "")
    )


def announce_cost(experiment: Experiment, options: RunOptions, deadline: float) -> bool:
    """Print how long the new games will take; return whether there are any."""
    expected, games = class_time(experiment.plan, options, options.notify)
    if not games:
        options.notify("all games of these bots were played before")
        return False
    left = deadline - time.monotonic()
    limit = ", of which the budget allows a part" if expected.low > left else ""
    options.notify(f"time: {range_text(expected)} for {games:,} new games{limit}")
    return True


def play_passes(
    settings: ClassSettings,
    options: RunOptions,
    site: ClassSite,
    deadline: float,
    has_new: bool = True,
) -> RunResult | None:
    """Play few pairs of all matches first, then all; with a budget, as many as fit.

    A pass takes the games of earlier ones from the cache. Return the last complete pass.
    """
    experiment = site.members.experiment
    assert experiment is not None  # otherwise nothing is played
    has_budget = options.budget is not None
    most = MAX_PAIRS if has_budget else int(settings.tables["pairs"])
    pairs = min(most, MIN_PAIRS if experiment.plan.rounds is not None else 1)
    if not (has_new or has_budget):
        pairs = most
    result: RunResult | None = None
    while True:
        if directory_state(settings.directory) != site.state:
            raise DirectoryChanged
        begun = time.monotonic()
        plan = replace(experiment.plan, pairs=pairs)
        try:
            latest = run_experiment(replace(experiment, plan=plan), options)
        except BudgetOver:
            options.notify("the budget is used: all finished games are kept")
            return result
        result = latest
        site.write_result(result)
        if pairs >= most:
            return result
        pairs = most
        if has_budget:
            taken = max(time.monotonic() - begun, 1e-3)
            pairs = pairs_that_fit(plan.pairs, taken, deadline - time.monotonic(), most)
            if pairs <= plan.pairs:
                return result


def pairs_that_fit(done: int, taken: float, left: float, most: int) -> int:
    """Return how many pairs of each match fit into the time left, at most twice those done."""
    more = int(SPARE * left / taken * done)
    return min(most, 2 * done, done + more)


# ------------------------------------------------------------------------- state


def read_state(home: Path) -> Mapping[str, Any]:
    """Return the stored submissions and the latest run; empty if they cannot be read."""
    try:
        stored = parse_json(read_with_limit(home / STATE))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def write_state(home: Path, members: ClassMembers, run: str) -> None:
    """Store the submissions and the latest run."""
    submissions = {
        name: {"content": members.contents[name], "number": each.number, "date": each.date}
        for name, each in members.submissions.items()
    }
    content = {"submissions": submissions, "run": run}
    write_text(home / STATE, json.dumps(content, indent=1) + "\n")


def class_tables(directory: Path, game: str, pairs: int) -> dict[str, Any]:
    """Return the tables of the experiment of a class, without its agents."""
    name = PLAIN.sub("-", directory.resolve().name).strip("-") or "class"
    return {"name": name, "game": game, "pairs": pairs}
