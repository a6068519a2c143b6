"""Shell completion: the commands and their options as a script for bash, zsh or fish."""

import argparse
import importlib
from collections.abc import Mapping
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")

BASH = """\
# bash: source <(pitflip completion bash)
_pitflip() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words="" first=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *)
      [ "$COMP_CWORD" -eq 2 ] || first=""
      COMPREPLY=($(compgen -W "$first" -- "$word") $(compgen -f -- "$word")) ;;
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
    known = {word: words_of(module) for word, module in commands.items()}
    known["completion"] = CommandWords([], list(SHELLS))
    if shell == "fish":
        return _fish(known)
    cases = "\n".join(
        f'    {word}) words="{" ".join(each.options)}" first="{" ".join(each.first)}" ;;'
        for word, each in known.items()
    )
    bash = BASH.format(commands=" ".join(known), cases=cases)
    return ZSH.format(bash=bash) if shell == "zsh" else bash


class CommandWords(NamedTuple):
    """What may follow a command: long options, those of subcommands too; its first word."""

    options: list[str]
    first: list[str]


def words_of(module: str) -> CommandWords:
    """The words that a command declares."""
    parser: argparse.ArgumentParser = importlib.import_module(module).arguments()
    named = (action for action in parser._actions if not action.option_strings)  # as below
    choices = next((action.choices for action in named), None) or ()
    return CommandWords(sorted(set(_options(parser))), list(map(str, choices)))


def _options(parser: argparse.ArgumentParser) -> list[str]:
    names = []
    for action in parser._actions:  # argparse has no other way to ask
        names += [name for name in action.option_strings if name.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                names += _options(each)
    return names


def _fish(known: Mapping[str, CommandWords]) -> str:
    """Lines for fish: commands first, then the words of each."""
    words = " ".join(known)
    lines = [
        "# fish: pitflip completion fish | source",
        f"complete -c pitflip -n __fish_use_subcommand -f -a '{words}'",
    ]
    for word, each in known.items():
        seen = f"__fish_seen_subcommand_from {word}"
        if each.first:
            lines.append(f"complete -c pitflip -n '{seen}' -a '{' '.join(each.first)}'")
        lines += [f"complete -c pitflip -n '{seen}' -l {name[2:]}" for name in each.options]
    return "\n".join(lines)
