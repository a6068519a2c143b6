"""Shell completion: the commands and their options as a script for bash, zsh or fish."""

import argparse
import importlib
from collections.abc import Mapping

SHELLS = ("bash", "zsh", "fish")

BASH = """\
# bash: source <(pitflip completion bash)
_pitflip() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _pitflip pitflip"""

ZSH = """\
# zsh: source <(pitflip completion zsh)
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
{bash}"""


def completion(shell: str, commands: Mapping[str, str]) -> str:
    """The script for a shell; the options are those that the commands declare."""
    options = {word: options_of(module) for word, module in commands.items()}
    if shell == "fish":
        return _fish(options)
    cases = "\n".join(
        f'    {word}) words="{" ".join(names)}" ;;' for word, names in options.items()
    )
    bash = BASH.format(commands=" ".join([*options, "completion"]), cases=cases)
    return ZSH.format(bash=bash) if shell == "zsh" else bash


def options_of(module: str) -> list[str]:
    """The long options of a command, those of its subcommands too."""
    parser: argparse.ArgumentParser = importlib.import_module(module).arguments()
    return sorted(set(_options(parser)))


def _options(parser: argparse.ArgumentParser) -> list[str]:
    names = []
    for action in parser._actions:  # argparse has no other way to ask
        names += [name for name in action.option_strings if name.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                names += _options(each)
    return names


def _fish(options: Mapping[str, list[str]]) -> str:
    """Lines for fish: words first, then the options of each."""
    words = " ".join([*options, "completion"])
    lines = [
        "# fish: pitflip completion fish | source",
        f"complete -c pitflip -n __fish_use_subcommand -f -a '{words}'",
    ]
    for word, names in options.items():
        seen = f"__fish_seen_subcommand_from {word}"
        lines += [f"complete -c pitflip -n '{seen}' -l {name[2:]}" for name in names]
    return "\n".join(lines)
