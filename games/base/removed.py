"""Commands, options and keys of earlier versions, each with its substitute."""

from collections.abc import Mapping

# Command -> substitute.
REMOVED_COMMANDS: Mapping[str, str] = {
    "plan": "pitflip run FILE --dry-run (also tune, versus and match)",
    "history": "pitflip versus FILE --revisions N",
    "status": "pitflip runs lists all runs, pitflip runs show RUN --follow follows one",
    "handouts": "pitflip report RUN --bots",
    "weights": "pitflip learn --show FILE, or --compare FILE FILE",
    "explain": "pitflip game GAME explain POSITION, or pitflip game RUN#GAME@PLY explain",
    "replay": "pitflip game GAME replay MOVES",
    "perft": "pitflip game GAME perft DEPTH",
    "solve": "pitflip game GAME solve POSITION",
    "new-bot": "pitflip new bot FILE",
    "completion": "pitflip --print-completion SHELL",
    "share": "zip the directory of the run; pitflip verify takes the unpacked directory",
    "ladder": "pitflip class DIRECTORY --out SITE keeps the games of all unchanged bots",
    "agreement": "every run names agents that play identically",
    "even_openings": 'write openings = { exact = "draw" } in the experiment file',
    "extra_turns": "python -m benchmarks.extra_turns counts them",
    "profile": "pitflip run, whose page has lengths, draws and the first mover's score",
}

# Option -> substitute.
REMOVED_OPTIONS: Mapping[str, str] = {
    "--backend": "--workers 0 plays in this process",
    "--on": "write --cluster ADDRESS",
    "--known": "write --cache DIR, or --cache off",
    "--pairing": "write --pair N",
    "--to": "write --out PATH",
    "--figures": "write pitflip export RUN --figures svg",
    "--page": "write --out FILE",
    "--draws": "write --bootstrap N",
    "--replay": "write --rules-only",
    "--perfect": "write --solve-seconds TIME",
    "--once": "pitflip runs show RUN prints once, --follow keeps waiting",
    "--together": "report each run; pitflip rate takes several",
    "--method": "ratings are always Bradley-Terry ratings",
    "--pool": "different games have no common scale; they are rated separately",
    "--where": "rate only the files that you want",
}

# Removed keys, and keys that belong on the command line -> substitute.
REMOVED_KEYS: Mapping[str, str] = {
    # Renamed.
    "thoughts": "it was renamed: write search_info",
    "positions": "it was renamed: write must_survive",
    "pairings": "it was renamed: write pairs",
    "never_slower_than_seconds": "it was renamed: write max_seconds",
    "faster_than_seconds_per_move": 'it was renamed: write max_seconds with per = "mean move"',
    "game_seconds": 'it was renamed: write game_time, such as "60" or "60+0.5"',
    "increment": 'it is a part of game_time, such as "60+0.5"',
    "by": 'write standings = "points"',
    "plies": "it was renamed: write random_plies = [4, 10]",
    "none": 'write openings = "none", or random_plies = 0 with repeat = true',
    "round_robin": 'write schedule = "round_robin"',
    "trusted": 'write compile = "unchecked"',
    "new_process_per_game": 'write process = "game"',
    "fields": 'write question, such as "{size} {own} {other}"',
    "separator": 'it is a part of question, such as "{size},{own:,},{other:,}"',
    "first_arguments": "write {seat} in command, which becomes 1 or 2",
    "second_arguments": "write {seat} in command, which becomes 1 or 2",
    # Removed.
    "order": "it was removed; the others are ordered as in the file",
    "within": "it was removed; write exact = 2 for a margin of 2 at most",
    "looks": "it was removed; repeated runs use the anytime-valid bound automatically",
    "unloadable": "it was removed; a failing bot stops the run, or is excluded from a [roster]",
    "refits": "it was removed; tables are always fitted again twice",
    "max_restarts": "it was removed; a bot that fails in 10 games and finishes none is excluded",
    "wait_seconds": "it was removed; a run waits 60 s for the workers of a cluster",
    "mixed_machines": "it was removed; limits in nodes allow machines of different speed",
    "tell_time": "it was removed; an engine receives the time of its game_time",
    "version": "it was removed; engines are greeted with NBoard 2",
    "think_seconds": "it was removed; the last move of a silent client counts after 1 s",
    "probcut": "it was removed; agents of kind smart use ProbCut where it was measured to help",
    "database_beans": "it was removed; the best database size is chosen automatically",
    "port": "it was removed; name the program that connects in command",
    "couples": 'it was removed; write schedule = { match = [["a", "b"], ["c", "d"]] }',
    "knockout": 'it was removed; schedule = { best = 1 } finds the best, "swiss" names a winner',
    "total_games": "it was removed; write trials and games",
    "curve": "it was removed; compare the matches of runs with --set learn.games=5000 and more",
    "matters": "it was removed; omit a group from [learn.patterns] and learn again",
    "constraints": "it was removed; limit the range of each weight instead",
    "start": "it was removed; a search begins at the weights that the agent has in the file",
    "ridge": "it was removed; learning tries several values and takes the best",
    "trust": "it was removed; the value is always 0.8",
    "held_out": "it was removed; the value is always 0.05",
    "alpha": "it belongs in [stop.sprt]; the matches of tune and learn have fixed error rates",
    "beta": "it belongs in [stop.sprt]; the matches of tune and learn have fixed error rates",
    # Options of the command line, and things that need no key.
    **dict.fromkeys(("workers", "threads", "cores", "jobs"), "use the option --workers N"),
    **dict.fromkeys(("output", "out", "results"), "use the option --results DIR"),
    **dict.fromkeys(("verbose", "quiet"), "use the option --quiet or --json"),
    **dict.fromkeys(
        ("swap", "swap_sides", "alternate"), "every opening is always played from both sides"
    ),
    **dict.fromkeys(("description", "comment"), "write a comment behind a #"),
}
