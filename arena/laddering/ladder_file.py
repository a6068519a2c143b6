"""A standing ladder as it is kept in a directory: its plan, and its agents in order."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from agents import AgentSpec
from arena.planning.plan import Plan, PlanError
from arena.planning.rounds import RoundsSpec
from games.names import did_you_mean, listed, quoted
from games.terminal import Mistake
from games.whole_files import write_text

T = TypeVar("T")
LADDER = "ladder.json"
FORMAT = 1


class LadderError(Mistake, ValueError):
    """What is asked of a ladder cannot be done; one line says why."""


@dataclass(frozen=True)
class Ladder:
    """A ladder: `plan` has its agents, the strongest first; `placed` says how each came there.

    `versions` counts how often an agent was added with other files or options. It is
    `unfinished` until all agents of the experiment that began it are placed.
    """

    directory: Path
    plan: Plan
    placed: Mapping[str, str] = field(default_factory=dict)
    anchors: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)
    unfinished: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The agents, the strongest first."""
        return self.plan.names

    def placing(self, name: str, spec: AgentSpec) -> Plan:
        """The plan that places a newcomer."""
        assert self.plan.rounds is not None  # `begun` gave it
        values = {**self.plan.rounds.values, "place": name, "order": self.names}
        agents = {**self.plan.agents, name: spec}
        last = len(self.names)
        matches = tuple((other, last) for other in range(last))
        rounds = RoundsSpec("place", values)
        return replace(self.plan, agents=agents, matches=matches, rounds=rounds)

    def with_agent(self, name: str, spec: AgentSpec, place: int, how: str) -> "Ladder":
        """The ladder with one more agent, before those from this place on."""
        agents = [*self.plan.agents.items()]
        agents.insert(place, (name, spec))
        return self._with(dict(agents), {**self.placed, name: how}, self.anchors)

    def without(self, name: str) -> "Ladder":
        """The ladder without an agent; its games stay known."""
        self.must_have(name)
        return self._changed(lambda each: None if each == name else each)

    def renamed(self, old: str, new: str) -> "Ladder":
        """The ladder with another name for an agent."""
        self.must_have(old)
        self.must_not_have(new)
        return self._changed(lambda each: new if each == old else each)

    def anchored(self, name: str, elo: float) -> "Ladder":
        """The ladder with an agent held at a rating, and no other."""
        self.must_have(name)
        return self._with(self.plan.agents, self.placed, {name: elo})

    def _changed(self, name_of: Callable[[str], str | None]) -> "Ladder":
        """The ladder with other names for its agents; without those of None."""
        agents = _named(self.plan.agents, name_of)
        placed, anchors = _named(self.placed, name_of), _named(self.anchors, name_of)
        versions = _named(self.versions, name_of)
        return replace(self._with(agents, placed, anchors), versions=versions)

    def _with(
        self,
        agents: Mapping[str, AgentSpec],
        placed: Mapping[str, str],
        anchors: Mapping[str, float],
    ) -> "Ladder":
        plan = replace(self.plan, agents=dict(agents))
        return replace(self, plan=plan, placed=dict(placed), anchors=dict(anchors))

    def must_have(self, name: str) -> None:
        """Raise unless the agent is there."""
        if name not in self.names:
            there = f"(there are {listed(self.names)})" if self.names else "(it is empty)"
            near = did_you_mean(name, self.names)
            raise LadderError(f"{self.directory}: there is no agent {quoted(name)} {there}{near}")

    def must_not_have(self, name: str) -> None:
        """Raise if the agent is there."""
        if name in self.names:
            raise LadderError(
                f"{self.directory}: there is an agent {quoted(name)} already: remove or rename it"
            )

    def save(self) -> None:
        """Write the ladder; it is there as a whole or as it was."""
        content = {
            "format": FORMAT,
            "plan": self.plan.to_json(),
            "placed": dict(self.placed),
            "anchors": dict(self.anchors),
            "versions": dict(self.versions),
            "unfinished": self.unfinished,
        }
        write_text(
            self.directory / LADDER, json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        )


def _named(table: Mapping[str, T], name_of: Callable[[str], str | None]) -> dict[str, T]:
    both = ((name_of(name), value) for name, value in table.items())
    return {name: value for name, value in both if name is not None}


def read_ladder(directory: Path) -> Ladder:
    """The ladder in a directory; a LadderError says why there is none."""
    path = directory / LADDER
    try:
        stored = json.loads(path.read_text())
        plan = Plan.from_json(stored["plan"], directory.absolute())
        more = stored.get("versions", {}), stored.get("unfinished", False)
        return Ladder(directory, plan, stored["placed"], stored["anchors"], *more)
    except FileNotFoundError:
        raise LadderError(
            f"{directory}: there is no ladder; begin one: python -m arena.ladder new EXPERIMENT"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, PlanError) as error:
        raise LadderError(f"{path}: cannot be read ({error})") from None


def begun(directory: Path, plan: Plan, values: Mapping[str, object]) -> Ladder:
    """A ladder without agents that plays as a plan does, or the one that was begun like this.

    LadderError if there is another.
    """
    rounds = RoundsSpec("place", {**values, "place": "", "order": ()})
    own = replace(
        plan, agents={}, matches=(), stop=None, keep_moves=True, thoughts=False, rounds=rounds,
        base=directory.absolute(),
    )  # fmt: skip
    ladder = Ladder(directory, own, unfinished=True)
    if (directory / LADDER).exists():
        there = read_ladder(directory)
        if there.unfinished and replace(there.plan, agents={}) == own:
            return there
        raise LadderError(f"{directory}: there is a ladder already; choose another with --ladder")
    directory.mkdir(parents=True, exist_ok=True)
    ladder.save()
    return ladder
