"""The page of a learning run, made from the files in its directory."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.weights import FEATURES, LearnedWeights, read_learned_weights
from arena.analysis.repeatability import KEY
from arena.learning.weights_text import MOST_BEANS, table_of
from arena.report import chart
from arena.report.chart import Chart
from arena.report.document import paragraph, text_document
from arena.report.figure import FigureTable, section, table_html
from arena.report.html import Html, Inside, join, tag
from arena.report.svg import Picture
from arena.stats.quantiles import Z_95
from arena.storage.provenance import load_run_file
from arena.storage.run_file import NotARunError
from games.base.files import parse_json, read_with_limit
from games.base.schema import KeyValues
from games.learned_tables import TableGroup

Floats = NDArray[np.float64]
CELL, GAP, READINGS = 15, 14, 4  # pixels of a square, between boards; readings at either end
WOOD, FELT, INK = "#f1efe9", "#2e7d4f", "#1b1f24"
DARKEST = (31, 95, 168), (168, 72, 11)  # good for the mover, bad
LEARNED_JSON = "learned.json"
MOST_DRAWN = 400


def weight_figures(read: LearnedWeights, path: Path) -> Iterator[Chart]:
    """Yield the figures of a file's weights in the middle of the game."""
    if read.kind == FEATURES:
        names = list(read.groups)
        values = [float(column.mean()) for column in read.weights.T]
        yield feature_chart(names, values)
        return
    layout, whole = table_of(path, read)
    row = whole[read.phases // 2]
    for each in layout.groups:
        table = row[layout.starts[each.name] :][: each.entries]
        if each.name == "holes":
            yield hole_chart(table)
        elif layout.kind.startswith("patterns"):
            yield pattern_chart(each, table)


def feature_chart(names: Sequence[str], values: Sequence[float]) -> Chart:
    """Return a bar chart of the sizes of weights; the labels have their signs."""
    signed = [
        f"{name} {'-' if value < 0 else '+'}" for name, value in zip(names, values, strict=True)
    ]
    return chart.bar_chart(signed, [abs(value) for value in values], "Weights of the features")


def hole_chart(table: Floats) -> Chart:
    """Return the values of beans in each hole of the mover, against an empty hole."""
    own = table.reshape(2, -1, 16)[0]
    values = own[:, 1:MOST_BEANS] - own[:, :1]
    largest = max(float(np.abs(values).max()), 0.1)
    wide, tall, left, top = 44, 26, 70, 24
    parts = [_text(left + wide * beans + wide / 2, top - 8, str(beans + 1), "middle")
             for beans in range(values.shape[1])]  # fmt: skip
    for hole, line in enumerate(values):
        y = top + tall * hole
        parts.append(_text(left - 8, y + 17, f"hole {hole + 1}", "end"))
        for beans, value in enumerate(line.tolist()):
            x = left + wide * beans
            parts.append(_box(x, y, wide, tall, _shade(value / largest)))
            parts.append(_text(x + wide / 2, y + 17, f"{value:.1f}", "middle", "onlight"))
    title = "Value of beans in an own hole against an empty hole"
    return _figure(left + wide * values.shape[1] + 10, top + tall * len(values) + 12, title, parts)


def _shade(share: float) -> str:
    """Return a colour: white for 0, darker for values that are good for one side."""
    dark = DARKEST[share < 0]
    strength = 0.75 * min(abs(share), 1.0)
    return "#" + "".join(f"{round(255 + (each - 255) * strength):02x}" for each in dark)


def pattern_chart(group: TableGroup, table: Floats) -> Chart:
    """Return the boards of a pattern with the highest and lowest values for the mover."""
    squares = [(ord(word[0]) - 97, int(word[1:]) - 1) for word in group.description.split()]
    order = np.argsort(table, kind="stable")
    used = order[table[order] != 0]
    best, worst = used[::-1][:READINGS], used[:READINGS]
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    wide, tall = CELL * max(columns, 4) + GAP, CELL * rows + 26
    parts = []
    for line, entries in enumerate((best, worst)):
        for place, entry in enumerate(entries.tolist()):
            x, y = 10 + wide * place, tall * line
            parts.append(_text(x, y + 12, f"{table[entry]:+.1f}", "start"))
            parts += [
                _square(x + CELL * column, y + 18 + CELL * row, entry // 3**at % 3)
                for at, (column, row) in enumerate(squares)
            ]
    title = f"{group.name}: worth most, worth least"
    return _figure(max(20 + wide * READINGS, 300), 6 + 2 * tall, title, parts)


def _square(x: float, y: float, disc: int) -> Html:
    """Return a square: empty, a black disc of the mover, or a white one of the opponent."""
    ground = _box(x, y, CELL, CELL, FELT)
    if disc == 0:
        return ground
    colour = INK if disc == 1 else "#ffffff"
    middle = CELL / 2
    return join([ground, tag("circle", cx=x + middle, cy=y + middle, r=middle - 2, fill=colour)])


def _box(x: float, y: float, wide: float, tall: float, colour: str) -> Html:
    return tag("rect", x=x, y=y, width=wide, height=tall, fill=colour, stroke=WOOD)


def _text(x: float, y: float, text: str, anchor: str, kind: str | None = None) -> Html:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


def _figure(wide: int, tall: int, title: str, parts: Sequence[Html]) -> Chart:
    return Chart(title, Picture(tall, join(parts), wide, in_pixels=True))


def is_learn_run(directory: Path) -> bool:
    """Return whether a directory holds a learning run."""
    return (directory / LEARNED_JSON).is_file()


def learn_page(directory: Path) -> str:
    """Return the page; raise NotARunError if there is no finished learning run."""
    try:
        found = parse_json(read_with_limit(directory / LEARNED_JSON))
        return make_page(found, directory)
    except OSError as error:
        raise NotARunError(
            f"{directory}: {LEARNED_JSON} cannot be read: {error.strerror}"
        ) from None
    except (LookupError, TypeError, ValueError) as error:
        reason = type(error).__name__
        raise NotARunError(
            f"{directory / LEARNED_JSON} is not as pitflip wrote it ({reason})"
        ) from None


def make_page(found: KeyValues, directory: Path) -> str:
    """Return the page of a finished run of learning."""
    rounds, again = found["rounds"], load_run_file(directory).get(KEY, {})
    doubt = f"can be repeated: {again.get('answer')}, {again.get('reason')}"
    matches = [sprt_chart(each).html() for each in rounds if each["match"].get("ratios")]
    calibrations = [calibration_chart(each).html() for each in rounds[-1:] if each["calibration"]]
    about_calibration = paragraph(
        "Held-out positions in ten equal groups by their prediction. The bars are 95 % intervals "
        "clustered by game, as all positions of a game share its outcome."
    )
    parts = [
        *([paragraph(doubt)] if again.get("answer") not in (None, "yes") else []),
        paragraph(f"{found['game']}, tables {found['tables']}, taught by {found['teacher']}."),
        section("Rounds", rounds_table(rounds), *matches),
        section("Calibration", about_calibration, *calibrations),
        section("Weights", *weight_charts(found, directory)),
        section("Repeat", paragraph(found["command"])),
    ]
    title = f"Learning {found['name']}: {found['game']}"
    return text_document(title, verdict_text(found), parts)


def verdict_text(found: KeyValues) -> str:
    """Return the answer in one sentence."""
    better = [each for each in found["rounds"] if each["match"]["verdict"] == "better"]
    if not better:
        return f"Nothing is better than {found['agent']}: no weights go on."
    return f"The weights of round {better[-1]['round']} go on. {better[-1]['match']['text']}"


def rounds_table(rounds: Sequence[KeyValues]) -> Html:
    """Return a table with a row for each round."""
    rows: tuple[tuple[Inside, ...], ...] = tuple(
        (
            str(each["round"]), f"{each['games']:,}", f"{each['positions']:,}",
            f"{each['seen']:.0%}", f"{each['ridge']:g}", f"{each['held_out']['r2']:.3f}",
            f"{each['held_out']['squared_error']:.1f} ± "
            f"{Z_95 * each['held_out']['error_by_game']:.1f}",
            elo_text(each["match"]), each["match"]["verdict"],
        )
        for each in rounds
    )  # fmt: skip
    head = ("round", "games", "positions", "weights seen", "ridge", "R2, held out",
            "squared error", "Elo over the one before", "verdict")  # fmt: skip
    return table_html(FigureTable(head, rows), "All rounds")


def elo_text(match: KeyValues) -> str:
    """Return a difference with its interval; an unknown end is left out."""
    value, low, high = (None if each is None else f"{each:+.0f}" for each in match["elo"])
    return f"{value or '?'} [{low or '?'}, {high or '?'}]"


def sprt_chart(each: KeyValues) -> Chart:
    """Return a chart of the log-likelihood ratio after each pair of a round's match."""
    match, ratios = each["match"], each["match"]["ratios"]
    lower, upper = match["bounds"]
    step = -(-len(ratios) // MOST_DRAWN)
    places = sorted({*range(0, len(ratios), step), len(ratios) - 1})
    xs, ys = [place + 1 for place in places], [float(ratios[place]) for place in places]
    frame = chart.make_frame([0, *xs], [*ys, lower, upper])
    parts = [
        chart.horizontal_line(frame, upper, "better", chart.GREEN),
        chart.horizontal_line(frame, lower, "not better"),
        chart.line(frame, xs, ys),
    ]
    title = f"Round {each['round']} against the one before: {match['verdict']}"
    return chart.xy_chart(frame, parts, title, "pair", "LLR")


def calibration_chart(each: KeyValues) -> Chart:
    """Return a chart of outcomes against predictions, which agree on the diagonal."""
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
    title = f"Round {each['round']}: outcome over prediction"
    return chart.xy_chart(frame, parts, title, "prediction", "outcome")


def weight_charts(found: KeyValues, directory: Path) -> Iterator[Html]:
    """Yield the figures of the recommended weights, or of the last round if there are none."""
    best = directory / "weights.npz"
    path = best if best.is_file() else directory / f"round-{found['rounds'][-1]['round']}.npz"
    figures = list(itertools.islice(weight_figures(read_learned_weights(path), path), 12))
    if not figures:
        yield paragraph("Tables of these weights have no figure.")
    yield from (figure.html() for figure in figures)
