"""One word for every command: `pitflip run FILE` is `pitflip run FILE`."""

import ast
import importlib
import importlib.util
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from arena import prefer_own_packages

prefer_own_packages()

from games.base.errors import OK, USER_ERROR, print_error, print_safely, status_of
from games.base.text import did_you_mean, listed, quote
from pitflip.completion import SHELLS, completion

# The word is the last part of the module's name: commands that are printed count on it.
COMMANDS: Mapping[str, str] = {
    "new": "arena.commands.new",
    "plan": "arena.commands.plan",
    "run": "arena.commands.run",
    "versus": "arena.commands.versus",
    "history": "arena.commands.history",
    "play": "arena.commands.play",
    "tune": "arena.commands.tune",
    "learn": "arena.commands.learn",
    "weights": "arena.commands.weights",
    "rate": "arena.commands.rate",
    "ladder": "arena.commands.ladder",
    "verify": "arena.commands.verify",
    "status": "arena.commands.status",
    "runs": "arena.commands.runs",
    "judge": "arena.commands.judge",
    "report": "arena.commands.report",
    "export": "arena.commands.export",
    "explain": "arena.commands.explain",
    "perft": "games.perft",
    "replay": "games.replay",
    "solve": "games.solve",
    "handouts": "arena.commands.handouts",
    "new-bot": "arena.commands.new_bot",
    "check": "arena.commands.check",
    "serve": "arena.commands.serve",
}
# Short commands: Ctrl-C and a closed pipe end the process.
AT_ONCE = (
    "check", "export", "new", "new-bot", "perft", "play", "rate", "replay", "report", "runs",
    "serve", "solve", "status",
)  # fmt: skip
# Commands of earlier versions, with what to do instead.
REMOVED: Mapping[str, str] = {
    "share": "zip the directory of the run; pitflip verify takes the unpacked directory",
    "agreement": "every run names agents that play identically",
    "even_openings": 'write openings = { exact = 2 } or { exact = "draw" } in the experiment file',
    "extra_turns": "docs/perfect.md has the answer, python -m benchmarks.extra_turns counts again",
    "profile": "pitflip run, whose page has lengths, draws and the first mover's score",
}
HELP = ("-h", "--help", "help")
VERSION = ("-V", "--version", "version")


def summary(module: str) -> str:
    """What a command does, from the first line of its module; nothing of it is loaded."""
    spec = importlib.util.find_spec(module)
    assert spec is not None  # COMMANDS names modules that are there
    assert spec.origin is not None
    first = (ast.get_docstring(ast.parse(Path(spec.origin).read_text())) or "").partition("\n")[0]
    return first.partition(": p")[0].rstrip(".")


def usage() -> str:
    """All words with what they do."""
    width = max(map(len, [*COMMANDS, "completion"])) + 2
    rows = [f"  {word:<{width}}{summary(module)}" for word, module in COMMANDS.items()]
    rows.append(f"  {'completion':<{width}}Words for a shell: {listed(SHELLS)}")
    more = "pitflip COMMAND --help says more, pitflip --version which version this is."
    more += "\nWithout the script: python -m pitflip COMMAND."
    return "\n".join(["usage: pitflip COMMAND ...", "", *rows, "", more])


def main(words: list[str] | None = None) -> int:
    """Run the command that the first word names; its exit status."""
    given = sys.argv[1:] if words is None else words
    return status_of("pitflip", lambda: chosen(given))


def chosen(given: list[str]) -> int:
    """The exit status of what the words ask for."""
    if not given or given[0] in HELP:
        text = usage()
        print_safely(lambda: print(text))
        return OK if given else USER_ERROR
    word, rest = given[0], given[1:]
    if word in VERSION:
        from arena.storage.provenance import version_of  # noqa: PLC0415  # it loads more

        print(f"pitflip {version_of('pitflip')}")
        return OK
    if word == "completion":
        return completed(rest)
    if word in REMOVED:
        print_error(f"pitflip: the command {word} was removed: {REMOVED[word]}")
        return USER_ERROR
    if word not in COMMANDS:
        print_error(
            f"pitflip: there is no command {quote(word)} (there are {listed(COMMANDS)})"
            f"{did_you_mean(word, COMMANDS)}"
        )
        return USER_ERROR
    module = COMMANDS[word]
    if word in AT_ONCE:
        end_at_once()
    status: int = importlib.import_module(module).main(rest)
    return status


def end_at_once() -> None:
    """Let Ctrl-C and a closed pipe end the process: its work is short, nothing is kept."""
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):  # Windows has no SIGPIPE
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def completed(words: list[str]) -> int:
    """Print what makes a shell complete our words."""
    if len(words) != 1 or words[0] not in SHELLS:
        got = quote(" ".join(words)) if words else "nothing"
        print_error(f"pitflip completion: name a shell, one of {listed(SHELLS)}, got {got}")
        return USER_ERROR
    text = completion(words[0], COMMANDS)
    print_safely(lambda: print(text))
    return OK


if __name__ == "__main__":
    sys.exit(main())
