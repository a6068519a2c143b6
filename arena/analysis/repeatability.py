"""Whether another run would play the same games, from the plan and the tests of its bots."""

from typing import NamedTuple

from arena.planning.plan import Plan
from arena.playing.bot_replays import BotReplays
from games.base.errors import printable
from games.base.schema import KeyValues
from games.base.text import listed

KEY = "can_be_repeated"  # in run.json


class Repeatability(NamedTuple):
    """Whether the games can be repeated: `yes`, `no` or `not known`, and what that rests on."""

    answer: str
    reason: str

    @property
    def words(self) -> str:
        """Return both, as the terminal prints them."""
        return f"{self.answer}, {self.reason}"

    @property
    def certain(self) -> bool:
        """Return whether it follows from the plan: no clock and no outside bot."""
        return self == ALWAYS

    def to_json(self, replays: BotReplays | None) -> KeyValues:
        """Return it as run.json has it."""
        return {**self._asdict(), **(replays.to_json() if replays else {})}


ALWAYS = Repeatability("yes", "same bytes on any machine")


def repeatability(plan: Plan, replays: BotReplays | None) -> Repeatability:
    """Return whether the games of a plan can be repeated; `replays` are the tests of its bots."""
    differing = replays.differing if replays else ()
    if names := [name for name in plan.names if name in differing]:
        return Repeatability(
            "no", f"{printable(listed(names))} played other games when asked again"
        )
    if not plan.reproducible:
        return Repeatability("no", "some agents play by the clock")
    if not plan.outside_bots:
        return ALWAYS
    # Bots that finished no game were not tested either.
    tested = (replays and replays.games) or dict.fromkeys(plan.outside_bots, 0)
    untested = [name for name, games in tested.items() if not games]
    if untested:
        bots = "1 outside bot was" if len(untested) == 1 else f"{len(untested)} outside bots were"
        return Repeatability("not known", f"{bots} not asked again")
    bots = "the outside bot" if len(tested) == 1 else f"each of {len(tested)} outside bots"
    least = min(tested.values())
    reason = f"{least} games of {bots} were played again and came out the same"
    return Repeatability("yes", reason)


def untested_line(plan: Plan) -> str:
    """Return the statement of a command that does not test its bots; empty without a doubt."""
    again = repeatability(plan, None)
    return "" if again.certain else f"can be repeated: {again.words}"


def stored_repeatability(plan: Plan, run: KeyValues) -> Repeatability:
    """Return what the run.json of a run says about it."""
    return repeatability(plan, BotReplays.from_json(run.get(KEY)))
