"""One word for every command: `pitflip run FILE` is `python -m arena.run FILE`."""

import ast
import importlib
import importlib.util
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from arena.showing.completion import SHELLS, completion
from games.names import did_you_mean, listed, quoted
from games.terminal import DONE, MISTAKE, printed, say, status_of

# The word is the last part of the module's name: commands that are printed count on it.
COMMANDS: Mapping[str, str] = {
    "new": "arena.new",
    "plan": "arena.plan",
    "run": "arena.run",
    "versus": "arena.versus",
    "history": "arena.history",
    "play": "arena.play",
    "tune": "arena.tune",
    "learn": "arena.learn",
    "weights": "arena.weights",
    "rate": "arena.rate",
    "ladder": "arena.ladder",
    "verify": "arena.verify",
    "share": "arena.share",
    "status": "arena.status",
    "runs": "arena.runs",
    "judge": "arena.judge",
    "report": "arena.report",
    "export": "arena.export",
    "even_openings": "arena.even_openings",
    "explain": "arena.explain",
    "agreement": "arena.agreement",
    "extra_turns": "arena.extra_turns",
    "profile": "arena.profile",
    "perft": "games.perft",
    "replay": "games.replay",
    "solve": "games.solve",
    "handouts": "arena.handouts",
    "new-bot": "agents.new",
    "check": "agents.check",
    "serve": "agents.serve",
}
# These are answered by ending at once, in compiled code too, as `games.terminal.run` has it.
AT_ONCE = (
    "arena.report",
    "arena.export",
    "arena.new",
    "arena.play",
    "arena.rate",
    "arena.runs",
    "arena.share",
    "arena.status",
    "games.",
    "agents.",
)
HELP = ("-h", "--help", "help")
VERSION = ("-V", "--version", "version")


def summary(module: str) -> str:
    """What a command does, from the first line of its module; nothing of it is loaded."""
    spec = importlib.util.find_spec(module)
    assert spec is not None  # COMMANDS names modules that are there
    assert spec.origin is not None
    first = (ast.get_docstring(ast.parse(Path(spec.origin).read_text())) or "").partition("\n")[0]
    return first.partition(": python")[0].rstrip(".")


def usage() -> str:
    """All words with what they do."""
    width = max(map(len, [*COMMANDS, "completion"])) + 2
    rows = [f"  {word:<{width}}{summary(module)}" for word, module in COMMANDS.items()]
    rows.append(f"  {'completion':<{width}}Words for a shell: {listed(SHELLS)}")
    more = "pitflip COMMAND --help says more, pitflip --version which version this is."
    more += "\nFrom Python: python -m arena.run, and so on."
    return "\n".join(["usage: pitflip COMMAND ...", "", *rows, "", more])


def main(words: list[str] | None = None) -> int:
    """Run the command that the first word names; its exit status."""
    given = sys.argv[1:] if words is None else words
    return status_of("pitflip", lambda: chosen(given))


def chosen(given: list[str]) -> int:
    """The exit status of what the words ask for."""
    if not given or given[0] in HELP:
        text = usage()
        printed(lambda: print(text))
        return DONE if given else MISTAKE
    word, rest = given[0], given[1:]
    if word in VERSION:
        from arena.keeping.provenance import version_of  # noqa: PLC0415  # it loads more

        print(f"pitflip {version_of('pitflip')}")
        return DONE
    if word == "completion":
        return completed(rest)
    if word not in COMMANDS:
        say(
            f"pitflip: there is no command {quoted(word)} (there are {listed(COMMANDS)})"
            f"{did_you_mean(word, COMMANDS)}"
        )
        return MISTAKE
    module = COMMANDS[word]
    if module.startswith(AT_ONCE):
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
        got = quoted(" ".join(words)) if words else "nothing"
        say(f"pitflip completion: name a shell, one of {listed(SHELLS)}, got {got}")
        return MISTAKE
    text = completion(words[0], COMMANDS)
    printed(lambda: print(text))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
