"""Plausible faults, each with the tests that must detect it.

A fault replaces text that occurs once in its file. Kinds: a dropped guard, sign or centre, `<` for
`<=`, the first for the last, a wrong level or constant, a missing copy, a counter that counts too
much, a dropped call that makes a file durable.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A fault; `interpreted` runs its kernels in Python, which takes less time than compiling."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    interpreted: bool = False

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}: {old[:50]} -> {new[:50] or 'nothing'}"


def in_file(
    file: str, *tests: str, edits: dict[str, str], interpreted: bool = False
) -> tuple[Mutant, ...]:
    """Return faults of one file that the same tests must detect."""
    return tuple(Mutant(file, old, new, tests, interpreted) for old, new in edits.items())


RULES = (
    *in_file(
        "games/sowing/packed.py",
        "tests/games/test_sowing_rules.py",
        "tests/games/test_golden_rules.py",
        edits={
            "if prize == ZERO and ctx[RULES + NEEDS_NONEMPTY] != 0:": "if prize == ZERO:",
            "(own >> (last << THREE)) & BYTE == ONE:": "(own >> (last << THREE)) & BYTE != ZERO:",
            "if s.own & HOLES == ZERO and (either or same):": "if s.own & HOLES == ZERO:",
            "return most + most > total": "return most + most >= total",
            "        own = own + (ONE << POT_SHIFT) - (ONE << shift)": "        own = own",
        },
        interpreted=True,
    ),
    *in_file(
        "games/othello/bitboard.py",
        "tests/games/test_othello_rules.py",
        "tests/games/test_golden_rules.py",
        edits={
            "inner = s.other & INNER_COLUMNS": "inner = s.other",
            "return moves(ctx, turned(s)) == ZERO": "return True",
            "return own - other + empties": "return own - other",
            "up |= flips_up(s, U(ctx[at + 2])) | flips_up(s, U(ctx[at + 3]))": (
                "up |= flips_up(s, U(ctx[at + 2]))"
            ),
        },
        interpreted=True,
    ),
    *in_file(
        "games/core.py",
        "tests/games/test_contract.py",
        "tests/arena/test_game.py::test_a_swap_is_no_ply",
        edits={
            "return first - second": "return second - first",
            "swapped = position.swapped ^ (move == self.swap_move)": "swapped = position.swapped",
            "        if move not in legal:\n            raise IllegalMove(self._refusal": (
                "        if move > 10**6:\n            raise IllegalMove(self._refusal"
            ),
        },
        interpreted=True,
    ),
    *in_file(
        "games/base/schema.py",
        "tests/games/test_schema.py",
        edits={
            "finite and self.low <= value": "finite and self.low < value",
            "self.above < value < self.below": "self.above <= value < self.below",
            "type(value) is type(each) and value == each": "value == each",
            "if isinstance(value, bool):": "if value is None:",
            "abs(value) <= sys.float_info.max": "abs(value) <= math.inf",
        },
    ),
    *in_file(
        "games/user_games/validation.py",
        "tests/games/test_user_game.py::test_a_violated_law_is_reported_in_one_line",
        edits={
            "if hashed == 0:": "if False:",
            "if self.states.setdefault(hashed, plain) != plain:": "if False:",
            "if _plain(self.other_side(turned)) != plain:": "if False:",
            "if _plain(seen) == _plain(position.state):": "if False:",
            "        if margin != compiled:": "        if abs(margin) != abs(compiled):",
        },
    ),
    *in_file(
        "games/kernels/splitmix.py",
        "tests/games/test_playouts.py",
        "tests/arena/planning/test_schedule.py",
        edits={"return word ^ (word >> S31)": "return word"},
    ),
)

AGENTS = (
    *in_file(
        "agents/search/alphabeta.py",
        "tests/agents/test_contract.py::test_node_limit_overshoots_by_one_node_at_most",
        "tests/agents/test_contract.py::test_limit_of_one_move_does_not_persist",
        edits={
            "if late or ctx[NODES] > ctx[BUDGET]:": "if late:",
            "    ctx[STOPPED] = 0\n": "",
        },
        interpreted=True,
    ),
    *in_file(
        "agents/search/table.py",
        "tests/agents/test_transposition_table.py",
        "tests/agents/test_search_values.py",
        edits={
            "return score >= beta if bound == AT_LEAST else score <= alpha": "return True",
            "return ctx[at + ONE] if ctx[at] == np.int64(key) ^ ctx[SALT] else np.int64(0)": (
                "return ctx[at + ONE]"
            ),
        },
        interpreted=True,
    ),
    *in_file(
        "agents/evaluation/features.py",
        "tests/agents/test_features.py",
        edits={
            "half = 0.5 if value > 0.0 else -0.5": "half = 0.5",
            "total = abs(own) + abs(other)": "total = own + other",
            "return max(min(value, np.int64(HIGHEST_GUESS)), np.int64(-HIGHEST_GUESS))": (
                "return value"
            ),
        },
        interpreted=True,
    ),
    *in_file(
        "agents/search/minimax.py",
        "tests/agents/test_search_values.py",
        edits={"return side if slot == ctx[SWAP_SLOT] else 1 - side": "return 1 - side"},
        interpreted=True,
    ),
    *in_file(
        "agents/search/choose.py",
        "tests/agents/test_policies.py",
        edits={
            "return -hole_beans(ctx, s, U(slot))": "return hole_beans(ctx, s, U(slot))",
            "if value > best:\n            best, chosen, ties": (
                "if value >= best:\n            best, chosen, ties"
            ),
        },
        interpreted=True,
    ),
)

STATISTICS = (
    *in_file(
        "arena/stats/intervals.py",
        "tests/arena/stats/test_intervals.py",
        edits={
            "ends = interval(found, 0.5 * alpha)": "ends = interval(found, alpha)",
            "bound = alpha ** (1.0 / found.units)": "bound = (0.5 * alpha) ** (1.0 / found.units)",
            "found.scope is Scope.THESE or found.openings > 1": "True",
            "TWO_SIDED, ONE_SIDED = 0.5, 1.0": "TWO_SIDED, ONE_SIDED = 1.0, 0.5",
            "return max(found.mean - unseen, 0.0)": "return found.mean * (1.0 - unseen)",
            "OPENING_POWER = 0.75": "OPENING_POWER = 0.7",
            "tail * TWO_SIDED / added": "tail",
            "if found.opening_masses:": "if False:",
        },
    ),
    *in_file(
        "arena/stats/intervals.py",
        "tests/arena/stats/test_intervals.py",
        edits={
            "for a, c in ((at, added), *seen)": "for a, c in seen",
            "return root + math.log(leverage / root) / root": "return root",
        },
    ),
    *in_file(
        "arena/stats/spread.py",
        "tests/arena/stats/test_intervals.py",
        edits={
            "errors = by.points - by.sizes * mean": "errors = by.points - 0.5 * by.sizes",
            "np.square(errors) / (1.0 - share)": "np.square(errors)",
            "- 1.0) / 3.0, 0.0), 1.0)": "- 1.0) / 0.3, 0.0), 1.0)",
            "variance / (1.0 - float(share @ share)) / se**2": "variance / se**2",
            "sides.append(by.sizes - by.points)": "sides.append(by.points)",
        },
    ),
    *in_file(
        "arena/stats/score_checks.py",
        "tests/arena/stats/test_intervals.py",
        edits={
            "if found.units < least:": "if False:",
            "max(min_distinct, min_observations(wanted, level, looks=True))": "min_distinct",
        },
    ),
    *in_file(
        "arena/stats/anytime.py",
        "tests/arena/stats/test_anytime.py",
        edits={
            "    if state.pairs < state.openings:\n": "    if True:\n",
            "(state.first, alpha / 2.0)": "(state.first, alpha)",
            "(4.0 * look * (look + 1))": "2.0",
            "rows - (0.5 + earlier) / times": "rows - (0.5 + earlier + rows) / (times + 1)",
            "(1 << turns.bit_length()) - turns": "(2 << turns.bit_length()) - turns",
        },
    ),
    *in_file(
        "arena/stats/sprt.py",
        "tests/arena/stats/test_sprt.py",
        edits={
            "at = _first_place(ready & ((llr <= lower) | (llr >= upper)))": (
                "at = _first_place((llr <= lower) | (llr >= upper))"
            ),
            "math.log(self.beta / (1.0 - self.alpha))": "math.log(self.alpha / (1.0 - self.beta))",
            "return np.divide(squares, 2.0 * record,": "return np.divide(squares, record,",
            "if state.is_finished or len(cells) == 0:": "if len(cells) == 0:",
        },
    ),
    *in_file(
        "arena/stats/sprt.py",
        "tests/arena/stats/test_sprt.py",
        edits={
            "EMPTY_CELL = 1e-3": "EMPTY_CELL = 1e-2",
            "math.sqrt(2.0) if len(support) == 5": "math.sqrt(2.0) if len(support) == 3",
            "moving &= ~close & (miss != 0.0)": "moving &= (~close & (miss != 0.0)).any()",
        },
    ),
    *in_file(
        "arena/stats/sprt_estimates.py",
        "tests/arena/stats/test_sprt_estimates.py",
        edits={
            "(0.5, 0.975, 0.025)": "(0.5, 0.95, 0.05)",
            "Estimate(ends[0], ends[1], ends[2]": "Estimate(ends[0], ends[2], ends[1]",
            "rate = (s1 - s0) / variance": "rate = s1 - s0",
        },
    ),
    *in_file(
        "arena/stats/counts.py",
        "tests/arena/stats/test_counts.py",
        edits={
            "second=Wdl(*counts.first[::-1]),": "second=Wdl(*counts.first),",
            "multiplicity = np.bincount(place.ravel(), often)": (
                "multiplicity = np.bincount(place.ravel())"
            ),
        },
    ),
    *in_file(
        "arena/stats/anytime.py",
        "tests/arena/stats/test_anytime.py",
        edits={
            "earned = np.add.reduce(": "earned = np.maximum.reduce(",
            "np.log(shares / len(STAKES))": "np.log(shares)",
            "betting_lower_bound(counts, alpha / 2.0)": "betting_lower_bound(counts, alpha)",
            "0.45, 0.65, 0.9]": "0.45, 0.65, 0.95]",
        },
    ),
    *in_file(
        "arena/stats/estimate.py",
        "tests/arena/stats/test_elo.py",
        edits={"FEW_OPENINGS = 10": "FEW_OPENINGS = 9"},
    ),
    *in_file(
        "arena/stats/elo.py",
        "tests/arena/stats/test_elo.py",
        "tests/arena/stats/test_ratings.py",
        edits={
            "FEW_POINTS = 5.0": "FEW_POINTS = 4.0",
            "return 0.0 - 400.0 * math.log10": "return 400.0 * math.log10",
            "variance = sum(c * (i / top - mean) ** 2": "variance = sum(c * (i / top - 0.5) ** 2",
        },
    ),
    *in_file(
        "arena/stats/ratings.py",
        "tests/arena/stats/test_ratings.py",
        edits={
            "rows = [np.random.default_rng((seed, number))": "rows = [np.random.default_rng(seed)",
            "math.sqrt((openings + 1.0) / (openings - 1.0))": "1.0",
            "if place < 1.0:": "if False:",
        },
    ),
    *in_file(
        "arena/stats/ratings.py",
        "tests/arena/stats/test_ratings.py",
        edits={
            "np.where(as_first, 1.0, -1.0)[met]": "np.where(as_first, 1.0, 1.0)[met]",
            "means = np.bincount(place, points)": "means = np.bincount(place, points / games)",
        },
    ),
)

PLAYING = (
    *in_file(
        "arena/playing/compiled_loop.py",
        "tests/arena/playing/test_workers.py",
        edits={
            "        self.results = results\n": "",
            "            moves[:, : old.shape[1]] = old\n": "            pass\n",
            "seats = agents if leg == 0 else agents[::-1]": "seats = agents",
        },
    ),
    *in_file(
        "arena/playing/worker.py",
        "tests/arena/playing/test_duplicates.py",
        edits={
            "        copy.columns[name] = np.zeros_like(copy.columns[name])": "        pass",
            "np.arange(openings, block.size) % openings": "np.arange(block.size - openings) * 0",
        },
    ),
    *in_file(
        "arena/playing/progress.py",
        "tests/arena/playing/test_duplicates.py",
        edits={"                own &= number < len(pairs.opening_keys)": "                pass"},
    ),
    *in_file(
        "arena/playing/match.py",
        "tests/arena/playing/test_play.py",
        edits={"    if section.item_count() < play_at_least:": "    if False:"},
    ),
    *in_file(
        "arena/playing/play.py",
        "tests/arena/playing/test_play.py",
        edits={"            if stop.should_stop:\n                break\n": ""},
    ),
    *in_file(
        "arena/playing/play.py",
        "tests/arena/playing/test_play.py",
        edits={
            "fresh = points[: max(0, self.openings - start)] / PAIR_POINTS": (
                "fresh = points / PAIR_POINTS"
            ),
        },
    ),
    *in_file(
        "arena/playing/executor.py",
        "tests/arena/playing/test_executor.py",
        edits={
            "MAX_TRIES = 2": "MAX_TRIES = 1",
            "                        executor = start()\n": "",
        },
    ),
    *in_file(
        "arena/playing/process_pool.py",
        "tests/arena/playing/test_executor.py",
        edits={"< 2 * self.max_workers else": "< 9 * self.max_workers else"},
    ),
    *in_file(
        "arena/playing/determinism.py",
        "tests/arena/playing/test_duplicates.py",
        edits={
            "TRIAL_OPENINGS, TRIALS = 2, 2": "TRIAL_OPENINGS, TRIALS = 1, 2",
            "return all(randomness_reason(": "return any(randomness_reason(",
            "!= game:": "== game:",
            'section.forget(start, "fixed", sorted(matches))': (
                'section.write_fact("fixed", sorted(matches))'
            ),
        },
    ),
    *in_file(
        "arena/playing/referee.py",
        "tests/arena/playing/test_referee.py",
        "tests/arena/playing/test_workers.py",
        edits={
            "MAX_PLIES = 20_000": "MAX_PLIES = 10_000",
            "result = LOSS if forfeit.seat == 0 else WIN": "result = LOSS",
            "self._ask_mover(seat) if board.move_count else": "self._choice(seat) if True else",
        },
    ),
)

PLANNING = (
    *in_file(
        "arena/planning/openings/openings.py",
        "tests/arena/planning/test_openings.py",
        edits={
            "BALANCE_DEPTH = 6": "BALANCE_DEPTH = 5",
            "abs(value) <= most": "value <= most",
        },
    ),
    *in_file(
        "arena/planning/openings/openings.py",
        "tests/arena/planning/test_openings.py",
        edits={
            "finite = openings.finite and all_there_are": "finite = openings.finite",
            "hash64(game.name, *line)": "hash64(game.name, *line[1:])",
        },
    ),
    *in_file(
        "arena/planning/openings/random.py",
        "tests/arena/planning/test_openings.py",
        edits={
            "MAX_MISSES = 60_000": "MAX_MISSES = 50_000",
            "(distinct != 0) & (": "(",
            "None if exhausted else pairs)": "pairs)",
            "prepend=-1 - misses": "prepend=-1",
            "complete_by_enumeration(game, found, plies) if exhausted else found": "found",
        },
    ),
    *in_file(
        "arena/planning/openings/listed.py",
        "tests/arena/planning/test_openings.py",
        edits={
            "for position, line in level.items() if not game.over(position)": (
                "for position, line in level.items()"
            )
        },
    ),
    *in_file(
        "arena/planning/openings/listed.py",
        "tests/arena/planning/test_openings.py",
        edits={
            "        if game.over(positions[-1]):": "        if False:",
            "lines.setdefault(positions[-1], tuple(moves))": (
                "lines.setdefault((positions[-1], place), tuple(moves))"
            ),
        },
    ),
    *in_file(
        "arena/planning/plan.py",
        "tests/arena/config/test_experiment_digest.py",
        "tests/arena/config/test_experiment.py",
        edits={
            "digest.update(tree.digest(16).encode())": "pass",
            "is_search(spec) and (clocks": "is_search(spec) or (clocks",
            "(names.index(a), names.index(b)) for a, b in stored": (
                "(names.index(b), names.index(a)) for a, b in stored"
            ),
        },
    ),
    *in_file(
        "arena/planning/tasks.py",
        "tests/arena/planning/test_tasks.py",
        edits={
            "size * GROWTH, MAX_PAIRS": "size * GROWTH",
            "min(int(seconds * speed), size": "min(size",
            "self.sizes.get(worker, MIN_PAIRS), end)": (
                "self.sizes.get(worker, MIN_PAIRS), end + 1)"
            ),
            "sizes[batch.worker] =": 'sizes[""] =',
        },
    ),
    *in_file(
        "arena/stats/racing.py",
        "tests/arena/planning/test_rounds.py",
        edits={
            "MIN_PAIRS, SHARE = 4, 8": "MIN_PAIRS, SHARE = 4, 4",
            "counts[other, one] += five[::-1]": "counts[other, one] += five",
            "through[:, middle, None] & through": "through[:, middle, None] | through",
            "below & below.T": "below | below.T",
        },
    ),
    *in_file(
        "arena/planning/schedules/best.py",
        "tests/arena/planning/test_rounds.py",
        edits={
            "level = math.log((agents - 1) / values": "level = math.log(1 / values",
            "if self.state.rounds % 2 == 0 else others": "if True else others",
        },
    ),
    *in_file(
        "arena/planning/schedule.py",
        "tests/arena/playing/test_races.py",
        edits={
            "if start + len(points) < self.total:": "if False:",
            "most = min(plan.pairs, len(schedule.openings))": "most = plan.pairs + 1",
        },
    ),
    *in_file(
        "arena/planning/schedule.py",
        "tests/arena/planning/test_schedule.py",
        edits={
            "TURN_LENGTH = 256": "TURN_LENGTH = 128",
            '"second": seats[:, ::-1].ravel(),': '"second": seats.ravel(),',
            "np.minimum(self.turn_length, self.pairs_per_match - turn * self.turn_length)": (
                "self.turn_length"
            ),
        },
    ),
    *in_file(
        "arena/planning/schedule.py",
        "tests/arena/playing/test_duplicates.py",
        edits={"np.where(deterministic, 0, turns)": "turns"},
    ),
    *in_file(
        "arena/planning/seeds.py",
        "tests/arena/planning/test_schedule.py",
        edits={
            "hash64(seed, game, *sorted(agents))": "hash64(seed, game, *agents)",
            "mixed(pairs ^ hash64(agent, leg))": "mixed(pairs ^ hash64(agent))",
        },
    ),
)

KEEPING = (
    *in_file(
        "arena/storage/parquet.py",
        "tests/arena/storage/test_parquet.py",
        edits={
            "column = column.cast(pa.float64())": "pass",
            "or (is_plain and not column.null_count)": "or is_plain",
        },
    ),
    *in_file(
        "arena/storage/parquet.py",
        "tests/arena/storage/test_parquet.py",
        edits={
            'CHECKED = {"page_checksum_verification": True}': "CHECKED = {}",
            "            writer.is_open = False": "            pass",
        },
    ),
    *in_file(
        "arena/storage/game_cache.py",
        "tests/arena/playing/test_game_cache.py",
        edits={"if row[4] == index_checksum(name, *row[1:4])": ""},
    ),
    *in_file(
        "arena/storage/journal.py",
        "tests/arena/storage/test_journal.py",
        edits={
            "                if start != count:\n                    break\n": "",
            "pragma synchronous=normal": "pragma synchronous=off",
            "                if batch.start != count:\n                    return\n": "",
            "            self._parse_fact(*row)\n": "            pass\n",
            "                after_gap.append((self.name, batch.start))": "                pass",
            "elif stored[0] != self.digest:": "elif False:",
            "pragma integrity_check(1)": "pragma quick_check(1)",
        },
    ),
    *in_file(
        "games/base/files.py",
        "tests/games/test_files.py",
        edits={
            "            os.fsync(file.fileno())\n": "",
            "    sync_directory(path.parent)\n": "",
            "        unfinished.unlink(missing_ok=True)\n        raise": "        raise",
        },
    ),
    *in_file(
        "arena/planning/games.py",
        "tests/arena/planning/test_games.py",
        edits={
            "if zlib.crc32(body) != int.from_bytes(blob[:4]": "if 1 == int.from_bytes(blob[:0]",
            "{at + row: text for row, text in part.traces": (
                "{row: text for row, text in part.traces"
            ),
            "np.iinfo(dtype).min <= low and": "",
        },
    ),
)

CONCLUDING = (
    *in_file(
        "arena/analysis/checks/max_seconds.py",
        "tests/arena/analysis/test_checks.py",
        edits={
            "status = status if mean": "status = HOLDS if mean",
            "mean <= limit": "mean <= 2.0 * limit",
        },
    ),
    *in_file(
        "arena/analysis/checks/score_at_least.py",
        "tests/arena/analysis/test_checks.py",
        edits={
            "if evidence.plan.stop is not None:": "if False:",
            'at this claim" if looks > 1': 'at this claim" if looks > 5',
            "else match.fair_pairs()": "else match",
        },
    ),
    *in_file(
        "arena/analysis/run_evidence.py",
        "tests/arena/analysis/test_earlier_looks.py",
        edits={
            'earlier.get("pairs", 0) < plan.get("pairs", 0)': "True",
            "(until is None or when <= until)": "True",
        },
    ),
    *in_file(
        "arena/analysis/checks/always.py",
        "tests/arena/analysis/test_checks.py",
        edits={"    if wins < games:\n": "    if wins == 0:\n"},
    ),
    *in_file(
        "arena/analysis/standings.py",
        "tests/arena/analysis/test_standings.py",
        edits={
            "match.scores - _mean_score(match)": "match.scores - 0.5",
            "BLOCKS = 20_000": "BLOCKS = 2_000",
        },
    ),
    *in_file(
        "arena/analysis/summary.py",
        "tests/arena/analysis/test_standings.py",
        edits={"DRAWS = 200": "DRAWS = 100"},
    ),
    *in_file(
        "arena/analysis/checks/always.py",
        "tests/arena/analysis/test_proof.py",
        edits={"MAX_POSITIONS = 1_000_000": "MAX_POSITIONS = 100_000"},
    ),
    *in_file(
        "arena/analysis/match_counts.py",
        "tests/arena/analysis/test_summary.py",
        "tests/arena/analysis/test_checks.py",
        "tests/arena/analysis/test_match_counts.py",
        edits={
            "if _differs_on_repeats(opening, piled) else": "if True else",
            "piled.differ.any() or ": "",
            "half_first=np.int8(WIN) - self.half_second,": "half_first=self.half_second,",
            "differ | (one != one[first])": "(one != one[first])",
        },
    ),
    *in_file(
        "arena/analysis/evidence.py",
        "tests/arena/analysis/test_summary.py",
        "tests/arena/analysis/test_checks.py",
        edits={"np.argmin(piece.plies[own])": "np.argmax(piece.plies[own])"},
    ),
    *in_file(
        "arena/analysis/win_rates.py",
        "tests/arena/analysis/test_summary.py",
        "tests/arena/analysis/test_checks.py",
        edits={
            "and match.distinct_openings > 1": "",
            "varied=not is_identical_on_repeats(match),": "varied=False,",
            "repeats=0 if deterministic else 2 *": "repeats=0 *",
        },
    ),
)

READING = (
    *in_file(
        "arena/config/experiment.py",
        "tests/arena/config/test_experiment.py",
        edits={
            "or 2 * pairs * len(schedule.matches) <": "or pairs * len(schedule.matches) <",
            "MOVES_KEPT_BELOW = 100_000": "MOVES_KEPT_BELOW = 100_001",
            "DEFAULT_PAIRS = 100": "DEFAULT_PAIRS = 99",
        },
    ),
    *in_file(
        "arena/config/experiment.py",
        "tests/arena/config/test_consistency.py",
        edits={
            "pairs > known and not openings.repeat": "pairs > known",
            "if settings.stop is not None and len(matches) != 1:": "if False:",
        },
    ),
)

TUNING = (
    *in_file(
        "arena/tuning/recommendation.py",
        "tests/arena/tuning/test_conclusions.py",
        edits={
            "elif gain - Z_95 * spread <= 0.0:": "elif gain <= 0.0:",
            "elif not differ:": "elif differ:",
            "LEAST_TRIALS = 5": "LEAST_TRIALS = 4",
        },
    ),
    *in_file(
        "arena/tuning/trials.py",
        "tests/arena/tuning/test_conclusions.py",
        edits={"PRIOR_VARIANCE = 0.10": "PRIOR_VARIANCE = 0.20"},
    ),
    *in_file(
        "arena/tuning/surrogate.py",
        "tests/arena/tuning/test_gaussian_process.py",
        edits={
            "+ np.diag(trials.noise)\n    try:": "\n    try:",
            "SHORTEST, LONGEST = 0.15, 1.5": "SHORTEST, LONGEST = 0.15, 0.1",
        },
    ),
    *in_file(
        "arena/tuning/recommendation.py",
        "tests/arena/tuning/test_conclusions.py",
        edits={
            "if gain.low > 0.0:": "if gain.value > 0.0:",
            "inwards = INWARDS if": "inwards = -INWARDS if",
        },
    ),
    *in_file(
        "arena/tuning/budget.py",
        "tests/arena/tuning/test_tune_file.py",
        edits={"LEAST_CLAIM = 400": "LEAST_CLAIM = 300"},
    ),
    *in_file(
        "arena/tuning/validation.py",
        "tests/arena/tuning/test_conclusions.py",
        edits={
            "if gain.low > little:": "if gain.value > little:",
            "if gain.high < enough": "if gain.value < enough",
        },
    ),
    *in_file(
        "arena/tuning/space.py",
        "tests/arena/tuning/test_space.py",
        edits={
            "return min(max(number, self.low), self.high)": "return number",
            "return float(self.low * (self.high / self.low) ** unit)": (
                "return self.low + unit * (self.high - self.low)"
            ),
        },
    ),
    *in_file(
        "arena/tuning/samplers/spsa.py",
        "tests/arena/tuning/test_samplers.py",
        edits={
            "sign = 1.0 if trial.number % 2 else -1.0": "sign = 1.0",
            "STEP_C, STEP_R = 0.08, 0.010": "STEP_C, STEP_R = 0.10, 0.010",
            "self.path[len(self.path) // 2 :]": "self.path[-1:]",
        },
    ),
)

MUTANTS: tuple[Mutant, ...] = (
    *RULES,
    *AGENTS,
    *STATISTICS,
    *PLAYING,
    *PLANNING,
    *KEEPING,
    *CONCLUDING,
    *READING,
    *TUNING,
)
