"""Safe text for messages: escaped, quoted, shortened, with suggestions."""

import difflib
import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from games.base.errors import UserError, printable

# A key, or the name of a kind, as people write it -> ours, the best first.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "games": ("pairs",),
    "rounds": ("pairs",),
    "matches": ("pairs", "schedule"),
    "repetitions": ("pairs",),
    "n": ("pairs",),
    "num_games": ("pairs",),
    "random_seed": ("seed",),
    "board": ("game", "hole", "disc_at"),
    "variant": ("game",),
    "rules": ("game",),
    **dict.fromkeys(
        (
            "players",
            "bots",
            "engines",
            "player1",
            "player2",
            "player_1",
            "player_2",
            "agent1",
            "agent2",
            "bot1",
            "bot2",
            "first",
            "second",
            "white",
            "black",
            "ai",
            "ais",
            "teams",
            "competitors",
            "participants",
            "contestants",
        ),
        ("agents",),
    ),
    **dict.fromkeys(
        (
            "n_games",
            "num_matches",
            "number_of_games",
            "games_per_match",
            "game_count",
            "count",
            "n_rounds",
            "num_rounds",
            "rounds_per_match",
            "iterations",
            "repeat",
            "repeats",
            "runs",
            "plays",
            "samples",
            "episodes",
            "amount",
        ),
        ("pairs", "nodes"),
    ),
    **dict.fromkeys(("rng", "rng_seed", "random_state", "seeds"), ("seed", "hole")),
    **dict.fromkeys(("size", "board_size", "boardsize"), ("game", "hole", "disc_at")),
    **dict.fromkeys(("title", "label", "id"), ("name",)),
    **dict.fromkeys(
        (
            "start",
            "start_position",
            "starting_position",
            "initial_position",
            "position",
            "opening_book",
            "random_openings",
            "opening_plies",
            "random_plies",
            "random_moves",
        ),
        ("openings",),
    ),
    **dict.fromkeys(
        ("round_robin", "roundrobin", "swiss", "gauntlet", "match", "format", "mode"),
        ("schedule",),
    ),
    **dict.fromkeys(("alpha", "confidence", "significance", "early_stop", "elo"), ("stop",)),
    **dict.fromkeys(("test", "check", "expect", "assertions", "claims"), ("checks",)),
    **dict.fromkeys(("trials", "optimize", "tuning"), ("tune",)),
    **dict.fromkeys(("epochs", "train", "training"), ("learn",)),
    **dict.fromkeys(("isolated", "sandbox"), ("isolation",)),
    **dict.fromkeys(
        (
            "max_time",
            "move_time",
            "think_time",
            "thinking_time",
            "time_per_move",
            "time_budget",
            "ms",
            "milliseconds",
            "max_seconds",
        ),
        ("seconds", "move_seconds"),
    ),
    **dict.fromkeys(
        ("level", "strength", "difficulty", "skill", "search_depth", "depth_limit"), ("depth",)
    ),
    **dict.fromkeys(("max_nodes", "visits", "playouts", "simulations", "rollouts"), ("nodes",)),
    **dict.fromkeys(("coefficients", "weight", "model", "net", "network"), ("weights",)),
    **dict.fromkeys(("eval_function", "evaluator", "heuristics", "eval_fn"), ("evaluate",)),
    **dict.fromkeys(("algorithm", "strategy", "bot_type"), ("kind",)),
    **dict.fromkeys(("hash", "hash_size", "tt_size", "table_size"), ("table_bits",)),
    **dict.fromkeys(("randomness", "noise", "temperature", "exploration"), ("epsilon",)),
    **dict.fromkeys(("ram", "mem", "memory_limit", "max_memory"), ("memory",)),
    **dict.fromkeys(("dir", "directory", "folder", "working_directory"), ("cwd", "directory")),
    **dict.fromkeys(("env", "environ"), ("environment",)),
    **dict.fromkeys(("exact", "endgame_depth", "solve"), ("endgame",)),
    **dict.fromkeys(("tie_break", "ties", "shuffle"), ("random_ties",)),
    **dict.fromkeys(("exe", "binary", "executable_path"), ("command", "lines")),
    **dict.fromkeys(("module", "class_name", "source"), ("file",)),
    **dict.fromkeys(("bad", "dumb", "naive", "weak", "easy", "rand", "dummy"), ("random",)),
    **dict.fromkeys(("medium", "normal"), ("greedy",)),
    **dict.fromkeys(("good", "best", "strong", "hard"), ("smart",)),
    **dict.fromkeys(
        ("mcts", "monte_carlo", "uct", "neural", "nn", "q_learning", "qlearning", "custom", "bot"),
        ("python",),
    ),
    **dict.fromkeys(
        ("java", "c", "c++", "cpp", "rust", "javascript", "node", "cli", "stdin", "subprocess"),
        ("lines",),
    ),
    "edax": ("gtp",),
    "ntest": ("nboard",),
    "tournament": ("schedule",),
    "opening": ("openings",),
    "book": ("openings",),
    "sprt": ("stop",),
    "assert": ("checks",),
    "tests": ("checks",),
    "timeout": ("move_seconds", "seconds"),
    "time": ("seconds", "move_seconds"),
    "time_limit": ("seconds", "move_seconds"),
    "movetime": ("seconds", "move_seconds"),
    "time_control": ("seconds", "move_seconds"),
    "tc": ("seconds", "move_seconds"),
    "type": ("kind",),
    "class": ("kind",),
    "engine": ("kind",),
    "player": ("kind",),
    "plies": ("depth",),
    "ply": ("depth",),
    "max_depth": ("depth",),
    "lookahead": ("depth",),
    "node_limit": ("nodes",),
    "heuristic": ("evaluate",),
    "evaluation": ("evaluate",),
    "eval": ("evaluate",),
    "cmd": ("command",),
    "program": ("command",),
    "executable": ("command",),
    "path": ("file", "command"),
    "script": ("file", "command"),
    "params": ("options", "weights"),
    "args": ("options",),
    "arguments": ("options",),
    "parameters": ("options", "weights"),
    "badplayer": ("random",),
    "stupid": ("random",),
    "smartplayer": ("smart",),
    "expert": ("smart",),
    "alpha_beta": ("alphabeta",),
    "alpha-beta": ("alphabeta",),
    "negamax": ("alphabeta",),
    "mini_max": ("minimax",),
    "external": ("lines",),
    "process": ("lines",),
    "uci": ("lines",),
    "python_bot": ("python",),
    "optimal": ("perfect",),
    "solver": ("perfect",),
    "greedyplayer": ("greedy",),
    "computer": ("greedy", "smart"),
    "person": ("human",),
    "own": ("hole", "disc_at"),
    "other": ("facing", "disc_at"),
    "row": ("hole", "disc_at"),
    "rows": ("hole", "disc_at"),
    "beans": ("hole",),
    "stones": ("hole",),
    "pit": ("hole",),
    "pits": ("hole", "game"),
    "house": ("hole",),
    "own_pot": ("pot",),
    "store": ("pot",),
    "opposite": ("facing",),
    "is_empty": ("empty", "disc_at"),
    "piece": ("disc_at",),
    "cell": ("disc_at",),
    "squares": ("disc_at", "square"),
    "flips": ("flipped",),
    "adjacent": ("neighbours",),
    "neighbors": ("neighbours",),
    "stability": ("stable",),
}
# A key that no table has, or no longer -> where that is said.
COMMAND_LINE_ONLY: Mapping[str, str] = {
    "within": "it was removed; write exact = 2 for a margin of 2 at most",
    "max_restarts": "it was removed; a bot that fails in 10 games and finishes none is excluded",
    "wait_seconds": "it was removed; workers of a cluster are waited for 60 s",
    "mixed_machines": "it was removed; limits in nodes allow machines of different speed",
    "compile": "it was removed; evaluations are always compiled",
    "port": "it was removed; name the program that connects in command",
    "couples": 'it was removed; write schedule = { match = [["a", "b"], ["c", "d"]] }',
    "knockout": 'it was removed; schedule = { best = 1 } finds the best, "swiss" names a winner',
    **dict.fromkeys(
        ("workers", "threads", "cores", "cpus", "jobs", "n_jobs", "processes", "parallel"),
        "how many games are played at once is said on the command line: --workers N",
    ),
    **dict.fromkeys(
        ("output", "out", "output_dir", "results", "results_dir", "save", "log"),
        "where the tables go is said on the command line: --results DIR",
    ),
    **dict.fromkeys(
        ("swap", "swap_sides", "alternate", "mirror", "switch_sides", "both_sides", "colors"),
        "every opening is always played from both sides",
    ),
    **dict.fromkeys(
        ("description", "comment", "notes", "author", "date"), "write it behind a #, as a comment"
    ),
    **dict.fromkeys(
        ("verbose", "quiet", "debug", "progress"),
        "what is printed is said on the command line: --quiet, --json",
    ),
    # Keys that were removed.
    "curve": "learn from fewer games, as in --set learn.games=5000, and compare the matches",
    "matters": "leave a group of tables out of [learn.patterns] and learn again",
    "constraints": "give each weight a range that keeps to it",
    "start": "a search begins at the weights that the agent has in the file",
}
MAX_QUOTE = 80  # characters of a user's text that a message repeats
NEAR = 0.5  # how alike two words must be
MISTYPED = 0.7  # the same of words among which a wrong suggestion misleads
FEW = 4  # items of a list that a message repeats


def synonym_of(word: str, names: Collection[str]) -> str | None:
    """Which of `names` somebody means who writes this word; `None` if it says nothing."""
    ours = SYNONYMS.get(word.strip().lower().replace(" ", "_"), ())
    return next((name for name in ours if name in names), None)


class GameError(UserError, ValueError):
    """A game, parameter or position that does not exist; one line says what does."""


def listed(names: Iterable[object]) -> str:
    """The names in one line, as messages list them."""
    return ", ".join(str(name) for name in names)


def quote(text: str) -> str:
    """What a user wrote, for a message: in quotes, on one line, cut if it is long."""
    short = text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 3]}..."
    return f'"{repr(short)[1:-1]}"'


def format_value(value: object) -> str:
    """A value for a message: as TOML writes it, on one line, cut if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return f"a table of {_few(map(printable, value))}" if value else "an empty table"
    if isinstance(value, list | tuple):
        return f"[{_few(map(format_value, value))}]"
    return printable(str(value), MAX_QUOTE)


def _few(words: Iterable[str]) -> str:
    """The first words of a list, in one line."""
    first = list(itertools.islice(words, FEW + 1))
    return ", ".join([word[:MAX_QUOTE] for word in first[:FEW]] + ["..."] * (len(first) > FEW))


def nearest(word: str, names: Iterable[str], near: float = NEAR) -> str:
    """The one of `names` that somebody means or mistypes who writes `word`; empty: none is near."""
    known = list(names)
    typed = word[:MAX_QUOTE]
    close = (difflib.get_close_matches(each, known, 1, near) for each in (typed, typed.lower()))
    return synonym_of(word, known) or next((found[0] for found in close if found), "")


def did_you_mean(word: str, names: Iterable[str], near: float = NEAR) -> str:
    """`; did you mean "…"?` with the nearest of `names`, or nothing if none is near."""
    found = nearest(word, names, near)
    return f"; did you mean {quote(found)}?" if found else ""


def parse_game_name(text: str) -> tuple[str, list[str]]:
    """`kalah(6,4,swap=yes)` as its name and its arguments, in lower case."""
    found = re.fullmatch(r"\s*([^()\s]+)\s*(?:\(([^()]*)\))?\s*", text.lower())
    if not found:
        raise GameError(f'a game is written like "kalah(6,4)", got {quote(text)}')
    name, inside = found.groups()
    arguments = [word.strip() for word in inside.split(",")] if inside and inside.strip() else []
    return name, arguments


def parse_arguments(
    name: str, arguments: Sequence[str], positional: Sequence[str], known: Sequence[str]
) -> dict[str, str]:
    """The arguments by parameter name: first the `positional` ones, then `key=value`."""
    given: dict[str, str] = {}
    for place, word in enumerate(arguments):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            if place >= len(positional):
                raise GameError(
                    f"{name} takes {listed(positional)} and then key=value, got "
                    f"{quote(word)} in place {place + 1}"
                )
            key, value = positional[place], key
        if key not in known:
            raise GameError(
                f"{name} has no parameter {quote(key)} (there are {listed(known)})"
                f"{did_you_mean(key, known)}"
            )
        if key in given:
            twice = f"{quote(given[key])} and {quote(value)}"
            raise GameError(f"{name}: {key} is given twice, {twice}")
        given[key] = value
    return given


def parse_whole_number(name: str, key: str, text: str, allowed: Sequence[int]) -> int:
    """`text` as one of the `allowed` numbers, which ascend in even steps."""
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,60}", text) else None
    if number is None or number not in allowed:
        step = allowed[1] - allowed[0] if len(allowed) > 1 else 1
        kind = "a whole number" if step == 1 else "an even number"
        nearest = "" if number is None else f"; the nearest is {_nearest(number, allowed)}"
        span = f"{kind} from {allowed[0]} to {allowed[-1]}"
        raise GameError(f"{name}: {key} must be {span}, got {quote(text)}{nearest}")
    return number


def parse_positive(key: str, text: str) -> float:
    """`text` as a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise GameError(f"{key} must be a number above 0, got {quote(text)}")
    return number


def _nearest(number: int, allowed: Sequence[int]) -> int:
    """The lower one of two that are equally near; there may be millions of them."""
    step = allowed[1] - allowed[0] if len(allowed) > 1 else 1
    place = (2 * (number - allowed[0]) + step - 1) // (2 * step)
    return allowed[max(0, min(place, len(allowed) - 1))]


def parse_choice(name: str, key: str, text: str, allowed: Mapping[str, object]) -> str:
    """`text` if it is one of the `allowed` words."""
    if text not in allowed:
        raise GameError(
            f"{name}: {key} must be one of {listed(allowed)}, got {quote(text)}"
            f"{did_you_mean(text, allowed)}"
        )
    return text
