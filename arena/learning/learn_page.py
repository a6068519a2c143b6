"""The page of a run of learning, with its figures, from what its directory holds."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.evaluations.learned_weights import read_learned
from arena.keeping.run_directory import NotARun
from arena.learning.weight_figures import weight_figures
from arena.showing import page, plots
from games.keys import KeyValues
from games.limited_files import parsed_json, read_bytes

LEARNED_JSON = "learned.json"
Z_95 = 1.96
MOST_DRAWN = 400


def is_learned(directory: Path) -> bool:
    """Whether a directory holds a run of learning."""
    return (directory / LEARNED_JSON).is_file()


def learn_page(directory: Path) -> str:
    """The whole page; NotARun if the directory holds no finished run of learning."""
    try:
        found = parsed_json(read_bytes(directory / LEARNED_JSON))
        return whole_page(found, directory)
    except OSError as error:
        raise NotARun(f"{directory}: {LEARNED_JSON} cannot be read: {error.strerror}") from None
    except (LookupError, TypeError, ValueError) as error:
        reason = type(error).__name__
        raise NotARun(f"{directory / LEARNED_JSON} is not as pitflip wrote it ({reason})") from None


def whole_page(found: KeyValues, directory: Path) -> str:
    """The page of what was found."""
    rounds, last = found["rounds"], found["rounds"][-1]
    parts = [
        page.paragraph(verdict(found), "verdict"),
        page.paragraph(f"{found['game']}, tables {found['tables']}, taught by {found['teacher']}."),
        page.heading("Rounds"),
        rounds_table(rounds),
        *(sprt_figure(each) for each in rounds if each["match"].get("ratios")),
        page.heading("Calibration"),
        page.paragraph(
            "Held-out positions in equal shares by what was predicted; the bars are 95 % "
            "intervals by game, for all positions of a game share its outcome."
        ),
        *(calibration_figure(each) for each in rounds[-1:] if each["calibration"]),
        *curve_parts(last),
        *group_parts(last),
        page.heading("What was learned"),
        *drawn_weights(found, directory),
        page.heading("Again"),
        page.paragraph(found["command"]),
    ]
    return page.page(f"Learning {found['name']}: {found['game']}", parts)


def verdict(found: KeyValues) -> str:
    """The answer in a sentence."""
    better = [each for each in found["rounds"] if each["match"]["verdict"] == "better"]
    if not better:
        return f"Nothing is better than {found['agent']}: no weights go on."
    return f"The weights of round {better[-1]['round']} go on. {better[-1]['match']['text']}"


def rounds_table(rounds: Sequence[KeyValues]) -> str:
    """A row a round."""
    rows = [
        [
            str(each["round"]), f"{each['games']:,}", f"{each['positions']:,}",
            f"{each['seen']:.0%}", f"{each['ridge']:g}", f"{each['held_out']['r2']:.3f}",
            f"{each['held_out']['squared_error']:.1f} ± "
            f"{Z_95 * each['held_out']['error_by_game']:.1f}",
            elo_words(each["match"]), each["match"]["verdict"],
        ]
        for each in rounds
    ]  # fmt: skip
    head = ["round", "games", "positions", "weights seen", "ridge", "R2, held out",
            "squared error", "Elo over the one before", "verdict"]  # fmt: skip
    return page.table(head, rows)


def elo_words(match: KeyValues) -> str:
    """The difference with its interval; an end that is not known is left open."""
    value, low, high = (None if each is None else f"{each:+.0f}" for each in match["elo"])
    return f"{value or '?'} [{low or '?'}, {high or '?'}]"


def sprt_figure(each: KeyValues) -> str:
    """The log-likelihood ratio of the match of a round, pairing by pairing."""
    match, ratios = each["match"], each["match"]["ratios"]
    lower, upper = match["bounds"]
    step = -(-len(ratios) // MOST_DRAWN)
    places = sorted({*range(0, len(ratios), step), len(ratios) - 1})
    xs, ys = [place + 1 for place in places], [float(ratios[place]) for place in places]
    frame = plots.framed([0, *xs], [*ys, lower, upper])
    parts = [
        plots.level(frame, upper, "better", plots.GREEN),
        plots.level(frame, lower, "not better"),
        plots.line(frame, xs, ys),
    ]
    title = f"Round {each['round']} against the one before: {match['verdict']}"
    return plots.drawn(frame, parts, title, "pairing", "LLR")


def calibration_figure(each: KeyValues) -> str:
    """What came over what was predicted; on the diagonal both are the same."""
    bins = each["calibration"]
    xs, ys = [one["predicted"] for one in bins], [one["outcome"] for one in bins]
    low, high = ([y + side * Z_95 * one["error"] for y, one in zip(ys, bins, strict=True)]
                 for side in (-1, 1))  # fmt: skip
    frame = plots.framed(xs, [*low, *high, *xs])
    ends = [min(xs), max(xs)]
    parts = [
        plots.line(frame, ends, ends, plots.FAINT),
        plots.whiskers(frame, xs, low, high, plots.BLUE),
        plots.dots(frame, xs, ys),
    ]
    title = f"Round {each['round']}: what came, over what was predicted"
    return plots.drawn(frame, parts, title, "predicted", "came")


def curve_parts(last: KeyValues) -> Iterator[str]:
    """The learning curve, if it was asked for."""
    points = last["curve"]
    yield page.heading("Would more games help?")
    if not points:
        yield page.paragraph("Not asked: curve = true fits and plays less of the games, too.")
        return
    elos = [each["match"]["elo"] for each in points]
    xs = list(range(len(points)))
    known = [tuple(0.0 if end is None else float(end) for end in each) for each in elos]
    values, low, high = zip(*known, strict=True)
    frame = plots.framed([-0.3, xs[-1] + 0.3], [*low, *high])
    parts = [
        plots.whiskers(frame, xs, low, high, plots.BLUE),
        plots.line(frame, xs, values),
        plots.dots(frame, xs, values),
    ]
    named = [(float(x), f"{each['games']:,} games") for x, each in zip(xs, points, strict=True)]
    title = "Elo over the teacher of the round, by the games that were fitted"
    yield plots.drawn(frame, parts, title, "", "Elo", named)
    yield page.paragraph(curve_words(points))


def curve_words(points: Sequence[KeyValues]) -> str:
    """Whether the last step of the curve is more than chance."""
    before, after = points[-2]["match"]["elo"], points[-1]["match"]["elo"]
    if None not in (before[2], after[1]) and after[1] > before[2]:
        return "Four times the games brought more: more of them may help again."
    return "The intervals of a quarter and of all the games overlap: more games may not help."


def group_parts(last: KeyValues) -> Iterator[str]:
    """What matters, if it was asked for."""
    yield page.heading("What matters")
    if not last["groups"]:
        yield page.paragraph("Not asked: matters = true leaves out each group of tables in turn.")
        return
    rows = [
        [
            each["group"],
            f"{each['squared_error']:+.2f} ± {Z_95 * each['error_by_game']:.2f}",
            elo_words(each["match"]), each["answer"],
        ]
        for each in last["groups"]
    ]  # fmt: skip
    yield page.table(["without", "squared error, held out", "Elo", "answer"], rows)


def drawn_weights(found: KeyValues, directory: Path) -> Iterator[str]:
    """The figures of the weights that go on; of the last round, if none do."""
    best = directory / "weights.npz"
    path = best if best.is_file() else directory / f"round-{found['rounds'][-1]['round']}.npz"
    figures = list(itertools.islice(weight_figures(read_learned(path), path), 12))
    if not figures:
        yield page.paragraph("Tables of these weights have no figure.")
    yield from (figure for _, figure in figures)
