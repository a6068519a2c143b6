"""Words of earlier versions, each with its substitute."""

from collections.abc import Mapping

# A command -> what to do instead.
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
    "agreement": "every run names agents that play identically",
    "even_openings": 'write openings = { exact = "draw" } in the experiment file',
    "extra_turns": "docs/perfect.md has the answer, python -m benchmarks.extra_turns counts again",
    "profile": "pitflip run, whose page has lengths, draws and the first mover's score",
}

# An option -> what to write instead.
REMOVED_OPTIONS: Mapping[str, str] = {
    "--backend": "--workers 0 plays in this process",
    "--on": "write --cluster ADDRESS",
    "--known": "write --cache DIR, or --cache off",
    "--pairing": "write --pair N",
    "--to": "write --out PATH",
    "--page": "write --out FILE",
    "--draws": "write --bootstrap N",
    "--replay": "write --rules-only",
    "--ladder": "write --dir DIR",
    "--perfect": "write --solve-seconds TIME",
    "--once": "pitflip runs show RUN prints once, --follow waits",
    "--together": "report each run; pitflip rate takes several",
    "--where": "rate only the files that you want",
}
