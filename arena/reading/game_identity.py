"""Which games from outside are the same one, and which are evidence.

Two games are the same if the game, both agents, the start, the moves and the result are, and if
neither the versions of the agents nor the seed tells them apart. A file that does not know a
version or the seed agrees with every one.
"""

from collections.abc import Hashable, Iterator, Sequence

from arena.reading.given_game import GivenGame

VERSIONS_AND_SEED = 3
Details = tuple[Hashable, ...]
Known = tuple[bool, ...]


def lines_of(games: Sequence[GivenGame]) -> list[Hashable | None]:
    """What stands for the start and the moves of each game, None where they are unknown.

    A table without moves has their hash; another table that has both tells the moves.
    """
    by_id = {each.game_id: each.line for each in games if each.line is not None}

    def line(each: GivenGame) -> Hashable | None:
        if each.line is not None or each.game_id is None:
            return each.line
        return by_id.get(each.game_id, ("game_id", each.game_id))

    return [line(each) for each in games]


def with_known_movers(
    games: Sequence[GivenGame], lines: Sequence[Hashable | None]
) -> list[GivenGame]:
    """Return the games, with the first movers that only other files name.

    Games of the same moves from the same opening have the same side to move after it.
    """
    keys = [(each.game, line, each.opening) for each, line in zip(games, lines, strict=True)]
    known = {
        key: each.mover
        for key, each in zip(keys, games, strict=True)
        if each.mover is not None and None not in key
    }
    return [
        each._replace(mover=known.get(key)) if each.mover is None else each
        for key, each in zip(keys, games, strict=True)
    ]


def distinct_games(games: Sequence[GivenGame], lines: Sequence[Hashable | None]) -> list[int]:
    """The places of the games that are no other one again, in the order of the files.

    Of equal games the one about which most is known stays. Games of unknown moves all stay.
    """
    details = [(each.first.version, each.second.version, each.seed) for each in games]
    known = [tuple(value not in ("", None) for value in each) for each in details]
    masks = sorted(set(known), key=sum, reverse=True)
    order = sorted(
        range(len(games)), key=lambda place: (-sum(known[place]), games[place].row is None)
    )
    seen: set[Hashable] = set()
    kept = []
    for place in order:
        each, line = games[place], lines[place]
        if line is None:
            kept.append(place)
            continue
        same = (each.game, each.first.name, each.second.name, each.score, line)
        own = known[place]
        if any((mask, same, *_common(details[place], own, mask)) in seen for mask in masks):
            continue
        seen.update((own, same, *_common(details[place], own, mask)) for mask in masks)
        kept.append(place)
    return sorted(kept)


def _common(details: Details, own: Known, other: Known) -> Iterator[Hashable]:
    """The details that both of two games know, each with its place."""
    for place in range(VERSIONS_AND_SEED):
        if own[place] and other[place]:
            yield place, details[place]


def evidence(games: Sequence[GivenGame], lines: Sequence[Hashable | None]) -> list[int]:
    """The places of the games that are evidence.

    Two agents that ever played one opening in two ways leave something to chance: all their games
    count. Otherwise a game played again says nothing new.
    """
    first_lines: dict[Hashable, Hashable] = {}
    varied: set[Hashable] = set()
    for each, line in zip(games, lines, strict=True):
        if line is not None and each.opening is not None:
            seats = (each.game, each.first, each.second, each.opening)
            if first_lines.setdefault(seats, line) != line:
                varied.add(_pair(each))
    kept, met = [], set[Hashable]()
    for place, (each, line) in enumerate(zip(games, lines, strict=True)):
        if line is not None and _pair(each) not in varied:
            key = (each.game, each.first, each.second, line)
            if key in met:
                continue
            met.add(key)
        kept.append(place)
    return kept


def _pair(each: GivenGame) -> Hashable:
    return each.game, frozenset((each.first, each.second))
