"""Repeatability of a run: whether another run would play the same games."""

from typing import NamedTuple

from arena.planning.plan import Plan
from arena.playing.determinism import BotReplays
from games.base.errors import printable
from games.base.schema import KeyValues
from games.base.text import join_names

KEY = "can_be_repeated"  # in run.json


class Repeatability(NamedTuple):
    """The answer whether the games can be repeated (`yes`, `no` or `not known`) and the reason."""

    answer: str
    reason: str

    @property
    def text(self) -> str:
        """Return answer and reason as one text."""
        return f"{self.answer}, {self.reason}"

    @property
    def is_certain(self) -> bool:
        """Return whether the plan alone guarantees it: no clock and no user code."""
        return self == ALWAYS

    def to_json(self, replays: BotReplays | None) -> KeyValues:
        """Return it as run.json stores it."""
        return {**self._asdict(), **(replays.to_json() if replays else {})}


ALWAYS = Repeatability("yes", "same bytes on any machine")


def repeatability(plan: Plan, replays: BotReplays | None) -> Repeatability:
    """Return whether the games of a plan can be repeated; `replays` are the tests of its bots."""
    differing = replays.differing if replays else ()
    if names := [name for name in plan.names if name in differing]:
        return Repeatability(
            "no", f"{printable(join_names(names))} played other games when asked again"
        )
    if not plan.is_reproducible:
        return Repeatability("no", "some agents play by the clock")
    if not plan.external_bots:
        return ALWAYS
    tested = [replays.games.get(name, 0) if replays else 0 for name in plan.external_bots]
    if untested := tested.count(0):
        noun, verb = ("agent", "was") if untested == 1 else ("agents", "were")
        reason = f"{untested} {noun} with user code {verb} not asked again"
        return Repeatability("not known", reason)
    code = "with user code"
    bots = f"the agent {code}" if len(tested) == 1 else f"each of {len(tested)} agents {code}"
    reason = f"{min(tested)} games of {bots} were played again and came out the same"
    return Repeatability("yes", reason)


def repeatability_line(plan: Plan) -> str:
    """Return a line for commands that do not test their bots; "" if repetition is certain."""
    again = repeatability(plan, None)
    return "" if again.is_certain else f"can be repeated: {again.text}"


def load_repeatability(plan: Plan, run: KeyValues) -> Repeatability:
    """Return the repeatability that a run.json stores."""
    return repeatability(plan, BotReplays.from_json(run.get(KEY)))
