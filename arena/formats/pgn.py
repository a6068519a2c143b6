"""PGN: games with their tags and moves."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from arena.formats.records import (
    UNKNOWN,
    ExternalGame,
    FormatError,
    GameRecord,
    NamedAgent,
    fault_side,
    fen_side,
    first_mover_side,
    game_name,
    hash_moves,
    make_agents,
    pair_key,
    parse_number,
    parse_score,
    read_text,
)
from games.base.errors import printable

UNFINISHED = "*"
COMMENT = re.compile(r"\{[^}]*\}|;.*")
TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
NUMBERS = re.compile(r"\d+\.+|\$\d+|[!?]+")
RESULTS = ("1-0", "0-1", "1/2-1/2", UNFINISHED)
# A tag that repeats one of these names starts the next game.
GAME_START_TAGS = ("Event", "White")
REQUIRED_TAGS = ("White", "Black", "Result")
ESCAPED = re.compile(r"\\(.)")
OWN_SITE = "pitflip run "
SUFFIX = ".pgn"
RESULT_TEXTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
WIDTH, TOGETHER = 80, "\0"  # TOGETHER stands between a number and its move


def read_games(file: Path) -> Iterator[ExternalGame]:
    """Return the finished games; tags are whole lines outside comments."""
    tags: dict[str, str] = {}
    moves: list[str] = []
    inside = False  # inside a comment in braces, which may have several lines
    for number, line in enumerate(read_text(file).splitlines(), 1):
        found = None if inside else _tags(line)
        if found is None:
            words, inside = _words_outside_comments(line, inside)
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
    """Return the tags of a line; None if the line has anything else."""
    at, found = 0, []
    while match := TAG.match(line, at):
        found.append((match[1], ESCAPED.sub(r"\1", match[2])))
        at = match.end()
    return found if found and at == len(line) else None


def _words_outside_comments(line: str, inside: bool) -> tuple[list[str], bool]:
    """Return the moves of a line, and whether a comment is open at its end."""
    if inside:
        _, closed, line = line.partition("}")
        if not closed:
            return [], True
    line, opened, _ = COMMENT.sub(" ", line).partition("{")
    words = NUMBERS.sub(" ", line).split()
    return [word for word in words if word not in RESULTS], bool(opened)


def _game(place: str, tags: dict[str, str], moves: list[str]) -> Iterator[ExternalGame]:
    missing = [name for name in REQUIRED_TAGS if name not in tags]
    if missing:
        raise FormatError(f"{place}: the game before this line has no {missing[0]} tag")
    if tags["Result"] == UNFINISHED:
        return
    versions = tags.get("WhiteVersion", ""), tags.get("BlackVersion", "")
    first, second = make_agents(tags["White"].strip(), tags["Black"].strip(), place, versions)
    game = tags.get("Variant") or tags.get("GameType") or UNKNOWN
    ours = tags.get("Site", "").startswith(OWN_SITE)
    # In our files an empty opening is one, too: the start of the game.
    opening = tags.get("FEN") or tags.get("Opening") or ("" if ours else None)
    seed, score = parse_number(tags.get("Seed", "")), parse_score(tags["Result"], place)
    run = tags["Site"].removeprefix(OWN_SITE) if ours else ""
    yield ExternalGame(
        game_name(game), first, second, score, opening,
        hash_moves(moves, tags.get("FEN", ""), seed), seed=seed,
        pair=pair_key(run, tags.get("Round", "").partition(".")[0], first=1),
        fault=fault_side(tags.get("Termination", ""), score),
        first_mover=_first_mover(place, tags, (first, second), " ".join(moves)),
        has_stop_rule=bool(tags.get("StopRule")),
    )  # fmt: skip


def _first_mover(
    place: str, tags: dict[str, str], agents: tuple[NamedAgent, NamedAgent], moves: str
) -> int | None:
    """Return the side to move after the opening: White, unless a tag says otherwise."""
    if "FirstMover" in tags:
        return first_mover_side(tags["FirstMover"].strip(), agents, place)
    if "FEN" in tags:
        side = fen_side(tags["FEN"])
        return None if side is None else int(side == "b")
    # Earlier versions exported openings without FirstMover: either side may be to move.
    opening = " ".join(tags.get("Opening", "").split())
    return None if opening and moves.startswith(opening) else 0


def game_text(record: GameRecord) -> str:
    """Return a game; White is the agent `first`, and FirstMover moves after the opening."""
    result = RESULT_TEXTS[record.result]
    tags = {
        "Event": record.experiment,
        "Site": f"{OWN_SITE}{record.run}",
        "Date": record.date,
        "Round": f"{record.pair + 1}.{record.leg + 1}",
        "White": record.first,
        "Black": record.second,
        "FirstMover": record.first_mover,
        "Result": result,
        "Variant": record.game.name,
        "Opening": record.opening_moves,
        "PlyCount": str(record.plies),
        "Margin": str(record.margin),
        "Termination": record.ending,
        "Seed": str(record.seed),
        "WhiteVersion": record.versions[0],
        "BlackVersion": record.versions[1],
        **({"StopRule": record.stop_rule} if record.stop_rule else {}),
    }
    head = "\n".join(f'[{name} "{_escape(value)}"]' for name, value in tags.items())
    moves = " ".join(f"{ply}.{TOGETHER}{move}" for ply, move in enumerate(record.moves, 1))
    body = textwrap.fill(f"{moves} {result}".strip(), WIDTH, break_on_hyphens=False)
    return f"{head}\n\n{body.replace(TOGETHER, ' ')}\n\n"


def _escape(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')
