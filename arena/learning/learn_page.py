"""The page of a run of learning, with its figures, from what its directory holds."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.learned_weights import FEATURES, LearnedWeights, read_learned
from arena.analysis.repeatability import KEY
from arena.learning.weights_text import MOST_BEANS, table_of
from arena.report import chart, plain_page
from arena.report.html import Html, join, tag
from arena.storage.provenance import read_run
from arena.storage.run_file import NotARunError
from games.base.files import parse_json, read_limited
from games.base.schema import KeyValues
from games.learned_tables import TableGroup

Floats = NDArray[np.float64]
CELL, GAP, READINGS = 15, 14, 4  # pixels of a square, between boards; readings at either end
WOOD, FELT, INK = "#f1efe9", "#2e7d4f", "#1b1f24"
DARKEST = (31, 95, 168), (168, 72, 11)  # good for the mover, bad
LEARNED_JSON = "learned.json"
Z_95 = 1.96
MOST_DRAWN = 400


def weight_figures(read: LearnedWeights, path: Path) -> Iterator[tuple[str, str]]:
    """The figures of a file's weights by name, in the middle of the game."""
    if read.kind == FEATURES:
        names = list(read.groups)
        values = [float(column.mean()) for column in read.weights.T]
        yield "features", feature_chart(names, values)
        return
    layout, whole = table_of(path, read)
    row = whole[read.phases // 2]
    for each in layout.groups:
        table = row[layout.starts[each.name] :][: each.entries]
        if each.name == "holes":
            yield each.name, hole_chart(table)
        elif layout.kind.startswith("patterns"):
            yield each.name, pattern_chart(each, table)


def feature_chart(names: Sequence[str], values: Sequence[float]) -> str:
    """A bar for the size of each feature's weight, its sign beside its name."""
    signed = [
        f"{name} {'-' if value < 0 else '+'}" for name, value in zip(names, values, strict=True)
    ]
    return chart.bar_chart(signed, [abs(value) for value in values], "Weights of the features")


def hole_chart(table: Floats) -> str:
    """A cell for each own hole and number of beans: what they are worth against none."""
    own = table.reshape(2, -1, 16)[0]
    values = own[:, 1:MOST_BEANS] - own[:, :1]
    largest = max(float(np.abs(values).max()), 0.1)
    wide, tall, left, top = 44, 26, 70, 58
    parts = [_words(left + wide * beans + wide / 2, top - 8, str(beans + 1), "middle")
             for beans in range(values.shape[1])]  # fmt: skip
    for hole, line in enumerate(values):
        y = top + tall * hole
        parts.append(_words(left - 8, y + 17, f"hole {hole + 1}", "end"))
        for beans, value in enumerate(line.tolist()):
            x = left + wide * beans
            parts.append(_box(x, y, wide, tall, _shade(value / largest)))
            parts.append(_words(x + wide / 2, y + 17, f"{value:.1f}", "middle"))
    title = "What so many beans in an own hole are worth against none"
    return _figure(left + wide * values.shape[1] + 10, top + tall * len(values) + 12, title, parts)


def _shade(share: float) -> str:
    """From white to the darkest colour of the side that it is good for."""
    dark = DARKEST[share < 0]
    strength = 0.75 * min(abs(share), 1.0)
    return "#" + "".join(f"{round(255 + (each - 255) * strength):02x}" for each in dark)


def pattern_chart(group: TableGroup, table: Floats) -> str:
    """The readings of a pattern that are worth most and least to the mover, as boards."""
    squares = [(ord(word[0]) - 97, int(word[1:]) - 1) for word in group.words.split()]
    order = np.argsort(table, kind="stable")
    used = order[table[order] != 0]
    best, worst = used[::-1][:READINGS], used[:READINGS]
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    wide, tall = CELL * max(columns, 4) + GAP, CELL * rows + 26
    parts = []
    for line, entries in enumerate((best, worst)):
        for place, entry in enumerate(entries.tolist()):
            x, y = 10 + wide * place, 34 + tall * line
            parts.append(_words(x, y + 12, f"{table[entry]:+.1f}", "start"))
            parts += [
                _square(x + CELL * column, y + 18 + CELL * row, entry // 3**at % 3)
                for at, (column, row) in enumerate(squares)
            ]
    title = f"{group.name}: worth most, worth least"
    return _figure(max(20 + wide * READINGS, 300), 40 + 2 * tall, title, parts)


def _square(x: float, y: float, disc: int) -> Html:
    """A square: empty, the mover's black disc, the other's white one."""
    ground = _box(x, y, CELL, CELL, FELT)
    if disc == 0:
        return ground
    colour = INK if disc == 1 else "#ffffff"
    middle = CELL / 2
    return join([ground, tag("circle", cx=x + middle, cy=y + middle, r=middle - 2, fill=colour)])


def _box(x: float, y: float, wide: float, tall: float, colour: str) -> Html:
    return tag("rect", x=x, y=y, width=wide, height=tall, fill=colour, stroke=WOOD)


def _words(x: float, y: float, text: str, anchor: str) -> Html:
    return tag("text", text, x=x, y=y, text_anchor=anchor)


def _figure(wide: float, tall: float, title: str, parts: Sequence[Html]) -> str:
    heading = tag("text", title, x=10, y=20, font_size="14", font_weight="bold")
    return tag(
        "svg", tag("rect", width="100%", height="100%", fill="#fff"), heading, *parts,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {wide:g} {tall:g}",
        width=f"{wide:g}", height=f"{tall:g}", role="img", aria_label=title,
        font_family="sans-serif", font_size="12", fill=INK,
    )  # fmt: skip


def is_learn_run(directory: Path) -> bool:
    """Whether a directory holds a run of learning."""
    return (directory / LEARNED_JSON).is_file()


def learn_page(directory: Path) -> str:
    """The whole page; NotARunError if the directory holds no finished run of learning."""
    try:
        found = parse_json(read_limited(directory / LEARNED_JSON))
        return whole_page(found, directory)
    except OSError as error:
        raise NotARunError(
            f"{directory}: {LEARNED_JSON} cannot be read: {error.strerror}"
        ) from None
    except (LookupError, TypeError, ValueError) as error:
        reason = type(error).__name__
        raise NotARunError(
            f"{directory / LEARNED_JSON} is not as pitflip wrote it ({reason})"
        ) from None


def whole_page(found: KeyValues, directory: Path) -> str:
    """The page of what was found."""
    rounds, again = found["rounds"], read_run(directory).get(KEY, {})
    doubt = f"can be repeated: {again.get('answer')}, {again.get('reason')}"
    parts = [
        plain_page.paragraph(verdict(found), "verdict"),
        *([plain_page.paragraph(doubt)] if again.get("answer") not in (None, "yes") else []),
        plain_page.paragraph(
            f"{found['game']}, tables {found['tables']}, taught by {found['teacher']}."
        ),
        plain_page.heading("Rounds"),
        rounds_table(rounds),
        *(sprt_figure(each) for each in rounds if each["match"].get("ratios")),
        plain_page.heading("Calibration"),
        plain_page.paragraph(
            "Held-out positions in equal shares by what was predicted; the bars are 95 % "
            "intervals by game, for all positions of a game share its outcome."
        ),
        *(calibration_figure(each) for each in rounds[-1:] if each["calibration"]),
        plain_page.heading("What was learned"),
        *weight_charts(found, directory),
        plain_page.heading("Again"),
        plain_page.paragraph(found["command"]),
    ]
    return plain_page.page(f"Learning {found['name']}: {found['game']}", parts)


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
    return plain_page.table(head, rows)


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
    frame = chart.make_frame([0, *xs], [*ys, lower, upper])
    parts = [
        chart.level(frame, upper, "better", chart.GREEN),
        chart.level(frame, lower, "not better"),
        chart.line(frame, xs, ys),
    ]
    title = f"Round {each['round']} against the one before: {match['verdict']}"
    return chart.xy_chart(frame, parts, title, "pairing", "LLR")


def calibration_figure(each: KeyValues) -> str:
    """What came over what was predicted; on the diagonal both are the same."""
    bins = each["calibration"]
    xs, ys = [one["predicted"] for one in bins], [one["outcome"] for one in bins]
    low, high = ([y + side * Z_95 * one["error"] for y, one in zip(ys, bins, strict=True)]
                 for side in (-1, 1))  # fmt: skip
    frame = chart.make_frame(xs, [*low, *high, *xs])
    ends = [min(xs), max(xs)]
    parts = [
        chart.line(frame, ends, ends, chart.FAINT),
        chart.error_bars(frame, xs, low, high, chart.BLUE),
        chart.dots(frame, xs, ys),
    ]
    title = f"Round {each['round']}: what came, over what was predicted"
    return chart.xy_chart(frame, parts, title, "predicted", "came")


def weight_charts(found: KeyValues, directory: Path) -> Iterator[str]:
    """The figures of the weights that go on; of the last round, if none do."""
    best = directory / "weights.npz"
    path = best if best.is_file() else directory / f"round-{found['rounds'][-1]['round']}.npz"
    figures = list(itertools.islice(weight_figures(read_learned(path), path), 12))
    if not figures:
        yield plain_page.paragraph("Tables of these weights have no figure.")
    yield from (figure for _, figure in figures)
