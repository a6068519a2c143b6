"""The protocols between bots and hosts: a table of modules, each pure text, both ways."""

from collections.abc import Mapping

from agents.core import AgentSpec

# A module with what `agents.protocols.conversation.ProtocolModule` lists.
PROTOCOLS: Mapping[str, str] = {
    "lines": "agents.protocols.lines",
    "gtp": "agents.protocols.gtp",
    "nboard": "agents.protocols.nboard",
    "kgp": "agents.protocols.kgp",
    "files": "agents.protocols.files",
}
# Protocols whose questions hold all that the bot must know, or that can tell it any position.
WHOLE_POSITION = ("lines", "files", "nboard", "kgp")
# Protocols that are spoken over a socket: the bot connects to its host.
SOCKET_PROTOCOLS = ("kgp",)
# Protocols whose bots have a relay beside them: a file that runs with the words before the command.
RELAYS: Mapping[str, tuple[str, ...]] = {
    "kgp": ("socket_relay.py", "2671"),  # the port that clients look for by themselves
    "files": ("file_relay.py",),
}


def answers_any_position(spec: AgentSpec) -> bool:
    """Return whether an agent can be asked about a position without the game that led there."""
    if spec.kind not in PROTOCOLS:
        return True
    return spec.kind in WHOLE_POSITION and spec.options.get("form") != "console"
