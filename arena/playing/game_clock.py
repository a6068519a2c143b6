"""The clock of one agent in one game: what it may still take, and what it has taken."""

from arena.planning.time_controls import TimeControl

BILLION = 1_000_000_000
# A search takes so much of what is left: of a turn, which may go on, and of a game.
TURN_SHARE, GAME_SHARE, INCREMENT_SHARE = 0.5, 0.05, 0.8
LEAST_SECONDS = 1e-6


class GameClock:
    """Charged with the time of every question."""

    def __init__(self, control: TimeControl) -> None:
        """Nothing is used up."""
        self.control = control
        self.turn, self.game = control.turn, control.game  # what is left
        self.nodes = self.nanoseconds = self.chosen = self.lag = 0
        self.longest = self.longest_turn = 0
        self._turn = 0  # nanoseconds of the turn so far

    def rest(self) -> float:
        """The seconds that it has for the next question."""
        rests = (self.control.move, self.turn, self.game)
        return max(0.0, min(each for each in rests if each is not None))

    def think(self) -> float | None:
        """The seconds that a search should take for it; None if only its own limit counts."""
        if not self.control.by_the_clock:
            return None
        shares = [self.rest()]
        if self.turn is not None:
            shares.append(TURN_SHARE * self.turn)
        if self.game is not None:
            saved = INCREMENT_SHARE * self.control.increment
            shares.append(min(GAME_SHARE * self.game + saved, TURN_SHARE * self.game))
        return max(LEAST_SECONDS, min(shares))

    def charge(self, nanoseconds: int, lag: int) -> None:
        """A question took so long; for `lag` of it the agent could not run."""
        own = max(0, nanoseconds - lag)
        self.nanoseconds += own
        self.lag += min(lag, nanoseconds)
        self._turn += own
        self.longest, self.longest_turn = max(self.longest, own), max(self.longest_turn, self._turn)
        if self.turn is not None:
            self.turn -= own / BILLION
        if self.game is not None:
            self.game += self.control.increment - own / BILLION

    def turn_ends(self) -> None:
        """The other one moves next."""
        self.turn, self._turn = self.control.turn, 0
