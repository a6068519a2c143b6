"""The glossary: every word that terminal, page and tables use in a special sense."""

from collections.abc import Mapping

from arena.report.figure import section
from arena.report.html import Html, join, tag

# Section -> word -> meaning; text between backticks is code.
GLOSSARY: Mapping[str, Mapping[str, str]] = {
    "Experiments": {
        "agent": "anything that chooses moves in an experiment",
        "bot": "a user's program or Python file that plays as an agent, inside the sandbox",
        "kind": (
            "how an agent is built: `minimax`, `smart`, `python`, ... Each kind has its own options"
        ),
        "limit": "how long an agent may think about one move: by depth, nodes or seconds",
        "opening": "the moves, and the position after them, from which both games of a pair start",
        "pair": (
            "two games from one opening with sides swapped; the unit of work, of resuming and of "
            "statistics"
        ),
        "match": "all pairs between two agents",
        "schedule": "which agents meet, how often and in which order",
        "roster": "a directory of bots in which each bot is an agent",
        "experiment": "the TOML file, and what it describes",
        "run": "one execution of an experiment, and its directory",
        "plan": "everything that decides the games of a run",
        "seed": "the number from which all random choices of a run follow",
        "pilot": (
            "two seconds of games that do not count, played to predict the duration and the width "
            "of intervals"
        ),
        "sweep": (
            "one experiment at several values of some keys; a cell is one combination of values"
        ),
        "study": "one tuning run; a trial is one candidate's small tournament in it",
        "seed weights": "the weights with which a study begins",
        "flat": "the verdict of a study in which no better weights can be seen",
        "check": "a claim in an experiment with a verdict",
        "verdict": "`HOLDS`, `FAILS`, or `VACUOUS` (no result could have confirmed the claim)",
        "journal": "the SQLite file in a run directory that holds all finished games",
        "game cache": "finished games that later runs reuse",
        "sandbox": "the isolation around a bot",
    },
    "Results": {
        "score": (
            "points divided by games: 1 for a win, ½ for a draw, 0 for a loss. The score of one "
            "game on the board is its final points, such as 25-23"
        ),
        "margin": "the first player's final points minus the second's",
        "forfeit": "a game lost by a bot's own fault: too slow, illegal, crashed, unreadable",
        "excluded bot": "a bot that failed too often; it loses its other games unplayed",
        "unplayed game": "a game that an excluded bot forfeits without being asked",
        "void game": (
            "a game that failed because of Pitflip or the machine; it is played again and does not "
            "count"
        ),
        "fair pair": "a pair in which neither game was forfeited",
        "duplicate game": "a game with the same moves as an earlier one of the same match",
        "distinct game": "a game that is not a duplicate",
        "first mover": "the agent that moves first after the opening",
        "move loss": (
            "value of the best move minus value of the played move, in points under perfect play"
        ),
        "perfect play": "both sides always choose a move of the best value",
        "solved position": "a position whose value under perfect play is known",
    },
    "Statistics": {
        "interval": "the range of true values that fit the games, at a stated level (usually 95 %)",
        "level, confidence": (
            "the share of experiments in which such intervals are meant to contain the truth"
        ),
        "bound": "an interval with only one end; it can be wrong only at this end",
        "anytime-valid interval": (
            "an interval that is right at all looks together; you may look and stop when you like"
        ),
        "openings like these": (
            "all openings made in the same way; the usual question is about these"
        ),
        "exactly these openings": "only the openings that were played",
        "census": (
            "two agents without chance played every opening of a finite set, so that the score is "
            "exact"
        ),
        "effective sample size (`n_eff`)": (
            "the number of independent pairs that would tell as much as those played"
        ),
        "Elo": "a scale for scores: a difference of 100 is an expected score of 64 %, 200 is 76 %, "
        "400 is 91 %",
        "normalized Elo": (
            "the score's distance from 50 % in units of its standard deviation; it says how many "
            "games are needed to see it"
        ),
        "likelihood of superiority (LOS)": (
            "how strongly the games support that the first agent is better than the second"
        ),
        "rating": "one number per agent, fitted to all results; only differences have a meaning",
        "anchor": "the agent whose rating is fixed",
        "group": "agents that can be compared by their results; ratings of different groups cannot",
        "K": "the number of different openings behind an estimate",
        "raw, corrected": (
            "the score of a match that stopped early is raw and too far from 50 %; the corrected "
            "one is an estimate that is too high as often as too low (median-unbiased)"
        ),
        "fixed-n": "an interval for a number of games that was fixed before the first one",
        "adapted": "marks ratings of a schedule in which results decided which agents met",
        "Bonferroni": "several questions share one error, so that all answers together are right",
        "pentanomial": "the counts of the five possible pair scores",
        "SPRT": "sequential probability ratio test: it stops as soon as one of two hypotheses is "
        "accepted",
        "LLR": "log-likelihood ratio, which an SPRT compares with its bounds",
        "race": "a schedule that plays more pairs between agents whose order is still uncertain",
        "Bayesian bootstrap": (
            "a way to get intervals: fit the ratings many times with random weights on the openings"
        ),
        "calibration": "counting how often intervals contain the truth, where the truth is known",
    },
    "Games and programs": {
        "bean, hole, pot": (
            "the stones of Kalah and Owari, the cells of a row, and the store at its end. Owari's "
            "pits number holes and pots alike"
        ),
        "sow": "to drop the beans of a hole one by one into the next cells",
        "lap": "a sowing that comes back to the hole where it began",
        "extra turn": "another move of the same player, after a last bean in the player's own pot",
        "capture": "taking the beans opposite a last bean that fell into an empty hole",
        "sweep (at the end)": "moving the beans that are left into the pots",
        "swap": "the second player's choice to change sides",
        "disc, flip, pass": (
            "Othello's pieces; turning trapped discs; the only move of a player who cannot place a "
            "disc"
        ),
        "mover": "the player to move",
        "bank": "to bring beans into one's own pot",
        "ply": "one move of one player. An extra turn and a forced pass are plies; a swap is not",
        "raw score": "the score without giving empty squares to the winner (Othello)",
        "perft": "the number of move sequences of a given length",
        "preset, variant": "a named combination of rules, such as `kalah-2022`",
        "evaluation": "the function that values a position",
        "heuristic functions": "the vocabulary that users write evaluations with",
        "side": "0 for the player who moves first in the game (South or Black), 1 for the other",
        "family": (
            "games that share one representation of positions and one set of compiled functions"
        ),
        "kernel": "a compiled function over positions",
        "slot": (
            "the number of a move inside kernels; players see the numbers or squares on the board"
        ),
        "judge": "to find the loss of every move of a finished game by solving its positions",
        "reference implementation (naive twin)": (
            "the rules written a second time, slowly and plainly, to test the fast ones"
        ),
    },
}
ON_THE_PAGE = ("Experiments", "Results", "Statistics")  # sections that the page of a run shows


def glossary_section() -> Html:
    """Return the section that defines the words of the page."""
    rows = (
        join([tag("dt", _markup(word)), tag("dd", _markup(meaning))])
        for title in ON_THE_PAGE
        for word, meaning in GLOSSARY[title].items()
    )
    body = tag("dl", join(rows), class_="glossary")
    return section("Words", tag("details", tag("summary", "Definitions"), body), name="words")


def _markup(text: str) -> Html:
    parts = text.split("`")
    return join(tag("code", part) if place % 2 else part for place, part in enumerate(parts))
