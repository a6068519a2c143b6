"""Matches from all games at once, pair after pair; imports nothing from the product."""

FAIR = {0, 5, 10}  # played to the end, too long, resigned


def repeats(rows):
    """Return which games the same agents in the same seats played before from the same opening."""
    seen, found = set(), []
    for row in rows:
        game = row["game_id"], row["first"], row["second"], row["opening"]
        found.append(game in seen)
        seen.add(game)
    return found


def duplicates(rows):
    """Return which fair games have the moves of an earlier fair game of the same agents."""
    seen, found = set(), []
    for row in rows:
        game = row["game_id"], frozenset((row["first"], row["second"]))
        found.append(row["termination"] in FAIR and game in seen)
        if row["termination"] in FAIR:
            seen.add(game)
    return found


def matches(rows):
    """Return the pairs of each match in schedule order, seen by the first agent."""
    again, found = duplicates(rows), {}
    for at in range(0, len(rows), 2):
        both = sorted((rows[at], rows[at + 1]), key=first_mover)
        as_first, as_second = both
        own = [at, at + 1] if rows[at] is as_first else [at + 1, at]
        a, b = first_mover(as_first), first_mover(as_second)
        found.setdefault((a, b), []).append({
            "opening": as_first["opening"],
            "points": (points_of(as_first, a), points_of(as_second, a)),
            "games": (as_first["game_id"], as_second["game_id"]),
            "fair": {as_first["termination"], as_second["termination"]} <= FAIR,
            "new": sum(not again[row] for row in own),
            "lost": [lost_by(row, a) for row in both],
            "won": [lost_by(row, b) for row in both],
            "margin": margin_of(as_first, a) + margin_of(as_second, a),
            "mover_margin": margin_of(as_first, a) + margin_of(as_second, b),
            "normal_games": sum(row["termination"] == 0 for row in both),
            "identical_pairs": as_first["game_id"] == as_second["game_id"]
            and all(row["termination"] in FAIR for row in both),
        })  # fmt: skip
    return dict(sorted(found.items()))


def lost_by(row, agent):
    """Return whether the agent lost a game by a fault."""
    loser = {0: row["first"], 2: row["second"]}.get(row["result"])
    return row["termination"] not in FAIR and loser == agent


def first_mover(row):
    return row["second"] if row.get("first_side") else row["first"]


def points_of(row, agent):
    return row["result"] if row["first"] == agent else 2 - row["result"]


def margin_of(row, agent):
    margin = row["margin"] if row["termination"] == 0 else 0
    return margin if row["first"] == agent else -margin


def fresh(pairings):
    """Return the pairs that are evidence: all if two on one opening differ, else one of each."""
    games, first = {}, {}
    for each in pairings:
        played = each["games"], each["points"], each["fair"]
        games.setdefault(each["opening"], set()).add(played)
        first.setdefault(each["opening"], each)
    varied = any(len(played) > 1 for played in games.values())
    return pairings if varied else list(first.values())
