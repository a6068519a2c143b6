"""Write run.json at the start and at the end of a run."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agents.fault_text import fault_line
from agents.registry import users_code
from arena.analysis.exclusions import first_unplayed
from arena.analysis.repeatability import KEY, repeatability
from arena.config.command_line import RunOptions
from arena.config.experiment import Experiment
from arena.planning.games import LOSS, Games, Termination
from arena.planning.schedule import DrawnPlan
from arena.playing.bot_replays import BotReplays, replay_bots
from arena.playing.bots import FIXED, load_reasons
from arena.playing.cached_pairs import CachedPairs
from arena.playing.play import PlayResult
from arena.playing.process_pool import enough_cores, pinning_text
from arena.storage import provenance
from arena.storage.journal import Section
from arena.storage.provenance import RunIdentity
from arena.storage.run_log import write_bot_logs
from arena.storage.versions import copy_user_files
from games.base.errors import print_error

if TYPE_CHECKING:  # at run time it is loaded after the games
    from arena.analysis.evidence import Evidence

log = logging.getLogger(__name__)

MOST_TRACES = 100


def write_run_start(
    experiment: Experiment,
    origin: RunIdentity,
    section: Section,
    drawn: DrawnPlan,
    options: RunOptions,
) -> None:
    """Write into run.json what is played, unless the run is finished."""
    stored = provenance.read_run(section.directory)
    fixed = [list(match) for match in sorted(drawn.pairings.fixed)]
    if section.finished() and stored.get("finished") and stored.get(FIXED, fixed) == fixed:
        return
    more = {
        "path": str(experiment.path.absolute()),
        "overrides": list(options.overrides),
        KEY: repeatability(experiment.plan, None).to_json(None),
        FIXED: fixed,
        "isolation": isolation_level(drawn, options),
        "pinned": pinning_state(drawn, options),
        "begun": stored.get("begun") or provenance.timestamp(),
        "finished": None,
    }
    copy_user_files(section.directory, experiment.plan, origin)
    provenance.write_run(section.directory, origin, more)


def note_failure(
    experiment: Experiment, origin: RunIdentity, section: Section, options: RunOptions, reason: str
) -> None:
    """Write into run.json why the run cannot go on; the next attempt replaces it."""
    stored = provenance.read_run(section.directory)
    more = {
        "path": str(experiment.path.absolute()),
        "overrides": list(options.overrides),
        "begun": stored.get("begun") or provenance.timestamp(),
        "finished": None,
        "failed": reason,
    }
    provenance.write_run(section.directory, origin, {**stored, **more})


def write_unloadable(origin: RunIdentity, section: Section, drawn: DrawnPlan) -> None:
    """Write into run.json which agents did not load, unless the run is finished."""
    stored = provenance.read_run(section.directory)
    if not stored.get("finished"):
        reasons = load_reasons(section)
        named = {drawn.plan.names[place]: reasons[place] for place in sorted(reasons)}
        provenance.write_run(section.directory, origin, {**stored, "unloadable": named})


def isolation_level(drawn: DrawnPlan, options: RunOptions) -> str | None:
    """Return and print the isolation of bots; None without bots.

    NoWall if the experiment requires more.
    """
    bots = [name for name, spec in drawn.plan.agents.items() if users_code(spec)]
    if not bots or options.cluster is not None:
        return None
    options.wall.required |= drawn.plan.walls_required
    level = options.wall.level
    if not options.quiet:
        print_error(f"bots play behind walls of level {level.name}: {level.words}")
    return level.name


def pinning_state(drawn: DrawnPlan, options: RunOptions) -> bool | None:
    """Return and print whether workers and their bots keep to cores; None without bots."""
    if not any(map(users_code, drawn.specs)) or options.cluster is not None:
        return None
    keeps = options.pinned and options.workers > 0
    if not options.quiet:
        print_error(pinning_text(options.workers, keeps))
    return keeps and enough_cores(options.workers)


def write_run_end(
    directory: Path,
    origin: RunIdentity,
    played: PlayResult,
    evidence: "Evidence",
    replays: BotReplays,
    options: RunOptions,
) -> None:
    """Write into run.json that the run is finished, with its facts."""
    stored = provenance.read_run(directory)
    if not stored.get("finished"):
        # Without a trace of any fault the games need not be read again.
        faults = evidence.parts if evidence.traced else tuple
        told = list(_faults(faults(), evidence))
        again = repeatability(played.drawn.plan, replays)
        more = {
            "finished": provenance.timestamp(),
            "games": evidence.games,
            "known": played.known,
            "forfeits": told[:MOST_TRACES],
            "different_faults": len(told),
            KEY: again.to_json(replays),
        }
        if options.cluster is not None:
            more["cluster"] = options.cluster.members.to_json()
        provenance.write_run(directory, origin, {**stored, **more})
        names = list(stored["plan"]["agents"])
        write_bot_logs(directory, faults, names, first_unplayed(evidence.excluded, names))


def load_or_replay_bots(drawn: DrawnPlan, section: Section, options: RunOptions) -> BotReplays:
    """Return the result of replaying games of outside bots; it is found once, after the games."""
    stored = BotReplays.from_json(provenance.read_run(section.directory).get(KEY))
    if stored is not None:
        return stored
    tell = print_error if not options.quiet else log.info
    columns = drawn.pairings.columns
    replays = replay_bots(drawn, lambda: section.games(columns), options.playing, tell)
    known, names = CachedPairs(drawn, options.playing.known), drawn.plan.names
    tested = {names.index(n) for n, games in replays.games.items() if games} - {
        names.index(name) for name in replays.differing
    }
    if tested and known.store is not None:
        for start, _, games in section.games(columns):
            known.keep_tested(drawn.pairings, start, games, tested)
    return replays


def _faults(parts: Iterable[Games], evidence: "Evidence") -> Iterator[str]:
    """A line for each fault in a game that was played, equal ones once."""
    names, told, at = evidence.plan.names, set[str](), 0
    since = first_unplayed(evidence.excluded, names)
    for games in parts:
        for row, trace in sorted(games.traces.items()):
            loser = int((games.first if games.result[row] == LOSS else games.second)[row])
            if at + row >= since.get(loser, at + row + 1):
                continue  # it was excluded
            how = Termination(int(games.termination[row]))
            text = fault_line(names[loser], how.name.lower(), trace)
            if text not in told:
                told.add(text)
                yield text
        at += len(games)
