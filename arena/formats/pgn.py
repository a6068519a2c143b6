"""Games from PGN: the tags of each game, its moves to know it again."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from arena.formats.game_record import (
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    fault_of,
    fen_side,
    game_name,
    line_of,
    mover_named,
    pairing_of,
    players,
    score_of,
    seed_in,
    text_of,
)
from arena.formats.records import GameRecord
from games.base.errors import printable

UNFINISHED = "*"
COMMENT = re.compile("[{;]")
TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
NUMBERS = re.compile(r"\d+\.+|\$\d+|[!?]+")
RESULTS = ("1-0", "0-1", "1/2-1/2", UNFINISHED)
# A tag of one of these names begins a game where the one before has a result already.
GAME_START_TAGS = ("Event", "White")
REQUIRED_TAGS = ("White", "Black", "Result")
ESCAPED = re.compile(r"\\(.)")
OWN_SITE = "pitflip run "
SUFFIX = ".pgn"
RESULT_TEXTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
WIDTH, TOGETHER = 80, "\0"  # a line does not end between a number and its move


def games_in(file: Path) -> Iterator[GivenGame]:
    """The finished games; tags count at the start of a line only, never inside a comment."""
    tags: dict[str, str] = {}
    moves: list[str] = []
    inside = False  # of a comment in braces, which may go on for lines
    for number, line in enumerate(text_of(file).splitlines(), 1):
        found = None if inside else _tags(line)
        if found is None:
            words, inside = _without_comments(line, inside)
            moves += words
            continue
        for name, value in found:
            if tags and (moves or (name in GAME_START_TAGS and name in tags)):
                yield from _game(f"{file}:{number}", tags, moves)
                tags, moves = {}, []
            tags[name] = value
    if tags:
        yield from _game(str(file), tags, moves)


def _tags(line: str) -> list[tuple[str, str]] | None:
    """The tags of a line that has nothing else; None for moves and blank lines."""
    at, found = 0, []
    while match := TAG.match(line, at):
        found.append((match[1], ESCAPED.sub(r"\1", match[2])))
        at = match.end()
    return found if found and at == len(line) else None


def _without_comments(line: str, inside: bool) -> tuple[list[str], bool]:
    """The words of a line outside comments, and whether one is open at its end."""
    kept: list[str] = []
    at = 0
    while at < len(line):
        if inside:
            end = line.find("}", at)
            if end < 0:
                return "".join(kept).split(), True
            at, inside = end + 1, False
        elif line[at] == ";":
            break
        elif line[at] == "{":
            kept.append(" ")
            at, inside = at + 1, True
        else:
            comment = COMMENT.search(line, at)
            end = comment.start() if comment else len(line)
            kept.append(line[at:end])
            at = end
    words = NUMBERS.sub(" ", "".join(kept)).split()
    return [word for word in words if word not in RESULTS], inside


def _game(place: str, tags: dict[str, str], moves: list[str]) -> Iterator[GivenGame]:
    missing = [name for name in REQUIRED_TAGS if name not in tags]
    if missing:
        raise Unreadable(f"{place}: the game before this line has no {missing[0]} tag")
    if tags["Result"] == UNFINISHED:
        return
    versions = tags.get("WhiteVersion", ""), tags.get("BlackVersion", "")
    first, second = players(tags["White"].strip(), tags["Black"].strip(), place, versions)
    game = tags.get("Variant") or tags.get("GameType") or UNKNOWN
    ours = tags.get("Site", "").startswith(OWN_SITE)
    # In a file of ours no moves are an opening too: that of the usual start.
    opening = tags.get("FEN") or tags.get("Opening") or ("" if ours else None)
    seed, score = seed_in(tags.get("Seed", "")), score_of(tags["Result"], place)
    run = tags["Site"].removeprefix(OWN_SITE) if ours else ""
    yield GivenGame(
        game_name(game), first, second, score, opening,
        line_of(moves, tags.get("FEN", ""), seed), seed=seed,
        pairing=pairing_of(run, tags.get("Round", "").partition(".")[0], first=1),
        fault=fault_of(tags.get("Termination", ""), score),
        mover=_mover(place, tags, (first, second), " ".join(moves)),
        stopped=bool(tags.get("StopRule")),
    )  # fmt: skip


def _mover(
    place: str, tags: dict[str, str], players: tuple[NamedAgent, NamedAgent], moves: str
) -> int | None:
    """Return which side was to move after the opening: White, unless a tag says otherwise."""
    if "FirstMover" in tags:
        return mover_named(tags["FirstMover"].strip(), players, place)
    if "FEN" in tags:
        side = fen_side(tags["FEN"])
        return None if side is None else int(side == "b")
    # After the moves of an opening, as earlier versions of ours exported it, either may be to move.
    opening = " ".join(tags.get("Opening", "").split())
    return None if opening and moves.startswith(opening) else 0


def text(each: GameRecord) -> str:
    """One game; White has side 0, FirstMover is the agent to move after the opening."""
    result = RESULT_TEXTS[each.result]
    tags = {
        "Event": each.experiment,
        "Site": f"pitflip run {each.run}",
        "Date": each.date,
        "Round": f"{each.pair + 1}.{each.leg + 1}",
        "White": each.first,
        "Black": each.second,
        "FirstMover": each.first_mover,
        "Result": result,
        "Variant": each.of.name,
        "Opening": each.opening_moves,
        "PlyCount": str(each.plies),
        "Margin": str(each.margin),
        "Termination": each.ending,
        "Seed": str(each.seed),
        "WhiteVersion": each.versions[0],
        "BlackVersion": each.versions[1],
        **({"StopRule": each.stop_rule} if each.stop_rule else {}),
    }
    head = "\n".join(f'[{name} "{_escaped(value)}"]' for name, value in tags.items())
    moves = " ".join(f"{ply}.{TOGETHER}{move}" for ply, move in enumerate(each.moves, 1))
    body = textwrap.fill(f"{moves} {result}".strip(), WIDTH, break_on_hyphens=False)
    return f"{head}\n\n{body.replace(TOGETHER, ' ')}\n\n"


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')
